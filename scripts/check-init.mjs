// npm run check:init: adds Tollgate to a new application of each framework with `tollgate init`, in
// an empty folder outside of this repository and from the packed packages. The applications are
// those of scripts/starters, which are what the frameworks' own starters write. Each is compiled
// with its own strict settings and started; then the printed curl commands get a token and call a
// guarded route with it. Names of frameworks as arguments check only these.
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { packInto } from './pack.mjs'
import { prepare } from './prepare.mjs'
import { run } from './side-by-side.mjs'

const STARTERS = resolve('scripts/starters')
const PATIENCE = 120_000
const folder = mkdtempSync(join(tmpdir(), 'tollgate-init-'))
const tarballs = join(folder, 'tarballs')
const INSTALL = ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline']

/** How each application is compiled, started, and told its port. */
const APPLICATIONS = {
  express: {
    compile: ['tsc'],
    start: ['node', 'dist/index.js'],
    port: inFile('src/index.ts', '?? 3000'),
  },
  fastify: {
    compile: ['tsc'],
    start: ['fastify', 'start', 'dist/app.js'],
    // fastify-cli reads the port from .env, which init must keep.
    port: (cwd, port) => writeFileSync(join(cwd, '.env'), `PORT=${port}\n`),
  },
  hono: {
    compile: ['tsc'],
    start: ['node', 'dist/index.js'],
    port: inFile('src/index.ts', 'port: 3000'),
  },
  next: {
    // `next build` also checks the types, with those of the routes.
    compile: ['next', 'build'],
    start: ['npm', 'start'],
    port: inFile('package.json', '-p 3000'),
  },
}

/** Replaces the starter's port 3000, which another program may use, in this part of a file. */
function inFile(path, part) {
  return (cwd, port) => {
    const file = join(cwd, path)
    const text = readFileSync(file, 'utf8')
    if (!text.includes(part)) throw new Error(`${path} of the starter does not contain ${part}`)
    writeFileSync(file, text.replaceAll(part, part.replace('3000', String(port))))
  }
}

function freePort() {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => done(port))
    })
  })
}

/** Installs the command as npx does: in a folder of its own. */
async function installCommand(files) {
  const cwd = join(folder, 'npx')
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "private": true }\n')
  if (!(await run('npx: download tollgate', 'npm', [...INSTALL, ...files], { cwd }))) {
    throw new Error('The command could not be installed')
  }
  return join(cwd, 'node_modules/.bin/tollgate')
}

/** Returns a hash of each file of an application, without what is installed or compiled. */
function hashFiles(cwd) {
  const skipped = /^(?:node_modules|dist|\.next)(?:\/|$)|^tollgate\.db/
  const files = readdirSync(cwd, { recursive: true }).filter(
    (path) => !skipped.test(path) && statSync(join(cwd, path)).isFile(),
  )
  return Object.fromEntries(
    files.map((path) => [
      path,
      createHash('sha256')
        .update(readFileSync(join(cwd, path)))
        .digest('hex'),
    ]),
  )
}

/** Returns the printed command that calls this path. */
function printed(text, path) {
  const line = text.split('\n').find((each) => each.includes('curl') && each.includes(path))
  if (!line) throw new Error(`init printed no curl command for ${path}:\n${text}`)
  return line.trim()
}

const paste = (command) => JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8' }))

async function startApplication(cwd, [command, ...args], url) {
  const bin = join(cwd, 'node_modules/.bin')
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  const ended = new Promise((done) => child.once('close', done))
  const stop = () => {
    if (child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    return ended
  }
  const deadline = Date.now() + PATIENCE
  for (;;) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answered) return { stop, output: () => text }
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop()
      throw new Error(`${[command, ...args].join(' ')} did not start:\n${text}`)
    }
    await new Promise((done) => setTimeout(done, 100))
  }
}

async function check(name, tollgate) {
  const { compile, start, port: setPort } = APPLICATIONS[name]
  const cwd = join(folder, name)
  cpSync(join(STARTERS, name), cwd, { recursive: true })
  const port = await freePort()
  setPort(cwd, port)
  const url = `http://localhost:${port}`
  const install = await run(`${name}: npm install, before init`, 'npm', INSTALL, { cwd })
  if (!install) throw new Error('The starter could not be installed')

  const began = Date.now()
  const init = (...more) =>
    execFileSync(tollgate, ['init', '--yes', '--tarballs', tarballs, ...more], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const text = init()
  if (/Add th/.test(text)) throw new Error(`The starter needs edits by hand:\n${text}`)
  if (existsSync(join(cwd, 'node_modules/tollgate'))) throw new Error('The service was installed')
  const initSeconds = (Date.now() - began) / 1000
  const [program, ...args] = compile
  const compiled = await run(
    `${name}: ${compile.join(' ')}`,
    join(cwd, 'node_modules/.bin', program),
    args,
    { cwd },
  )
  if (!compiled) throw new Error('The application could not be compiled')
  const application = await startApplication(cwd, start, url)
  try {
    const { access_token: token } = paste(printed(text, '/oauth/token'))
    const caller = paste(`TOKEN=${token}; ${printed(text, '/api/whoami')}`)
    if (!text.includes(caller.client)) throw new Error('The guarded route named another client')
    const seconds = (Date.now() - began) / 1000
    const { status } = await fetch(`${url}/api/whoami`)
    if (status !== 401) throw new Error(`Without a token, the guarded route answered ${status}`)
    await checkSignIn(url, caller.client)

    const before = hashFiles(cwd)
    if (!init().includes('Nothing was changed'))
      throw new Error('The second init changed something')
    const after = hashFiles(cwd)
    if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error('The second init wrote')
    if ((statSync(join(cwd, '.env')).mode & 0o777) !== 0o600) throw new Error('.env is readable')
    return { seconds, initSeconds }
  } catch (error) {
    console.error(application.output())
    throw error
  } finally {
    await application.stop()
  }
}

/** The function signedIn() is still empty, and the answer must say so. */
async function checkSignIn(url) {
  const response = await fetch(`${url}/oauth/tokens`, { headers: { accept: 'application/json' } })
  const answer = await response.text()
  if (!answer.includes('fill in signedIn()')) {
    throw new Error(`Without signedIn(), /oauth/tokens answered ${response.status} ${answer}`)
  }
}

process.exitCode = await prepare()
if (process.exitCode === 0) {
  try {
    const tollgate = await installCommand(packInto(tarballs))
    const chosen = process.argv.slice(2)
    for (const name of chosen.length > 0 ? chosen : Object.keys(APPLICATIONS)) {
      try {
        const { seconds, initSeconds } = await check(name, tollgate)
        console.log(
          `- ${name}: ${seconds.toFixed(1)} s from tollgate init to an open route, of which init took ${initSeconds.toFixed(1)} s`,
        )
      } catch (error) {
        process.exitCode = 1
        console.error(`- ${name}: ${error.message}`)
      }
    }
    console.log(process.exitCode === 0 ? 'tollgate init works with every framework' : 'Failed')
  } finally {
    if (process.env.KEEP === undefined) rmSync(folder, { recursive: true, force: true })
    else console.log(folder)
  }
}
