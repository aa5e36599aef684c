import {
  deriveMacKey,
  type MacKey,
  type SigningAlgorithm,
  signingAlgorithms,
} from '../../crypto.ts'
import { parseOfferedAlgorithms } from '../../keys/offered-algorithms.ts'
import { type Lifetime, parseLifetime, parseSeconds } from '../../lifetimes.ts'
import { type IdentityScope, identityScopes, standardScopes } from './claims.ts'
import {
  type AssertionAudience,
  type IdentityAssertionOptions,
  resolveAssertionAudiences,
} from './identity-assertion-settings.ts'

/** What `openid()` is made with. */
export interface OpenIdOptions {
  /**
   * What ID tokens are signed with, unless a client wants another. Default: the first of `idTokenAlgorithms`, else
   * `RS256`, which every client must read.
   */
  readonly idTokenAlgorithm?: SigningAlgorithm
  /**
   * What clients may have ID tokens and UserInfo signed with, beside the algorithm of access tokens. Default:
   * `idTokenAlgorithm` and `RS256`, which OpenID Connect Core §15.1 wants to be there; FAPI 2.0 forbids `RS256`.
   */
  readonly idTokenAlgorithms?: readonly SigningAlgorithm[]
  /** How long an ID token may be shown. Default 1 hour. */
  readonly idTokensExpireIn?: Lifetime
  /**
   * 32 random characters or more that never change: with it, clients registered with
   * `subject_type: 'pairwise'` know people by names that no other client knows.
   */
  readonly pairwiseSalt?: string
  /**
   * Response types that give an ID token at the authorization endpoint, such as `code id_token`. Off unless
   * listed: a code exchanged with PKCE is the safer way (RFC 9700 §2.1.2). Those with `token` need `implicit()`.
   */
  readonly responseTypes?: readonly FrontChannelType[]
  /**
   * What the scopes tell of a person stands in ID tokens too, for clients that never ask UserInfo, such as Auth.js and
   * passport-openidconnect. Not in those of the authorization endpoint, which pass through addresses. Default false, or
   * what a client has as `claims_in_id_token`.
   */
  readonly claimsInIdToken?: boolean
  /**
   * The scopes that tell something of a person, of `profile`, `email`, `address`, `phone` and `groups`. Name those that
   * `users.claims()` has something for. Default: all but `groups`.
   */
  readonly scopes?: readonly IdentityScope[]
  /** What your sign-in gives as `acr`, the weakest first; told in discovery. */
  readonly acrValues?: readonly string[]
  /**
   * Clients can sign people out, and are told when somebody has signed out (RP-Initiated Logout, Back-Channel
   * Logout). Needs `users.signOut()` or `signOut` of the adapter. Default false.
   */
  readonly logout?: boolean | LogoutOptions
  /**
   * Other authorization servers, by their issuers, that clients may have identity assertions for: they exchange an ID
   * token for an Identity Assertion JWT Authorization Grant (ID-JAG). Needs `tokenExchange()`. Default: none.
   */
  readonly identityAssertions?: Readonly<Record<string, IdentityAssertionOptions>>
}

/** How clients are told that somebody has signed out. */
export interface LogoutOptions {
  /** How long a client that cannot be reached is tried again. Default 1 day. */
  readonly giveUpAfter?: string | number
}

/** OAuth 2.0 Multiple Response Types §3 and §5. */
export type FrontChannelType =
  | 'id_token'
  | 'id_token token'
  | 'code id_token'
  | 'code token'
  | 'code id_token token'

export const frontChannelTypes: readonly FrontChannelType[] = [
  'id_token',
  'id_token token',
  'code id_token',
  'code token',
  'code id_token token',
]

export interface OpenIdSettings {
  readonly algorithm: SigningAlgorithm
  readonly algorithms: readonly SigningAlgorithm[]
  readonly expireAt: (now: Date) => Date
  readonly pairwiseKey: MacKey | null
  readonly responseTypes: readonly FrontChannelType[]
  readonly claimsInIdToken: boolean
  readonly scopes: readonly IdentityScope[]
  readonly acrValues: readonly string[]
  /** Null when clients cannot sign people out. */
  readonly logout: LogoutSettings | null
  /** Other servers that clients may have identity assertions for, by their issuers. */
  readonly assertionAudiences: ReadonlyMap<string, AssertionAudience>
}

export interface LogoutSettings {
  readonly giveUpAfter: number
}

export function resolveOpenIdOptions(options: OpenIdOptions): OpenIdSettings {
  const { pairwiseSalt = null, responseTypes = [] } = options
  const { idTokenAlgorithm = options.idTokenAlgorithms?.[0] ?? 'RS256' } = options
  if (!signingAlgorithms.includes(idTokenAlgorithm)) {
    throw new TypeError(
      `openid: idTokenAlgorithm '${idTokenAlgorithm}' is not one of ${signingAlgorithms.join(', ')}.`,
    )
  }
  if (pairwiseSalt !== null && pairwiseSalt.length < 32) {
    throw new TypeError(
      'openid: pairwiseSalt needs at least 32 random characters, and never changes.',
    )
  }
  const unknown = responseTypes.find((type) => !frontChannelTypes.includes(type))
  if (unknown !== undefined) {
    throw new TypeError(
      `openid: responseTypes has '${unknown}', which is not one of ${frontChannelTypes.join(', ')}.`,
    )
  }
  const { scopes = standardScopes } = options
  const unnamed = scopes.find((name) => !identityScopes.includes(name))
  if (unnamed !== undefined) {
    throw new TypeError(
      `openid: scopes has '${unnamed}', which is not one of ${identityScopes.join(', ')}.`,
    )
  }
  return {
    algorithm: idTokenAlgorithm,
    algorithms: parseOfferedAlgorithms(
      'openid: idTokenAlgorithms',
      options.idTokenAlgorithms,
      idTokenAlgorithm,
    ),
    expireAt: parseLifetime('idTokensExpireIn', options.idTokensExpireIn ?? '1h'),
    pairwiseKey: pairwiseSalt === null ? null : deriveMacKey(pairwiseSalt, 'pairwise subjects'),
    responseTypes: [...responseTypes],
    claimsInIdToken: options.claimsInIdToken ?? false,
    scopes: [...scopes],
    acrValues: [...(options.acrValues ?? [])],
    logout: resolveLogout(options.logout ?? false),
    assertionAudiences: resolveAssertionAudiences(options.identityAssertions ?? {}),
  }
}

function resolveLogout(option: boolean | LogoutOptions): LogoutSettings | null {
  if (option === false) return null
  const { giveUpAfter = '1d' } = option === true ? {} : option
  return { giveUpAfter: parseSeconds('openid: logout.giveUpAfter', giveUpAfter) }
}
