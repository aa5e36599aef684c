import { createServer, type Server } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { ALLOWED_METHODS, isForbiddenMethod } from '@tollgate/http'

type Handler = (request: Request, env: Partial<HttpBindings>) => Response | Promise<Response>

export interface NodeServer {
  /** Port on which the server listens. The requested port before it listens. */
  readonly port: number
  /**
   * Starts to listen.
   * @throws Error that says why the address cannot be used.
   */
  listen(): Promise<void>
  /** Starts passing requests to the handler. Before that, every request gets a 503. */
  serve(handler: Handler): void
  connections(): number
  /**
   * Stops accepting connections. Open connections are closed with the response to their next
   * request, or when they have been idle for `keepAliveTimeout`. Resolves when all are closed.
   */
  retire(): Promise<void>
  /**
   * Stops accepting connections. Waits at most the given number of milliseconds for requests in
   * progress, then closes their connections.
   */
  close(graceMilliseconds: number): Promise<void>
}

const SECOND = 1000

/** Timeouts of HTTP connections, which cut off slow senders (threat L1). */
export interface Timeouts {
  /** Maximum time for receiving the request headers, in milliseconds. */
  readonly headersTimeout: number
  /** Maximum time for receiving the whole request, in milliseconds. */
  readonly requestTimeout: number
  /** Maximum time that an idle connection may wait for its next request, in milliseconds. */
  readonly keepAliveTimeout: number
  /** Interval at which `headersTimeout` and `requestTimeout` are checked, in milliseconds. */
  readonly connectionsCheckingInterval: number
}

const TIMEOUTS: Timeouts = {
  headersTimeout: 15 * SECOND,
  requestTimeout: 30 * SECOND,
  keepAliveTimeout: 75 * SECOND,
  connectionsCheckingInterval: 5 * SECOND,
}
const MAX_HEADER_BYTES = 16 * 1024
const SOCKET_TIMEOUT = 120 * SECOND

export function createNodeServer(options: {
  readonly host: string
  readonly port: number
  readonly timeouts?: Partial<Timeouts>
}): NodeServer {
  const timeouts = { ...TIMEOUTS, ...options.timeouts }
  let handler: Handler = () =>
    new Response('{"status":"starting or ending"}', {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '1' },
    })
  let retiring = false
  const respond = getRequestListener((request, env) => handler(request, env as HttpBindings), {
    overrideGlobalObjects: false,
  })
  const listener: typeof respond = (incoming, outgoing) => {
    const { host } = incoming.headers
    if (retiring) outgoing.setHeader('connection', 'close')
    if (isForbiddenMethod(incoming.method ?? '')) {
      const allow = ALLOWED_METHODS.join(', ')
      outgoing.writeHead(405, { 'content-type': 'application/json', connection: 'close', allow })
      outgoing.end('{"error":"method_not_allowed"}')
      return Promise.resolve()
    }
    // Handlers may parse the host in different ways: `18446744073709551616` looks like a host but
    // is none.
    if (host === undefined || URL.canParse(`http://${host}`)) return respond(incoming, outgoing)
    outgoing.writeHead(400, { 'content-type': 'application/json', connection: 'close' })
    outgoing.end(
      '{"error":"invalid_request","error_description":"The Host header is not a valid host"}',
    )
    return Promise.resolve()
  }
  const server: Server = createServer({ ...timeouts, maxHeaderSize: MAX_HEADER_BYTES }, listener)
  // For peers that neither send nor read.
  server.setTimeout(SOCKET_TIMEOUT)
  let open = 0
  server.on('connection', (socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
  })
  return {
    get port() {
      return (server.address() as AddressInfo | null)?.port ?? options.port
    },
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', (error) => reject(explain(error, options)))
        server.listen({ host: options.host, port: options.port, backlog: 4096 }, resolve)
      }),
    serve(given) {
      handler = given
    },
    connections: () => open,
    retire: () =>
      new Promise((resolve) => {
        retiring = true
        const enough = setTimeout(resolve, timeouts.keepAliveTimeout)
        // `close()` of HTTP would also close idle connections, on which a request may be arriving.
        NetServer.prototype.close.call(server, () => {
          clearTimeout(enough)
          resolve()
        })
      }),
    close: (grace) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), grace)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

function explain(error: Error, { host, port }: { host: string; port: number }): Error {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new Error(
      `Port ${port} is taken; stop the program that uses it, or set PORT to another port`,
      {
        cause: error,
      },
    )
  }
  return new Error(`Cannot listen on ${host}:${port}: ${error.message}`, { cause: error })
}
