import type { ServerResponse } from 'node:http'
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CallFate } from './trouble.ts'

export interface HttpRequest {
  readonly method: string
  /** Without the query; still percent-encoded. */
  readonly path: string
  /** Without the `?`. */
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** How the reply is spoilt on its way. */
  readonly fate?: Exclude<CallFate, '429' | '500' | 'saved-500' | 'made-500'>
}

export interface ServeOptions {
  /** 0 takes a free port. */
  readonly port: number
  readonly host?: string
  /** Bytes; a longer body is answered with `tooLarge()`. */
  readonly bodyLimit?: number
  readonly handle: (request: HttpRequest) => HttpReply | Promise<HttpReply>
  readonly tooLarge?: () => HttpReply
  /** A bug of ours: the provider's own bare 500. */
  readonly failed?: (error: unknown) => HttpReply
}

export interface HttpHandle {
  readonly host: string
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** A loopback HTTP/1.1 server with keep-alive. */
export async function serveHttp(options: ServeOptions): Promise<HttpHandle> {
  const host = options.host ?? '127.0.0.1'
  const limit = options.bodyLimit ?? 1_048_576
  const server = createServer((incoming, response) => {
    readBody(incoming, limit)
      .then((body) => {
        if (body === 'aborted') return null
        if (body === 'too-large') return options.tooLarge?.() ?? { status: 413 }
        return options.handle(toRequest(incoming, body))
      })
      .catch((error: unknown) => options.failed?.(error) ?? { status: 500 })
      .then((reply) => reply && send(response, reply))
      .catch(() => response.destroy())
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

function send(response: ServerResponse, reply: HttpReply): void {
  const { fate } = reply
  // The client gives up by itself, or the server closes.
  if (fate === 'timeout') return
  if (typeof fate === 'object' && 'until' in fate) {
    void fate.until.then(() => write(response, reply))
    return
  }
  if (typeof fate === 'object') {
    const timer = setTimeout(() => write(response, reply), fate.slowMs)
    response.once('close', () => clearTimeout(timer))
    return
  }
  write(response, reply)
}

function write(response: ServerResponse, reply: HttpReply): void {
  const body = Buffer.from(reply.body ?? '')
  response.writeHead(reply.status, { ...reply.headers, 'content-length': body.length })
  if (reply.fate === 'half-written') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy())
    return
  }
  response.end(body)
}
