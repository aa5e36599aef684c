// npm run check:quick-start: follows the README literally in an empty folder, in a copy of this
// working tree without installed packages, pastes the printed curl command into a shell and uses
// its token. The only difference from a newcomer's steps is a free port instead of 3000.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tollgate-quick-start-'))
const PATIENCE = 10 * 60 * 1000
const running = new Set()

function copyWorkingTree() {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\0')
  for (const file of files.filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
}

/** Returns the first command of the README's quick start. */
function firstCommand() {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const [, block = ''] = /```sh\n([^`]+)```/.exec(readme) ?? []
  const command = block.split('\n').find((line) => line.startsWith('npm '))
  if (!command) throw new Error('The README names no command to begin with')
  return command.split('#')[0].trim()
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** Starts the service. Resolves with its output once it has printed how to use the token. */
async function start(command, port) {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd: folder,
    // Packages in npm's cache are not downloaded again.
    env: { ...process.env, PORT: String(port), npm_config_prefer_offline: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  // 'close' instead of 'exit': npm ends before the service that it started has closed its database,
  // and the pipe they share is closed only when both have ended.
  const ended = new Promise((resolve) => child.once('close', resolve))
  let text = ''
  const ready = new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk)
      text += chunk
      if (/api\/orders .*\n/.test(text)) resolve()
    })
  })
  const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), PATIENCE)
  await Promise.race([ready, ended])
  clearTimeout(timer)
  if (!text.includes('Get a token')) throw new Error(`${command} ended without printing a token`)
  const stop = () => {
    running.delete(stop)
    process.kill(-child.pid, 'SIGTERM')
    return ended
  }
  running.add(stop)
  return { text, stop }
}

/** Returns the printed command below a heading, as a reader would copy it. */
function pasted(text, heading) {
  const [, after = ''] = text.split(`${heading}\n\n`)
  return after.split('\n\n')[0]
}

const paste = (command) => execFileSync('sh', ['-c', command], { encoding: 'utf8' })
const shell = (command) => JSON.parse(paste(command))

try {
  copyWorkingTree()
  const command = firstCommand()
  const port = await freePort()
  console.log(`- ${command}, in ${folder}`)
  const first = await start(command, port)
  const token = paste(pasted(first.text, 'Get a token:')).trim()
  if (token.length < 40) throw new Error('The printed curl gave no token')
  const use = `TOKEN=${token}; ${pasted(first.text, 'Use it:')}`
  if (!Array.isArray(shell(use))) throw new Error('The token did not open /api/orders')
  console.log('- the printed curl gave a token, and the token opened the API')
  const found = execFileSync('npx', ['--no-install', 'tollgate', 'doctor', '--json'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (!JSON.parse(found).healthy) throw new Error(`npx tollgate doctor found fault: ${found}`)
  console.log('- npx tollgate doctor, in the clone, found nothing wrong with it')
  await first.stop()

  const again = await start(command, port)
  if (!Array.isArray(shell(use))) throw new Error('The token was forgotten by the second start')
  if (pasted(again.text, 'Get a token:') !== pasted(first.text, 'Get a token:')) {
    throw new Error('The second start printed other credentials')
  }
  console.log('- started again it kept its data')
  await again.stop()
} finally {
  for (const stop of running) await stop()
  rmSync(folder, { recursive: true, force: true })
}
