import type { IncomingMessage, ServerResponse } from 'node:http'
import { cutOff, type HttpRequest, type Reply, splitTarget, tooLarge } from './exchange.ts'

/** Express keeps the whole target in `originalUrl`, and what its parsers read in `body`. */
export type NodeMessage = IncomingMessage & { originalUrl?: string; body?: unknown }

export function fromNodeRequest(message: NodeMessage): HttpRequest {
  const target = message.originalUrl ?? message.url ?? '/'
  return {
    method: message.method ?? 'GET',
    ...splitTarget(target),
    header: (name) => {
      const value = message.headers[name]
      return value === undefined ? null : Array.isArray(value) ? value.join(', ') : value
    },
    text: (limit) => readNodeBody(message, limit),
    toRequest: () =>
      new Request(originOf(message) + (target.startsWith('/') ? target : '/'), {
        method: message.method ?? 'GET',
        headers: webHeaders(message),
      }),
  }
}

/** Strangers choose the Host header; one that is none must not fail the request. */
function originOf({ headers }: IncomingMessage): string {
  const origin = `http://${headers.host ?? 'localhost'}`
  return URL.canParse(origin) ? origin : 'http://localhost'
}

export function sendReply(reply: Reply, response: ServerResponse): void {
  // A time limit of the application's own was quicker; to write once more would throw.
  if (response.headersSent) return
  const body = reply.body ?? ''
  const length = Buffer.byteLength(body)
  response.writeHead(reply.status, { 'content-length': length, ...reply.headers }).end(body)
}

function webHeaders(message: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers)) {
    if (value === undefined || name.startsWith(':')) continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  return headers
}

function readNodeBody(message: NodeMessage, limit: number): Promise<string> {
  if (Number(message.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit))
  const { body } = message
  if (typeof body === 'string') return Promise.resolve(body)
  if (Buffer.isBuffer(body)) return Promise.resolve(body.toString('utf8'))
  if (message.readableEnded) {
    const fix = 'Mount the billing routes before express.json() and other body parsers'
    return Promise.reject(new Error(`The raw body of a webhook is needed, but it was read. ${fix}`))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    message.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        message.pause()
        reject(tooLarge(limit))
      } else {
        chunks.push(chunk)
      }
    })
    message.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    message.on('error', (cause) => reject(cutOff(cause)))
    if (message.destroyed) reject(cutOff())
  })
}
