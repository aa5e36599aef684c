import type { Awaitable } from '../../awaitable.ts'
import {
  checkHttps,
  checkKeySet,
  checkNoPrivateKey,
  type SettingCheck,
} from '../../clients/settings/checks.ts'
import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { parseSeconds } from '../../lifetimes.ts'

/** Options of `jwtBearer()`. */
export interface JwtBearerOptions {
  /** Issuers whose assertions are accepted. All others are rejected. */
  readonly issuers: readonly TrustedIssuer[]
  /**
   * Lifetime of the access tokens, at most `accessTokensExpireIn` of the server.
   * @default '1h'
   */
  readonly accessTokensExpireIn?: string | number
}

/** The person or workload that a verified assertion is about. */
export interface AssertedIdentity {
  /** Issuer of the assertion. The same subject of another issuer is another person. */
  readonly issuer: string
  /** The `sub` claim. */
  readonly subject: string
  /** All claims of the assertion. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Maps the identity in an assertion to the id of a user or client: an object with the ids by `sub`,
 * or a function. If the result is `null` or `undefined`, the assertion is rejected.
 */
export type IdentityMapping =
  | Readonly<Record<string, string>>
  | ((identity: AssertedIdentity) => Awaitable<string | number | null | undefined>)

/** An issuer whose assertions `jwtBearer()` accepts, and the limits of that trust. */
export interface TrustedIssuer {
  /** The `iss` claim, compared character by character. */
  readonly issuer: string
  /** The https URL of the issuer's key set. Either this or `jwks` is required. */
  readonly jwksUri?: string
  /** The issuer's public keys. Alternative to `jwksUri`. */
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** The scopes that tokens from this issuer's assertions can have at most. */
  readonly scopes: readonly string[]
  /** Finds the user for an identity. Required unless `clientOf` or `userByEmail` is given. */
  readonly userOf?: IdentityMapping
  /**
   * Finds the user by e-mail address if `userOf` does not know the identity. Called only with an
   * address in `emailDomains` that the assertion states to be verified (`email_verified`).
   */
  userByEmail?(
    email: string,
    identity: AssertedIdentity,
  ): Awaitable<string | number | null | undefined>
  /**
   * Domains whose e-mail addresses this issuer may vouch for, such as `acme.example`. Required for
   * `userByEmail`.
   */
  readonly emailDomains?: readonly string[]
  /**
   * Finds the client for a workload, such as a CI job, that acts for itself and has no secret. The
   * request has to name this client. Alternative to `userOf`.
   */
  readonly clientOf?: IdentityMapping
  /**
   * Whether one assertion may be used repeatedly until it expires, and may lack a `jti`. For
   * platforms that write a token to a file. Only with `clientOf`.
   * @default false
   */
  readonly reusable?: boolean
  /**
   * Set to `id-jag` to accept only Identity Assertion JWT Authorization Grants from this issuer.
   */
  readonly profile?: 'id-jag'
  /**
   * Accepted values of `aud`, of which an assertion has exactly one.
   * @default the issuer of this server
   */
  readonly audience?: string | readonly string[]
  /** Required `typ` header. By default `JWT`, `authorization-grant+jwt` or none. */
  readonly typ?: string
  /** Accepted signature algorithms. @default all supported algorithms */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /**
   * Longest accepted lifetime of an assertion, from `iat` to `exp`, at most one hour.
   * @default '10m'
   */
  readonly assertionsExpireIn?: string | number
}

export const ID_JAG_TYPE = 'oauth-id-jag+jwt'
const USUAL_TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'authorization-grant+jwt']
const MAX_LIFETIME = 3600

/** The settings of a trusted issuer, with defaults applied. */
export interface IssuerSettings {
  readonly name: string
  readonly keys: { readonly jwks?: object | undefined; readonly jwks_uri?: string | undefined }
  readonly scopes: readonly string[]
  readonly userOf: IdentityMapping | null
  readonly userByEmail: NonNullable<TrustedIssuer['userByEmail']> | null
  readonly emailDomains: ReadonlySet<string>
  readonly clientOf: IdentityMapping | null
  readonly reusable: boolean
  readonly isIdJag: boolean
  /** Accepted values of the `aud` claim. `null` for the issuer of this server. */
  readonly audiences: readonly string[] | null
  /**
   * Accepted values of the `typ` header, in lower case. `undefined` accepts assertions without one.
   */
  readonly types: readonly (string | undefined)[]
  readonly algorithms: string[]
  /** Longest lifetime of an assertion, in seconds. */
  readonly maxLifetime: number
}

export type TrustedIssuers = ReadonlyMap<string, IssuerSettings>

export function resolveIssuers(issuers: readonly TrustedIssuer[]): TrustedIssuers {
  if (!Array.isArray(issuers) || issuers.length === 0) {
    throw new TypeError(
      'jwtBearer: issuers is empty: list the issuers whose assertions are accepted.',
    )
  }
  const resolved = new Map<string, IssuerSettings>()
  for (const each of issuers) {
    const settings = resolveIssuer(each)
    if (resolved.has(settings.name)) {
      throw new TypeError(`jwtBearer: the issuer ${settings.name} is listed twice.`)
    }
    resolved.set(settings.name, settings)
  }
  return resolved
}

function resolveIssuer(options: TrustedIssuer): IssuerSettings {
  const { issuer, algorithms = clientKeyAlgorithms, profile, audience } = options
  if (typeof issuer !== 'string' || issuer === '') {
    throw new TypeError(
      "jwtBearer: each entry needs an 'issuer', which is the `iss` of its assertions.",
    )
  }
  const wrong = (problem: string) => new TypeError(`jwtBearer: ${issuer}: ${problem}`)
  const unknown = algorithms.some((name) => !clientKeyAlgorithms.includes(name))
  if (unknown || algorithms.length === 0) {
    throw wrong(`algorithms must be one or more of ${clientKeyAlgorithms.join(', ')}.`)
  }
  if (!Array.isArray(options.scopes))
    throw wrong('scopes must list the scopes that its tokens may have.')
  if (profile !== undefined && profile !== 'id-jag') throw wrong("profile must be 'id-jag'.")
  if (profile !== undefined && options.typ !== undefined)
    throw wrong('omit typ, because profile already sets it.')
  const maxLifetime = parseSeconds(
    `jwtBearer: ${issuer}: assertionsExpireIn`,
    options.assertionsExpireIn ?? '10m',
  )
  if (maxLifetime > MAX_LIFETIME) throw wrong('assertionsExpireIn may be an hour at most.')
  const audiences = audience === undefined ? null : [audience].flat()
  if (audiences?.length === 0) throw wrong('audience is empty.')
  return {
    name: issuer,
    keys: resolveKeys(options, wrong),
    scopes: [...new Set(options.scopes)],
    ...resolveMappings(options, wrong),
    isIdJag: profile === 'id-jag',
    audiences,
    types: resolveTypes(options),
    algorithms: [...algorithms],
    maxLifetime,
  }
}

type CreateOptionError = (problem: string) => TypeError

function resolveKeys(
  { jwks, jwksUri }: TrustedIssuer,
  wrong: CreateOptionError,
): IssuerSettings['keys'] {
  if ((jwks === undefined) === (jwksUri === undefined)) throw wrong('give either jwksUri or jwks.')
  const checks: readonly [string, unknown, SettingCheck][] =
    jwks === undefined
      ? [['jwksUri', jwksUri, checkHttps]]
      : [
          ['jwks', jwks, checkKeySet],
          ['jwks', jwks, checkNoPrivateKey],
        ]
  for (const [name, value, check] of checks) {
    const problem = check(value)
    if (problem !== null) throw wrong(`${name} ${problem}.`)
  }
  return { jwks, jwks_uri: jwksUri }
}

function resolveMappings(options: TrustedIssuer, wrong: CreateOptionError) {
  const { userOf = null, clientOf = null, emailDomains = [], reusable = false } = options
  const userByEmail = options.userByEmail
    ? (email: string, identity: AssertedIdentity) => options.userByEmail?.(email, identity)
    : null
  const findsUsers = userOf !== null || userByEmail !== null
  if (findsUsers === (clientOf !== null)) {
    throw wrong(
      'give userOf or userByEmail if its assertions are about users, or clientOf if they are about workloads, but not both.',
    )
  }
  if ((userByEmail !== null) !== emailDomains.length > 0) {
    throw wrong('userByEmail and emailDomains must be given together.')
  }
  if (reusable && clientOf === null) throw wrong('reusable is only allowed with clientOf.')
  const domains = new Set(emailDomains.map((name) => name.toLowerCase()))
  return { userOf, userByEmail, emailDomains: domains, clientOf, reusable }
}

function resolveTypes({ profile, typ }: TrustedIssuer): IssuerSettings['types'] {
  if (profile === 'id-jag') return [ID_JAG_TYPE]
  return typ === undefined ? USUAL_TYPES : [normalizeTyp(typ)]
}

/**
 * Normalizes the `typ` header of a JWT: removes the prefix `application/` and converts it to lower
 * case (RFC 7515 §4.1.9).
 */
export function normalizeTyp(typ: string): string {
  return typ.toLowerCase().replace(/^application\//, '')
}
