import type { ServerResponse } from 'node:http'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { isLocalName } from './local-names.ts'
import type { AppliedCallFault } from './trouble.ts'

/** An HTTP request whose body has been read completely. */
export interface HttpRequest {
  readonly method: string
  /** Path of the request's URL without the query, still percent-encoded. */
  readonly path: string
  /** Query of the request's URL without the leading `?`. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface HttpResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Response body. A stream is sent unchanged: of the simulated failures, only `timeout`, delays
   * and holding apply to it.
   */
  readonly body?: string | Uint8Array | Readable
  /** Function that is called once the response has been sent or the caller has disconnected. */
  readonly whenDone?: () => void
  /**
   * Simulated failure of the transmission, such as a lost or half-written response. Normally
   * absent.
   */
  readonly fate?: Exclude<AppliedCallFault, '429' | '500' | 'saved-500' | 'made-500'>
}

export interface HttpServeOptions {
  /** Port of the server. 0 takes a free port. */
  readonly port: number
  readonly host?: string
  /** Host names accepted in addition to local names (see `isLocalName`). */
  readonly allowedHosts?: readonly string[] | undefined
  /**
   * Largest accepted request body in bytes. A longer body gets the response that `tooLarge()`
   * returns.
   * @default 1_048_576
   */
  readonly bodyLimit?: number
  readonly handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>
  readonly tooLarge?: () => HttpResponse
  /**
   * Function that is called before each response is sent, to persist the state that the response
   * reports.
   */
  readonly beforeResponse?: () => void
  /**
   * Builds the response to an internal error, in the format of the provider's own 500 responses.
   * The error itself is written to standard error.
   */
  readonly failed?: () => HttpResponse
}

export interface HttpServer {
  readonly host: string
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** Starts an HTTP/1.1 server with keep-alive. It listens on loopback only, unless `host` is set. */
export async function serveHttp(options: HttpServeOptions): Promise<HttpServer> {
  const host = options.host ?? '127.0.0.1'
  const limit = options.bodyLimit ?? 1_048_576
  const server = createServer((incoming, outgoing) => {
    readBody(incoming, limit)
      .then((body) => {
        if (body === 'aborted') return null
        const { host: called } = incoming.headers
        if (!isLocalName(called, options.allowedHosts)) return findHostProblem(called)
        if (body === 'too-large') return options.tooLarge?.() ?? { status: 413 }
        return options.handle(toRequest(incoming, body))
      })
      .catch((error: unknown) => {
        process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
        return options.failed?.() ?? { status: 500 }
      })
      .then((response) => {
        options.beforeResponse?.()
        if (response) send(outgoing, response)
      })
      .catch(() => outgoing.destroy())
  })
  server.keepAliveTimeout = 30_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    host,
    port,
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function findHostProblem(host = ''): HttpResponse {
  const body = `The sandbox does not accept the host name ${host}, because a web site could have sent a browser here. Use 127.0.0.1, localhost, or a name such as sandbox.test. If the name is yours, start the sandbox with --allow-host NAME (allowedHosts of startSandbox).\n`
  return { status: 421, headers: { 'content-type': 'text/plain; charset=utf-8' }, body }
}

function toRequest(incoming: IncomingMessage, body: Buffer): HttpRequest {
  const target = incoming.url ?? '/'
  const mark = target.indexOf('?')
  return {
    method: incoming.method ?? 'GET',
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? '' : target.slice(mark + 1),
    headers: incoming.headers,
    body,
  }
}

function readBody(
  incoming: IncomingMessage,
  limit: number,
): Promise<Buffer | 'aborted' | 'too-large'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
    })
    incoming.on('end', () => resolve(size > limit ? 'too-large' : Buffer.concat(chunks, size)))
    incoming.on('error', () => resolve('aborted'))
    incoming.on('close', () => resolve('aborted'))
  })
}

function send(outgoing: ServerResponse, response: HttpResponse): void {
  const { fate, whenDone } = response
  if (whenDone) {
    if (outgoing.destroyed) whenDone()
    else outgoing.once('close', whenDone)
  }
  // Never answers: the client runs into its timeout, or the server closes.
  if (fate === 'timeout') return
  if (typeof fate === 'object' && 'until' in fate) {
    void fate.until.then(() => write(outgoing, response))
    return
  }
  if (typeof fate === 'object') {
    const timer = setTimeout(() => write(outgoing, response), fate.slowMs)
    outgoing.once('close', () => clearTimeout(timer))
    return
  }
  write(outgoing, response)
}

function write(outgoing: ServerResponse, response: HttpResponse): void {
  if (response.body instanceof Readable) {
    outgoing.writeHead(response.status, response.headers)
    // Errors need no handling: a caller who disconnects early knows that the body was incomplete.
    pipeline(response.body, outgoing, () => undefined)
    return
  }
  const body = Buffer.from(response.body ?? '')
  outgoing.writeHead(response.status, { ...response.headers, 'content-length': body.length })
  if (response.fate === 'half-written') {
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy())
    return
  }
  outgoing.end(body)
}
