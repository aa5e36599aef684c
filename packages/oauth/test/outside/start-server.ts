import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  createAuthorizationServer,
  memoryStorage,
  refreshToken,
} from '@tollgate/oauth'
import { type MovableClock, movableClock } from '@tollgate/oauth/testing'

export const ISSUER = 'https://api.example'

export interface OutsideServer {
  readonly oauth: AuthorizationServer
  readonly clock: MovableClock
  /** Posts a form to the token endpoint and returns the JSON response. */
  token(form: Record<string, string>): Promise<Record<string, unknown>>
}

export function startServer(options: Partial<AuthorizationServerOptions>): OutsideServer {
  const clock = movableClock()
  const oauth = createAuthorizationServer({
    issuer: ISSUER,
    secret: 'a test secret of more than thirty-two characters',
    storage: memoryStorage(),
    users: { findById: (id) => (id === 'ada' ? { id } : null) },
    scopes: { read: 'Read', write: 'Write' },
    grants: [refreshToken()],
    clock,
    purgeEvery: false,
    logger: { error: () => {} },
    ...options,
  })
  async function token(form: Record<string, string>) {
    const body = new URLSearchParams(form)
    const response = await oauth.fetch(
      new Request(`${ISSUER}/oauth/token`, { method: 'POST', body }),
    )
    return (await response.json()) as Record<string, unknown>
  }
  return { oauth, clock, token }
}
