import { PayloadTooLarge, RequestCutOff } from './errors.ts'
import {
  buildPublicUrl,
  createBodyReadError,
  getOrigin,
  type HttpRequest,
  type IpAddressReader,
  type SignedInReader,
  splitRequestTarget,
} from './request.ts'
import { createNotFoundResponse, type HttpResponse } from './response.ts'
import type { HttpRoutes } from './routes.ts'

/** Converts a Web request to an HttpRequest. */
export function fromWebRequest(
  request: Request,
  signedIn?: SignedInReader,
  signOut?: SignedInReader,
  address?: IpAddressReader,
): HttpRequest {
  return new WebRequest(request, signedIn, signOut, address)
}

export class WebRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly signedIn: SignedInReader | undefined
  readonly signOut: SignedInReader | undefined
  readonly #request: Request
  readonly #address: IpAddressReader | undefined

  constructor(
    request: Request,
    signedIn?: SignedInReader,
    signOut?: SignedInReader,
    address?: IpAddressReader,
  ) {
    const { path, query } = splitUrl(request.url)
    this.method = request.method
    this.path = path
    this.query = query
    this.signedIn = signedIn
    this.signOut = signOut
    this.#request = request
    this.#address = address
  }

  get address(): string | undefined {
    return this.#address?.()
  }

  header(name: string): string | null {
    return this.#request.headers.get(name)
  }

  text(limit: number): Promise<string> {
    return readWebBody(this.#request, limit)
  }

  rawText(limit: number): Promise<string> {
    return readWebBody(this.#request, limit)
  }

  toRequest(baseUrl: string): Request {
    const { method, headers, signal, url } = this.#request
    if (url.startsWith(`${getOrigin(baseUrl)}/`)) return this.#request
    return new Request(buildPublicUrl(baseUrl, this), { method, headers, signal })
  }
}

/** Converts an HttpResponse to a Web response. */
export function toWebResponse({ status, headers, body }: HttpResponse): Response {
  const single: Record<string, string> = {}
  const several: [string, readonly string[]][] = []
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') single[name] = value
    else several.push([name, value])
  }
  const response = new Response(body, { status, headers: single })
  for (const [name, values] of several) {
    for (const value of values) response.headers.append(name, value)
  }
  return response
}

/** Handles a Web request with the routes. Requests for other paths get a 404. */
export async function respondToWebRequest(
  routes: Pick<HttpRoutes, 'handle'>,
  request: Request,
): Promise<Response> {
  return toWebResponse((await routes.handle(new WebRequest(request))) ?? createNotFoundResponse())
}

/** Splits an absolute URL into path and query. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start < 0 ? { path: '/', query: '' } : splitRequestTarget(url.slice(start))
}

async function readWebBody(request: Request, limit: number): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw new PayloadTooLarge(limit)
  if (request.bodyUsed) throw createBodyReadError()
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new RequestCutOff(cause)
    })
    if (done) return Buffer.concat(chunks).toString('utf8')
    size += value.byteLength
    if (size > limit) {
      await reader.cancel()
      throw new PayloadTooLarge(limit)
    }
    chunks.push(value)
  }
}
