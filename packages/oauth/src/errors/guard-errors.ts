import { defineError, OAuthError, type OAuthErrorOptions, toPrintable } from './oauth-error.ts'

/**
 * How a token is presented: alone, or with a proof of the key that it is bound to (RFC 9449 §7.1).
 */
export type TokenScheme = 'Bearer' | 'DPoP'

/**
 * The request has no access token, or an invalid one (RFC 6750 §3). Without a token the challenge
 * contains no error.
 */
export class InvalidToken extends defineError('invalid_token') {
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
      ? `, error="invalid_token", error_description="${toPrintable(this.message)}"`
      : ''
    return { 'www-authenticate': `${this.#scheme} realm="api"${detail}` }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Unauthenticated.' }
  }
}

/**
 * The token lacks a scope that the route needs (RFC 6750 §3.1). The challenge lists all required
 * scopes, so that the client can request them together.
 */
export class InsufficientScope extends defineError('insufficient_scope') {
  /** The scopes that the route needs. */
  readonly scopes: readonly string[]
  readonly #scheme: TokenScheme

  constructor(message: string, scopes: readonly string[], scheme: TokenScheme = 'Bearer') {
    super(message)
    this.scopes = scopes
    this.#scheme = scheme
  }

  override headers(): Record<string, string> {
    const description = toPrintable(this.message)
    return {
      'www-authenticate': `${this.#scheme} realm="api", error="insufficient_scope", error_description="${description}", scope="${this.scopes.join(' ')}"`,
    }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Invalid scope(s) provided.' }
  }
}

/** Options of errors about a DPoP proof. */
export interface ProofErrorOptions extends OAuthErrorOptions {
  /**
   * Accepted signature algorithms for proofs. Set it for guarded routes only: the response is then
   * a challenge that lists them.
   */
  readonly algorithms?: readonly string[]
}

/**
 * Base class of errors about a DPoP proof. The status is 400 at an endpoint of the server, and 401
 * with a challenge at a guarded route (RFC 9449 §5 and §7.1).
 */
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
    const description = toPrintable(this.message)
    return {
      'www-authenticate': `DPoP realm="api", error="${this.code}", error_description="${description}", algs="${this.#algorithms.join(' ')}"`,
    }
  }
}

/** A DPoP proof (RFC 9449) is missing, invalid, or does not match the token. */
export class InvalidDpopProof extends ProofError {
  readonly code = 'invalid_dpop_proof'
}

/**
 * The client has to repeat the request with a DPoP proof that contains the nonce in this error (RFC
 * 9449 §8).
 */
export class UseDpopNonce extends ProofError {
  readonly code = 'use_dpop_nonce'
  /** The nonce that the next DPoP proof must contain. */
  readonly nonce: string

  constructor(message: string, nonce: string, options: ProofErrorOptions = {}) {
    super(message, options)
    this.nonce = nonce
  }

  override headers(): Record<string, string> {
    return { ...super.headers(), 'dpop-nonce': this.nonce }
  }
}

/** Requirements of a route for the sign-in behind a token (RFC 9470). */
export interface SignInDemands {
  /** Accepted authentication context classes; one of them suffices. */
  readonly acrValues?: readonly string[]
  /** Longest accepted age of the sign-in, in seconds. */
  readonly maxAge?: number
}

/**
 * The person has to sign in again, or in a stronger way. The challenge in the response names the
 * requirements (RFC 9470 §3).
 */
export class InsufficientUserAuthentication extends defineError(
  'insufficient_user_authentication',
) {
  /** The requirements of the route for the sign-in. */
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
      ...(acrValues ? [`acr_values="${toPrintable(acrValues.join(' '))}"`] : []),
      ...(maxAge === undefined ? [] : [`max_age="${maxAge}"`]),
    ]
    const challenge = [
      `${this.#scheme} realm="api"`,
      `error="${this.code}"`,
      `error_description="${toPrintable(this.message)}"`,
      ...wanted,
    ]
    return { 'www-authenticate': challenge.join(', ') }
  }

  override body(): Record<string, unknown> {
    return { ...super.body(), message: 'Unauthenticated.' }
  }
}
