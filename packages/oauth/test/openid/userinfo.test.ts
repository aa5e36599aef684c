import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../support.ts'
import {
  ADA,
  newClient,
  type OpenIdServer,
  requestUserInfo,
  signIn,
  startOpenId,
} from './support.ts'

let server: OpenIdServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startOpenId()
  client = await newClient(server)
})
afterAll(() => server.close())

const tokenFor = async (scope: string, params = {}) =>
  (await signIn(server, client, { scope, ...params })).access_token
const claimsOf = async (token: string) => (await requestUserInfo(server, token)).json()

describe('UserInfo', () => {
  it.each([
    ['openid', ['sub']],
    ['openid profile', ['sub', 'name', 'given_name', 'family_name', 'locale', 'updated_at']],
    ['openid email', ['sub', 'email', 'email_verified']],
    ['openid address', ['sub', 'address']],
    ['openid phone', ['sub', 'phone_number', 'phone_number_verified']],
    ['openid profile email address phone', ['sub', ...Object.keys(ADA)]],
  ])('returns exactly the claims of the scopes %j', async (scope, names) => {
    const claims = await claimsOf(await tokenFor(scope))
    expect(Object.keys(claims).sort()).toEqual([...names].sort())
    expect(claims.sub).toBe('ada')
  })

  it('returns the `groups` claim only with the `groups` scope, as do ID tokens', async () => {
    const own = await startOpenId({}, { scopes: ['email', 'groups'], claimsInIdToken: true })
    try {
      own.people.claimsFor = () => ({ email: 'ada@example.com', groups: ['admins', 'staff'] })
      const app = await newClient(own)
      const asked = async (scope: string) => {
        const { access_token, id_token } = await signIn(own, app, { scope })
        const fromUserInfo = await (await requestUserInfo(own, access_token)).json()
        return [fromUserInfo.groups, decodeJwt(id_token).groups]
      }
      const groups = ['admins', 'staff']
      expect(await asked('openid email groups')).toEqual([groups, groups])
      expect(await asked('openid email')).toEqual([undefined, undefined])
    } finally {
      await own.close()
    }
  })

  it('returns a single claim requested by name once the person has approved its scope', async () => {
    const other = await newClient(server)
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } })
    const { access_token } = await signIn(server, other, { claims })
    expect(await claimsOf(access_token)).toEqual({ sub: 'ada', name: ADA.name })
    expect(server.people.requestedScopes.at(-1)).toContain('profile')
    const [consent] = await server.oauth.consents
      .listByUser('ada')
      .then((all) => all.filter(({ clientId }) => clientId === other.id))
    expect(consent?.scopes).toEqual(['openid', 'profile'])
  })

  it('returns custom claims of the application', async () => {
    server.people.claimsFor = (scopes) => ({
      ...ADA,
      tenant: scopes.includes('place-orders') ? 7 : null,
    })
    try {
      expect(await claimsOf(await tokenFor('openid place-orders'))).toEqual({
        sub: 'ada',
        tenant: 7,
      })
      expect(await claimsOf(await tokenFor('openid'))).toEqual({ sub: 'ada' })
    } finally {
      server.people.claimsFor = () => ADA
    }
  })

  it('accepts GET, and accepts POST with the token either in the header or in the body, but not in both', async () => {
    const token = await tokenFor('openid email')
    const expected = { sub: 'ada', email: ADA.email, email_verified: true }
    const post = (init: RequestInit) =>
      server.request('/oauth/userinfo', { method: 'POST', ...init })
    const body = new URLSearchParams({ access_token: token })
    const authorization = `Bearer ${token}`
    const replies = [
      await requestUserInfo(server, token),
      await post({ headers: { authorization } }),
      await post({ body }),
    ]
    for (const reply of replies) {
      expect([reply.status, await reply.json()]).toEqual([200, expected])
      expect(reply.headers.get('cache-control')).toBe('no-store')
    }
    expect((await post({ body, headers: { authorization } })).status).toBe(400)
    expect((await server.request(`/oauth/userinfo?access_token=${token}`)).status).toBe(401)
  })

  it('is a signed JWT for a client that requests one in its settings', async () => {
    const signed = await newClient(server, { settings: { userinfo_signed_response_alg: 'RS256' } })
    const { access_token } = await signIn(server, signed, { scope: 'openid email' })
    const reply = await requestUserInfo(server, access_token)
    expect(reply.headers.get('content-type')).toBe('application/jwt')
    const { verifyIdToken } = await import('./support.ts')
    const { payload } = await verifyIdToken(server, signed, await reply.text())
    expect(payload).toMatchObject({ sub: 'ada', email: ADA.email })
  })

  it('rejects tokens without the `openid` scope, tokens of clients, unknown tokens, and revoked ones', async () => {
    const refused = async (token: string) => {
      const reply = await requestUserInfo(server, token)
      return [reply.status, reply.headers.get('www-authenticate')]
    }
    const plain = await tokenFor('place-orders')
    expect(await refused(plain)).toEqual([403, expect.stringContaining('insufficient_scope')])
    const everything = await server.post('/oauth/token', {
      grant_type: 'password',
      username: 'ada@example.com',
      password: 'correct horse',
      scope: '*',
      client_id: client.id,
      client_secret: client.secret,
    })
    const wild = (await everything.json()) as { access_token: string; refresh_token: string }
    expect((await refused(wild.access_token))[0]).toBe(403)
    const narrowed = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: wild.refresh_token,
      scope: 'openid',
      client_id: client.id,
      client_secret: client.secret,
    })
    expect([narrowed.status, await narrowed.json()]).toMatchObject([
      400,
      { error: 'invalid_scope' },
    ])
    expect((await refused('nonsense'))[0]).toBe(401)
    expect((await server.request('/oauth/userinfo')).headers.get('www-authenticate')).toBe(
      'Bearer realm="api"',
    )
    const good = await tokenFor('openid')
    await server.oauth.revokeUser('ada')
    expect((await refused(good))[0]).toBe(401)
  })
})

describe('identity scopes', () => {
  it('are refused for personal access tokens, and are not offered for them', async () => {
    const made = server.oauth.tokens.createPersonal({
      userId: 'ada',
      name: 'x',
      scopes: ['openid'],
    })
    await expect(made).rejects.toMatchObject({ code: 'invalid_scope' })
    const listed = await (await server.json('ada', 'GET', '/oauth/scopes')).json()
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(['place-orders', 'check-status'])
  })

  it('are refused for a client that is limited to other scopes', async () => {
    const limited = await createClient(server, { scopes: ['place-orders'] })
    const { authorize } = await import('./support.ts')
    const back = await authorize(server, limited)
    expect(back.searchParams.get('error')).toBe('invalid_scope')
    const anonymous = await createClient(server, { scopes: ['openid'] })
    const claims = JSON.stringify({ userinfo: { email: null } })
    const parts = await authorize(server, anonymous, { scope: 'openid', claims })
    expect(parts.searchParams.get('error')).toBe('invalid_scope')
  })
})
