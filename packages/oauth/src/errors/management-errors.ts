import { OAuthError } from './oauth-error.ts'

/** Errors of the JSON management routes: `{ message }`, as their callers expect. */
export abstract class ManagementError extends OAuthError {
  override body(): Record<string, unknown> {
    return { message: this.message }
  }
}

/** A route for people who are signed in, and nobody is. */
export class Unauthenticated extends ManagementError {
  readonly code = 'unauthenticated'
  override readonly status = 401
}

/** A form or request of a signed-in person without the token of their session. */
export class CsrfMismatch extends ManagementError {
  readonly code = 'csrf_mismatch'
  override readonly status = 403
}

/** There is nothing there, or nothing of this person's. */
export class NotFound extends ManagementError {
  readonly code = 'not_found'
  override readonly status = 404
}

/** The address exists, for another method. */
export class MethodNotAllowed extends ManagementError {
  readonly code = 'method_not_allowed'
  override readonly status = 405
  readonly #allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super(`This address takes ${allowed.join(', ')}.`)
    this.#allowed = allowed
  }

  override headers(): Record<string, string> {
    return { allow: this.#allowed.join(', ') }
  }
}

/** A body beyond what is read. */
export class PayloadTooLarge extends ManagementError {
  readonly code = 'payload_too_large'
  override readonly status = 413

  /** The rest of the body stays unread, so nothing else can follow on this connection. */
  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** A body of another kind than the route reads. */
export class UnsupportedMediaType extends ManagementError {
  readonly code = 'unsupported_media_type'
  override readonly status = 415
}

/** Fields of a JSON request that are wrong, each with its reason. */
export class ValidationFailed extends ManagementError {
  readonly code = 'validation_failed'
  override readonly status = 422
  /** Field → what is wrong with it. */
  readonly errors: Readonly<Record<string, readonly string[]>>

  constructor(errors: Readonly<Record<string, readonly string[]>>) {
    const texts = Object.values(errors).flat()
    const more = texts.length - 1
    const rest = more > 0 ? ` (and ${more} more error${more > 1 ? 's' : ''})` : ''
    super(`${texts[0] ?? 'The request is invalid.'}${rest}`)
    this.errors = errors
  }

  override body(): Record<string, unknown> {
    return { message: this.message, errors: this.errors }
  }
}
