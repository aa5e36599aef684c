/**
 * An HTTP request, in the form that routes read in every framework. A Web-standard `Request` is
 * created only on demand, because creating one costs more than all other work for a token request
 * (docs/decisions/0004-plain-exchange.md).
 */
export interface HttpRequest {
  /** HTTP method in upper case. */
  readonly method: string
  /** Path as it was sent: not decoded, resolved or rewritten. */
  readonly path: string
  /** Query string without the question mark. */
  readonly query: string
  /** Returns a header by its lower-case name, or `null` if it is missing. */
  header(name: string): string | null
  /**
   * Reads the body as text, of at most `limit` bytes. A body that a parser has already read is
   * serialized again.
   * @throws {PayloadTooLarge} beyond the limit.
   * @throws {RequestCutOff} if the caller has disconnected.
   */
  text(limit: number): Promise<string>
  /**
   * Reads the body exactly as it was sent, to verify signatures.
   * @throws {Error} if a body parser has already parsed it.
   */
  rawText(limit: number): Promise<string>
  /**
   * Creates a Web request for functions of the application. Its URL begins with the configured
   * `baseUrl`, because clients choose the `Host` header. It usually has no body.
   */
  toRequest(baseUrl: string): Request
  /**
   * Asks the framework's session who is signed in. The type of the result depends on the package
   * that calls it.
   */
  readonly signedIn?: SignedInReader | undefined
  /** Ends the session, managed by the framework, that the request belongs to. */
  readonly signOut?: SignedInReader | undefined
  /**
   * The caller's IP address, for rate limits. `undefined` if the adapter cannot know it, as for a
   * Web request.
   */
  readonly address?: string | undefined
}

/** Returns the caller's IP address. */
export type IpAddressReader = () => string | undefined

/**
 * Calls the application's function `signedIn` or `signOut` for a request. The type of the result
 * depends on the package that calls it.
 */
export type SignedInReader = () => unknown

/**
 * Whether the request comes from a browser that navigates. `false` for programs that prefer JSON or
 * accept HTML only as a last resort.
 */
export function wantsHtml(request: Pick<HttpRequest, 'header'>): boolean {
  const accepted = (request.header('accept') ?? '').toLowerCase().split(',').map(readAccepted)
  const [html, json] = ['text/html', 'application/json'].map((wanted) =>
    accepted.findIndex(({ type, weight }) => type === wanted && weight > 0),
  ) as [number, number]
  if (html < 0 || json < 0) return html >= 0
  const difference = weightAt(accepted, html) - weightAt(accepted, json)
  return difference === 0 ? html < json : difference > 0
}

interface Accepted {
  readonly type: string
  readonly weight: number
}

function readAccepted(each: string): Accepted {
  const [type = '', ...parameters] = each.split(';').map((part) => part.trim())
  const weight = parameters.find((part) => part.startsWith('q='))?.slice(2)
  return { type, weight: weight === undefined ? 1 : Number(weight) || 0 }
}

function weightAt(accepted: readonly Accepted[], place: number): number {
  return accepted[place]?.weight ?? 0
}

/** The methods that routes can have. */
export const ALLOWED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/**
 * Whether the Fetch standard forbids requests with this method, so that no Web `Request` can be
 * created.
 */
export function isForbiddenMethod(method: string): boolean {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase())
}

/** Splits a request target such as `/oauth/token?x=1` into path and query. */
export function splitRequestTarget(target: string): {
  readonly path: string
  readonly query: string
} {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** Builds the URL of a request below the configured `baseUrl`. */
export function buildPublicUrl(
  baseUrl: string,
  { path, query }: Pick<HttpRequest, 'path' | 'query'>,
) {
  const origin = getOrigin(baseUrl)
  // A target that is an absolute URL, as proxies receive, belongs to no route.
  if (!path.startsWith('/')) return origin
  return query === '' ? origin + path : `${origin}${path}?${query}`
}

export function getOrigin(url: string): string {
  return url.split('/', 3).join('/')
}

/**
 * Creates the error about a body that a parser has already read. The fix is the same in every
 * framework.
 */
export function createBodyReadError(): Error {
  return new Error(
    'The raw request body is needed, but a body parser has already read it. Mount these routes before express.json() and other body parsers.',
  )
}
