/** The HTTP status that a route responds with, by error code. */
const STATUS = {
  request_cut_off: 400,
  payload_too_large: 413,
  malformed_body: 400,
  method_not_allowed: 405,
} as const

/**
 * A problem with a request that is found before or while a route reads it. The package that serves
 * the route responds with its own wording, and must not log it as a failure. `code` identifies the
 * problem.
 */
export type HttpError = RequestCutOff | PayloadTooLarge | MalformedBody | MethodNotAllowed

/** Base class of all HttpErrors: an Error with the headers of its response. */
export abstract class Refusal extends Error {
  /**
   * Stable error code. Compare it instead of using `instanceof` with a specific class, which fails
   * across bundles and copies of this package.
   */
  abstract readonly code: keyof typeof STATUS
  /** The HTTP status. */
  abstract readonly status: number

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
 * Makes `instanceof` with this class true for errors of every copy of its package, which `brand`
 * names. Bundlers may load a package more than once per process: Next.js does, for route handlers
 * and for `instrumentation.ts`. Subclasses still recognize only errors of their own copy.
 */
export function recognizeCopies(Base: abstract new (...args: never) => Error, brand: string): void {
  const mark = Symbol.for(brand)
  const sameCopy = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(Base.prototype, mark, { value: true })
  Object.defineProperty(Base, Symbol.hasInstance, {
    value(this: unknown, thrown: unknown): boolean {
      if (this !== Base) return sameCopy.call(this, thrown)
      if (typeof thrown !== 'object' || thrown === null) return false
      return mark in thrown && !Object.hasOwn(thrown, mark) // the prototype itself is not an instance
    },
  })
}

recognizeCopies(Refusal, '@tollgate/http/HttpError')

/**
 * Whether a thrown value is an HttpError. Also recognizes errors of other copies of this package,
 * which bundlers may load.
 */
export function isHttpError(thrown: unknown): thrown is HttpError {
  return thrown instanceof Refusal
}

/** Makes the base class of errors with this code and its HTTP status. */
function defineError<Code extends keyof typeof STATUS>(code: Code) {
  abstract class CodedError extends Refusal {
    override readonly code = code
    override readonly status = STATUS[code]
  }
  return CodedError
}

/**
 * The caller disconnected before the request body had arrived, so no response can be sent. The
 * `cause` of this error looks like that of a lost database connection and must not be mistaken for
 * it.
 */
export class RequestCutOff extends defineError('request_cut_off') {
  constructor(cause?: unknown) {
    super('The request was cut off', { cause })
  }

  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** The request body exceeds the size limit. */
export class PayloadTooLarge extends defineError('payload_too_large') {
  constructor(limit: number) {
    super(`A body may have at most ${limit} bytes.`)
  }

  /** Returns a header that closes the connection, because the rest of the body stays unread. */
  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** A body parser turned the form into something other than a flat list of names and texts. */
export class MalformedBody extends defineError('malformed_body') {}

/** The requested path exists, but does not support the HTTP method of the request. */
export class MethodNotAllowed extends defineError('method_not_allowed') {
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
