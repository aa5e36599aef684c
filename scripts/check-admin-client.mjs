// npm run check:admin-client: an OpenAPI validator and a generator of Python clients read the
// document of the management API, and the generated client uses a running service. Each response is
// compared with the document. Needs Python 3.10 or newer and the network; everything is installed
// into a temporary folder.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = join(root, 'packages/server/bin/tollgate.js')
const scripts = join(root, 'scripts/admin-client')
const folder = mkdtempSync(join(tmpdir(), 'tollgate-admin-client-'))
const venv = join(folder, 'venv')
const PATIENCE = 2 * 60 * 1000

// Nothing but the data folder, so that settings of this machine take no part.
const environment = {
  PATH: process.env.PATH,
  TOLLGATE_DATA_DIR: join(folder, 'data'),
  TOLLGATE_TEAMS: 'on',
}

const PEOPLE = ['ada@example.com', 'grace@example.com', 'joan@example.com']
const PASSWORD = 'a long enough password'
const AREAS = ['users', 'clients', 'teams', 'billing', 'webhooks', 'mail', 'keys']
const TEAM = 'Analytical engines'
const CLIENTS = {
  full: [
    ...AREAS.flatMap((area) => [`admin.${area}:read`, `admin.${area}:write`]),
    'admin.settings:read',
    'admin.audit:read',
  ],
  reader: ['admin.users:read'],
}

/** Starts a demo on a free port. Resolves with its address and a function that stops it. */
async function startService() {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', '--json'], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      output += chunk
    })
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
      const [, url] = /"url":\s*"([^"]+)"/.exec(printed) ?? []
      if (url) resolve(url)
    })
    ended.then((code) => reject(new Error(`The service ended with ${code}: ${output}`)))
  })
  clearTimeout(timer)
  return { url, stop }
}

/** Runs a command of tollgate, and returns what it prints as JSON. */
async function tollgate(args, input = '') {
  const running = promisify(execFile)(process.execPath, [program, ...args, '--json'], {
    cwd: folder,
    env: environment,
  })
  running.child.stdin.end(input)
  const { stdout } = await running
  return JSON.parse(stdout)
}

async function createClient(name, scopes) {
  const options = scopes.flatMap((scope) => ['--scope', scope])
  const { id, secret } = await tollgate([
    ...['client', 'create', '--management', '--name', name],
    ...options,
  ])
  return { id, secret, scopes }
}

/** Signs in as a person and creates a team with the page, the only way to create one. */
async function createTeam(url, email, name) {
  const cookies = new Map()
  const send = async (path, form) => {
    const reply = await fetch(url + path, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        origin: url,
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const header of reply.headers.getSetCookie()) {
      const [, key, value] = /^([^=]+)=([^;]*)/.exec(header)
      cookies.set(key, value)
    }
    return reply
  }
  await send('/login', { email, password: PASSWORD })
  const page = await (await send('/')).text()
  const [, csrf_token = ''] = /name="csrf-token" content="([^"]+)"/.exec(page) ?? []
  const reply = await send('/teams', { csrf_token, name })
  if (reply.status !== 303) throw new Error(`The team was refused with ${reply.status}`)
}

/** Runs a program of the virtual environment. */
async function run(name, ...args) {
  const bin = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin')
  const { stdout } = await promisify(execFile)(join(bin, name), args, {
    cwd: folder,
    // The generator calls a formatter that was installed beside it.
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      PATH: `${bin}${delimiter}${process.env.PATH}`,
    },
    maxBuffer: 1 << 26,
  })
  return stdout
}

let service
try {
  service = await startService()
  console.log('- a demo of the service runs')
  for (const email of PEOPLE) {
    await tollgate(['user', 'create', '--email', email], `${PASSWORD}\n`)
  }
  await createTeam(service.url, PEOPLE[0], TEAM)
  const input = join(folder, 'input.json')
  const clients = {}
  for (const [name, scopes] of Object.entries(CLIENTS)) {
    clients[name] = await createClient(name, scopes)
  }
  console.log('- there are people, a team, and clients of the management API')

  await promisify(execFile)('python3', ['-m', 'venv', venv])
  await run('pip', '-q', 'install', '-r', join(scripts, 'requirements.txt'))
  console.log('- the validator and the generator are installed')

  const reply = await fetch(`${service.url}/admin/v1/openapi.json`)
  if (!reply.ok) throw new Error(`The document was answered with ${reply.status}`)
  const document = await reply.json()
  const file = join(folder, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  process.stdout.write(await run('python', join(scripts, 'validate.py'), file))

  await run(
    'openapi-python-client',
    ...['generate', '--path', file, '--output-path', join(folder, 'tollgate_admin')],
    ...['--meta', 'none', '--config', join(scripts, 'generator.yml'), '--fail-on-warning'],
  )
  console.log('- the generator made a Python client, without a warning')

  writeFileSync(input, JSON.stringify({ document, people: PEOPLE, team: TEAM, ...clients }))
  process.stdout.write(await run('python', join(scripts, 'use.py'), input))
} catch (error) {
  console.error(`${error.stdout ?? ''}FAILED ${error.message}`)
  process.exitCode = 1
} finally {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
}
