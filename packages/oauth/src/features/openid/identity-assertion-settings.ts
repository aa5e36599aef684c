import { parseSeconds } from '../../lifetimes.ts'

/** Another authorization server that clients can get identity assertions for. */
export interface IdentityAssertionOptions {
  /**
   * The `client_id` of each allowed client at this server, mapped to the `client_id` of the same
   * client at the other server.
   */
  readonly clients: Readonly<Record<string, string>>
  /**
   * Scopes of the other server that can be requested. A request that names none gets all of them.
   */
  readonly scopes: readonly string[]
  /**
   * URLs of the other server's APIs that can be requested. A request that names none gets all of
   * them.
   */
  readonly resources: readonly string[]
  /**
   * The `client_id` that the other server has at this server, if people sign in there with their
   * account at this server. Assertions then have the same `sub` as the ID tokens of that client. By
   * default, they have the `sub` of the requesting client's ID tokens.
   */
  readonly relyingParty?: string
  /**
   * Whether to include the e-mail address, for clients with the scope `email`.
   * @default false
   */
  readonly email?: boolean
  /** Lifetime of an assertion, at most one hour. @default '5m' */
  readonly expireIn?: string | number
}

export interface AssertionAudience {
  /**
   * The `client_id` of each allowed client at this server, mapped to its `client_id` at the other
   * server. This is the object from the options, not a copy, so that the application can add
   * clients later.
   */
  readonly clients: Readonly<Record<string, string>>
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
  readonly relyingParty: string | null
  readonly tellsEmail: boolean
  /** Lifetime of an assertion, in seconds. */
  readonly lifetime: number
}

const MAX_LIFETIME = 3600

export function resolveAssertionAudiences(
  audiences: Readonly<Record<string, IdentityAssertionOptions>>,
): ReadonlyMap<string, AssertionAudience> {
  return new Map(
    Object.entries(audiences).map(([issuer, options]) => [issuer, resolve(issuer, options)]),
  )
}

function resolve(issuer: string, options: IdentityAssertionOptions): AssertionAudience {
  const at = `openid: identityAssertions['${issuer}']`
  if (!URL.canParse(issuer))
    throw new TypeError(`${at}: the key must be the issuer of the other server, which is a URL.`)
  const { clients, scopes, resources, relyingParty = null, email = false } = options
  if (typeof clients !== 'object' || !Array.isArray(scopes) || !Array.isArray(resources)) {
    throw new TypeError(`${at}: give clients, scopes and resources.`)
  }
  const lifetime = parseSeconds(`${at}.expireIn`, options.expireIn ?? '5m')
  if (lifetime > MAX_LIFETIME) throw new TypeError(`${at}.expireIn may be an hour at most.`)
  return {
    clients,
    scopes: [...scopes],
    resources: [...resources],
    relyingParty,
    tellsEmail: email,
    lifetime,
  }
}
