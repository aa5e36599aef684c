import { defineError, OAuthError } from './oauth-error.ts'

/** An error of the JSON management routes. Its body is `{ message }`. */
export abstract class ManagementError extends OAuthError {
  override body(): Record<string, unknown> {
    return { message: this.message }
  }
}

/** The route requires a signed-in person. */
export class Unauthenticated extends defineError('unauthenticated', ManagementError) {}

/** A form or request lacks the CSRF token of the person's session, or comes from another site. */
export class CsrfMismatch extends defineError('csrf_mismatch', ManagementError) {}

/** The object does not exist, or belongs to another person. */
export class NotFound extends defineError('not_found', ManagementError) {}

/** The object has changed since the caller read it. Read it again and repeat the change. */
export class Conflict extends defineError('conflict', ManagementError) {}

/** The path exists, but not for this HTTP method. */
export class MethodNotAllowed extends defineError('method_not_allowed', ManagementError) {
  readonly #allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super(`This endpoint accepts only ${allowed.join(', ')}.`)
    this.#allowed = allowed
  }

  override headers(): Record<string, string> {
    return { allow: this.#allowed.join(', ') }
  }
}

/** The body is larger than the server reads. */
export class PayloadTooLarge extends defineError('payload_too_large', ManagementError) {
  /** Returns the header that closes the connection, because the rest of the body is not read. */
  override headers(): Record<string, string> {
    return { connection: 'close' }
  }
}

/** The body has a content type that the route does not read. */
export class UnsupportedMediaType extends defineError('unsupported_media_type', ManagementError) {}

/** A JSON request has invalid fields. */
export class ValidationFailed extends defineError('validation_failed', ManagementError) {
  /** Error messages by field name. */
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
