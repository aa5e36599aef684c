import {
  deriveMacKey,
  type MacKey,
  type SigningAlgorithm,
  signingAlgorithms,
} from '../../crypto.ts'
import { parseOfferedAlgorithms } from '../../keys/signing-key.ts'
import { type Lifetime, parseLifetime, parseSeconds } from '../../lifetimes.ts'
import { type IdentityScope, identityScopes, standardScopes } from './claims.ts'
import {
  type AssertionAudience,
  type IdentityAssertionOptions,
  resolveAssertionAudiences,
} from './identity-assertion-settings.ts'

/** Options of `openid()`. */
export interface OpenIdOptions {
  /**
   * Algorithm that ID tokens are signed with, unless a client has its own setting.
   * @default the first of `idTokenAlgorithms`, otherwise 'RS256', which every client must support
   */
  readonly idTokenAlgorithm?: SigningAlgorithm
  /**
   * Algorithms that clients can choose for ID tokens and UserInfo, in addition to the algorithm of
   * access tokens. OpenID Connect Core §15.1 requires `RS256`; FAPI 2.0 forbids it.
   * @default `idTokenAlgorithm` and 'RS256'
   */
  readonly idTokenAlgorithms?: readonly SigningAlgorithm[]
  /** Lifetime of ID tokens. @default '1h' */
  readonly idTokensExpireIn?: Lifetime
  /**
   * At least 32 random characters that never change. Enables the client setting `subject_type`
   * with `pairwise`: clients of different sectors then know a person by different subjects.
   */
  readonly pairwiseSalt?: string
  /**
   * Additional response types that return tokens from the authorization endpoint, such as `code
   * id_token`. A code exchanged with PKCE is safer (RFC 9700 §2.1.2). Response types with `token`
   * need `implicit()`.
   * @default []
   */
  readonly responseTypes?: readonly FrontChannelResponseType[]
  /**
   * Whether ID tokens contain the claims of the granted scopes, for clients that do not use
   * UserInfo, such as Auth.js and passport-openidconnect. Does not apply to ID tokens from the
   * authorization endpoint, which pass through URLs. The client setting `claims_in_id_token` takes
   * precedence.
   * @default false
   */
  readonly claimsInIdToken?: boolean
  /**
   * Scopes about the person to offer: `profile`, `email`, `address`, `phone`, `groups`. List those
   * for which `users.claims()` returns something.
   * @default all except 'groups'
   */
  readonly scopes?: readonly IdentityScope[]
  /**
   * The `acr` values that your sign-in can report, the weakest first. Listed in discovery.
   * @default []
   */
  readonly acrValues?: readonly string[]
  /**
   * Whether clients can sign people out and are notified when a person signs out (RP-Initiated
   * Logout, Back-Channel Logout). Needs `users.signOut()` or `signOut` of the adapter.
   * @default false
   */
  readonly logout?: boolean | LogoutOptions
  /**
   * Other authorization servers, by issuer, that clients can get identity assertions for: they
   * exchange an ID token for an Identity Assertion JWT Authorization Grant (ID-JAG). Needs
   * `tokenExchange()`.
   * @default {}
   */
  readonly identityAssertions?: Readonly<Record<string, IdentityAssertionOptions>>
}

/** Options of back-channel logout. */
export interface LogoutOptions {
  /** How long to retry if a client cannot be reached. @default '1d' */
  readonly giveUpAfter?: string | number
}

/**
 * A response type that returns tokens from the authorization endpoint (OAuth 2.0 Multiple Response
 * Types §3 and §5).
 */
export type FrontChannelResponseType =
  | 'id_token'
  | 'id_token token'
  | 'code id_token'
  | 'code token'
  | 'code id_token token'

export const frontChannelResponseTypes: readonly FrontChannelResponseType[] = [
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
  readonly responseTypes: readonly FrontChannelResponseType[]
  readonly claimsInIdToken: boolean
  readonly scopes: readonly IdentityScope[]
  readonly acrValues: readonly string[]
  /** Logout settings. `null` if clients cannot sign people out. */
  readonly logout: LogoutSettings | null
  /** Other authorization servers that clients can get identity assertions for, by issuer. */
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
      'openid: pairwiseSalt needs at least 32 random characters, and must never change.',
    )
  }
  const unknown = responseTypes.find((type) => !frontChannelResponseTypes.includes(type))
  if (unknown !== undefined) {
    throw new TypeError(
      `openid: responseTypes has '${unknown}', which is not one of ${frontChannelResponseTypes.join(', ')}.`,
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
