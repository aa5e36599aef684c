import { areSecretsEqual, sha256 } from '../../crypto.ts'
import { isBearerText } from '../../http/bearer-text.ts'
import { parseSeconds } from '../../lifetimes.ts'
import type { RatePolicy } from '../../limits/resources.ts'
import type { RedirectPolicy } from './redirects.ts'

/**
 * The rule for who may register a client: no one (`closed`), callers with an initial access token
 * that you issued, or everyone (`open`).
 */
export type RegistrationPolicy = 'closed' | 'initial-access-token' | 'open'

/** Options of `clientRegistration()`. */
export interface ClientRegistrationOptions {
  /**
   * Controls who may register a client: no one (`closed`), callers with one of
   * `initialAccessTokens`, or everyone (`open`).
   */
  readonly policy: RegistrationPolicy
  /** Tokens for the policy `initial-access-token`, of at least 32 characters each. */
  readonly initialAccessTokens?: readonly string[]
  /**
   * Scopes that a client may request. `registered`: those it registers, limited to the option
   * `selfRegistered.scopes`. `marked`: all scopes in `selfRegistered.scopes`, for clients that do
   * not know on registration which ones they need.
   * @default 'registered'
   */
  readonly scopes?: 'registered' | 'marked'
  /**
   * Accepted redirect URIs with the policy `open`. `web`: https or a loopback address. `apps`: also
   * a private-use scheme such as `cursor:`, for clients without a secret, which must use PKCE. With
   * an initial access token all are accepted.
   * @default 'web'
   */
  readonly redirects?: 'web' | 'apps'
  /** Registrations per minute and network, across all processes. @default 20 */
  readonly perMinute?: number
  /** Time after which a client is deleted if it was never approved or given a token. @default '30d' */
  readonly unusedExpireIn?: string | number
}

export interface RegistrationSettings {
  readonly policy: RegistrationPolicy
  readonly scopes: 'registered' | 'marked'
  readonly redirects: RedirectPolicy
  readonly rate: RatePolicy
  readonly unusedSeconds: number
  isInitialAccessToken(token: string): boolean
}

const policies: readonly RegistrationPolicy[] = ['closed', 'initial-access-token', 'open']
const MIN_TOKEN_LENGTH = 32

export function resolveRegistration(options: ClientRegistrationOptions): RegistrationSettings {
  const { policy, initialAccessTokens = [], perMinute = 20 } = options
  const { scopes = 'registered', redirects = 'web' } = options
  if (!policies.includes(policy)) {
    throw new TypeError(`clientRegistration: policy must be one of ${policies.join(', ')}.`)
  }
  if (policy === 'initial-access-token' && initialAccessTokens.length === 0) {
    throw new TypeError('clientRegistration: this policy needs initialAccessTokens.')
  }
  // The error must not contain the token.
  if (initialAccessTokens.some((token) => token.length < MIN_TOKEN_LENGTH)) {
    throw new TypeError(
      `clientRegistration: each of initialAccessTokens needs at least ${MIN_TOKEN_LENGTH} random characters.`,
    )
  }
  if (initialAccessTokens.some((token) => !isBearerText(token))) {
    throw new TypeError(
      'clientRegistration: initialAccessTokens may contain only the characters of bearer tokens: letters, digits and -._~+/=.',
    )
  }
  const hashes = initialAccessTokens.map((token) => sha256(token))
  return {
    policy,
    scopes,
    redirects: policy === 'open' ? redirects : 'any',
    rate: createRatePerMinute('clientRegistration', 'registrations', perMinute),
    unusedSeconds: parseSeconds(
      'clientRegistration: unusedExpireIn',
      options.unusedExpireIn ?? '30d',
    ),
    isInitialAccessToken(token) {
      const hash = sha256(token)
      return hashes.some((each) => areSecretsEqual(each, hash))
    },
  }
}

/**
 * Creates a rate limit from the option `perMinute` of a feature. `option` is the name of the
 * feature for error messages, and `name` is the name of the counter.
 */
export function createRatePerMinute(option: string, name: string, perMinute: number): RatePolicy {
  if (!Number.isInteger(perMinute) || perMinute < 1) {
    throw new TypeError(`${option}: perMinute must be a whole number of at least 1.`)
  }
  return { name, points: perMinute, seconds: 60 }
}
