/** The `error` values of RFC 6749, RFC 6750 and what came after them, then those of the JSON management routes. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_request_uri'
  | 'invalid_request_object'
  | 'registration_not_supported'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'invalid_token'
  | 'insufficient_scope'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'insufficient_user_authentication'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'too_many_requests'
  | 'unauthenticated'
  | 'csrf_mismatch'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'validation_failed'

/** What may stand beside the message of an error. */
export interface OAuthErrorOptions extends ErrorOptions {
  /** Sent beside the description: what the caller can do about it. */
  readonly hint?: string
}

/** `message` is sent as `error_description`; what only we may see goes in `cause`. */
export abstract class OAuthError extends Error {
  /**
   * The `error` that is sent. Tell errors apart by it: that works across bundles and copies of
   * this package.
   */
  abstract readonly code: OAuthErrorCode
  /** The HTTP status. */
  readonly status: number = 400
  /** What the caller can do about it; sent beside the description. */
  readonly hint: string | undefined

  constructor(message: string, options: OAuthErrorOptions = {}) {
    super(message, options)
    this.name = new.target.name
    this.hint = options.hint
  }

  /** Headers that go with it, such as a challenge. */
  headers(): Record<string, string> {
    return {}
  }

  /** What is sent as JSON. */
  body(): Record<string, unknown> {
    return {
      error: this.code,
      error_description: printable(this.message),
      ...(this.hint === undefined ? {} : { hint: printable(this.hint) }),
    }
  }
}

/**
 * Bundlers may load this package more than once in a process: Next's does, for route handlers and for
 * `instrumentation.ts`. An error of one copy is a OAuthError to the other as well.
 */
const BRAND = Symbol.for('@tollgate/oauth/OAuthError')
const sameCopy = Function.prototype[Symbol.hasInstance]
Object.defineProperty(OAuthError.prototype, BRAND, { value: true })
Object.defineProperty(OAuthError, Symbol.hasInstance, {
  value(this: unknown, thrown: unknown): boolean {
    if (this !== OAuthError) return sameCopy.call(this, thrown)
    if (typeof thrown !== 'object' || thrown === null) return false
    return BRAND in thrown && !Object.hasOwn(thrown, BRAND) // own: the prototype, no instance of it
  },
})

/** An error by its code: with what its class knows besides, where it knows more. */
export type OAuthErrorOf<Code extends OAuthErrorCode> = Code extends 'validation_failed'
  ? ValidationFailed
  : Code extends 'insufficient_scope'
    ? InsufficientScope
    : Code extends 'insufficient_user_authentication'
      ? InsufficientUserAuthentication
      : Code extends 'use_dpop_nonce'
        ? UseDpopNonce
        : OAuthError & { readonly code: Code }

/**
 * Whether something thrown is an error of this package, of whatever copy, and has the code if one is named.
 * @example
 * if (isOAuthError(error, 'validation_failed')) showFields(error.errors)
 */
export function isOAuthError<Code extends OAuthErrorCode = OAuthErrorCode>(
  thrown: unknown,
  code?: Code,
): thrown is OAuthErrorOf<Code> {
  return thrown instanceof OAuthError && (code === undefined || thrown.code === code)
}

/** RFC 6749 §5.2 allows only printable ASCII without `"` and `\` in a description. */
export function printable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replace(/[^\x20-\x5b\x5d-\x7e]/g, '?')
    .slice(0, 300)
}

/** Something is missing, sent twice or malformed. */
export class InvalidRequest extends OAuthError {
  readonly code = 'invalid_request'
}

/** The client did not authenticate, or not as it has to. */
export class InvalidClient extends OAuthError {
  readonly code = 'invalid_client'
  override readonly status = 401
  readonly #challenge: boolean

  /** RFC 6749 §5.2: answer with a challenge when the client used the Authorization header. */
  constructor(message: string, options: OAuthErrorOptions & { challenge?: boolean } = {}) {
    super(message, options)
    this.#challenge = options.challenge ?? false
  }

  override headers(): Record<string, string> {
    return this.#challenge ? { 'www-authenticate': 'Basic realm="Tollgate", charset="UTF-8"' } : {}
  }
}

/** A code, refresh token or password that gives nothing; which check failed is not told. */
export class InvalidGrant extends OAuthError {
  readonly code = 'invalid_grant'
}

/** This client was not given that grant. */
export class UnauthorizedClient extends OAuthError {
  readonly code = 'unauthorized_client'
}

/** The `request` parameter of RFC 9101, where the server has no feature for it. */
export class RequestNotSupported extends OAuthError {
  readonly code = 'request_not_supported'
}

/** The `request_uri` parameter, where the server has no feature for it. */
export class RequestUriNotSupported extends OAuthError {
  readonly code = 'request_uri_not_supported'
}

/** A `request_uri` that is unknown, of another client, expired, or answered before. */
export class InvalidRequestUri extends OAuthError {
  readonly code = 'invalid_request_uri'
}

/** A request object (RFC 9101) that the client has not signed for this server, or that is not valid now. */
export class InvalidRequestObject extends OAuthError {
  readonly code = 'invalid_request_object'
}

/** The `registration` parameter of OpenID Connect Core §7.2.1. */
export class RegistrationNotSupported extends OAuthError {
  readonly code = 'registration_not_supported'
}

/** RFC 7591 §3.2.2: a redirect address that a client cannot register. */
export class InvalidRedirectUri extends OAuthError {
  readonly code = 'invalid_redirect_uri'
}

/** RFC 7591 §3.2.2: something else that a client says of itself and that cannot be, or not here. */
export class InvalidClientMetadata extends OAuthError {
  readonly code = 'invalid_client_metadata'
}

/** A `grant_type` that this server does not offer. */
export class UnsupportedGrantType extends OAuthError {
  readonly code = 'unsupported_grant_type'
}

/** A `response_type` that this server or this client does not have. */
export class UnsupportedResponseType extends OAuthError {
  readonly code = 'unsupported_response_type'
}

/** A scope that does not exist, or that this client may not have. */
export class InvalidScope extends OAuthError {
  readonly code = 'invalid_scope'
}

/** RFC 8707 §2: a `resource` that this server has no tokens for, or that was not granted. */
export class InvalidTarget extends OAuthError {
  readonly code = 'invalid_target'
}

/** The person said no. */
export class AccessDenied extends OAuthError {
  readonly code = 'access_denied'
}

/** RFC 8628 §3.5: the person has not decided yet; ask again after the interval. */
export class AuthorizationPending extends OAuthError {
  readonly code = 'authorization_pending'
}

/** RFC 8628 §3.5: the device asks too often; from now on the interval is five seconds longer. */
export class SlowDown extends OAuthError {
  readonly code = 'slow_down'
}

/** RFC 8628 §3.5: the device code has ended before it gave a token; the device may start again. */
export class ExpiredToken extends OAuthError {
  readonly code = 'expired_token'
}

/** `prompt=none` was asked for, and nobody is signed in. */
export class LoginRequired extends OAuthError {
  readonly code = 'login_required'
}

/** `prompt=none` was asked for, and the person would have to be asked first. */
export class ConsentRequired extends OAuthError {
  readonly code = 'consent_required'
}

/** How a token is presented: by itself, or with a proof of the key it is bound to (RFC 9449 §7.1). */
export type TokenScheme = 'Bearer' | 'DPoP'

/** RFC 6750 §3: no or bad token. Without credentials the challenge carries no error. */
export class InvalidToken extends OAuthError {
  readonly code = 'invalid_token'
  override readonly status = 401
  readonly #presented: boolean
  readonly #scheme: TokenScheme

  constructor(
    message: string,
    options: OAuthErrorOptions & { presented?: boolean; scheme?: TokenScheme } = {},
  ) {
    super(message, options)
    this.#presented = options.presented ?? true
    this.#scheme = options.scheme ?? 'Bearer'
  }

  override headers(): Record<string, string> {
    const detail = this.#presented
      ? `, error="invalid_token", error_description="${printable(this.message)}"`
      : ''
    return { 'www-authenticate': `${this.#scheme} realm="api"${detail}` }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Unauthenticated.' }
  }
}

/** RFC 6750 §3.1, naming every scope the route needs so that the client asks once. */
export class InsufficientScope extends OAuthError {
  readonly code = 'insufficient_scope'
  override readonly status = 403
  /** The scopes that the route wanted. */
  readonly scopes: readonly string[]
  readonly #scheme: TokenScheme

  constructor(message: string, scopes: readonly string[], scheme: TokenScheme = 'Bearer') {
    super(message)
    this.scopes = scopes
    this.#scheme = scheme
  }

  override headers(): Record<string, string> {
    const description = printable(this.message)
    return {
      'www-authenticate': `${this.#scheme} realm="api", error="insufficient_scope", error_description="${description}", scope="${this.scopes.join(' ')}"`,
    }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Invalid scope(s) provided.' }
  }
}

/** What may stand beside the message of an error about a proof. */
export interface ProofErrorOptions extends OAuthErrorOptions {
  /** At a guarded route, where the answer is a challenge: what proofs may be signed with. */
  readonly algorithms?: readonly string[]
}

/** RFC 9449 §5 and §7.1: 400 at an endpoint of the server, 401 with a challenge at a guarded route. */
export abstract class ProofError extends OAuthError {
  override readonly status: 400 | 401
  readonly #algorithms: readonly string[] | undefined

  constructor(message: string, options: ProofErrorOptions = {}) {
    super(message, options)
    this.#algorithms = options.algorithms
    this.status = options.algorithms ? 401 : 400
  }

  override headers(): Record<string, string> {
    if (!this.#algorithms) return {}
    const description = printable(this.message)
    return {
      'www-authenticate': `DPoP realm="api", error="${this.code}", error_description="${description}", algs="${this.#algorithms.join(' ')}"`,
    }
  }
}

/** A DPoP proof (RFC 9449) that is missing, or does not prove what it has to. */
export class InvalidDpopProof extends ProofError {
  readonly code = 'invalid_dpop_proof'
}

/** RFC 9449 §8: the same request again, please, with this nonce in its proof. */
export class UseDpopNonce extends ProofError {
  readonly code = 'use_dpop_nonce'
  /** What the next proof has to carry. */
  readonly nonce: string

  constructor(message: string, nonce: string, options: ProofErrorOptions = {}) {
    super(message, options)
    this.nonce = nonce
  }

  override headers(): Record<string, string> {
    return { ...super.headers(), 'dpop-nonce': this.nonce }
  }
}

/** What a route demands of the sign-in behind a token (RFC 9470). */
export interface SignInDemands {
  /** One of these will do. */
  readonly acrValues?: readonly string[]
  /** In seconds. */
  readonly maxAge?: number
}

/** RFC 9470 §3: the person has to sign in again, or in a better way; the challenge says how. */
export class InsufficientUserAuthentication extends OAuthError {
  readonly code = 'insufficient_user_authentication'
  override readonly status = 401
  /** What the route wanted. */
  readonly demands: SignInDemands
  readonly #scheme: TokenScheme

  constructor(message: string, demands: SignInDemands, scheme: TokenScheme = 'Bearer') {
    super(message)
    this.demands = demands
    this.#scheme = scheme
  }

  override headers(): Record<string, string> {
    const { acrValues, maxAge } = this.demands
    const wanted = [
      ...(acrValues ? [`acr_values="${printable(acrValues.join(' '))}"`] : []),
      ...(maxAge === undefined ? [] : [`max_age="${maxAge}"`]),
    ]
    const challenge = [
      `${this.#scheme} realm="api"`,
      `error="${this.code}"`,
      `error_description="${printable(this.message)}"`,
      ...wanted,
    ]
    return { 'www-authenticate': challenge.join(', ') }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Unauthenticated.' }
  }
}

/** A failure of our own. What it was stands in the log only. */
export class ServerError extends OAuthError {
  readonly code = 'server_error'
  override readonly status = 500
}

/** The database is away: nothing was done, try again. */
export class TemporarilyUnavailable extends OAuthError {
  readonly code = 'temporarily_unavailable'
  override readonly status = 503

  override headers(): Record<string, string> {
    return { 'retry-after': '1' }
  }
}

/** More than this server takes in a minute: come again later. */
export class TooManyRequests extends OAuthError {
  readonly code = 'too_many_requests'
  override readonly status = 429

  override headers(): Record<string, string> {
    return { 'retry-after': '60' }
  }
}

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
