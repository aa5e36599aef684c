import * as client from 'openid-client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  implicit,
  openid,
  password,
  refreshToken,
  systemClock,
} from '../../src/index.ts'
import { UsersWithSignOut } from '../logout/support.ts'
import {
  buildSessionCookie,
  createClient,
  type ListeningServer,
  listen,
  REDIRECT,
} from '../support.ts'
import { type Decision, decideInBrowser } from './browser.ts'

const HOME = 'https://app.example/signed-out'

let server: ListeningServer
let config: client.Configuration
const people = new UsersWithSignOut()
beforeAll(async () => {
  server = await listen({
    clock: systemClock,
    users: people,
    grants: [authorizationCode(), refreshToken(), password(), implicit()],
    features: [openid({ logout: true, responseTypes: ['code id_token', 'id_token'] })],
  })
})
afterAll(() => server.close())
beforeEach(async () => {
  people.ended.clear()
  people.signIns.set('ada.1', new Date())
  config = await register()
})

async function register(): Promise<client.Configuration> {
  const { id, secret } = await createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'implicit'],
    settings: { post_logout_redirect_uris: [HOME] },
  })
  const secretInForm = client.ClientSecretPost(secret)
  return client.discovery(new URL(server.url), id, undefined, secretInForm, {
    execute: [client.allowInsecureRequests],
  })
}

/** A started sign-in: the values the application remembers, and the URL it sends the browser to. */
async function begin(params: Record<string, string> = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const [expectedNonce, expectedState] = [client.randomNonce(), client.randomState()]
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT,
    scope: 'openid profile email place-orders',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    nonce: expectedNonce,
    state: expectedState,
    ...params,
  })
  return { url, checks: { pkceCodeVerifier, expectedNonce, expectedState, idTokenExpected: true } }
}

async function signIn(params: Record<string, string> = {}, choice: Decision = {}) {
  const { url, checks } = await begin(params)
  return client.authorizationCodeGrant(config, await decideInBrowser(url, choice), checks)
}

describe('openid-client as the client of an OpenID Connect sign-in', () => {
  it('reads the claims of the ID token, requests UserInfo, and refreshes the tokens', async () => {
    const tokens = await signIn({ max_age: '600', claims: '{"id_token":{"email":null}}' })
    const claims = tokens.claims()
    const sub = claims?.sub ?? ''
    expect(claims).toMatchObject({ iss: server.url, email: 'ada@example.com' })
    const info = await client.fetchUserInfo(config, tokens.access_token, sub)
    expect(info).toMatchObject({ sub, name: 'Ada Lovelace', email: 'ada@example.com' })
    const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.claims()).toMatchObject({ sub, auth_time: claims?.auth_time })
  })

  it('accepts a response sent with form_post', async () => {
    const { url, checks } = await begin({ response_mode: 'form_post' })
    const page = await openAsAda(url)
    const form = new URLSearchParams(
      [...page.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
        name,
        value.replaceAll('&amp;', '&'),
      ]),
    )
    const posted = new Request(REDIRECT, { method: 'POST', body: form })
    const tokens = await client.authorizationCodeGrant(config, posted, checks)
    expect(tokens.claims()?.sub).toBe('ada')
  })

  it('accepts an ID token together with the code (response_type=code id_token), with PKCE', async () => {
    client.useCodeIdTokenResponseType(config)
    expect((await signIn()).claims()?.sub).toBe('ada')
    const { url, checks: forgotten } = await begin()
    const other = { ...forgotten, pkceCodeVerifier: client.randomPKCECodeVerifier() }
    await expect(
      client.authorizationCodeGrant(config, await decideInBrowser(url), other),
    ).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  it('accepts a response with an ID token only', async () => {
    client.useIdTokenResponseType(config)
    const { url, checks } = await begin()
    const callback = await decideInBrowser(url)
    const { expectedState } = checks
    const claims = await client.implicitAuthentication(config, callback, checks.expectedNonce, {
      expectedState,
    })
    expect(claims.sub).toBe('ada')
  })

  it('signs the person out, and receives its state parameter back', async () => {
    const tokens = await signIn()
    const leaving = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: HOME,
      state: 'left',
    })
    // Without a network: Node's `fetch` marks the request as one of a script, and scripts cannot
    // sign people out.
    const fetch: Decision['fetch'] = (url, init) => server.request(String(url), init)
    expect((await decideInBrowser(leaving, { fetch })).href).toBe(`${HOME}?state=left`)
    expect([...people.ended]).toEqual(['ada.1'])
  })
})

/** Opens the URL as Ada and returns the page that follows once the approval screen is passed. */
async function openAsAda(url: URL): Promise<string> {
  await signIn()
  const reply = await fetch(url, {
    headers: { cookie: buildSessionCookie('ada'), accept: 'text/html' },
  })
  return reply.text()
}

describe('openid-client, as the client of an OpenID Connect sign-in, receives an error', () => {
  it('when the person denies', async () => {
    const denied = signIn({}, { decision: 'deny' })
    await expect(denied).rejects.toBeInstanceOf(client.AuthorizationResponseError)
    await expect(denied).rejects.toMatchObject({ error: 'access_denied' })
  })

  it('when the state or nonce differ from its request, or the code verifier is missing', async () => {
    for (const name of ['expectedState', 'expectedNonce', 'pkceCodeVerifier']) {
      const { url, checks } = await begin()
      const callback = await decideInBrowser(url)
      const forgotten = { ...checks, [name]: client.randomPKCECodeVerifier() }
      await expect(client.authorizationCodeGrant(config, callback, forgotten)).rejects.toThrow()
    }
  })

  it('when the session has ended and prompt=none forbids showing a sign-in page', async () => {
    await signIn()
    expect((await signIn({ prompt: 'none' })).claims()?.sub).toBe('ada')
    people.ended.add('ada.1')
    const silent = signIn({ prompt: 'none' })
    await expect(silent).rejects.toMatchObject({ error: 'login_required' })
  })

  it('when the session ended between the request and the approval', async () => {
    const { url } = await begin()
    const cookie = buildSessionCookie('ada')
    const page = await fetch(url, { headers: { cookie, accept: 'text/html' } })
    const html = await page.text()
    people.ended.add('ada.1')
    const action = /action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const reply = await fetch(new URL(action, server.url), {
      method: 'POST',
      headers: { cookie, accept: 'text/html', origin: server.url },
      body: new URLSearchParams({ csrf_token, decision: 'approve' }),
      redirect: 'manual',
    })
    expect(reply.headers.get('location') ?? '').not.toContain('code=')
  })

  it('when the grant was revoked in the meantime', async () => {
    const tokens = await signIn()
    await client.tokenRevocation(config, tokens.refresh_token ?? '')
    const sub = tokens.claims()?.sub ?? ''
    await expect(
      client.refreshTokenGrant(config, tokens.refresh_token ?? ''),
    ).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(client.fetchUserInfo(config, tokens.access_token, sub)).rejects.toMatchObject({
      status: 401,
    })
  })
})
