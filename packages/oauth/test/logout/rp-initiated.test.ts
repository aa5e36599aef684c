import { SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../openid/support.ts'
import { buildSessionCookie } from '../support.ts'
import {
  fieldsOf,
  HOME,
  isSignedIn,
  type LogoutServer,
  logoutClient,
  startLogout,
  submitLogoutForm,
  visit,
} from './support.ts'

let server: LogoutServer
let client: { id: string; secret: string }
let hint: string
beforeAll(async () => {
  server = await startLogout()
  client = await logoutClient(server, {}, { firstParty: true })
})
afterAll(() => server.close())
beforeEach(async () => {
  server.people.ended.clear()
  hint = (await signIn(server, client)).id_token
})

const location = (reply: Response) => reply.headers.get('location')

/** Named after the modules of the OpenID Foundation's conformance suite. */
describe('OpenID Foundation test plan for RP-initiated logout', () => {
  it('discovery-endpoint-verification: announces the endpoint', async () => {
    const found = await (await server.request('/.well-known/openid-configuration')).json()
    expect(found.end_session_endpoint).toBe(`${server.url}/oauth/logout`)
  })

  it('rp-initiated-logout: signs the person out, and redirects to the client with only the state', async () => {
    const reply = await visit(server, {
      id_token_hint: hint,
      post_logout_redirect_uri: HOME,
      state: 'a b&c',
    })
    expect(reply.status).toBe(303)
    expect(location(reply)).toBe(`${HOME}?state=a%20b%26c`)
    expect(await isSignedIn(server, client.id)).toBe(false)
  })

  it('no-state: redirects to the client without a state if the request has none', async () => {
    const reply = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect(location(reply)).toBe(HOME)
  })

  it.each([
    ['bad-post-logout-redirect-uri', 'https://app.example/elsewhere'],
    ['query-added-to-post-logout-redirect-uri', `${HOME}?foo=bar`],
    ['another letter case', HOME.toUpperCase()],
    ['a path below', `${HOME}/more`],
    ['a host that starts with the right one', `${HOME}@evil.example`],
    ['script', 'javascript:alert(1)'],
  ])('%s: asks the person to confirm, and does not redirect to the client', async (_name, uri) => {
    const page = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: uri })
    expect(page.status).toBe(200)
    expect(await isSignedIn(server, client.id)).toBe(true)
    const done = await submitLogoutForm(server, page, 'sign_out')
    expect([done.status, location(done)]).toEqual([200, null])
    expect(await done.text()).toContain('You are signed out')
    expect(await isSignedIn(server, client.id)).toBe(false)
  })

  it('modified-id-token-hint: ignores an id_token_hint without a valid signature', async () => {
    const [, payload] = hint.split('.')
    const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    for (const forged of [`${header}.${payload}.`, `${header}.${payload}`]) {
      const page = await visit(server, { id_token_hint: forged, post_logout_redirect_uri: HOME })
      expect([page.status, location(page)]).toEqual([200, null])
      expect(location(await submitLogoutForm(server, page, 'stay'))).toBe(null)
    }
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('bad-id-token-hint: ignores an id_token_hint that another party has signed', async () => {
    const [header = ''] = hint.split('.')
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
    const { privateKey } = await crypto.subtle.generateKey(
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 2048,
        publicExponent: new Uint8Array([1, 0, 1]),
        hash: 'SHA-256',
      },
      true,
      ['sign', 'verify'],
    )
    const forged = await new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
      .setIssuer(server.url)
      .setAudience(client.id)
      .sign(privateKey)
    const page = await visit(server, { id_token_hint: forged, post_logout_redirect_uri: HOME })
    expect([page.status, location(page)]).toEqual([200, null])
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('no-id-token-hint: does not redirect to the client without id_token_hint', async () => {
    for (const params of [{}, { client_id: client.id }] as Record<string, string>[]) {
      server.people.ended.clear()
      const page = await visit(server, { post_logout_redirect_uri: HOME, ...params })
      const done = await submitLogoutForm(server, page, 'sign_out')
      expect([done.status, location(done)]).toEqual([200, null])
    }
  })

  it.each([
    ['no-params', {}],
    ['only-state', { state: 'x' }],
  ] as [string, Record<string, string>][])(
    '%s: asks the person to confirm, and shows a page after the sign-out',
    async (_name, params) => {
      const page = await visit(server, params)
      expect(await isSignedIn(server, client.id)).toBe(true)
      const done = await submitLogoutForm(server, page, 'sign_out')
      expect(await done.text()).toContain('You are signed out')
      expect(await isSignedIn(server, client.id)).toBe(false)
    },
  )

  it('no-post-logout-redirect-uri: signs the person out if id_token_hint belongs to the session, and shows a page that confirms it', async () => {
    const page = await visit(server, { id_token_hint: hint })
    expect(await page.text()).toContain('You are signed out')
    expect(await isSignedIn(server, client.id)).toBe(false)
  })
})

describe('RP-initiated logout', () => {
  it('accepts an expired id_token_hint', async () => {
    server.clock.advance({ days: 2 })
    const reply = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect(location(reply)).toBe(HOME)
  })

  it('sends the cookies that users.signOut() returns, and deletes the cookie of cookie mode', async () => {
    const { cookie } = await server.cookieMode('ada')
    const reply = await visit(
      server,
      { id_token_hint: hint },
      { cookie: `${buildSessionCookie('ada')}; ${cookie}` },
    )
    const cookies = reply.headers.getSetCookie()
    expect(cookies.slice(0, 2)).toEqual(['session=; Max-Age=0; Path=/', 'theme=; Max-Age=0'])
    expect(cookies[2]).toMatch(/^tollgate_token=; .*Max-Age=0/)
  })

  it('redirects to the client immediately, and sets no cookies, if there is no session', async () => {
    const params = { id_token_hint: hint, post_logout_redirect_uri: HOME, state: 's' }
    const reply = await visit(server, params, {}, null)
    expect(location(reply)).toBe(`${HOME}?state=s`)
    expect(reply.headers.getSetCookie()).toEqual([])
    expect(await (await visit(server, {}, {}, null)).text()).toContain('You are signed out')
  })

  it('redirects a form from another site to the same URL with GET, because only then does the browser send its cookies', async () => {
    const reply = await server.post('/oauth/logout', { id_token_hint: hint, state: 'x' })
    expect(reply.status).toBe(303)
    expect(location(reply)).toBe(`/oauth/logout?id_token_hint=${hint}&state=x`)
    const long = await server.post('/oauth/logout', { id_token_hint: 'x'.repeat(9000) })
    expect(long.status).toBe(400)
  })

  it('lets people decline to sign out', async () => {
    const page = await visit(server, { client_id: client.id, ui_locales: 'de en' })
    const done = await submitLogoutForm(server, page, 'stay')
    expect(await done.text()).toContain('Sie sind weiterhin angemeldet')
    expect(done.headers.getSetCookie()).toEqual([])
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('redirects to the client after the confirmation page, too, if id_token_hint identifies the client', async () => {
    const params = { id_token_hint: hint, post_logout_redirect_uri: HOME, state: 'q' }
    const page = await visit(server, params, { cookie: 'session=ada.2' })
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://app.example",
    )
    const done = await submitLogoutForm(server, page, 'sign_out', {
      headers: { cookie: 'session=ada.2' },
    })
    expect(location(done)).toBe(`${HOME}?state=q`)
  })
})

describe('a sign-out attempt by a third party (RP-initiated logout, threat A13)', () => {
  it.each([
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['an iframe', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a prefetched page', { 'sec-purpose': 'prefetch' }],
  ] as [string, Record<string, string>][])(
    'has no effect: %s does not sign the person out',
    async (_name, headers) => {
      const reply = await visit(server, { id_token_hint: hint }, headers)
      expect(await reply.text()).toContain('Sign out?')
      expect(await isSignedIn(server, client.id)).toBe(true)
    },
  )

  it('has no effect with the method HEAD', async () => {
    await server.request(`/oauth/logout?id_token_hint=${hint}`, {
      method: 'HEAD',
      headers: { cookie: buildSessionCookie('ada') },
    })
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('cannot submit or frame the confirmation page from another site', async () => {
    const page = await visit(server)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    const fields = fieldsOf(await page.text())
    const send = (changes: Record<string, string>, headers: Record<string, string>) =>
      server.post(
        '/oauth/logout',
        { ...fields, decision: 'sign_out', ...changes },
        { cookie: buildSessionCookie('ada'), accept: 'text/html', ...headers },
      )
    const origin = server.url
    expect((await send({}, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await send({}, { origin: 'null' })).status).toBe(403)
    expect((await send({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await send({ csrf_token: 'guessed' }, { origin })).status).toBe(403)
    expect((await send({}, { origin, cookie: 'session=ada.2' })).status).toBe(403)
    expect((await send({ decision: 'other' }, { origin })).status).toBe(400)
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('cannot change the parameters in the form of the confirmation page, which are checked again', async () => {
    const page = await visit(server)
    const fields = { id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' }
    const done = await submitLogoutForm(server, page, 'sign_out', { fields })
    expect([done.status, location(done)]).toEqual([200, null])
  })

  it('has no effect with the id_token_hint of another session or person', async () => {
    for (const cookie of ['session=ada.2', 'session=bob.1']) {
      const reply = await visit(server, { id_token_hint: hint }, { cookie })
      expect(await reply.text()).toContain('Sign out?')
    }
    expect([...server.people.ended]).toEqual([])
  })

  it('can redirect only to the redirect URIs of the client that the id_token_hint belongs to', async () => {
    const other = await logoutClient(
      server,
      { post_logout_redirect_uris: ['https://other.example/bye'] },
      { firstParty: true },
    )
    const page = await visit(server, {
      id_token_hint: hint,
      post_logout_redirect_uri: 'https://other.example/bye',
    })
    expect([page.status, location(page)]).toEqual([200, null])
    const mixed = await visit(server, { id_token_hint: hint, client_id: other.id })
    expect(mixed.status).toBe(400)
    expect(mixed.headers.get('content-type')).toContain('text/html')
  })

  it('cannot use an access token, or the ID token of a deleted client, as id_token_hint', async () => {
    const gone = await logoutClient(server, {}, { firstParty: true })
    const reply = await signIn(server, gone)
    const byToken = await visit(server, {
      id_token_hint: reply.access_token,
      post_logout_redirect_uri: HOME,
    })
    expect([byToken.status, location(byToken)]).toEqual([200, null])
    await server.oauth.clients.revoke(gone.id)
    const byGone = await visit(server, {
      id_token_hint: reply.id_token,
      post_logout_redirect_uri: HOME,
    })
    expect([byGone.status, location(byGone)]).toEqual([200, null])
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('cannot register a redirect URI that runs a script', () =>
    expect(
      logoutClient(server, { post_logout_redirect_uris: ['javascript:alert(1)'] }),
    ).rejects.toThrow(/must not use the scheme javascript/))

  it('cannot inject HTML into the page by names and parameters', async () => {
    const name = '<script>alert(1)</script>'
    const odd = await logoutClient(server, {}, { name })
    const page = await visit(server, { client_id: odd.id, state: '"><script>' })
    const html = await page.text()
    expect(html).toContain('&lt;script&gt;')
    expect(html).not.toContain('<script>')
  })
})

describe('RP-initiated logout that is not configured', () => {
  it('has no route, no metadata and no stored rows if the feature is off', async () => {
    const plain = await startLogout(false)
    const own = await logoutClient(plain, {}, { firstParty: true })
    await signIn(plain, own)
    expect((await visit(plain)).status).toBe(404)
    const found = await (await plain.request('/.well-known/openid-configuration')).json()
    const names = Object.keys(found).filter((name) => /end_session|logout/.test(name))
    expect(names).toEqual([])
    expect(await plain.oauth.sessions.listByUser('ada')).toEqual([])
    await plain.close()
  })

  it('fails with a logged error if users.signOut() is missing', async () => {
    const mute = await startLogout(true, {
      users: {
        findById: async (id: string) => ({ id, email: '', password: '' }),
        fromRequest: () => ({ id: 'ada', sessionId: 'ada.1' }),
      },
    })
    const page = await visit(mute)
    expect((await submitLogoutForm(mute, page, 'sign_out')).status).toBe(500)
    expect(String(mute.logged)).toContain('users.signOut()')
    await mute.close()
  })
})
