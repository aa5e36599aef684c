import { type SigningAlgorithm, signingAlgorithms } from '../crypto.ts'
import { type Lifetime, parseLifetime } from '../lifetimes.ts'

/** Value of `typ` in the header of JWT access tokens. */
export type AccessTokenType = 'at+jwt' | 'JWT'

/** All values of `typ` that access tokens can have. */
export const accessTokenTypes: readonly AccessTokenType[] = ['at+jwt', 'JWT']

/**
 * Settings of one API, mainly for its access tokens. If a setting is absent, that of the server
 * applies.
 */
export interface ResourceOptions {
  /** The `aud` claim of access tokens for the API. By default, the URI of the API. */
  readonly audience?: string
  /**
   * Scopes that the API knows. Tokens for the API contain no other scopes. By default, all scopes.
   */
  readonly scopes?: readonly string[]
  /**
   * Scopes that a client should request first. Sent in the challenge to callers without a token.
   */
  readonly scopesToAskFor?: readonly string[]
  /**
   * Lifetime of access tokens for the API. Can only shorten the server's `accessTokensExpireIn`,
   * which is the default.
   */
  readonly accessTokensExpireIn?: Lifetime
  /** Format of access tokens for the API. By default, the `accessTokenFormat` of the server. */
  readonly accessTokenFormat?: 'jwt' | 'opaque'
  /**
   * Algorithm that signs JWT access tokens for the API. By default, the server's
   * `signingAlgorithm`.
   */
  readonly signingAlgorithm?: SigningAlgorithm
  /**
   * The `typ` header of JWT access tokens for the API. By default, the server's `tokenType`. Use
   * `JWT` for libraries that accept no other value.
   */
  readonly tokenType?: AccessTokenType
  /** Name of the API for display, published in its metadata. */
  readonly name?: string
  /** URL of the developer documentation, published in its metadata. */
  readonly documentation?: string
}

/**
 * Settings for JWTs that most libraries accept without configuration, such as Spring Security and
 * libraries older than RFC 9068: RS256 and `typ: JWT`.
 * @example
 * ```ts
 * resources: { 'https://orders.example.com': { scopes: ['orders:read'], ...readByAll } },
 * ```
 */
export const readByAll = {
  signingAlgorithm: 'RS256',
  tokenType: 'JWT',
} as const satisfies ResourceOptions

/** An API that tokens can be issued for. */
export interface ResourceServer {
  /** Resource URI, which clients send as `resource` (RFC 8707). */
  readonly uri: string
  readonly audience: string
  readonly scopes: readonly string[] | null
  readonly scopesToAskFor: readonly string[]
  readonly expireAt: ((now: Date) => Date) | null
  readonly format: 'jwt' | 'opaque' | null
  readonly algorithm: SigningAlgorithm
  readonly tokenType: AccessTokenType
  readonly name: string | null
  readonly documentation: string | null
}

export interface ResourceServers {
  /** The server's own API, for requests that name none. */
  readonly own: ResourceServer
  /** All other APIs by resource URI. */
  readonly others: ReadonlyMap<string, ResourceServer>
}

export interface ResourceDefaults {
  readonly audience: string
  readonly signingAlgorithm: SigningAlgorithm
  readonly tokenType: AccessTokenType
  readonly scopeNames: ReadonlySet<string>
  readonly machineScopeNames: ReadonlySet<string>
}

export function parseResources(
  options: Readonly<Record<string, ResourceOptions>>,
  defaults: ResourceDefaults,
): ResourceServers {
  const own = parseResource(defaults.audience, {}, defaults)
  const others = new Map<string, ResourceServer>()
  for (const [uri, resource] of Object.entries(options)) {
    assertResourceUri(uri)
    others.set(uri, parseResource(uri, resource, defaults))
  }
  return { own: others.get(defaults.audience) ?? own, others }
}

/**
 * Checks a resource URI: absolute and without a fragment (RFC 8707 §2). URIs are compared character
 * by character.
 */
function assertResourceUri(uri: string): void {
  const isAddress = URL.canParse(uri) && !uri.includes('#') && !/\s/.test(uri)
  if (!isAddress) {
    throw new TypeError(`resources: '${uri}' should be a URL like 'https://api.example.com'.`)
  }
}

function parseResource(
  uri: string,
  options: ResourceOptions,
  { signingAlgorithm, tokenType, scopeNames, machineScopeNames }: ResourceDefaults,
): ResourceServer {
  const at = `resources['${uri}']`
  const algorithm = options.signingAlgorithm ?? signingAlgorithm
  if (!signingAlgorithms.includes(algorithm)) {
    throw new TypeError(`${at}.signingAlgorithm: use one of ${signingAlgorithms.join(', ')}.`)
  }
  // `scopesToAskFor` is sent to callers without a token, who cannot get machine scopes.
  const named = (options.scopes ?? []).filter((name) => !machineScopeNames.has(name))
  const unknown = [...named, ...(options.scopesToAskFor ?? [])].find(
    (name) => !scopeNames.has(name),
  )
  if (unknown !== undefined) throw new TypeError(`${at}: the scope '${unknown}' is not defined.`)
  return {
    uri,
    audience: options.audience ?? uri,
    scopes: options.scopes ?? null,
    scopesToAskFor: options.scopesToAskFor ?? [],
    expireAt:
      options.accessTokensExpireIn === undefined
        ? null
        : parseLifetime(`${at}.accessTokensExpireIn`, options.accessTokensExpireIn),
    format: options.accessTokenFormat ?? null,
    algorithm,
    tokenType: options.tokenType ?? tokenType,
    name: options.name ?? null,
    documentation: options.documentation ?? null,
  }
}
