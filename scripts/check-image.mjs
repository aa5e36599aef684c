// npm run check:image: executes the steps of deploy/Dockerfile without Docker, each stage in a
// folder with a Debian made by debootstrap, and runs the service in the last one as its user.
// Needs Debian, root, debootstrap and the network: the mirror is that of apt, and npm
// packages come from the configured registry. At the end it lists what it cannot show.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  createIgnore,
  findMirror,
  parseAssignments,
  parseCommand,
  parseDockerfile,
  substitute,
} from './image/dockerfile.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCKERFILE = 'deploy/Dockerfile'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Docker's names of the architectures that this check can build for. */
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }
/** Milliseconds for the service to become ready, and for it to end after SIGTERM. */
const PATIENCE = 120_000

const NEVER_RUN = [
  'docker build itself: its parser, its cache, BuildKit, and the images of Docker Hub',
  'other architectures than that of this machine, and docker buildx with --platform',
  'EXPOSE, the network of containers, and HEALTHCHECK on its schedule (its command was run)',
  'limits of a container: seccomp, capabilities, memory, and a read-only root',
]

function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
  })
  if (error) throw new Error(`${command} cannot be started: ${error.message}`)
  if (status !== 0) {
    const output = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-40).join('\n')
    // Without the arguments: the settings of npm are among them.
    throw new Error(`${command} ended with ${status}:\n${output}`)
  }
  return stdout.trim()
}

function requireMachine() {
  const architecture = ARCHITECTURES[process.arch]
  const problems = [
    ...(process.platform === 'linux' && architecture ? [] : ['Linux on amd64 or arm64']),
    ...(process.getuid?.() === 0 ? [] : ['root, for chroot']),
    ...['debootstrap', 'chroot', 'unshare'].filter(
      (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
    ),
  ]
  if (problems.length > 0) throw new Error(`Missing: ${problems.join(', ')}`)
  return architecture
}

/** Reads the mirror from the sources of apt. */
function readMirror() {
  const folder = '/etc/apt/sources.list.d'
  const names = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
  const files = ['/etc/apt/sources.list', ...names]
    .filter((path) => /\.(?:list|sources)$/.test(path) && existsSync(path))
    .map((path) => [path, readFileSync(path, 'utf8')])
  const mirror = findMirror(Object.fromEntries(files))
  if (mirror === null) throw new Error('The sources of apt name no Debian mirror over HTTP')
  return mirror
}

/**
 * Returns the settings of npm that lead to its registry, for use in a chroot: the file with the
 * certificates is copied into it.
 */
function npmSettings(root) {
  const read = (name) => {
    const value = run('npm', ['config', 'get', name], { cwd: tmpdir() })
    return ['', 'null', 'undefined'].includes(value) ? null : value
  }
  const settings = {}
  for (const name of ['registry', 'proxy', 'https-proxy', 'noproxy']) {
    const value = read(name)
    if (value !== null) settings[`npm_config_${name.replaceAll('-', '_')}`] = value
  }
  const certificates = read('cafile') ?? process.env.NODE_EXTRA_CA_CERTS
  if (certificates && existsSync(certificates)) {
    cpSync(certificates, join(root, 'tmp/certificates.pem'), { dereference: true })
    settings.npm_config_cafile = '/tmp/certificates.pem'
  }
  return settings
}

/** Installs Node and npm from the registry of npm, as the image of Node has them in /usr/local. */
function installNode(root, major, folder) {
  const target = join(folder, 'node')
  const [id] = JSON.parse(
    run('npm', ['view', `node-linux-${process.arch}@${major}`, 'version', '--json'], {
      cwd: folder,
    }).replace(/^(".*")$/, '[$1]'),
  ).slice(-1)
  const packages = [`node-linux-${process.arch}@${id}`, 'npm@latest']
  mkdirSync(target)
  run('npm', ['install', '--prefix', target, '--no-save', '--ignore-scripts', ...packages], {
    cwd: folder,
  })
  const local = join(root, 'usr/local')
  cpSync(join(target, `node_modules/node-linux-${process.arch}/bin/node`), join(local, 'bin/node'))
  mkdirSync(join(local, 'lib/node_modules'), { recursive: true })
  cpSync(join(target, 'node_modules/npm'), join(local, 'lib/node_modules/npm'), { recursive: true })
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name))
  }
  const version = (name) => run('chroot', [root, '/usr/bin/env', `PATH=${PATH}`, name, '--version'])
  return `Node ${version('node')} and npm ${version('npm')} of npm's registry`
}

/** Makes the images that FROM names, each once. */
function createImages(folder, mirror) {
  const made = new Map()
  const debian = (suite) => {
    const name = `debian:${suite}-slim`
    if (!made.has(name)) {
      const root = join(folder, `debian-${suite}`)
      run('debootstrap', ['--variant=minbase', suite, root, mirror])
      for (const file of ['/etc/resolv.conf', '/etc/hosts']) {
        cpSync(file, join(root, file), { dereference: true })
      }
      made.set(name, root)
      console.log(`- in place of ${name}: the Debian ${suite} of debootstrap`)
    }
    return made.get(name)
  }
  return (name) => {
    const [, suite] = /^debian:(\w+)-slim$/.exec(name) ?? []
    if (suite) return debian(suite)
    const [, major, ofNode] = /^node:(\d+)-(\w+)-slim$/.exec(name) ?? []
    if (!ofNode) throw new Error(`check:image has nothing in place of the image ${name}`)
    if (!made.has(name)) {
      const root = join(folder, `node-${major}-${ofNode}`)
      run('cp', ['-a', debian(ofNode), root])
      const installed = installNode(root, major, folder)
      made.set(name, root)
      console.log(`- in place of ${name}: the same Debian with ${installed}`)
    }
    return made.get(name)
  }
}

/** Lists the files of the build context, without those that the ignore file leaves out. */
function listContext() {
  const examine = createIgnore(readFileSync(join(ROOT, `${DOCKERFILE}.dockerignore`), 'utf8'))
  const files = []
  const walk = (folder) => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name)
      const { isIgnored, mayHoldKept } = examine(path)
      if (entry.isDirectory()) {
        if (!isIgnored || mayHoldKept) walk(path)
      } else if (!isIgnored) files.push(path)
    }
  }
  walk('')
  return files
}

/** Copies what COPY names. `sources` are paths below `from`, which is a stage or the context. */
function copy(step, stage, stages) {
  const words = step.value.split(/\s+/)
  const target = words.at(-1)
  const into = join(stage.root, target.startsWith('/') ? target : join(stage.folder, target))
  for (const source of words.slice(0, -1)) {
    if (step.flags.from) {
      const { root } = stages.get(step.flags.from) ?? {}
      if (!root) throw new Error(`There is no stage ${step.flags.from}`)
      const path = join(root, source)
      const isFolder = statSync(path).isDirectory()
      mkdirSync(isFolder ? into : dirname(into), { recursive: true })
      run('cp', ['-a', isFolder ? `${path}/.` : path, into])
    } else {
      if (source !== '.')
        throw new Error(`check:image copies the whole context only, not ${source}`)
      for (const path of listContext()) {
        mkdirSync(dirname(join(into, path)), { recursive: true })
        cpSync(join(ROOT, path), join(into, path), { verbatimSymlinks: true })
      }
    }
  }
  // What COPY writes belongs to root, or to the named user.
  run('chown', ['--recursive', '--no-dereference', step.flags.chown ?? '0:0', into])
}

/** The command line that runs a program in a stage, as its user and with its variables only. */
function commandIn(stage, words, variables = {}) {
  const all = { ...stage.env, ...variables }
  const user = stage.user ?? '0:0'
  return [
    ...['chroot', `--userspec=${user}`, `--groups=${user.split(':')[1]}`, stage.root],
    ...['/usr/bin/env', '-C', stage.folder, '-i'],
    ...Object.entries(all).map(([name, value]) => `${name}=${value}`),
    ...words,
  ]
}

/** Arguments of unshare: own processes, which end with it, and a /proc that shows only these. */
function isolated(stage, command) {
  const script = 'mount -t proc proc "$0/proc" && exec "$@"'
  return [
    ...['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script],
    ...[stage.root, ...command],
  ]
}

/** Executes the instructions. Returns the last stage. */
function build(folder, images, architecture) {
  const stages = new Map()
  let stage
  for (const step of parseDockerfile(readFileSync(join(ROOT, DOCKERFILE), 'utf8'))) {
    const { name, value, flags, line } = step
    try {
      if (name === 'FROM') {
        const [image, alias] = value.split(/\s+AS\s+/i)
        const root = join(folder, `stage-${stages.size}`)
        run('cp', ['-a', images(image), root])
        stage = { root, folder: '/', env: { PATH }, args: {}, user: null }
        stages.set(alias ?? String(stages.size), stage)
      } else if (name === 'ARG') {
        for (const [key, given] of parseAssignments(value, stage.env)) {
          stage.args[key] = key === 'TARGETARCH' ? architecture : given
        }
      } else if (name === 'ENV') {
        Object.assign(stage.env, Object.fromEntries(parseAssignments(value, stage.env)))
      } else if (name === 'WORKDIR') {
        stage.folder = substitute(value, stage.env)
        mkdirSync(join(stage.root, stage.folder), { recursive: true })
      } else if (name === 'USER') {
        if (!/^\d+:\d+$/.test(value)) throw new Error('The user and group are not numbers')
        stage.user = value
      } else if (name === 'COPY') {
        copy(step, stage, stages)
      } else if (name === 'RUN') {
        const variables = { ...stage.args, ...npmSettings(stage.root), HOME: '/root' }
        const command = commandIn(stage, ['/bin/sh', '-c', value], variables)
        run('unshare', isolated(stage, command))
      } else if (name === 'EXPOSE') {
        stage.port = Number(value)
      } else {
        stage[name] = name === 'HEALTHCHECK' ? value.replace(/^CMD\s+/, '') : value
        parseCommand(stage[name], name)
        continue
      }
    } catch (error) {
      const shown = `${name} ${value}`.slice(0, 100)
      throw new Error(`${DOCKERFILE}:${line}: ${shown} failed: ${error.message}`)
    }
    const options = Object.entries(flags).map(([key, given]) => `--${key}=${given} `)
    console.log(`- line ${line}: ${name} ${options.join('')}${value.slice(0, 70)}: executed`)
  }
  return stage
}

async function findFreePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The id of the process that unshare started. It is process 1 in its own namespace. */
function childOf(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

const check = (condition, problem) => {
  if (!condition) throw new Error(problem)
}

/** Starts ENTRYPOINT and CMD, waits until the service is ready, checks it, and ends it. */
async function useService(stage) {
  const [uid, gid] = (stage.user ?? '0:0').split(':').map(Number)
  check(uid !== 0 && gid !== 0, 'The last stage runs as root')
  const port = await findFreePort()
  const secret = randomBytes(32).toString('base64')
  const variables = {
    HOST: '127.0.0.1',
    PORT: String(port),
    TOLLGATE_URL: 'https://auth.example.com',
    TOLLGATE_SECRET: secret,
    TOLLGATE_TRUSTED_PROXIES: '127.0.0.1',
    TOLLGATE_DRAIN_SECONDS: '0',
    DATABASE_URL: 'sqlite:/var/lib/tollgate/tollgate.db',
    STRIPE_SECRET: 'sk_test_unused',
    STRIPE_WEBHOOK_SECRET: 'whsec_unused',
    STRIPE_PUBLISHABLE_KEY: 'pk_test_unused',
  }
  const words = [
    ...parseCommand(stage.ENTRYPOINT ?? '[]', 'ENTRYPOINT'),
    ...parseCommand(stage.CMD ?? '[]', 'CMD'),
  ]
  const command = commandIn(stage, words, variables)
  const service = spawn('unshare', isolated(stage, command), {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (text) => (output += text))
  const ended = new Promise((resolve) => service.once('close', resolve))
  /** Runs HEALTHCHECK's command as Docker does: in the container, as its user. */
  const isHealthy = () => {
    const [program, ...args] = commandIn(stage, parseCommand(stage.HEALTHCHECK, 'HEALTHCHECK'), {
      PORT: String(port),
    })
    return spawnSync(program, args).status === 0
  }
  try {
    check(!isHealthy(), 'HEALTHCHECK succeeds although nothing runs')
    const until = Date.now() + PATIENCE
    let ready = null
    while (ready?.status !== 200) {
      check(service.exitCode === null, 'The service ended')
      check(Date.now() < until, `/readyz answers ${ready?.status ?? 'nothing'}`)
      await sleep(200)
      ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
    }
    console.log(`- ${words.join(' ')} runs, and /readyz answers 200: ${await ready.text()}`)
    check(isHealthy(), "HEALTHCHECK's command fails although the service is ready")
    console.log("- HEALTHCHECK's command fails before the start and succeeds after it")

    const pid = childOf(service.pid)
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const ids = (name) => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1].split(/\s+/) ?? []
    check(
      [...ids('Uid')].every((id) => id === String(uid)),
      `It runs as ${ids('Uid')}`,
    )
    check(
      [...ids('Gid')].every((id) => id === String(gid)),
      `Its group is ${ids('Gid')}`,
    )
    const database = statSync(join(stage.root, 'var/lib/tollgate/tollgate.db'))
    check(database.uid === uid, `The database belongs to ${database.uid}`)
    const writable = ['/app', '/usr', '/etc'].flatMap((path) => {
      const [program, ...args] = commandIn(stage, ['find', path, '-writable', '!', '-type', 'l'])
      return run(program, args).split('\n').filter(Boolean)
    })
    check(writable.length === 0, `The user may write ${writable.slice(0, 5).join(', ')}`)
    console.log(`- it runs as ${uid}:${gid}, which may write its database and no program`)

    process.kill(pid, 'SIGTERM')
    const code = await Promise.race([ended, sleep(PATIENCE, 'no end', { ref: false })])
    check(code === 0, `After SIGTERM the service ended with ${code}`)
    check(!output.includes(secret), 'The log contains the secret')
    check(!isHealthy(), 'HEALTHCHECK succeeds after the end')
    console.log('- as process 1 of its namespace it ends with 0 after SIGTERM')
  } catch (error) {
    throw new Error(`${error.message}\n${output.split('\n').slice(-40).join('\n')}`)
  } finally {
    service.kill('SIGKILL')
    await ended
  }
}

/** Fails on files that do not belong in the image, and prints its size. */
function examineFiles(stage) {
  const app = join(stage.root, 'app')
  const names = readdirSync(app, { recursive: true })
  const isSource = (name) => /^packages\/[^/]+\/(?:src|test|bench)\//.test(name)
  const unwanted = names.filter(
    (name) => isSource(name) || /^\.env|\.db(?:-\w+)?$/.test(basename(name)),
  )
  check(unwanted.length === 0, `/app contains ${unwanted.slice(0, 5).join(', ')}`)
  for (const development of ['typescript', 'vitest', '@biomejs']) {
    check(!existsSync(join(app, 'node_modules', development)), `/app contains ${development}`)
  }
  const bytes = Number(run('du', ['--summarize', '--bytes', app]).split(/\s/)[0])
  console.log(`- /app has ${Math.round(bytes / 1e6)} MB, no sources and no development packages`)
}

if (import.meta.filename === process.argv[1]) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-image-'))
  try {
    const architecture = requireMachine()
    const stage = build(folder, createImages(folder, readMirror()), architecture)
    examineFiles(stage)
    await useService(stage)
    console.log(`What this cannot show:\n${NEVER_RUN.map((each) => `- ${each}`).join('\n')}`)
  } catch (error) {
    console.error(`FAILED ${error.message.replaceAll(folder, relative(tmpdir(), folder))}`)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
