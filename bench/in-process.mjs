import { connections } from './fixtures.mjs'
import { scripts } from './scripts/index.mjs'

/**
 * A server of a row without a network: requests are given to its listener as objects. So a microsecond of ours
 * is not lost among those of HTTP.
 * @param {string} folder the `bench` of a checkout, as an address
 * @returns the connections' own loops: each call of one serves a unit
 */
export async function serveInProcess(folder, row, databaseUrl) {
  const { start } = await import(`${folder}/subjects/tollgate.mjs`)
  const { server, seed, signIn } = await start(row, { databaseUrl })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cookies = await signIn?.(`http://127.0.0.1:${server.address().port}`)
  const known = { ...seed, cookies: cookies ?? seed.cookies }
  return Array.from({ length: connections }, (_, index) => {
    const script = scripts[row.workload](known, row, index)
    return async () => {
      while (script.check(await serve(server, script.request())) === 0);
    }
  })
}

/** What Node would make of the text of a request, and a response that keeps what it is told. */
function serve(server, text) {
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
        // As bytes, because that is what a socket would make of it.
        const bytes = Buffer.from(content ?? '')
        resolve({ status: this.status, head: this.head, body: bytes.toString('latin1') })
      },
    })
  })
}
