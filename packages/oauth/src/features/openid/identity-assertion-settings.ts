import { parseSeconds } from '../../lifetimes.ts'

/** Another authorization server that clients of `openid()` may have identity assertions for. */
export interface IdentityAssertionOptions {
  /** The clients that may have them: the `client_id` here, and the `client_id` of the same client there. */
  readonly clients: Readonly<Record<string, string>>
  /** The scopes there that may be asked for. A request that asks for none gets all of them. */
  readonly scopes: readonly string[]
  /** The APIs there that may be asked for, by their addresses. A request that names none gets all of them. */
  readonly resources: readonly string[]
  /**
   * The `client_id` under which the other server signs people in with this one: `sub` is the subject that this client
   * gets in ID tokens. Default: the subject that the asking client gets.
   */
  readonly relyingParty?: string
  /** Whether the e-mail address is told, for clients with the scope `email`. Default false. */
  readonly email?: boolean
  /** How long an assertion may be presented, up to an hour. Default 5 minutes. */
  readonly expireIn?: string | number
}

export interface AssertionAudience {
  /** The application's own object: clients may be added once they have their ids. */
  readonly clients: Readonly<Record<string, string>>
  readonly scopes: readonly string[]
  readonly resources: readonly string[]
  readonly relyingParty: string | null
  readonly tellsEmail: boolean
  /** In seconds. */
  readonly lifetime: number
}

const LONGEST_LIFE = 3600

export function resolveAssertionAudiences(
  audiences: Readonly<Record<string, IdentityAssertionOptions>>,
): ReadonlyMap<string, AssertionAudience> {
  return new Map(
    Object.entries(audiences).map(([issuer, options]) => [issuer, resolve(issuer, options)]),
  )
}

function resolve(issuer: string, options: IdentityAssertionOptions): AssertionAudience {
  const at = `openid: identityAssertions['${issuer}']`
  if (!URL.canParse(issuer)) throw new TypeError(`${at}: name the issuer of the other server.`)
  const { clients, scopes, resources, relyingParty = null, email = false } = options
  if (typeof clients !== 'object' || !Array.isArray(scopes) || !Array.isArray(resources)) {
    throw new TypeError(`${at}: give clients, scopes and resources.`)
  }
  const lifetime = parseSeconds(`${at}.expireIn`, options.expireIn ?? '5m')
  if (lifetime > LONGEST_LIFE) throw new TypeError(`${at}.expireIn may be an hour at most.`)
  return {
    clients,
    scopes: [...scopes],
    resources: [...resources],
    relyingParty,
    tellsEmail: email,
    lifetime,
  }
}
