import { ENGLISH } from '../../pages/messages/messages.ts'
import type { ScopeDefinitions } from '../../scopes.ts'
import type { ClaimsRequest, GrantDetails } from '../../storage/details.ts'
import type { UserClaims } from '../../users/claims.ts'

/**
 * Scopes with information about a person: those of OpenID Connect Core §5.4, and `groups`, which is
 * not standardized but used by Argo CD, Grafana and Kubernetes.
 */
export type IdentityScope = 'profile' | 'email' | 'address' | 'phone' | 'groups'

export const identityScopes: readonly IdentityScope[] = [
  'profile',
  'email',
  'address',
  'phone',
  'groups',
]

/**
 * The standardized identity scopes, without `groups`: the default of the option `scopes` of
 * `openid()`.
 */
export const standardScopes = identityScopes.filter((name) => name !== 'groups')

/**
 * Returns the descriptions of the scopes that `openid()` adds (OpenID Connect Core §5.4 and §11),
 * by name.
 */
export function listOfferedScopes(identity: readonly IdentityScope[]): ScopeDefinitions {
  const names = ['openid', ...identity, 'offline_access'] as const
  return Object.fromEntries(names.map((name) => [name, ENGLISH(`scope.${name}`)]))
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

/**
 * Claims that the application cannot set, because with them an ID token could pass for something
 * else.
 */
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

/** Returns the names of the claims listed in the discovery document (`claims_supported`). */
export function listOfferedClaims(identity: readonly IdentityScope[]): readonly string[] {
  return [
    ...['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'azp', 'sid'],
    ...identity.flatMap((name) => CLAIMS_OF_SCOPE[name]),
  ]
}

export type RequestedClaims = ClaimsRequest['userinfo']

/**
 * Returns the scopes that the claims in the `claims` parameter belong to, such as `email` for
 * `email_verified`.
 */
export function listRequestedClaimScopes({
  userinfo = {},
  id_token = {},
}: ClaimsRequest): string[] {
  const names = [...Object.keys(userinfo), ...Object.keys(id_token)]
  return [...new Set(names.flatMap((name) => scopeOfClaim.get(name) ?? []))]
}

/**
 * Filters the claims that were requested by name in the `claims` parameter. Drops standard claims
 * whose scope the person declined.
 */
export function filterRequestedClaims(
  claimRequests: RequestedClaims,
  scopes: readonly string[],
  { alsoShown = [] }: Pick<GrantDetails, 'alsoShown'>,
): RequestedClaims {
  const isHeld = (name: string) => {
    const scope = scopeOfClaim.get(name)
    return scope === undefined || scopes.includes(scope) || alsoShown.includes(scope)
  }
  return (
    claimRequests &&
    Object.fromEntries(Object.entries(claimRequests).filter(([name]) => isHeld(name)))
  )
}

/**
 * Selects the claims about a user that the client may receive. A standard claim is included if its
 * scope was granted, or if it was requested by name. Custom claims are always included, because
 * `users.claims()` gets the scopes and decides about them.
 */
export function selectClaims(
  all: UserClaims,
  scopes: readonly string[],
  wishes: RequestedClaims = {},
): Record<string, unknown> {
  const selected = Object.entries(all).filter(([name, value]) => {
    if (value === undefined || value === null || RESERVED.has(name)) return false
    const scope = scopeOfClaim.get(name)
    return scope === undefined || scopes.includes(scope) || Object.hasOwn(wishes, name)
  })
  return Object.fromEntries(selected)
}

/**
 * Selects the claims about a user that were requested by name, and no others. Used for ID tokens,
 * which are widely shared and logged.
 */
export function selectRequestedClaims(
  all: UserClaims,
  wishes: RequestedClaims = {},
): Record<string, unknown> {
  const selected = Object.entries(all).filter(
    ([name, value]) => value !== undefined && value !== null && Object.hasOwn(wishes, name),
  )
  return Object.fromEntries(selected.filter(([name]) => !RESERVED.has(name)))
}
