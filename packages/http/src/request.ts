/**
 * What a route reads, whatever the framework. Web-standard objects cost more than the work of a whole
 * token request (docs/decisions/0004-plain-exchange.md), so they are made only where somebody needs one.
 */
export interface HttpRequest {
  /** In capital letters. */
  readonly method: string
  /** As sent: nothing decoded, resolved or rewritten. */
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** By its name in small letters. */
  header(name: string): string | null
  /**
   * The body; PayloadTooLarge beyond the limit, RequestCutOff when the caller has gone. What a body parser
   * has read is written out again.
   */
  text(limit: number): Promise<string>
  /** The body as it was sent, for signatures: an Error when a body parser has it. */
  rawText(limit: number): Promise<string>
  /**
   * For the application's own hooks. Its address is below `baseUrl`, which is configured, because the
   * `Host` header is a stranger's choice. It may come without the body.
   */
  toRequest(baseUrl: string): Request
  /** Asks the framework's own session who is signed in. Whoever calls it knows what to expect. */
  readonly signedIn?: SignedInReader | undefined
  /** Ends the session of the framework that the request belongs to. */
  readonly signOut?: SignedInReader | undefined
  /**
   * The caller's address as the adapter knows it, for limits. Undefined where the adapter cannot tell, as for a Web
   * request.
   */
  readonly address?: string | undefined
}

/** Reads the caller's address. */
export type AddressReader = () => string | undefined

/** Asks the application about a request; whoever calls it knows what to expect. */
export type SignedInReader = () => unknown

/** A browser that navigates, rather than a program that wants JSON or takes HTML only where there is nothing else. */
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

/** The methods that any route may have. */
export const ALLOWED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Whether the Fetch standard forbids requests with this method: one that reads it from Node cannot become a `Request`. */
export function isForbiddenMethod(method: string): boolean {
  return ['CONNECT', 'TRACE', 'TRACK'].includes(method.toUpperCase())
}

/** Path and query of a request target such as `/oauth/token?x=1`. */
export function splitTarget(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?')
  if (mark < 0) return { path: target, query: '' }
  return { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

/** The address of a request target below the configured URL. */
export function publicUrl(baseUrl: string, { path, query }: Pick<HttpRequest, 'path' | 'query'>) {
  const origin = originOf(baseUrl)
  // A target that is a whole address, as proxies get them, is none of ours.
  if (!path.startsWith('/')) return origin
  return query === '' ? origin + path : `${origin}${path}?${query}`
}

export function originOf(url: string): string {
  return url.split('/', 3).join('/')
}

/** For whoever checks a signature; the fix is the same in every framework. */
export function bodyAlreadyRead(): Error {
  return new Error(
    'The body is needed as it was sent, but it has been read. Mount these routes before express.json() and other body parsers.',
  )
}
