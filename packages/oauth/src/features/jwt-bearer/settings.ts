import type { Awaitable } from '../../awaitable.ts'
import { type Check, holdsNoSecret, isHttps, isKeySet } from '../../clients/settings/checks.ts'
import { type ClientKeyAlgorithm, clientKeyAlgorithms } from '../../crypto.ts'
import { parseSeconds } from '../../lifetimes.ts'

/** Options for `jwtBearer()`. */
export interface JwtBearerOptions {
  /** The issuers whose assertions are accepted. An issuer that is not listed is refused. */
  readonly issuers: readonly TrustedIssuer[]
  /** How long the access tokens live, at most as long as the server's `accessTokensExpireIn`. Default 1 hour. */
  readonly accessTokensExpireIn?: string | number
}

/** The person or workload that a verified assertion is about. */
export interface AssertedIdentity {
  /** The issuer of the assertion. The same subject of another issuer is another person. */
  readonly issuer: string
  /** The `sub` claim. */
  readonly subject: string
  /** All claims of the assertion. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Finds an id for an identity: a table by `sub`, or a function. `null` and `undefined` refuse the assertion. */
export type IdentityMapping =
  | Readonly<Record<string, string>>
  | ((identity: AssertedIdentity) => Awaitable<string | number | null | undefined>)

/** An issuer whose assertions `jwtBearer()` accepts, with the limits of that trust. */
export interface TrustedIssuer {
  /** The `iss` claim, character by character. */
  readonly issuer: string
  /** The https address of the issuer's key set. Give this or `jwks`. */
  readonly jwksUri?: string
  /** The issuer's public keys. Give this or `jwksUri`. */
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** The scopes that tokens by this issuer's assertions may have at most. */
  readonly scopes: readonly string[]
  /** The user of the application for an identity. Give this or `clientOf`, or `userByEmail` alone. */
  readonly userOf?: IdentityMapping
  /**
   * The user with an e-mail address, for identities that `userOf` does not know. Called only with an address in
   * `emailDomains` that the assertion says is verified (`email_verified`).
   */
  userByEmail?(
    email: string,
    identity: AssertedIdentity,
  ): Awaitable<string | number | null | undefined>
  /** The domains whose e-mail addresses this issuer may vouch for, such as `acme.example`. Needed by `userByEmail`. */
  readonly emailDomains?: readonly string[]
  /**
   * The client for a workload, such as a CI job, that acts for itself and has no secret. The request has to name this
   * client. Give this or `userOf`.
   */
  readonly clientOf?: IdentityMapping
  /**
   * Whether one assertion may be used until it expires, and may lack a `jti`: for platforms that put a token into a file.
   * Only with `clientOf`. Default false.
   */
  readonly reusable?: boolean
  /** `id-jag`: the issuer's assertions are Identity Assertion JWT Authorization Grants, and nothing else. */
  readonly profile?: 'id-jag'
  /** The accepted values of `aud`, of which an assertion has exactly one. Default: the issuer of this server. */
  readonly audience?: string | readonly string[]
  /** The `typ` that assertions must have. Default: `JWT`, `authorization-grant+jwt` or none. */
  readonly typ?: string
  /** Signature algorithms. Default: all of them. */
  readonly algorithms?: readonly ClientKeyAlgorithm[]
  /** The longest life of an assertion, from `iat` to `exp`, up to an hour. Default 10 minutes. */
  readonly assertionsExpireIn?: string | number
}

export const ID_JAG_TYPE = 'oauth-id-jag+jwt'
const USUAL_TYPES: readonly (string | undefined)[] = [undefined, 'jwt', 'authorization-grant+jwt']
const LONGEST_LIFE = 3600

/** An issuer with its defaults filled in. */
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
  /** `null`: the issuer of this server. */
  readonly audiences: readonly string[] | null
  /** In lower case. */
  readonly types: readonly (string | undefined)[]
  readonly algorithms: string[]
  /** In seconds. */
  readonly longestLife: number
}

export type TrustedIssuers = ReadonlyMap<string, IssuerSettings>

export function resolveIssuers(issuers: readonly TrustedIssuer[]): TrustedIssuers {
  if (!Array.isArray(issuers) || issuers.length === 0) {
    throw new TypeError('jwtBearer: issuers is empty: list whose assertions are accepted.')
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
      "jwtBearer: an issuer needs its name, the `iss` of its assertions, as 'issuer'.",
    )
  }
  const wrong = (problem: string) => new TypeError(`jwtBearer: ${issuer}: ${problem}`)
  const unknown = algorithms.some((name) => !clientKeyAlgorithms.includes(name))
  if (unknown || algorithms.length === 0) {
    throw wrong(`algorithms must be one or more of ${clientKeyAlgorithms.join(', ')}.`)
  }
  if (!Array.isArray(options.scopes))
    throw wrong('scopes must list what its tokens may do at most.')
  if (profile !== undefined && profile !== 'id-jag') throw wrong("profile must be 'id-jag'.")
  if (profile !== undefined && options.typ !== undefined)
    throw wrong('profile says its typ already.')
  const longestLife = parseSeconds(
    `jwtBearer: ${issuer}: assertionsExpireIn`,
    options.assertionsExpireIn ?? '10m',
  )
  if (longestLife > LONGEST_LIFE) throw wrong('assertionsExpireIn may be an hour at most.')
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
    longestLife,
  }
}

type Wrong = (problem: string) => TypeError

function resolveKeys({ jwks, jwksUri }: TrustedIssuer, wrong: Wrong): IssuerSettings['keys'] {
  if ((jwks === undefined) === (jwksUri === undefined)) throw wrong('give either jwksUri or jwks.')
  const checks: readonly [string, unknown, Check][] =
    jwks === undefined
      ? [['jwksUri', jwksUri, isHttps]]
      : [
          ['jwks', jwks, isKeySet],
          ['jwks', jwks, holdsNoSecret],
        ]
  for (const [name, value, check] of checks) {
    const problem = check(value)
    if (problem !== null) throw wrong(`${name} ${problem}.`)
  }
  return { jwks, jwks_uri: jwksUri }
}

function resolveMappings(options: TrustedIssuer, wrong: Wrong) {
  const { userOf = null, clientOf = null, emailDomains = [], reusable = false } = options
  const userByEmail = options.userByEmail
    ? (email: string, identity: AssertedIdentity) => options.userByEmail?.(email, identity)
    : null
  const findsUsers = userOf !== null || userByEmail !== null
  if (findsUsers === (clientOf !== null)) {
    throw wrong('say whom its assertions are about: by userOf, or by clientOf for workloads.')
  }
  if ((userByEmail !== null) !== emailDomains.length > 0) {
    throw wrong('userByEmail and emailDomains belong together.')
  }
  if (reusable && clientOf === null) throw wrong('reusable is for clientOf only.')
  const domains = new Set(emailDomains.map((name) => name.toLowerCase()))
  return { userOf, userByEmail, emailDomains: domains, clientOf, reusable }
}

function resolveTypes({ profile, typ }: TrustedIssuer): IssuerSettings['types'] {
  if (profile === 'id-jag') return [ID_JAG_TYPE]
  return typ === undefined ? USUAL_TYPES : [plainType(typ)]
}

/** RFC 7515 §4.1.9: `application/` may be left out, and letter case does not count. */
export function plainType(typ: string): string {
  return typ.toLowerCase().replace(/^application\//, '')
}
