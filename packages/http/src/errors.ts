const BRAND = Symbol.for('@tollgate/http/HttpError')

/**
 * A problem with a request that is found before or while a route reads it. The package that serves
 * the route responds with its own wording, and must not log it as a failure. `code` identifies the
 * problem.
 */
export type HttpError = RequestCutOff | PayloadTooLarge | MalformedBody | MethodNotAllowed

/** Base class of all HttpErrors: an Error with the headers of its response. */
export abstract class Refusal extends Error {
  /** Identifies the class in other copies of this package. */
  readonly [BRAND] = true

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }

  /** Returns additional headers for the response. */
  headers(): Record<string, string> {
    return {}
  }
}

/**
 * Whether a thrown value is an HttpError. Also recognizes errors of other copies of this package,
 * which bundlers may load.
 */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && BRAND in thrown
}

/**
 * The caller disconnected before the request body had arrived, so no response can be sent. The
 * `cause` of this error looks like that of a lost database connection and must not be mistaken for
 * it.
 */
export class RequestCutOff extends Refusal {
  /**
   * Stable error code. Compare it instead of using `instanceof`, which fails across bundles and
   * copies of this package.
   */
  readonly code = 'request_cut_off'
  /** The HTTP status. */
  readonly status = 400

  constructor(cause?: unknown) {
    super('The request was cut off', { cause })
  }

  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** The request body exceeds the size limit. */
export class PayloadTooLarge extends Refusal {
  /**
   * Stable error code. Compare it instead of using `instanceof`, which fails across bundles and
   * copies of this package.
   */
  readonly code = 'payload_too_large'
  /** The HTTP status. */
  readonly status = 413

  constructor(limit: number) {
    super(`A body may have at most ${limit} bytes.`)
  }

  /** Returns a header that closes the connection, because the rest of the body stays unread. */
  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** A body parser turned the form into something other than a flat list of names and texts. */
export class MalformedBody extends Refusal {
  /**
   * Stable error code. Compare it instead of using `instanceof`, which fails across bundles and
   * copies of this package.
   */
  readonly code = 'malformed_body'
  /** The HTTP status. */
  readonly status = 400
}

/** The requested path exists, but does not support the HTTP method of the request. */
export class MethodNotAllowed extends Refusal {
  /**
   * Stable error code. Compare it instead of using `instanceof`, which fails across bundles and
   * copies of this package.
   */
  readonly code = 'method_not_allowed'
  /** The HTTP status. */
  readonly status = 405
  /** The methods that the path supports. */
  readonly allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super(`This endpoint accepts only ${allowed.join(', ')}.`)
    this.allowed = allowed
  }

  /** Returns the header `Allow` of the response, which RFC 9110 §15.5.6 requires. */
  override headers(): Record<string, string> {
    return { allow: this.allowed.join(', ') }
  }
}
