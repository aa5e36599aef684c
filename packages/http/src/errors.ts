const BRAND = Symbol.for('@tollgate/http/HttpError')

/**
 * What is wrong with a request before a route has read it. A package that serves routes writes it in its
 * own words; none of these is a failure to be logged. `code` tells them apart.
 */
export type HttpError = RequestCutOff | PayloadTooLarge | MalformedBody | MethodNotAllowed

/** What every HttpError is: an Error that knows the headers to send with it. */
export abstract class Refusal extends Error {
  /** Marks it for other copies of this package. */
  readonly [BRAND] = true

  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }

  /** Headers that the response has because of it. */
  headers(): Record<string, string> {
    return {}
  }
}

/** Works across copies too: bundlers may load this package more than once in a process. */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Error && BRAND in thrown
}

/**
 * The caller went away before its body had arrived, so nobody reads the response. Its cause looks like a
 * lost connection and must not be taken for the database's.
 */
export class RequestCutOff extends Refusal {
  /** Tell errors apart by it: that works across bundles and copies of this package. */
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

/** A body beyond what is read. */
export class PayloadTooLarge extends Refusal {
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'payload_too_large'
  /** The HTTP status. */
  readonly status = 413

  constructor(limit: number) {
    super(`A body may have at most ${limit} bytes.`)
  }

  /** The rest of the body stays unread, so nothing else can follow on this connection. */
  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** A body parser made something of the form that is no list of names and texts. */
export class MalformedBody extends Refusal {
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'malformed_body'
  /** The HTTP status. */
  readonly status = 400
}

/** The address exists, for another method. */
export class MethodNotAllowed extends Refusal {
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'method_not_allowed'
  /** The HTTP status. */
  readonly status = 405
  /** The methods it exists for. */
  readonly allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super(`This address takes ${allowed.join(', ')}.`)
    this.allowed = allowed
  }

  /** RFC 9110 §15.5.6 wants the header. */
  override headers(): Record<string, string> {
    return { allow: this.allowed.join(', ') }
  }
}
