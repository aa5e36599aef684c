import { OAuthError, type OAuthErrorOptions, printable } from './oauth-error.ts'

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
