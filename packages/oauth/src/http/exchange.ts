import type { Maybe } from '../awaitable.ts'
import { InvalidRequest, PayloadTooLarge } from '../errors.ts'
import type { Session } from '../users/users.ts'

/**
 * What an endpoint reads and what it gives back. Web-standard objects cost more than the work of a
 * whole token request (docs/decisions/0004-plain-exchange.md), so they are made only where somebody
 * needs them: `fetch()` wraps a Request, the Node adapters wrap an IncomingMessage.
 */
export interface HttpRequest {
  readonly method: string
  /** As sent: nothing decoded, resolved or rewritten. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  header(name: string): string | null
  /** The body, or PayloadTooLarge beyond the limit. */
  text(limit: number): Promise<string>
  /** For the application's own hooks. Its body may have been read. */
  toRequest(): Request
  /** Where the framework's own session says who is signed in. */
  readonly signedIn?: SignedInReader | undefined
}

export type SignedInReader = () => Maybe<Session>

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export function fromWebRequest(request: Request, signedIn?: SignedInReader): HttpRequest {
  const { path, query } = splitUrl(request.url)
  return {
    method: request.method,
    path,
    query,
    header: (name) => request.headers.get(name),
    text: (limit) => readWebBody(request, limit),
    toRequest: () => request,
    signedIn,
  }
}

export function toWebResponse(reply: Reply): Response {
  return new Response(reply.body, { status: reply.status, headers: { ...reply.headers } })
}

/** RFC 9110 §9.3.2: HEAD is answered like GET, with its length and without its content. */
export function withoutBody({ status, headers, body }: Reply): Reply {
  const length = String(body === null ? 0 : Buffer.byteLength(body))
  return { status, headers: { 'content-length': length, ...headers }, body: null }
}

/** Path and query of an absolute URL. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start < 0 ? { path: '/', query: '' } : splitTarget(url.slice(start))
}

/** Path and query of a request target such as `/oauth/token?x=1`. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

async function readWebBody(request: Request, limit: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw cutOff(cause)
    })
    if (done) return Buffer.concat(chunks).toString('utf8')
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw tooLarge(limit)
    }
    chunks.push(value)
  }
}

/** The caller went away; nobody reads this, and it is no fault of ours to be logged. */
export function cutOff(cause?: unknown): InvalidRequest {
  return new InvalidRequest('The request was cut off', { cause })
}

export function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`A body may have at most ${limit} bytes.`)
}
