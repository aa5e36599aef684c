import type { Database } from '@tollgate/database'
import type { OutgoingSettings } from '@tollgate/http/outgoing'
import { type Clock, systemClock } from './clock.ts'
import { type SigningAlgorithm, signingAlgorithms } from './crypto.ts'
import type { Feature, SelfRegisteredOptions } from './features/feature.ts'
import type { Grant } from './grants/grant.ts'
import { type Lifetime, parseLifetime, parseSeconds, YEAR } from './lifetimes.ts'
import type { AddressOf } from './limits/network.ts'
import type { Logger } from './logger.ts'
import { type OutgoingOptions, resolveOutgoing } from './outgoing/options.ts'
import { defaultPages } from './pages/default-pages.ts'
import type { Pages } from './pages/pages.ts'
import {
  type AccessTokenType,
  accessTokenTypes,
  parseResources,
  type ResourceOptions,
  type Resources,
} from './resources/resources.ts'
import { assertScopeDefinitions, parseOptionalScopes, type ScopeDefinitions } from './scopes.ts'
import { kyselyStorage } from './storage/kysely/storage.ts'
import type { Storage } from './storage/repositories.ts'
import {
  type AccessTokenClaimsOption,
  type AddedClaims,
  type ClaimsHook,
  parseAccessTokenClaims,
} from './tokens/formats/claims-hook.ts'
import {
  type AccessTokenFormat,
  type AccessTokenFormatName,
  accessTokenFormats,
} from './tokens/formats/format.ts'
import type { ApplicationUser, Users } from './users/users.ts'

/** What an authorization server is made of. */
export interface AuthorizationServerOptions<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /** Public base URL, sent as `iss`. https, except on localhost. */
  readonly issuer: string
  /**
   * 32 characters or more; keys are derived from it. To change it, give `[new, old]` for a while. An
   * environment variable may be given as it is: one that is missing is refused in words.
   */
  readonly secret: string | readonly string[] | undefined
  /** From `connect()` of `@tollgate/database`. Give this or `storage`. */
  readonly database?: Database
  /** A store of your own that passes the storage contract, or `memoryStorage()`. */
  readonly storage?: Storage
  /** The application's own users. */
  readonly users: Users<User>
  /** Scope name to the description people read before they approve. */
  readonly scopes?: ScopeDefinitions
  /** Scopes that people may leave out when they approve: each has a checkbox. At most 50. Default: none. */
  readonly optionalScopes?: readonly string[]
  /** What the server offers: `[authorizationCode(), refreshToken()]` and so on. */
  readonly grants: readonly Grant[]
  /** What the server does beside OAuth 2.0: `[openid()]` and so on. */
  readonly features?: readonly Feature[]
  /** Where people without a session are sent; gets `return_to` in the query. Default `/login`. */
  readonly signInUrl?: string
  /** Where the routes live. Default `/oauth`. */
  readonly path?: string
  /** `aud` of access tokens. Default: the issuer. */
  readonly audience?: string
  /**
   * Other APIs that tokens are for, by the address that clients send as `resource` (RFC 8707), each with what
   * its tokens are like. Their metadata (RFC 9728) is served, and guards name it to callers without a token.
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /** What clients may have that have registered themselves. */
  readonly selfRegistered?: SelfRegisteredOptions
  /** How the server asks at addresses that clients have told it: their keys, their documents. */
  readonly outgoing?: OutgoingOptions
  /**
   * The address of whoever sent a request, as your proxy tells it, for limits that count by network; null where it is not
   * known. Default: what the adapter knows (`request.ip` of Express and Fastify), public addresses only.
   */
  addressOf?(request: Request): string | null
  /** Default 1 year. */
  readonly accessTokensExpireIn?: Lifetime
  /** Default 1 year. */
  readonly refreshTokensExpireIn?: Lifetime
  /** Personal access tokens are always long-lived: default 1 year, whatever the two above say. */
  readonly personalAccessTokensExpireIn?: Lifetime
  /** Signed JWTs (RFC 9068), opaque strings, or a format of your own. Default `jwt`. */
  readonly accessTokenFormat?: AccessTokenFormatName | AccessTokenFormat
  /**
   * Claims that every access token gets beside those of the server, and that introspection tells: fixed ones, or a function
   * that reads them when a token is issued or refreshed. It has two seconds to answer; if it fails, the client is told 503
   * and keeps its code or refresh token. Throw an OAuthError to refuse the token. Default: none.
   */
  readonly accessTokenClaims?: AccessTokenClaimsOption<User, Claims>
  /** What access tokens are signed with. Default `ES256`; `RS256` is slow, `EdDSA` is read by few. */
  readonly signingAlgorithm?: SigningAlgorithm
  /**
   * `typ` of access tokens, where a resource does not say its own. Default `at+jwt` (RFC 9068); `JWT` for APIs whose
   * library knows no other. Tokens with `JWT` are taken for as long as it or a resource says so.
   */
  readonly tokenType?: AccessTokenType
  /** How long a new signing key is published before it signs. Default 5 minutes. */
  readonly keyPublishedAhead?: string | number
  /** Cookie mode: how long a cookie lives without renewal. Default 2 hours. */
  readonly cookieLifetime?: string | number
  /** The approval and error pages. */
  readonly pages?: Partial<Pages>
  /** Make or update the tables on first use. Default true; with false the first use fails until somebody has. */
  readonly migrate?: boolean
  /** Delete what has ended, every so often. Default every hour; false leaves it to you. */
  readonly purgeEvery?: string | number | false
  /** Where "now" comes from, for tests. Default: the database's clock; without a database the system's. */
  readonly clock?: Clock
  /** Gets the failures that no caller is told of, because they are ours. Default: `console`. */
  readonly logger?: Logger
}

export interface ResolvedOptions {
  readonly issuer: string
  readonly issuerUrl: URL
  readonly secrets: readonly string[]
  readonly storage: Storage
  readonly users: Users
  readonly scopes: ScopeDefinitions
  readonly scopeNames: ReadonlySet<string>
  readonly optionalScopes: ReadonlySet<string>
  readonly grants: readonly Grant[]
  readonly features: readonly Feature[]
  /** Scopes about the person: no wildcard and no personal access token holds them. */
  readonly identityScopes: ReadonlySet<string>
  readonly signInUrl: string
  /** Path prefix of every route, the issuer's own path included. */
  readonly basePath: string
  readonly audience: string
  readonly resources: Resources
  /** Whether APIs have metadata of their own. */
  readonly hasResources: boolean
  readonly selfRegisteredScopes: ReadonlySet<string>
  /** Null: any. */
  readonly selfRegisteredResources: ReadonlySet<string> | null
  readonly outgoing: OutgoingSettings
  readonly addressOf: AddressOf | null
  readonly accessTokensExpireAt: (now: Date) => Date
  readonly refreshTokensExpireAt: (now: Date) => Date
  readonly personalAccessTokensExpireAt: (now: Date) => Date
  readonly accessTokenFormat: AccessTokenFormatName | AccessTokenFormat
  readonly accessTokenClaims: ClaimsHook | null
  readonly signingAlgorithm: SigningAlgorithm
  readonly keyPublishedAheadSeconds: number
  readonly cookieSeconds: number
  readonly pages: Pages
  readonly migrate: boolean
  readonly purgeEverySeconds: number | null
  readonly clock: Clock
  readonly logger: Required<Logger>
}

export function resolveOptions<User extends ApplicationUser, Claims extends object>(
  options: AuthorizationServerOptions<User, Claims>,
): ResolvedOptions {
  const issuerUrl = parseIssuer(options.issuer)
  const features = listFeatures(options.features ?? [])
  const ofFeatures: ScopeDefinitions = Object.assign({}, ...features.map((each) => each.scopes))
  // Their words may be replaced by the application's own.
  const scopes = { ...ofFeatures, ...options.scopes }
  assertScopeDefinitions(scopes)
  assertGrants(options.grants)
  const audience = options.audience ?? options.issuer
  const signingAlgorithm = oneOf(
    'signingAlgorithm',
    options.signingAlgorithm ?? 'ES256',
    signingAlgorithms,
  )
  const scopeNames = new Set(Object.keys(scopes))
  const resources: Record<string, ResourceOptions> = Object.assign(
    {},
    ...features.map((each) => each.resources),
    options.resources,
  )
  const storage = chooseStorage(options)
  return {
    issuer: options.issuer,
    issuerUrl,
    secrets: parseSecrets(options.secret),
    storage,
    users: options.users,
    scopes,
    scopeNames,
    optionalScopes: parseOptionalScopes(options.optionalScopes ?? [], {
      defined: scopeNames,
      required: features.flatMap(({ requiredScopes = [] }) => requiredScopes),
    }),
    grants: [...options.grants],
    features: [...features],
    identityScopes: new Set(Object.keys(ofFeatures)),
    signInUrl: options.signInUrl ?? '/login',
    basePath: parseBasePath(issuerUrl, options.path ?? '/oauth'),
    audience,
    resources: parseResources(resources, {
      audience,
      signingAlgorithm,
      tokenType: oneOf('tokenType', options.tokenType ?? 'at+jwt', accessTokenTypes),
      scopeNames,
    }),
    hasResources: options.resources !== undefined || Object.keys(resources).length > 0,
    ...resolveSelfRegistered(options, features, [audience, ...Object.keys(resources)], scopeNames),
    outgoing: resolveOutgoing(options.outgoing),
    addressOf: options.addressOf ? (request) => options.addressOf?.(request) ?? null : null,
    accessTokensExpireAt: lifetime(options, 'accessTokensExpireIn'),
    refreshTokensExpireAt: lifetime(options, 'refreshTokensExpireIn'),
    personalAccessTokensExpireAt: lifetime(options, 'personalAccessTokensExpireIn'),
    accessTokenFormat: parseFormat(options.accessTokenFormat ?? 'jwt'),
    accessTokenClaims: parseAccessTokenClaims(options.accessTokenClaims),
    signingAlgorithm,
    keyPublishedAheadSeconds: parseSeconds('keyPublishedAhead', options.keyPublishedAhead ?? '5m'),
    cookieSeconds: parseSeconds('cookieLifetime', options.cookieLifetime ?? '2h'),
    pages: { ...defaultPages, ...options.pages },
    migrate: options.migrate ?? true,
    purgeEverySeconds:
      options.purgeEvery === false ? null : parseSeconds('purgeEvery', options.purgeEvery ?? '1h'),
    clock: options.clock ?? storage.clock ?? systemClock,
    logger: patientLogger(options.logger ?? console),
  }
}

/** A log that fails must not take the request along that it tells of. */
function patientLogger(logger: Logger): Required<Logger> {
  const quietly = (write: () => void) => {
    try {
      write()
    } catch {
      // There is nobody left to tell.
    }
  }
  return {
    error: (message, error) => quietly(() => logger.error(message, error)),
    warn: (message) => quietly(() => (logger.warn ? logger.warn(message) : logger.error(message))),
  }
}

type LifetimeOption =
  | 'accessTokensExpireIn'
  | 'refreshTokensExpireIn'
  | 'personalAccessTokensExpireIn'

function lifetime(
  options: { readonly [name in LifetimeOption]?: Lifetime },
  name: LifetimeOption,
): (now: Date) => Date {
  return parseLifetime(name, options[name] ?? YEAR)
}

function parseIssuer(issuer: unknown): URL {
  const fix = "Give the public base URL of this server, e.g. 'https://api.example.com'."
  // The value is not repeated: what is no URL of the web may be a secret in the wrong place.
  if (typeof issuer !== 'string' || !/^https?:\/\//.test(issuer) || !URL.canParse(issuer)) {
    throw new TypeError(`issuer: this is not an https URL. ${fix}`)
  }
  const url = new URL(issuer)
  // RFC 8414 §2: no query, no fragment; clients compare the string, so it has one spelling only.
  const canonical = url.pathname === '/' ? url.origin : `${url.origin}${url.pathname}`
  if (issuer !== canonical || issuer.endsWith('/')) {
    throw new TypeError(`issuer: it should be written '${canonical.replace(/\/+$/, '')}'.`)
  }
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && local)) {
    throw new TypeError(`issuer: ${issuer} must use https (http only on localhost). ${fix}`)
  }
  return url
}

/** The message never repeats the value: it may be a secret with a blank at its end. */
function parseSecrets(secret: unknown): readonly string[] {
  const secrets = Array.isArray(secret) ? secret : [secret]
  for (const value of secrets) {
    if (typeof value !== 'string' || value.trim().length < 32) {
      throw new TypeError(
        'secret: give at least 32 random characters, e.g. from `openssl rand -base64 32`, and keep them: tokens and stored keys depend on it.',
      )
    }
  }
  if (secrets.length === 0) throw new TypeError('secret: the list is empty, give at least one.')
  return [...secrets]
}

/** Those that were listed, and what comes with them. */
function listFeatures(listed: readonly Feature[]): readonly Feature[] {
  const names = listed.map(({ name }) => name)
  const included = listed.flatMap(({ includes = [] }) => includes)
  const all = [...listed, ...included.filter(({ name }) => !names.includes(name))]
  assertNamedOnce(
    'features',
    all.map(({ name }) => name),
  )
  return all
}

function resolveSelfRegistered(
  { selfRegistered = {} }: { readonly selfRegistered?: SelfRegisteredOptions },
  features: readonly Feature[],
  addresses: readonly string[],
  defined: ReadonlySet<string>,
): Pick<ResolvedOptions, 'selfRegisteredScopes' | 'selfRegisteredResources'> {
  const ofFeatures = features.flatMap((each) => each.selfRegistered ?? [])
  const { scopes = [] } = selfRegistered
  const unknown = scopes.find((name) => !defined.has(name))
  if (unknown !== undefined) {
    throw new TypeError(`selfRegistered: the scope '${unknown}' is not defined.`)
  }
  const brought = ofFeatures
    .flatMap((each) => each.scopes ?? [])
    .filter((name) => defined.has(name))
  const limits = ofFeatures.flatMap((each) => each.resources ?? [])
  const resources = selfRegistered.resources ?? (limits.length > 0 ? limits : null)
  const nowhere = resources?.find((uri) => !addresses.includes(uri))
  if (nowhere !== undefined) {
    throw new TypeError(`selfRegistered: '${nowhere}' is not one of those in the option resources.`)
  }
  return {
    selfRegisteredScopes: new Set([...scopes, ...brought]),
    selfRegisteredResources: resources && new Set(resources),
  }
}

function parseBasePath(issuer: URL, path: string): string {
  if (!/^\/[\w-]+(\/[\w-]+)*$/.test(path)) {
    throw new TypeError(`path: '${path}' should look like '/oauth'.`)
  }
  return `${issuer.pathname === '/' ? '' : issuer.pathname}${path}`
}

function chooseStorage(options: { database?: Database; storage?: Storage }): Storage {
  if (options.storage && options.database) {
    throw new TypeError('Give either database or storage, not both.')
  }
  if (options.storage) return options.storage
  if (options.database) return kyselyStorage(options.database)
  throw new TypeError(
    "database is missing: pass `await connect('sqlite:tollgate.db')` from @tollgate/database.",
  )
}

function assertGrants(grants: unknown): void {
  if (!Array.isArray(grants) || grants.length === 0) {
    throw new TypeError('grants is empty: list what you offer, e.g. [authorizationCode()].')
  }
  assertNamedOnce(
    'grants',
    grants.map((grant: Grant) => grant.type),
  )
}

function assertNamedOnce(option: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new TypeError(`${option}: ${twice} is listed twice.`)
}

function parseFormat(
  format: AccessTokenFormatName | AccessTokenFormat,
): AccessTokenFormatName | AccessTokenFormat {
  if (typeof format === 'string') return oneOf('accessTokenFormat', format, accessTokenFormats)
  const methods = ['recognizes', 'encode', 'decode'] as const
  if (methods.every((name) => typeof format?.[name] === 'function')) return format
  throw new TypeError(
    'accessTokenFormat: give jwt, opaque, or recognizes(), encode() and decode().',
  )
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value
  throw new TypeError(`${name}: '${value}' is not one of ${allowed.join(', ')}.`)
}
