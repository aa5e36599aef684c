import { equalSecrets, sha256 } from '../../crypto.ts'
import { isBearerText } from '../../http/bearer-text.ts'
import { parseSeconds } from '../../lifetimes.ts'
import type { RatePolicy } from '../../limits/resources.ts'
import type { RedirectPolicy } from './redirects.ts'

/** Who may register a client: nobody, whoever has a token that you have given them, or everybody. */
export type RegistrationPolicy = 'closed' | 'initial-access-token' | 'open'

/** What `clientRegistration()` is made with. */
export interface ClientRegistrationOptions {
  /** Who may register. */
  readonly policy: RegistrationPolicy
  /** For `initial-access-token`: the tokens, each of 32 characters or more. */
  readonly initialAccessTokens?: readonly string[]
  /**
   * What a client may ask people for. `registered`: of its registration, what is marked for such clients. `marked`: all
   * that is, whatever it registers, for those that learn later what they need. Default `registered`.
   */
  readonly scopes?: 'registered' | 'marked'
  /**
   * Where they may be answered with `open`. `web`: at https, or at a loopback address of the person's own machine. `apps`:
   * also at the scheme of a program, such as `cursor:`, for clients without a secret, which must use PKCE. Default `web`.
   */
  readonly redirects?: 'web' | 'apps'
  /** How many may register in a minute from one network, on all processes together. Default 20. */
  readonly perMinute?: number
  /** A client that has got no token until then is deleted. Default 30 days. */
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
const SHORTEST_TOKEN = 32

export function resolveRegistration(options: ClientRegistrationOptions): RegistrationSettings {
  const { policy, initialAccessTokens = [], perMinute = 20 } = options
  const { scopes = 'registered', redirects = 'web' } = options
  if (!policies.includes(policy)) {
    throw new TypeError(`clientRegistration: policy must be one of ${policies.join(', ')}.`)
  }
  if (policy === 'initial-access-token' && initialAccessTokens.length === 0) {
    throw new TypeError('clientRegistration: this policy needs initialAccessTokens.')
  }
  // The message never repeats a token.
  if (initialAccessTokens.some((token) => token.length < SHORTEST_TOKEN)) {
    throw new TypeError(
      `clientRegistration: each of initialAccessTokens needs ${SHORTEST_TOKEN} random characters or more.`,
    )
  }
  if (initialAccessTokens.some((token) => !isBearerText(token))) {
    throw new TypeError(
      'clientRegistration: each of initialAccessTokens has the characters of a bearer token only: letters, digits and -._~+/=.',
    )
  }
  const hashes = initialAccessTokens.map((token) => sha256(token))
  return {
    policy,
    scopes,
    redirects: policy === 'open' ? redirects : 'any',
    rate: ratePerMinute('clientRegistration', 'registrations', perMinute),
    unusedSeconds: parseSeconds(
      'clientRegistration: unusedExpireIn',
      options.unusedExpireIn ?? '30d',
    ),
    isInitialAccessToken(token) {
      const hash = sha256(token)
      return hashes.some((each) => equalSecrets(each, hash))
    },
  }
}

/** `option` is the feature, for messages. */
export function ratePerMinute(option: string, name: string, perMinute: number): RatePolicy {
  if (!Number.isInteger(perMinute) || perMinute < 1) {
    throw new TypeError(`${option}: perMinute must be a whole number from 1.`)
  }
  return { name, points: perMinute, seconds: 60 }
}
