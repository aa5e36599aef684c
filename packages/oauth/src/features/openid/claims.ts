import type { ScopeDefinitions } from '../../scopes.ts'
import type { ClaimsRequest, GrantDetails } from '../../storage/details.ts'
import type { UserClaims } from '../../users/claims.ts'

/**
 * Scopes that tell something of a person: those of OpenID Connect Core §5.4, and `groups`, which no standard defines and
 * which Argo CD, Grafana and Kubernetes read.
 */
export type IdentityScope = 'profile' | 'email' | 'address' | 'phone' | 'groups'

const WORDS: Readonly<Record<IdentityScope, string>> = {
  profile: 'See your name and profile',
  email: 'See your e-mail address',
  address: 'See your postal address',
  phone: 'See your phone number',
  groups: 'See which groups you belong to',
}

export const identityScopes = Object.keys(WORDS) as readonly IdentityScope[]

/** The scopes that are offered where nothing is said: every application knows what they mean. */
export const standardScopes = identityScopes.filter((name) => name !== 'groups')

/** OpenID Connect Core §5.4 and §11, in the words people read before they approve. */
export function scopesOffered(identity: readonly IdentityScope[]): ScopeDefinitions {
  const told = identity.map((name) => [name, WORDS[name]])
  return {
    openid: 'Know who you are',
    ...Object.fromEntries(told),
    offline_access: 'Keep access when you are away',
  }
}

const CLAIMS_OF_SCOPE: Readonly<Record<IdentityScope, readonly string[]>> = {
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'profile',
    'picture',
    'website',
    'gender',
    'birthdate',
    'zoneinfo',
    'locale',
    'updated_at',
  ],
  email: ['email', 'email_verified'],
  address: ['address'],
  phone: ['phone_number', 'phone_number_verified'],
  groups: ['groups'],
}

const scopeOfClaim = new Map(
  Object.entries(CLAIMS_OF_SCOPE).flatMap(([scope, names]) => names.map((name) => [name, scope])),
)

/** What only the server may say. With one of these an ID token could pass for something else. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'azp', 'nonce', 'auth_time', 'acr', 'amr'],
  ...[
    'at_hash',
    'c_hash',
    's_hash',
    'sid',
    'events',
    'cnf',
    'act',
    'may_act',
    'client_id',
    'scope',
  ],
  ...['token_introspection', 'active', 'token_type'],
])

/** The claims that discovery names. */
export function claimsOffered(identity: readonly IdentityScope[]): readonly string[] {
  return [
    ...['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'azp', 'sid'],
    ...identity.flatMap((name) => CLAIMS_OF_SCOPE[name]),
  ]
}

export type Wishes = ClaimsRequest['userinfo']

/** The scopes to which single claims belong that a request asks for. */
export function scopesOfWishes({ userinfo = {}, id_token = {} }: ClaimsRequest): string[] {
  const names = [...Object.keys(userinfo), ...Object.keys(id_token)]
  return [...new Set(names.flatMap((name) => scopeOfClaim.get(name) ?? []))]
}

/** Those of the wishes that stand: a standard claim goes with its scope when people have left that out. */
export function heldWishes(
  wishes: Wishes,
  scopes: readonly string[],
  { alsoShown = [] }: Pick<GrantDetails, 'alsoShown'>,
): Wishes {
  const isHeld = (name: string) => {
    const scope = scopeOfClaim.get(name)
    return scope === undefined || scopes.includes(scope) || alsoShown.includes(scope)
  }
  return wishes && Object.fromEntries(Object.entries(wishes).filter(([name]) => isHeld(name)))
}

/**
 * What may be told. A standard claim needs its scope, or to be asked for by name; others are the
 * application's own, which it gives by the scopes it was told of.
 */
export function selectClaims(
  all: UserClaims,
  scopes: readonly string[],
  wishes: Wishes = {},
): Record<string, unknown> {
  const told = Object.entries(all).filter(([name, value]) => {
    if (value === undefined || value === null || RESERVED.has(name)) return false
    const scope = scopeOfClaim.get(name)
    return scope === undefined || scopes.includes(scope) || Object.hasOwn(wishes, name)
  })
  return Object.fromEntries(told)
}

/** Only what was asked for by name: an ID token is read by many, and logged. */
export function selectWished(all: UserClaims, wishes: Wishes = {}): Record<string, unknown> {
  const told = Object.entries(all).filter(
    ([name, value]) => value !== undefined && value !== null && Object.hasOwn(wishes, name),
  )
  return Object.fromEntries(told.filter(([name]) => !RESERVED.has(name)))
}
