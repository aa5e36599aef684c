// npm run bench:service: measures the promises of the service on the demo, and prints them.
//   ready in under 3 s, idle memory under 150 MB, pages under 50 ms and 60 kB,
//   10,000 idle connections held while the token route still answers.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const connections = Number(process.argv[2] ?? 10_000)
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
const rows = []

function note(what, value, target, ok) {
  rows.push([what, value, target, ok === null ? '' : ok ? 'yes' : 'NO'])
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Starts the service as `npm start` does, with everything installed and built. */
async function start() {
  const begun = performance.now()
  // The shell raises the limit of open files to the maximum.
  const child = spawn(
    'sh',
    ['-c', `ulimit -n $(ulimit -Hn); exec "$0" "$1" serve --json`, process.execPath, program],
    {
      env: { ...process.env, PORT: '0', TOLLGATE_DATA_DIR: folder, NODE_ENV: '', DATABASE_URL: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('\n')) break
  }
  const ms = performance.now() - begun
  return { child, ms, facts: JSON.parse(text), cpu: cpuSeconds(child.pid) }
}

/** CPU time so far, which on a busy machine is more meaningful than elapsed time. */
function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

function memory(pid, name = 'VmRSS') {
  try {
    const [, kb] = new RegExp(`${name}:\\s+(\\d+)`).exec(
      readFileSync(`/proc/${pid}/status`, 'utf8'),
    )
    return Number(kb) / 1024
  } catch {
    return Number.NaN
  }
}

async function stop({ child }) {
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
}

async function measurePages({ url, demo }) {
  const login = await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ email: demo.email, password: demo.password }),
  })
  const cookie = login.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
  for (const path of [
    '/login',
    '/',
    ...(process.env.BENCH_PAGES ?? '').split(',').filter(Boolean),
  ]) {
    const headers = { accept: 'text/html', ...(path === '/login' ? {} : { cookie }) }
    const times = []
    let html = ''
    for (let count = 0; count < 40; count++) {
      const begun = performance.now()
      html = await (await fetch(`${url}${path}`, { headers })).text()
      times.push(performance.now() - begun)
    }
    const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, href]) => href)
    const sizes = await Promise.all(
      assets.map(async (href) => (await (await fetch(`${url}${href}`)).arrayBuffer()).byteLength),
    )
    const kB = (html.length + sizes.reduce((sum, size) => sum + size, 0)) / 1000
    const middle = times.sort((a, b) => a - b)[20]
    note(`page ${path}, median of 40`, `${middle.toFixed(1)} ms`, '< 50 ms', middle < 50)
    note(`page ${path} with its files`, `${kB.toFixed(1)} kB`, '< 60 kB', kB < 60)
  }
}

async function issueToken({ url, demo }) {
  const { id, secret } = demo.clients.service
  const begun = performance.now()
  const response = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    }),
  })
  await response.text()
  return response.status === 200 ? performance.now() - begun : Number.NaN
}

async function medianToken(facts) {
  const times = []
  for (let count = 0; count < 40; count++) times.push(await issueToken(facts))
  return times.some(Number.isNaN) ? Number.NaN : times.sort((a, b) => a - b)[20]
}

/** Opens connections that send one request and then stay idle, as those of a browser or proxy do. */
async function openIdle(port, count) {
  const sockets = []
  const open = () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () =>
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
      )
      socket.once('data', () => resolve(sockets.push(socket)))
      socket.once('error', () => resolve())
    })
  for (let begun = 0; begun < count; begun += 250) {
    await Promise.all(Array.from({ length: Math.min(250, count - begun) }, open))
  }
  return sockets
}

const first = await start()
await stop(first)
const service = await start()
note('ready, on the wall', `${(service.ms / 1000).toFixed(2)} s`, '< 3 s', service.ms < 3000)
note('ready, processor time', `${service.cpu.toFixed(2)} s`, '', null)
await pause(3000)
const idle = memory(service.child.pid)
note('memory, idle', `${idle.toFixed(0)} MB`, '< 150 MB', idle < 150)
await measurePages(service.facts)
const before = await medianToken(service.facts)
note('token, median of 40', `${before.toFixed(1)} ms`, '', null)
const sockets = await openIdle(service.facts.port, connections)
await pause(1000)
const alive = sockets.filter((socket) => !socket.destroyed && socket.readable).length
note('idle connections held', String(alive), String(connections), alive === connections)
const during = await medianToken(service.facts)
note('token beside them', `${during.toFixed(1)} ms`, 'answers', !Number.isNaN(during))
note('memory beside them', `${memory(service.child.pid).toFixed(0)} MB`, '', null)
for (const socket of sockets) socket.destroy()
const ending = performance.now()
await stop(service)
note(
  'ended, exit code',
  `${service.child.exitCode} in ${(performance.now() - ending).toFixed(0)} ms`,
  '0',
  service.child.exitCode === 0,
)
rmSync(folder, { recursive: true, force: true })

const width = rows.reduce(
  (most, row) => row.map((cell, i) => Math.max(most[i], cell.length)),
  [0, 0, 0, 0],
)
console.log(
  `load of the machine: ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')}`,
)
for (const row of rows) console.log(row.map((cell, i) => cell.padEnd(width[i])).join('  '))
process.exitCode = rows.some((row) => row[3] === 'NO') ? 1 : 0
