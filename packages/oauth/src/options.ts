import type { Database } from '@tollgate/database'
import type { OutgoingSettings } from '@tollgate/http/outgoing'
import { type Clock, systemClock } from './clock.ts'
import { type SigningAlgorithm, signingAlgorithms } from './crypto.ts'
import type { Feature, SelfRegisteredOptions } from './features/feature.ts'
import type { Grant } from './grants/grant.ts'
import { type Lifetime, parseLifetime, parseSeconds, SECONDS_PER_YEAR } from './lifetimes.ts'
import type { ClientAddressReader } from './limits/network.ts'
import type { Logger } from './logger.ts'
import { type OutgoingOptions, resolveOutgoing } from './outgoing/outgoing.ts'
import { createDefaultPages } from './pages/default-pages.ts'
import { createPageTexts, type PageMessages, type PageTexts } from './pages/messages/messages.ts'
import type { Pages } from './pages/pages.ts'
import {
  type AccessTokenType,
  accessTokenTypes,
  parseResources,
  type ResourceOptions,
  type ResourceServers,
} from './resources/resources.ts'
import {
  assertScopeDefinitions,
  parseDefaultScopes,
  parseMachineScopes,
  parseOptionalScopes,
  type ScopeDefinitions,
} from './scopes.ts'
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
import { parseTokenPrefix } from './tokens/formats/token-prefix.ts'
import { createUserProviders, type UserProviders } from './users/providers.ts'
import type { ApplicationUser, Users } from './users/users.ts'

/** Options of `createAuthorizationServer()`. Invalid values throw a TypeError there. */
export interface AuthorizationServerOptions<
  User extends ApplicationUser = ApplicationUser,
  Claims extends object = AddedClaims,
> {
  /**
   * Public base URL of the server, sent as `iss`. Must be https (http only on localhost) and must
   * not end with a slash.
   */
  readonly issuer: string
  /**
   * Secret from which all keys are derived, at least 32 random characters. If it is a list, the
   * first secret protects new values, and values protected by any of them are accepted; that is how
   * a secret is replaced (docs/guides/operations.md). The type allows `undefined` so that an
   * environment variable can be passed directly; a missing secret throws a TypeError.
   */
  readonly secret: string | readonly string[] | undefined
  /** Database from `connect()` of `@tollgate/database`. Either this or `storage` is required. */
  readonly database?: Database
  /**
   * Custom storage that passes the storage contract, or `memoryStorage()`. Alternative to
   * `database`.
   */
  readonly storage?: Storage
  /**
   * The application's users, or several user providers by name, such as
   * `{ customers: {...}, admins: {...} }`. With several providers every user is stored as
   * `provider/id`, so that users of different providers with the same id stay separate.
   * @see docs/guides/user-providers.md
   */
  readonly users: Users<User> | Readonly<Record<string, Users<User>>>
  /**
   * Description of each scope by name. People read it on the approval screen.
   * @default {}
   */
  readonly scopes?: ScopeDefinitions
  /**
   * Description of each machine scope by name: a scope that no user can grant. Only a token of the
   * client credentials grant can have one, and only if the `scopes` of the client name it. No route
   * lists these scopes, and `*` does not include them.
   * @default {}
   * @example
   * machineScopes: { 'users:delete': 'Delete accounts' }
   * @see docs/guides/scopes.md
   */
  readonly machineScopes?: ScopeDefinitions
  /**
   * Scopes that people may decline on the approval screen; each has a checkbox. At most 50.
   * @default []
   */
  readonly optionalScopes?: readonly string[]
  /**
   * Scopes that are granted when a request names none (RFC 6749 §3.3), limited to those the client
   * may have. People see them on the approval screen.
   * @default []
   */
  readonly defaultScopes?: readonly string[]
  /**
   * Grant types that the server offers.
   * @example
   * grants: [authorizationCode(), refreshToken()]
   */
  readonly grants: readonly Grant[]
  /**
   * Extensions beyond plain OAuth 2.0. A feature that is not listed has no route, no metadata and
   * no cost.
   * @default []
   * @example
   * features: [openid(), requirePkce()]
   */
  readonly features?: readonly Feature[]
  /**
   * Page that people without a session are redirected to, with `return_to` in the query.
   * @default '/login'
   */
  readonly signInUrl?: string
  /** Path prefix of all routes. @default '/oauth' */
  readonly path?: string
  /** The `aud` claim of access tokens. @default the issuer */
  readonly audience?: string
  /**
   * Further APIs that tokens can be issued for, by the URL that clients send as `resource` (RFC
   * 8707). The server publishes their metadata (RFC 9728), and guards point callers without a token
   * to it.
   * @example
   * resources: { 'https://api.example.com/mcp': { scopes: ['tools:use'], accessTokensExpireIn: '1h' } }
   */
  readonly resources?: Readonly<Record<string, ResourceOptions>>
  /** Limits for clients that registered themselves. */
  readonly selfRegistered?: SelfRegisteredOptions
  /**
   * Settings for outgoing requests to client-supplied URLs (`jwks_uri`, client ID metadata
   * documents).
   */
  readonly outgoing?: OutgoingOptions
  /**
   * Returns the IP address of the caller as reported by your proxy, or `null` if unknown. Used by
   * rate limits per network. By default the adapter's address is used (`request.ip` of Express and
   * Fastify), if it is public.
   */
  addressOf?(request: Request): string | null
  /** Lifetime of access tokens. @default '1y' */
  readonly accessTokensExpireIn?: Lifetime
  /**
   * Lifetime of refresh tokens. Each refresh returns a refresh token with the full lifetime.
   * @default '1y'
   */
  readonly refreshTokensExpireIn?: Lifetime
  /** Lifetime of personal access tokens, independent of `accessTokensExpireIn`. @default '1y' */
  readonly personalAccessTokensExpireIn?: Lifetime
  /**
   * Text in front of new personal access tokens, by which secret scanners find them in code: 2 to 15
   * letters and digits and an underscore, such as `tgp_`. Guards and introspection accept the tokens
   * with and without it; libraries that verify JWTs by themselves do not know it.
   * @default '' (no prefix)
   * @see docs/guides/personal-access-tokens.md
   */
  readonly personalAccessTokenPrefix?: string
  /**
   * Format of new access tokens: `jwt` for signed JWTs (RFC 9068), `opaque` for opaque strings, or
   * a custom format. Access tokens in both built-in formats are always accepted.
   * @default 'jwt'
   */
  readonly accessTokenFormat?: AccessTokenFormatName | AccessTokenFormat
  /**
   * Additional claims for every access token and for introspection: a fixed object, or a function
   * that is called whenever a token is issued or refreshed. The function has two seconds; if it
   * fails, the client receives 503 and keeps its code or refresh token. Throw an OAuthError to
   * refuse the token.
   * @example
   * accessTokenClaims: async ({ userId }) => ({ tenant: userId && (await tenantOf(userId)) })
   */
  readonly accessTokenClaims?: AccessTokenClaimsOption<User, Claims>
  /**
   * Algorithm that access tokens are signed with. `RS256` is slow; few libraries can read `EdDSA`.
   * @default 'ES256'
   */
  readonly signingAlgorithm?: SigningAlgorithm
  /**
   * The `typ` header of access tokens of resources that do not set one. Use `JWT` for APIs whose
   * library does not know `at+jwt` (RFC 9068). Tokens with `JWT` are accepted only while this
   * option or a resource is set to it.
   * @default 'at+jwt'
   */
  readonly tokenType?: AccessTokenType
  /** How long a new signing key is published before the server signs with it. @default '5m' */
  readonly keyPublishedAhead?: string | number
  /** Lifetime of the cookie of cookie mode, unless it is renewed. @default '2h' */
  readonly cookieLifetime?: string | number
  /** Custom pages, such as the approval page. Pages that are not given are the built-in ones. */
  readonly pages?: Partial<Pages>
  /**
   * Texts of the default pages by language, such as `{ fr: { 'approve.button': 'Autoriser' } }`.
   * Adds a language, or replaces texts of the built-in `en` and `de`. Missing texts fall back to
   * the built-in language, then to English. The key `scope.<name>` describes your scope in that
   * language.
   */
  readonly messages?: Readonly<Record<string, PageMessages>>
  /**
   * Creates or migrates the tables on first use. If `false`, run `tollgate migrate` first; until then
   * every request fails.
   * @default true
   */
  readonly migrate?: boolean
  /**
   * Interval at which expired rows are deleted. `false` turns the timer off; then call `purge()`
   * yourself.
   * @default '1h'
   */
  readonly purgeEvery?: string | number | false
  /**
   * Source of the current time, for tests.
   * @default the clock of the database; without one, the system clock
   */
  readonly clock?: Clock
  /** Receives internal errors, which are never shown to callers. @default console */
  readonly logger?: Logger
}

export interface ResolvedOptions {
  readonly issuer: string
  readonly issuerUrl: URL
  readonly secrets: readonly string[]
  readonly storage: Storage
  readonly providers: UserProviders
  readonly scopes: ScopeDefinitions
  readonly scopeNames: ReadonlySet<string>
  readonly machineScopes: ScopeDefinitions
  readonly machineScopeNames: ReadonlySet<string>
  readonly optionalScopes: ReadonlySet<string>
  readonly defaultScopes: readonly string[]
  readonly grants: readonly Grant[]
  readonly features: readonly Feature[]
  /**
   * Scopes about the person, such as `openid`. The wildcard `*` does not include them, and personal
   * access tokens cannot have them.
   */
  readonly identityScopes: ReadonlySet<string>
  readonly signInUrl: string
  /** Path prefix of every route, including the path of the issuer. */
  readonly basePath: string
  readonly audience: string
  readonly resources: ResourceServers
  /** Whether the server publishes metadata of its APIs (RFC 9728). */
  readonly hasResources: boolean
  readonly selfRegisteredScopes: ReadonlySet<string>
  /** APIs that self-registered clients may have tokens for. `null` means all of them. */
  readonly selfRegisteredResources: ReadonlySet<string> | null
  readonly outgoing: OutgoingSettings
  readonly addressOf: ClientAddressReader | null
  readonly accessTokensExpireAt: (now: Date) => Date
  readonly refreshTokensExpireAt: (now: Date) => Date
  readonly personalAccessTokensExpireAt: (now: Date) => Date
  readonly personalAccessTokenPrefix: string
  readonly accessTokenFormat: AccessTokenFormatName | AccessTokenFormat
  readonly accessTokenClaims: ClaimsHook | null
  readonly signingAlgorithm: SigningAlgorithm
  readonly keyPublishedAheadSeconds: number
  readonly cookieSeconds: number
  readonly pages: Pages
  readonly pageTexts: PageTexts
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
  // The application's descriptions take precedence over those of the features.
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
  const machineScopes = parseMachineScopes(options.machineScopes ?? {}, scopeNames)
  const machineScopeNames = new Set(Object.keys(machineScopes))
  const identityScopes = new Set(Object.keys(ofFeatures))
  const resources: Record<string, ResourceOptions> = Object.assign(
    {},
    ...features.map((each) => each.resources),
    options.resources,
  )
  const storage = chooseStorage(options)
  const pageTexts = createPageTexts(options.messages, options.scopes)
  return {
    issuer: options.issuer,
    issuerUrl,
    secrets: parseSecrets(options.secret),
    storage,
    providers: createUserProviders(options.users),
    scopes,
    scopeNames,
    machineScopes,
    machineScopeNames,
    optionalScopes: parseOptionalScopes(options.optionalScopes ?? [], {
      defined: scopeNames,
      required: features.flatMap(({ requiredScopes = [] }) => requiredScopes),
    }),
    defaultScopes: parseDefaultScopes(options.defaultScopes ?? [], {
      defined: scopeNames,
      identity: identityScopes,
    }),
    grants: [...options.grants],
    features: [...features],
    identityScopes,
    signInUrl: options.signInUrl ?? '/login',
    basePath: parseBasePath(issuerUrl, options.path ?? '/oauth'),
    audience,
    resources: parseResources(resources, {
      audience,
      signingAlgorithm,
      tokenType: oneOf('tokenType', options.tokenType ?? 'at+jwt', accessTokenTypes),
      scopeNames,
      machineScopeNames,
    }),
    hasResources: options.resources !== undefined || Object.keys(resources).length > 0,
    ...resolveSelfRegistered(options, features, [audience, ...Object.keys(resources)], scopeNames),
    outgoing: resolveOutgoing(options.outgoing),
    addressOf: options.addressOf ? (request) => options.addressOf?.(request) ?? null : null,
    accessTokensExpireAt: lifetime(options, 'accessTokensExpireIn'),
    refreshTokensExpireAt: lifetime(options, 'refreshTokensExpireIn'),
    personalAccessTokensExpireAt: lifetime(options, 'personalAccessTokensExpireIn'),
    personalAccessTokenPrefix: parseTokenPrefix(options.personalAccessTokenPrefix ?? ''),
    accessTokenFormat: parseFormat(options.accessTokenFormat ?? 'jwt'),
    accessTokenClaims: parseAccessTokenClaims(options.accessTokenClaims),
    signingAlgorithm,
    keyPublishedAheadSeconds: parseSeconds('keyPublishedAhead', options.keyPublishedAhead ?? '5m'),
    cookieSeconds: parseSeconds('cookieLifetime', options.cookieLifetime ?? '2h'),
    pages: { ...createDefaultPages(pageTexts), ...options.pages },
    pageTexts,
    migrate: options.migrate ?? true,
    purgeEverySeconds:
      options.purgeEvery === false ? null : parseSeconds('purgeEvery', options.purgeEvery ?? '1h'),
    clock: options.clock ?? storage.clock ?? systemClock,
    logger: safeLogger(options.logger ?? console),
  }
}

/** Wraps the logger so that an error thrown by it never fails the request. */
function safeLogger(logger: Logger): Required<Logger> {
  const quietly = (write: () => void) => {
    try {
      write()
    } catch {
      // No other place is left to report the error.
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
  return parseLifetime(name, options[name] ?? SECONDS_PER_YEAR)
}

function parseIssuer(issuer: unknown): URL {
  const fix = "Give the public base URL of this server, e.g. 'https://api.example.com'."
  // The value is not repeated: a string that is not a URL may be a secret passed to the wrong
  // option.
  if (typeof issuer !== 'string' || !/^https?:\/\//.test(issuer) || !URL.canParse(issuer)) {
    throw new TypeError(`issuer: this is not an https URL. ${fix}`)
  }
  const url = new URL(issuer)
  // RFC 8414 §2 allows no query and no fragment. Clients compare the string, so only one spelling
  // is accepted.
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

/**
 * Validates the secrets. The error never repeats the value, which may be a real secret that is only
 * too short.
 */
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

/** Returns the listed features and those that they include. */
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
    throw new TypeError(`selfRegistered: '${nowhere}' is not listed in the option resources.`)
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
    throw new TypeError('grants is empty: list the grants to offer, e.g. [authorizationCode()].')
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
    "accessTokenFormat: give 'jwt', 'opaque', or an object with recognizes(), encode() and decode().",
  )
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly T[]): T {
  if (allowed.includes(value)) return value
  throw new TypeError(`${name}: '${value}' is not one of ${allowed.join(', ')}.`)
}
