// npm run check:deploy: checks the files in deploy/ with the programs that will read them. Needs
// Python and the network for two of them, which are installed into a temporary folder. The others
// (docker compose, Caddy, systemd, and promtool of Debian's package prometheus) are left out, with a
// line that says so, if they are not installed.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DEPLOY = join(ROOT, 'deploy')
/** The highest exposure that `systemd-analyze security` may report, in tenths; 100 is unprotected. */
const MAX_EXPOSURE = 20

/** Replaces the empty values of the example, as its reader would. */
export function fillIn(example) {
  return example.replace(/^(\w+)=$/gm, '$1=filled-in')
}

/**
 * Returns rules for Prometheus that record each query of a dashboard: promtool checks rules, but no
 * dashboards.
 */
export function recordQueries(dashboard) {
  const queries = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const rules = queries.map((expr, at) => ({
    record: `query_${at}`,
    expr: expr.replaceAll('$job', 'tollgate'),
  }))
  return JSON.stringify({ groups: [{ name: 'dashboard', rules }] })
}

/** Runs a program. Returns its exit code, null if it is not installed, and what it printed. */
function run(command, args, env = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (error && error.code !== 'ENOENT') throw error
  return { status: error ? null : status, output: `${stdout ?? ''}${stderr ?? ''}`.trim() }
}

function installPythonTools(folder) {
  const venv = join(folder, 'venv')
  const requirements = join(ROOT, 'scripts/deploy/requirements.txt')
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin/pip'), 'install', '--quiet', '--requirement', requirements],
  ]) {
    const { status, output } = run(command, args)
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${output}`)
  }
  return join(venv, 'bin')
}

/** Each check: its title, and a function that returns the result of `run()`. */
function createChecks(folder) {
  const bin = installPythonTools(folder)
  const copy = join(folder, 'deploy')
  cpSync(DEPLOY, copy, { recursive: true })
  const manifests = readdirSync(join(DEPLOY, 'kubernetes')).map((name) =>
    join(DEPLOY, 'kubernetes', name),
  )
  return {
    'Dockerfile, by hadolint': () => run(join(bin, 'hadolint'), [join(DEPLOY, 'Dockerfile')]),
    'Kubernetes manifests, by the schemas of Kubernetes': () =>
      run(join(bin, 'kubernetes-validate'), ['--strict', ...manifests]),
    'compose.yaml, by docker compose': () => {
      writeFileSync(join(copy, '.env'), fillIn(readFileSync(join(DEPLOY, 'env.example'), 'utf8')))
      if (run('docker', ['compose', 'version']).status !== 0) return { status: null, output: '' }
      return run('docker', ['compose', '--file', join(copy, 'compose.yaml'), 'config', '--quiet'])
    },
    'Caddyfile, by Caddy': () =>
      run('caddy', ['validate', '--adapter', 'caddyfile', '--config', join(DEPLOY, 'Caddyfile')], {
        TOLLGATE_URL: 'https://auth.example.com',
        HOME: folder,
      }),
    'prometheus/alerts.yaml, by promtool': () =>
      run('promtool', ['check', 'rules', join(DEPLOY, 'prometheus/alerts.yaml')]),
    'prometheus/alerts.test.yaml, by promtool': () =>
      run('promtool', ['test', 'rules', join(DEPLOY, 'prometheus/alerts.test.yaml')]),
    'queries of grafana/tollgate.json, by promtool': () => {
      const rules = join(folder, 'dashboard.yaml')
      const dashboard = readFileSync(join(DEPLOY, 'grafana/tollgate.json'), 'utf8')
      writeFileSync(rules, recordQueries(JSON.parse(dashboard)))
      return run('promtool', ['check', 'rules', rules])
    },
    'tollgate.service, by systemd-analyze': () => {
      // systemd-analyze insists that the program exists on this machine.
      const unit = join(folder, 'tollgate.service')
      copyFileSync(join(DEPLOY, 'tollgate.service'), unit)
      const text = readFileSync(unit, 'utf8')
      writeFileSync(unit, text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
      const verified = run('systemd-analyze', ['verify', unit])
      // Some findings are only printed, and the exit code is 0.
      const own = verified.output.split('\n').filter((line) => line.includes('tollgate.service'))
      if (verified.status !== 0 || own.length > 0) {
        return { status: verified.status === null ? null : 1, output: verified.output }
      }
      return run('systemd-analyze', [
        ...['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, '--no-pager', unit],
      ])
    },
  }
}

if (import.meta.filename === process.argv[1]) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
  try {
    for (const [title, check] of Object.entries(createChecks(folder))) {
      const { status, output } = check()
      const result =
        status === null ? 'left out: not installed' : status === 0 ? 'passed' : 'FAILED'
      console.log(`- ${title}: ${result}`)
      if (status) {
        console.log(output)
        process.exitCode = 1
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
