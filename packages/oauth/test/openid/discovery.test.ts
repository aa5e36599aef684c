import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorizationCode, openid, refreshToken } from '../../src/index.ts'
import { startServer } from '../support.ts'
import {
  authorize,
  newClient,
  type OpenIdServer,
  requestUserInfo,
  signIn,
  startOpenId,
  verifyIdToken,
} from './support.ts'

let server: OpenIdServer
beforeAll(async () => {
  server = await startOpenId()
})
afterAll(() => server.close())

describe('OpenID Connect discovery', () => {
  it('serves the same metadata at openid-configuration and oauth-authorization-server', async () => {
    const openidConfiguration = await server.request('/.well-known/openid-configuration')
    const oauth = await server.request('/.well-known/oauth-authorization-server')
    const metadata = await openidConfiguration.json()
    expect(metadata).toEqual(await oauth.json())
    expect(openidConfiguration.headers.get('access-control-allow-origin')).toBe('*')
    expect(metadata).toMatchObject({
      issuer: server.url,
      userinfo_endpoint: `${server.url}/oauth/userinfo`,
      jwks_uri: `${server.url}/.well-known/jwks.json`,
      subject_types_supported: ['public'],
      // Includes the algorithm of access tokens: others trust this list for ID tokens.
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      userinfo_signing_alg_values_supported: ['RS256', 'ES256'],
      response_types_supported: ['code', 'token'],
      response_modes_supported: ['query', 'fragment', 'form_post'],
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    })
    expect(metadata.scopes_supported).toEqual(expect.arrayContaining(['openid', 'place-orders']))
    expect(metadata.claims_supported).toEqual(expect.arrayContaining(['sub', 'email', 'auth_time']))
  })

  it('lists only the scopes for which the application provides claims', async () => {
    const small = await startOpenId({}, { scopes: ['profile', 'email'] })
    try {
      const metadata = await (await small.request('/.well-known/openid-configuration')).json()
      expect(metadata.scopes_supported).toEqual(expect.arrayContaining(['openid', 'email']))
      expect(metadata.scopes_supported).not.toEqual(expect.arrayContaining(['address']))
      expect(metadata.scopes_supported).not.toEqual(expect.arrayContaining(['phone']))
      expect(metadata.claims_supported).toEqual(expect.arrayContaining(['email', 'given_name']))
      expect(metadata.claims_supported).not.toContain('phone_number')
      // A request by claim name gets nothing either, though the application returns the claim.
      const client = await newClient(small)
      const claims = JSON.stringify({ userinfo: { address: null, email: null } })
      const { access_token } = await signIn(small, client, { scope: 'openid', claims })
      const userClaims = await (await requestUserInfo(small, access_token)).json()
      expect(userClaims).toMatchObject({ email: 'ada@example.com' })
      expect(userClaims).not.toHaveProperty('address')
    } finally {
      await small.close()
    }
  })

  it('accepts only the standard identity scopes and `groups`', () => {
    expect(() => openid({ scopes: ['roles' as 'email'] })).toThrow(
      "openid: scopes has 'roles', which is not one of profile, email, address, phone, groups.",
    )
  })

  it.each([
    '/.well-known/openid-configuration/tenant',
    '/tenant/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/tenant',
    '/tenant/.well-known/oauth-authorization-server',
  ])('is served at %s if the issuer has the path /tenant', async (path) => {
    const below = await startOpenId({ issuer: 'https://example.com/tenant' })
    try {
      const { issuer, userinfo_endpoint } = await (await below.request(path)).json()
      expect(issuer).toBe('https://example.com/tenant')
      expect(userinfo_endpoint).toBe('https://example.com/tenant/oauth/userinfo')
      expect((await below.request('/.well-known/openid-configuration')).status).toBe(404)
    } finally {
      await below.close()
    }
  })

  it('is not served without openid()', async () => {
    const plain = await startServer()
    try {
      expect((await plain.request('/.well-known/openid-configuration')).status).toBe(404)
      expect((await plain.request('/oauth/userinfo')).status).toBe(404)
      const metadata = await (await plain.request('/.well-known/oauth-authorization-server')).json()
      expect(Object.keys(metadata).filter((name) => /userinfo|id_token|claim/.test(name))).toEqual(
        [],
      )
      expect(metadata.scopes_supported).toEqual(['place-orders', 'check-status'])
      const { keys } = await (await plain.request('/.well-known/jwks.json')).json()
      expect(keys.map(({ alg }: { alg: string }) => alg)).toEqual(['ES256'])
    } finally {
      await plain.close()
    }
  })

  it("lists a key for each algorithm, and ID tokens use the algorithm in the client's settings", async () => {
    const own = await startOpenId({}, { idTokenAlgorithm: 'ES256' })
    try {
      const { keys } = await (await own.request('/.well-known/jwks.json')).json()
      expect(keys.map(({ alg }: { alg: string }) => alg).sort()).toEqual(['ES256', 'RS256'])
      for (const [settings, alg] of [
        [{}, 'ES256'],
        [{ id_token_signed_response_alg: 'RS256' }, 'RS256'],
        [{ id_token_signed_response_alg: 'none' }, 'ES256'],
      ] as const) {
        const client = await newClient(own, { settings })
        const { id_token } = await signIn(own, client)
        const { protectedHeader } = await verifyIdToken(own, client, id_token)
        expect(protectedHeader.alg).toBe(alg)
      }
    } finally {
      await own.close()
    }
  })

  it("allows the algorithm of access tokens in the client's settings for ID tokens and UserInfo responses", async () => {
    const settings = {
      id_token_signed_response_alg: 'ES256',
      userinfo_signed_response_alg: 'ES256',
    }
    const client = await newClient(server, { settings })
    const { id_token, access_token } = await signIn(server, client)
    const { protectedHeader } = await verifyIdToken(server, client, id_token)
    const userClaims = await (await requestUserInfo(server, access_token)).text()
    expect([protectedHeader.alg, decodeProtectedHeader(userClaims).alg]).toEqual(['ES256', 'ES256'])
  })

  it.each([
    [{ idTokenAlgorithm: 'none' }, /idTokenAlgorithm 'none'/],
    [{ pairwiseSalt: 'short' }, /pairwiseSalt/],
    [{ responseTypes: ['code'] }, /responseTypes has 'code'/],
    [{ idTokensExpireIn: 'soon' }, /idTokensExpireIn/],
  ])('is rejected at start-up with an explanation if the options are %j', (options, message) => {
    expect(() => openid(options as object)).toThrow(message)
  })

  it('is rejected at start-up if openid() is listed twice', async () => {
    const grants = [authorizationCode(), refreshToken()]
    await expect(startOpenId({ grants, features: [openid(), openid()] })).rejects.toThrow(
      'features: openid is listed twice',
    )
  })
})

describe('pairwise subjects', () => {
  it('differ from client to client, but are equal for clients of the same sector', async () => {
    const own = await startOpenId({}, { pairwiseSalt: 'a salt of more than thirty-two characters' })
    try {
      const subOf = async (settings: object) => {
        const client = await newClient(own, { settings })
        const { id_token, access_token } = await signIn(own, client)
        const { payload } = await verifyIdToken(own, client, id_token)
        const { requestUserInfo: userinfo } = await import('./support.ts')
        const userClaims = await (await userinfo(own, access_token)).json()
        expect(userClaims.sub).toBe(payload.sub)
        return payload.sub
      }
      const sector = { subject_type: 'pairwise', sector_identifier_uri: 'https://b.example/s.json' }
      const subs = [
        await subOf({}),
        await subOf({ subject_type: 'pairwise' }),
        await subOf({ subject_type: 'pairwise' }),
        await subOf(sector),
      ]
      expect(subs[0]).toBe('ada')
      expect(subs[1]).toMatch(/^[\w-]{43}$/)
      expect(subs[2]).toBe(subs[1])
      expect(new Set(subs).size).toBe(3)
    } finally {
      await own.close()
    }
  })

  it('are never replaced by public subjects: if the server cannot create them, the request fails', async () => {
    const client = await newClient(server, { settings: { subject_type: 'pairwise' } })
    const back = await authorize(server, client)
    expect(back.searchParams.get('error')).toBe('unauthorized_client')
    expect(back.searchParams.has('code')).toBe(false)
  })
})
