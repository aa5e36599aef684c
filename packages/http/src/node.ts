import type { IncomingMessage, ServerResponse } from 'node:http'
import { MalformedBody, MethodNotAllowed, PayloadTooLarge, RequestCutOff } from './errors.ts'
import {
  ALLOWED_METHODS,
  buildPublicUrl,
  createBodyReadError,
  type HttpRequest,
  type IpAddressReader,
  isForbiddenMethod,
  type SignedInReader,
  splitRequestTarget,
} from './request.ts'
import type { HttpResponse } from './response.ts'

/**
 * Node's request with the additions of Express: the whole target in `originalUrl`, and the parsed
 * body in `body`.
 */
export type NodeMessage = IncomingMessage & {
  /** The whole request target, even if a router is mounted below a path. */
  originalUrl?: string
  /** The body as an earlier body parser left it. */
  body?: unknown
}

/** Converts Node's request to an HttpRequest. The body is read only on demand. */
export function fromNodeRequest(
  message: NodeMessage,
  signedIn?: SignedInReader,
  signOut?: SignedInReader,
  address?: IpAddressReader,
): HttpRequest {
  return new NodeRequest(message, signedIn, signOut, address)
}

/**
 * An HttpRequest that reads from Node's request. It is a class, so that the objects created for
 * every request share their methods.
 */
class NodeRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly signedIn: SignedInReader | undefined
  readonly signOut: SignedInReader | undefined
  readonly #message: NodeMessage
  readonly #address: IpAddressReader | undefined

  constructor(
    message: NodeMessage,
    signedIn: SignedInReader | undefined,
    signOut: SignedInReader | undefined,
    address: IpAddressReader | undefined,
  ) {
    const { path, query } = splitRequestTarget(message.originalUrl ?? message.url ?? '/')
    this.method = message.method ?? 'GET'
    this.path = path
    this.query = query
    this.signedIn = signedIn
    this.signOut = signOut
    this.#message = message
    this.#address = address
  }

  get address(): string | undefined {
    return this.#address?.()
  }

  header(name: string): string | null {
    return readHeader(this.#message, name)
  }

  text(limit: number): Promise<string> {
    return readBody(this.#message, limit, encodeParsed)
  }

  rawText(limit: number): Promise<string> {
    return readBody(this.#message, limit, requireRaw)
  }

  toRequest(baseUrl: string): Request {
    // The Fetch standard cannot express these methods, and no route supports them.
    if (isForbiddenMethod(this.method)) throw new MethodNotAllowed(ALLOWED_METHODS)
    const request = new Request(buildPublicUrl(baseUrl, this), { method: this.method })
    copyHeaders(this.#message, request.headers)
    return request
  }
}

/** Sends an HttpResponse through Node. */
export function sendResponse(
  { status, headers, body }: HttpResponse,
  response: ServerResponse,
): void {
  // A timeout of the application has already responded; writing again would throw.
  if (response.headersSent) return
  const length = body === null ? 0 : Buffer.byteLength(body)
  response.writeHead(status, { 'content-length': length, ...headers }).end(body)
}

/**
 * Returns a header of the request, or `null` if it is missing. If a request has two `Authorization`
 * headers, Node silently drops the second one. This function then returns a text with two values,
 * which no parser accepts.
 */
export function readHeader(message: IncomingMessage, name: string): string | null {
  const value = message.headers[name]
  if (value === undefined) return null
  if (name === 'authorization')
    return hasDuplicateHeader(message) ? `${value}, ${value}` : String(value)
  return Array.isArray(value) ? value.join(', ') : value
}

function hasDuplicateHeader(message: IncomingMessage): boolean {
  const { rawHeaders } = message
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 13 && name.toLowerCase() === 'authorization') count += 1
  }
  return count > 1
}

function copyHeaders(message: IncomingMessage, headers: Headers): void {
  for (const [name, value] of Object.entries(message.headers)) {
    if (value === undefined || name.startsWith(':')) continue
    headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
}

/** Reads the body. `fromParser` serializes a body that a parser has already read. */
function readBody(
  message: NodeMessage,
  limit: number,
  fromParser: (message: NodeMessage) => string,
): Promise<string> {
  if (Number(message.headers['content-length'] ?? 0) > limit) {
    return Promise.reject(new PayloadTooLarge(limit))
  }
  if (message.readableEnded || message.body !== undefined) {
    return Promise.resolve(message).then(fromParser)
  }
  return new Promise((resolve, reject) => {
    if (message.destroyed) {
      reject(new RequestCutOff())
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    message.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) {
        message.pause()
        reject(new PayloadTooLarge(limit))
      } else {
        chunks.push(chunk)
      }
    })
    message.on('end', () => {
      const [first] = chunks
      resolve(
        chunks.length === 1 && first
          ? first.toString('utf8')
          : Buffer.concat(chunks).toString('utf8'),
      )
    })
    // Not `error`: a message that is destroyed without an error would never settle.
    message.on('close', () => {
      // Every message closes in the end, and creating an unused error is expensive because of its
      // stack.
      if (!message.readableEnded) reject(new RequestCutOff(message.errored))
    })
  })
}

/** Serializes a body that an earlier body parser has read, so that our own rules can parse it. */
function encodeParsed({ body, headers }: NodeMessage): string {
  if (typeof body === 'string') return body
  if (Buffer.isBuffer(body)) return body.toString('utf8')
  if (typeof body !== 'object' || body === null) return ''
  if (headers['content-type']?.includes('json')) return JSON.stringify(body)
  return Object.entries(body)
    .flatMap(([name, value]) => [value].flat().map((text) => [name, requireText(text)]))
    .map((pair) => pair.map(encodeText).join('='))
    .join('&')
}

/**
 * Returns a body that an earlier parser has kept as text or bytes, and therefore unchanged.
 * @throws {Error} if the parser has turned the body into something else.
 */
function requireRaw({ body }: NodeMessage): string {
  if (typeof body === 'string') return body
  if (Buffer.isBuffer(body)) return body.toString('utf8')
  throw createBodyReadError()
}

/** Rejects values that are not text: some parsers turn `a[b]=c` into objects. */
function requireText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new MalformedBody('Parameters must be plain text')
}

function encodeText(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch (cause) {
    throw new MalformedBody('A parameter is not text', { cause })
  }
}
