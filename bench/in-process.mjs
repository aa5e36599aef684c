import { connections } from './fixtures.mjs'
import { scripts } from './scripts/index.mjs'

/**
 * Serves a row without a network: its listener receives requests as objects, so that small
 * differences are not hidden by the cost of HTTP.
 * @param {string} folder URL of the `bench` folder of a checkout
 * @returns the loops of the connections: each call of one serves a unit
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

/**
 * Creates the request object that Node would parse from the text, and a response that records its
 * data.
 */
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
        // Converted to bytes, as a socket would do.
        const bytes = Buffer.from(content ?? '')
        resolve({ status: this.status, head: this.head, body: bytes.toString('latin1') })
      },
    })
  })
}
