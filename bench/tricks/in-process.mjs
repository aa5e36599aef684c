/**
 * A child process that serves one row without a network: requests are given to the server's listener as
 * objects. Prints the processor time of one unit in microseconds, by the calmest tenth of many short slices,
 * which a busy machine changes little.
 */
import { connections } from '../fixtures.mjs'
import { scripts } from '../scripts/index.mjs'

const { folder, row } = JSON.parse(process.argv[2])
const { start } = await import(`${folder}/subjects/tollgate.mjs`)
const { server, seed, signIn } = await start(row, { databaseUrl: null })
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const cookies = await signIn?.(`http://127.0.0.1:${server.address().port}`)
const known = { ...seed, cookies: cookies ?? seed.cookies }
const sent = Array.from({ length: connections }, (_, index) =>
  scripts[row.workload](known, row, index),
)

const SLICE = 40
const SLICES = 200
let turn = 0
for (let unit = 0; unit < 4000; unit++) await serveUnit()
const slices = []
for (let slice = 0; slice < SLICES; slice++) {
  const before = process.cpuUsage()
  for (let unit = 0; unit < SLICE; unit++) await serveUnit()
  const { user, system } = process.cpuUsage(before)
  slices.push((user + system) / SLICE)
}
slices.sort((a, b) => a - b)
process.send(slices[SLICES / 10])
process.exit()

async function serveUnit() {
  const script = sent[turn++ % sent.length]
  while (script.check(await serve(script.request())) === 0);
}

/** What Node would make of the text of a request, and a response that keeps what it is told. */
function serve(text) {
  const [head, body] = text.split('\r\n\r\n')
  const [[method, url], ...lines] = head
    .split('\r\n')
    .map((line, at) => line.split(at ? ': ' : ' '))
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]))
  const message = { method, url, headers, rawHeaders: lines.flat(), on }
  if (body) message.body = body
  function on(event, listener) {
    if (event === 'data' && body) queueMicrotask(() => listener(Buffer.from(body)))
    if (event === 'end') queueMicrotask(listener)
  }
  return new Promise((resolve) => {
    server.emit('request', message, {
      headersSent: false,
      writeHead(status, sentHeaders) {
        this.status = status
        this.head = `\r\nlocation: ${sentHeaders.location}`
        return this
      },
      end(content) {
        resolve({ status: this.status, head: this.head, body: String(content ?? '') })
      },
    })
  })
}
