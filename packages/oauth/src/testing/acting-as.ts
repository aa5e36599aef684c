import type { CreatedClient } from '../clients/secret.ts'
import { WILDCARD_SCOPE } from '../scopes.ts'
import type { AuthorizationServer } from '../server.ts'
import type { ApplicationUser } from '../users/users.ts'

/**
 * Request headers for a test. A type instead of an interface, because only then is it assignable to
 * `HeadersInit`.
 */
export type ActingHeaders = {
  /** A bearer token that the guard accepts. */
  readonly authorization: string
  /** JSON, so that errors are not returned as HTML pages. */
  readonly accept: 'application/json'
}

/**
 * Creates request headers that authenticate a test as this user, with a real personal access token.
 * The scope `*` stands for all scopes of the server.
 * @example
 * ```ts
 * const headers = await actingAs(oauth, user, ['place-orders'])
 * expect((await app.request('/orders', { headers })).status).toBe(200)
 * ```
 */
export async function actingAs(
  oauth: Pick<AuthorizationServer, 'tokens' | 'scopes'>,
  user: ApplicationUser,
  scopes: readonly string[] = [],
): Promise<ActingHeaders> {
  const held = scopes.includes(WILDCARD_SCOPE) ? Object.keys(oauth.scopes) : scopes
  const { accessToken } = await oauth.tokens.createPersonal({
    userId: user.id,
    name: 'test',
    scopes: held,
  })
  return headersOf(accessToken)
}

/**
 * Creates request headers that authenticate a test as this client itself, with a real access token.
 * The server needs the grant `clientCredentials()`, and the client must be allowed to use it.
 * @throws Error with the response of the token endpoint if it issues no token
 * @example
 * ```ts
 * const robot = await oauth.clients.create({ name: 'Robot', grants: ['client_credentials'] })
 * const headers = await actingAsClient(oauth, robot, ['check-status'])
 * expect((await app.request('/reports', { headers })).status).toBe(200)
 * ```
 */
export async function actingAsClient(
  oauth: Pick<AuthorizationServer, 'fetch' | 'issuer' | 'paths'>,
  { client, secret }: CreatedClient,
  scopes: readonly string[] = [],
): Promise<ActingHeaders> {
  const path = oauth.paths.find((each) => each.endsWith('/token')) ?? ''
  const form = { grant_type: 'client_credentials', scope: scopes.join(' ') }
  const proof = { client_id: client.id, client_secret: secret ?? '' }
  const isPosted = client.settings.token_endpoint_auth_method === 'client_secret_post'
  const basic = Buffer.from(Object.values(proof).map(encodeURIComponent).join(':'))
  const request = new Request(new URL(path, oauth.issuer), {
    method: 'POST',
    headers: isPosted ? {} : { authorization: `Basic ${basic.toString('base64')}` },
    body: new URLSearchParams(isPosted ? { ...form, ...proof } : form),
  })
  const response = await oauth.fetch(request)
  if (response.ok) return headersOf((await response.json()).access_token)
  throw new Error(`No token was issued for ${client.name}: ${await response.text()}`)
}

function headersOf(accessToken: string): ActingHeaders {
  return { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
}
