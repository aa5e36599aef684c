import { SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../openid/support.ts'
import { sessionOf } from '../support.ts'
import {
  fieldsOf,
  HOME,
  isSignedIn,
  type LogoutServer,
  leavingClient,
  press,
  startLogout,
  visit,
} from './support.ts'

let server: LogoutServer
let client: { id: string; secret: string }
let hint: string
beforeAll(async () => {
  server = await startLogout()
  client = await leavingClient(server, {}, { firstParty: true })
})
afterAll(() => server.close())
beforeEach(async () => {
  server.people.ended.clear()
  hint = (await signIn(server, client)).id_token
})

const location = (reply: Response) => reply.headers.get('location')

/** The names are those of the modules of the OpenID Foundation's suite. */
describe('the plan of RP-initiated logout', () => {
  it('discovery-endpoint-verification: the endpoint is told', async () => {
    const found = await (await server.request('/.well-known/openid-configuration')).json()
    expect(found.end_session_endpoint).toBe(`${server.url}/oauth/logout`)
  })

  it('rp-initiated-logout: signs out, and goes back with the state alone', async () => {
    const reply = await visit(server, {
      id_token_hint: hint,
      post_logout_redirect_uri: HOME,
      state: 'a b&c',
    })
    expect(reply.status).toBe(303)
    expect(location(reply)).toBe(`${HOME}?state=a%20b%26c`)
    expect(await isSignedIn(server, client.id)).toBe(false)
  })

  it('no-state: none comes back', async () => {
    const reply = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect(location(reply)).toBe(HOME)
  })

  it.each([
    ['bad-post-logout-redirect-uri', 'https://app.example/elsewhere'],
    ['query-added-to-post-logout-redirect-uri', `${HOME}?foo=bar`],
    ['another case', HOME.toUpperCase()],
    ['a path below', `${HOME}/more`],
    ['another host behind it', `${HOME}@evil.example`],
    ['script', 'javascript:alert(1)'],
  ])('%s: is asked, and stays here', async (_name, uri) => {
    const page = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: uri })
    expect(page.status).toBe(200)
    expect(await isSignedIn(server, client.id)).toBe(true)
    const done = await press(server, page, 'sign_out')
    expect([done.status, location(done)]).toEqual([200, null])
    expect(await done.text()).toContain('You are signed out')
    expect(await isSignedIn(server, client.id)).toBe(false)
  })

  it('modified-id-token-hint: a hint without a signature is none', async () => {
    const [, payload] = hint.split('.')
    const header = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
    for (const forged of [`${header}.${payload}.`, `${header}.${payload}`]) {
      const page = await visit(server, { id_token_hint: forged, post_logout_redirect_uri: HOME })
      expect([page.status, location(page)]).toEqual([200, null])
      expect(location(await press(server, page, 'stay'))).toBe(null)
    }
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('bad-id-token-hint: nor is one that somebody else has signed', async () => {
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

  it('no-id-token-hint: an address without a hint leads nowhere', async () => {
    for (const params of [{}, { client_id: client.id }] as Record<string, string>[]) {
      server.people.ended.clear()
      const page = await visit(server, { post_logout_redirect_uri: HOME, ...params })
      const done = await press(server, page, 'sign_out')
      expect([done.status, location(done)]).toEqual([200, null])
    }
  })

  it.each([
    ['no-params', {}],
    ['only-state', { state: 'x' }],
  ] as [string, Record<string, string>][])('%s: asks, and says so', async (_name, params) => {
    const page = await visit(server, params)
    expect(await isSignedIn(server, client.id)).toBe(true)
    const done = await press(server, page, 'sign_out')
    expect(await done.text()).toContain('You are signed out')
    expect(await isSignedIn(server, client.id)).toBe(false)
  })

  it('no-post-logout-redirect-uri: a hint of the session is enough, and the page says so', async () => {
    const page = await visit(server, { id_token_hint: hint })
    expect(await page.text()).toContain('You are signed out')
    expect(await isSignedIn(server, client.id)).toBe(false)
  })
})

describe('signing out through a client', () => {
  it('takes a hint that has expired', async () => {
    server.clock.advance('2d')
    const reply = await visit(server, { id_token_hint: hint, post_logout_redirect_uri: HOME })
    expect(location(reply)).toBe(HOME)
  })

  it('carries the cookies of the application, and ends cookie mode', async () => {
    const { cookie } = await server.cookieMode('ada')
    const reply = await visit(
      server,
      { id_token_hint: hint },
      { cookie: `${sessionOf('ada')}; ${cookie}` },
    )
    const cookies = reply.headers.getSetCookie()
    expect(cookies.slice(0, 2)).toEqual(['session=; Max-Age=0; Path=/', 'theme=; Max-Age=0'])
    expect(cookies[2]).toMatch(/^tollgate_token=; .*Max-Age=0/)
  })

  it('comes back at once when nobody is signed in any more, and sets nothing', async () => {
    const params = { id_token_hint: hint, post_logout_redirect_uri: HOME, state: 's' }
    const reply = await visit(server, params, {}, null)
    expect(location(reply)).toBe(`${HOME}?state=s`)
    expect(reply.headers.getSetCookie()).toEqual([])
    expect(await (await visit(server, {}, {}, null)).text()).toContain('You are signed out')
  })

  it('takes a form, and sends the browser here again with its cookies', async () => {
    const reply = await server.post('/oauth/logout', { id_token_hint: hint, state: 'x' })
    expect(reply.status).toBe(303)
    expect(location(reply)).toBe(`/oauth/logout?id_token_hint=${hint}&state=x`)
    const long = await server.post('/oauth/logout', { id_token_hint: 'x'.repeat(9000) })
    expect(long.status).toBe(400)
  })

  it('lets people stay', async () => {
    const page = await visit(server, { client_id: client.id, ui_locales: 'de en' })
    const done = await press(server, page, 'stay')
    expect(await done.text()).toContain('You are still signed in')
    expect(done.headers.getSetCookie()).toEqual([])
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('goes back to the client after the question too, where it has proven itself', async () => {
    const params = { id_token_hint: hint, post_logout_redirect_uri: HOME, state: 'q' }
    const page = await visit(server, params, { cookie: 'session=ada.2' })
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://app.example",
    )
    const done = await press(server, page, 'sign_out', { headers: { cookie: 'session=ada.2' } })
    expect(location(done)).toBe(`${HOME}?state=q`)
  })
})

describe('somebody else wants people signed out, or sent elsewhere (threat A13)', () => {
  it.each([
    ['a picture', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    ['a script', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' }],
    ['a page loaded in advance', { 'sec-purpose': 'prefetch' }],
  ] as [string, Record<string, string>][])('%s signs nobody out', async (_name, headers) => {
    const reply = await visit(server, { id_token_hint: hint }, headers)
    expect(await reply.text()).toContain('Sign out?')
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('HEAD signs nobody out', async () => {
    await server.request(`/oauth/logout?id_token_hint=${hint}`, {
      method: 'HEAD',
      headers: { cookie: sessionOf('ada') },
    })
    expect(await isSignedIn(server, client.id)).toBe(true)
  })

  it('the question cannot be answered by another site, nor framed', async () => {
    const page = await visit(server)
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    const fields = fieldsOf(await page.text())
    const send = (changes: Record<string, string>, headers: Record<string, string>) =>
      server.post(
        '/oauth/logout',
        { ...fields, decision: 'sign_out', ...changes },
        { cookie: sessionOf('ada'), accept: 'text/html', ...headers },
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

  it('what the form sends is judged again', async () => {
    const page = await visit(server)
    const fields = { id_token_hint: hint, post_logout_redirect_uri: 'https://evil.example/' }
    const done = await press(server, page, 'sign_out', { fields })
    expect([done.status, location(done)]).toEqual([200, null])
  })

  it('a hint of another session, or of another person, is not enough', async () => {
    for (const cookie of ['session=ada.2', 'session=bob.1']) {
      const reply = await visit(server, { id_token_hint: hint }, { cookie })
      expect(await reply.text()).toContain('Sign out?')
    }
    expect([...server.people.ended]).toEqual([])
  })

  it("a hint of another client leads to that client's addresses alone", async () => {
    const other = await leavingClient(
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

  it('neither an access token nor a client that was deleted gives a hint', async () => {
    const gone = await leavingClient(server, {}, { firstParty: true })
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

  it('an address that could run script cannot be registered', () =>
    expect(
      leavingClient(server, { post_logout_redirect_uris: ['javascript:alert(1)'] }),
    ).rejects.toThrow(/must not use the scheme javascript/))

  it('names in the request cannot break the page', async () => {
    const name = '<script>alert(1)</script>'
    const odd = await leavingClient(server, {}, { name })
    const page = await visit(server, { client_id: odd.id, state: '"><script>' })
    const html = await page.text()
    expect(html).toContain('&lt;script&gt;')
    expect(html).not.toContain('<script>')
  })
})

describe('where it is off', () => {
  it('there is no address, no metadata and no row', async () => {
    const plain = await startLogout(false)
    const own = await leavingClient(plain, {}, { firstParty: true })
    await signIn(plain, own)
    expect((await visit(plain)).status).toBe(404)
    const found = await (await plain.request('/.well-known/openid-configuration')).json()
    const names = Object.keys(found).filter((name) => /end_session|logout/.test(name))
    expect(names).toEqual([])
    expect(await plain.oauth.sessions.listByUser('ada')).toEqual([])
    await plain.close()
  })

  it('an application that does not say how a session ends is told so', async () => {
    const mute = await startLogout(true, {
      users: {
        findById: async (id: string) => ({ id, email: '', password: '' }),
        fromRequest: () => ({ id: 'ada', sessionId: 'ada.1' }),
      },
    })
    const page = await visit(mute)
    expect((await press(mute, page, 'sign_out')).status).toBe(500)
    expect(String(mute.logged)).toContain('users.signOut()')
    await mute.close()
  })
})
