import { buildSessionCookie, createClient } from '../support.ts'
import type { App } from './frameworks.ts'

/** Creates request headers with a personal access token of the user. */
export async function createUserHeaders(
  app: App,
  scopes: readonly string[] = [],
  userId = 'ada',
): Promise<{ authorization: string }> {
  const { accessToken } = await app.oauth.tokens.createPersonal({ userId, name: 'test', scopes })
  return { authorization: `Bearer ${accessToken}` }
}

/** Creates request headers with an access token that a client got for itself. */
export async function createMachineHeaders(
  app: App,
  scope: string,
): Promise<{ authorization: string; clientId: string }> {
  const { id, secret } = await createClient(app, { grants: ['client_credentials'] })
  const reply = await app.fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
      scope,
    }),
  })
  const { access_token } = (await reply.json()) as { access_token: string }
  return { authorization: `Bearer ${access_token}`, clientId: id }
}

export interface OpenPage {
  /** The session cookie and the cookie-mode cookie, as the browser sends both from now on. */
  readonly cookie: string
  readonly csrfToken: string
  readonly setCookies: readonly string[]
}

/**
 * Opens the page as a signed-in person and keeps the cookies and CSRF token a browser would keep.
 */
export async function openPage(app: App, session = buildSessionCookie('ada')): Promise<OpenPage> {
  const page = await app.fetch('/page', { headers: { cookie: session, accept: 'text/html' } })
  const setCookies = page.headers.getSetCookie()
  const token = setCookies.find((cookie) => cookie.startsWith('tollgate_token=')) ?? ''
  return {
    cookie: `${session}; ${token.split(';')[0]}`,
    csrfToken: /content="([^"]*)"/.exec(await page.text())?.[1] ?? '',
    setCookies,
  }
}
