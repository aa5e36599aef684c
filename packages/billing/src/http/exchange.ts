import { PayloadTooLarge, RequestCutOff } from '../errors.ts'

/** What a route reads and gives back, whatever the framework. */
export interface HttpRequest {
  readonly method: string
  /** As sent: nothing decoded, resolved or rewritten. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  header(name: string): string | null
  /** The raw body, or PayloadTooLarge beyond the limit. */
  text(limit: number): Promise<string>
  /** For the application's own `authenticate`. */
  toRequest(): Request
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array<ArrayBuffer> | null
}

export function fromWebRequest(request: Request): HttpRequest {
  const start = request.url.indexOf('/', request.url.indexOf('://') + 3)
  const target = start < 0 ? '/' : request.url.slice(start)
  return {
    method: request.method,
    ...splitTarget(target),
    header: (name) => request.headers.get(name),
    text: (limit) => readWebBody(request, limit),
    toRequest: () => request,
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

/** Path and query of a request target such as `/stripe/webhook?x=1`. */
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

/** Its cause looks like a lost connection, which must not be taken for the database's. */
export function cutOff(cause?: unknown): RequestCutOff {
  return new RequestCutOff('The request was cut off', { cause })
}

export function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(`A body may have at most ${limit} bytes.`)
}
