import { WILDCARD } from '../scopes.ts'
import type { AuthorizationServer } from '../server.ts'
import type { ApplicationUser } from '../users/users.ts'

/** A type and not an interface: only then may it stand where `HeadersInit` is wanted. */
export type ActingHeaders = {
  /** A bearer token that the guard takes. */
  readonly authorization: string
  /** JSON, so refusals are no pages. */
  readonly accept: 'application/json'
}

/**
 * Headers that make a test's request come from this user, with a real token that holds these scopes.
 * @example
 * const headers = await actingAs(oauth, user, ['place-orders'])
 * expect((await app.request('/orders', { headers })).status).toBe(200)
 */
export async function actingAs(
  oauth: Pick<AuthorizationServer, 'tokens' | 'scopes'>,
  user: ApplicationUser,
  scopes: readonly string[] = [],
): Promise<ActingHeaders> {
  const held = scopes.includes(WILDCARD) ? Object.keys(oauth.scopes) : scopes
  const { accessToken } = await oauth.tokens.createPersonal({
    userId: user.id,
    name: 'test',
    scopes: held,
  })
  return { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
}
