import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildSessionCookie } from '../support.ts'
import {
  ADA,
  authorize,
  exchange,
  newClient,
  type OpenIdServer,
  requestUserInfo,
  signIn,
  startOpenId,
  verifyIdToken,
} from './support.ts'

let server: OpenIdServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startOpenId()
  client = await newClient(server)
})
afterAll(() => server.close())

const leftHalf = (text: string) =>
  createHash('sha256').update(text).digest().subarray(0, 16).toString('base64url')

describe('an ID token (threat N5)', () => {
  it('is issued for the `openid` scope, signed with RS256, with the client as its only audience', async () => {
    const now = Math.floor(server.clock.now().getTime() / 1000)
    const tokens = await signIn(server, client, { nonce: 'n-1' })
    const { payload, protectedHeader } = await verifyIdToken(server, client, tokens.id_token)
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) })
    expect(payload).toEqual({
      iss: server.url,
      sub: 'ada',
      aud: client.id,
      azp: client.id,
      iat: now,
      exp: now + 3600,
      nonce: 'n-1',
      sid: expect.stringMatching(/^[\w-]{43}$/),
      at_hash: leftHalf(tokens.access_token),
    })
  })

  it('is not issued without the `openid` scope, nor in the password grant', async () => {
    expect(await signIn(server, client, { scope: 'place-orders' })).not.toHaveProperty('id_token')
    const reply = await server.post('/oauth/token', {
      grant_type: 'password',
      username: 'ada@example.com',
      password: 'correct horse',
      scope: 'openid',
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(reply.status).toBe(200)
    expect(await reply.json()).not.toHaveProperty('id_token')
  })

  it('contains when and how the person signed in (auth_time, acr, amr) if the application reports it', async () => {
    const at = new Date(server.clock.now().getTime() - 90_000)
    server.people.signIns.set(buildSessionCookie('ada').slice('session='.length), at)
    const before = server.people.fromRequest.bind(server.people)
    server.people.fromRequest = async (request) => {
      const found = await before(request)
      return found && { ...found, acr: 'silver', amr: ['pwd', 'otp'] }
    }
    try {
      const { id_token } = await signIn(server, client, { acr_values: 'gold silver' })
      const { payload } = await verifyIdToken(server, client, id_token)
      expect(payload).toMatchObject({
        auth_time: Math.floor(at.getTime() / 1000),
        acr: 'silver',
        amr: ['pwd', 'otp'],
      })
    } finally {
      server.people.fromRequest = before
      server.people.signIns.clear()
    }
  })

  it('is issued again at a refresh, for the same person and sign-in, and without the nonce', async () => {
    const first = await signIn(server, client, { nonce: 'once' })
    server.clock.advance({ seconds: 120 })
    const reply = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    const second = (await reply.json()) as typeof first
    const [a, b] = await Promise.all(
      [first, second].map(({ id_token }) => verifyIdToken(server, client, id_token)),
    )
    expect(a?.payload.nonce).toBe('once')
    expect(b?.payload).toMatchObject({ sub: 'ada', sid: a?.payload.sid })
    expect(b?.payload).not.toHaveProperty('nonce')
    expect(b?.payload.iat).toBe((a?.payload.iat ?? 0) + 120)
  })

  it.each([
    ['setting of the client', {}, { claims_in_id_token: true }, true],
    ['option of the server', { claimsInIdToken: true }, {}, true],
    [
      'server option, turned off for the client',
      { claimsInIdToken: true },
      { claims_in_id_token: false },
      false,
    ],
  ])(
    'contains the claims of the approved scopes if the option or the client setting requires it: %s',
    async (_name, all, one, isIncluded) => {
      const own = await startOpenId({}, { ...all, responseTypes: ['code id_token'] })
      try {
        const grants = ['authorization_code', 'refresh_token', 'implicit']
        const client = await newClient(own, { grants, settings: one })
        const { id_token } = await signIn(own, client, { scope: 'openid email' })
        const { payload } = await verifyIdToken(own, client, id_token)
        expect([payload.email, payload.name]).toEqual([
          isIncluded ? ADA.email : undefined,
          undefined,
        ])
        const passing = { response_type: 'code id_token', nonce: 'n', scope: 'openid email' }
        const { hash } = await authorize(own, client, passing)
        const front = new URLSearchParams(hash.slice(1)).get('id_token') ?? ''
        expect((await verifyIdToken(own, client, front)).payload.email).toBeUndefined()
      } finally {
        await own.close()
      }
    },
  )

  it('contains claims about the person only if they are requested by name', async () => {
    const plain = await signIn(server, client, { scope: 'openid profile email' })
    const { payload } = await verifyIdToken(server, client, plain.id_token)
    for (const name of Object.keys(ADA)) expect(payload).not.toHaveProperty(name)
    const claims = JSON.stringify({ id_token: { email: { essential: true }, nonsense: null } })
    const asked = await signIn(server, client, { claims })
    const named = (await verifyIdToken(server, client, asked.id_token)).payload
    expect(named.email).toBe(ADA.email)
    expect(named).not.toHaveProperty('name')
    expect(named).not.toHaveProperty('nonsense')
  })

  it("is issued without the person's claims if the application fails to provide them", async () => {
    server.people.claimsFor = () => {
      throw new Error('away')
    }
    try {
      const claims = JSON.stringify({ id_token: { name: null } })
      const { id_token } = await signIn(server, client, { claims })
      const { payload } = await verifyIdToken(server, client, id_token)
      expect(payload).not.toHaveProperty('name')
      expect(JSON.stringify(server.logged)).toContain('users.claims() failed')
    } finally {
      server.people.claimsFor = () => ADA
    }
  })

  it('never contains values from the application in claims that only the server may set', async () => {
    const forged = {
      iss: 'evil',
      sub: 'bob',
      aud: 'all',
      scope: '*',
      client_id: 'x',
      exp: 9e9,
      jti: 'j',
    }
    server.people.claimsFor = () => ({ ...ADA, ...forged })
    try {
      const names = Object.fromEntries(Object.keys(forged).map((name) => [name, null]))
      const claims = JSON.stringify({ id_token: names, userinfo: names })
      const tokens = await signIn(server, client, { claims })
      const { payload } = await verifyIdToken(server, client, tokens.id_token)
      expect(payload).toMatchObject({ iss: server.url, sub: 'ada', aud: client.id })
      for (const name of ['scope', 'client_id', 'jti']) expect(payload).not.toHaveProperty(name)
      expect(payload.exp).toBeLessThan(9e9)
      const userClaims = await (await requestUserInfo(server, tokens.access_token)).json()
      expect(userClaims).toEqual({ sub: 'ada' })
    } finally {
      server.people.claimsFor = () => ADA
    }
  })

  it('is accepted neither by a guard, nor by UserInfo, nor by introspection', async () => {
    const { id_token } = await signIn(server, client)
    expect((await requestUserInfo(server, id_token)).status).toBe(401)
    const reply = await server.post('/oauth/introspect', {
      token: id_token,
      client_id: client.id,
      client_secret: client.secret,
    })
    expect(await reply.json()).toEqual({ active: false })
    const guarded = server.oauth.guard.authenticate('api', {
      authorization: `Bearer ${id_token}`,
      cookie: null,
      csrfToken: null,
    })
    await expect(guarded).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('is issued only once per code', async () => {
    const back = await authorize(server, client, { nonce: 'n' })
    const code = back.searchParams.get('code') ?? ''
    const [first, second] = [
      await exchange(server, client, code),
      await exchange(server, client, code),
    ]
    expect([first.status, second.status]).toEqual([200, 400])
    const { access_token } = (await first.json()) as { access_token: string }
    expect((await requestUserInfo(server, access_token)).status).toBe(401)
  })
})
