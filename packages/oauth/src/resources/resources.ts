import { type SigningAlgorithm, signingAlgorithms } from '../crypto.ts'
import { type Lifetime, parseLifetime } from '../lifetimes.ts'

/** `typ` of a JWT that is an access token. */
export type AccessTokenType = 'at+jwt' | 'JWT'

export const accessTokenTypes: readonly AccessTokenType[] = ['at+jwt', 'JWT']

/** What the access tokens of an API are like, where they differ from those of the server. */
export interface ResourceOptions {
  /** `aud` of its tokens. Default: its address. */
  readonly audience?: string
  /** The scopes it knows; a token for it holds no other. Default: all. */
  readonly scopes?: readonly string[]
  /** The scopes a client should ask for first; told to callers without a token. */
  readonly scopesToAskFor?: readonly string[]
  /** Default: the server's `accessTokensExpireIn`, which it may only shorten. */
  readonly accessTokensExpireIn?: Lifetime
  /** `jwt` or `opaque`. Default: that of the server. */
  readonly accessTokenFormat?: 'jwt' | 'opaque'
  /** What its JWTs are signed with. Default: the server's `signingAlgorithm`. */
  readonly signingAlgorithm?: SigningAlgorithm
  /** `typ` of its JWTs. Default: the server's `tokenType`; `JWT` for libraries that know no other. */
  readonly tokenType?: AccessTokenType
  /** What people call it; told in its metadata. */
  readonly name?: string
  /** Where developers read about it; told in its metadata. */
  readonly documentation?: string
}

/** RS256 with `typ: JWT`: what Spring Security, and most that came before RFC 9068, reads as it is set up. */
export const readByAll = {
  signingAlgorithm: 'RS256',
  tokenType: 'JWT',
} as const satisfies ResourceOptions

/** An API that tokens are for. */
export interface Resource {
  /** What clients send as `resource` (RFC 8707). */
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

export interface Resources {
  /** The API of the server itself: for requests that name none. */
  readonly own: Resource
  /** Every other one, by its address. */
  readonly others: ReadonlyMap<string, Resource>
}

export interface ResourceDefaults {
  readonly audience: string
  readonly signingAlgorithm: SigningAlgorithm
  readonly tokenType: AccessTokenType
  readonly scopeNames: ReadonlySet<string>
}

export function parseResources(
  options: Readonly<Record<string, ResourceOptions>>,
  defaults: ResourceDefaults,
): Resources {
  const own = parseResource(defaults.audience, {}, defaults)
  const others = new Map<string, Resource>()
  for (const [uri, resource] of Object.entries(options)) {
    assertAddress(uri)
    others.set(uri, parseResource(uri, resource, defaults))
  }
  return { own: others.get(defaults.audience) ?? own, others }
}

/** RFC 8707 §2: absolute, without a fragment. Compared character by character, so it has one spelling. */
function assertAddress(uri: string): void {
  const isAddress = URL.canParse(uri) && !uri.includes('#') && !/\s/.test(uri)
  if (!isAddress) {
    throw new TypeError(`resources: '${uri}' should be an address like 'https://api.example.com'.`)
  }
}

function parseResource(
  uri: string,
  options: ResourceOptions,
  { signingAlgorithm, tokenType, scopeNames }: ResourceDefaults,
): Resource {
  const at = `resources['${uri}']`
  const algorithm = options.signingAlgorithm ?? signingAlgorithm
  if (!signingAlgorithms.includes(algorithm)) {
    throw new TypeError(`${at}.signingAlgorithm: use one of ${signingAlgorithms.join(', ')}.`)
  }
  const named = [...(options.scopes ?? []), ...(options.scopesToAskFor ?? [])]
  const unknown = named.find((name) => !scopeNames.has(name))
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
