import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientRegistration,
  deviceCode,
  jwtClientAuthentication,
  openid,
  refreshToken,
} from '../../src/index.ts'
import { DEVICE_CODE } from '../device/support.ts'
import { REDIRECT, requestAuthorization, SCOPES, startServer, type TestServer } from '../support.ts'
import { METADATA, registerAndReadError, registerAt, UNLIMITED } from './open-registration.ts'
import { createSigner, outgoing, postJson, startWebServer, type WebServer } from './support.ts'

describe('OpenID Connect Registration', () => {
  let web: WebServer
  let provider: TestServer
  beforeAll(async () => {
    web = await startWebServer()
    provider = await startServer({
      features: [
        openid({ pairwiseSalt: 'a salt of more than thirty-two characters' }),
        jwtClientAuthentication(),
        clientRegistration({ policy: 'open', perMinute: UNLIMITED }),
      ],
      grants: [authorizationCode(), refreshToken(), deviceCode()],
      selfRegistered: { scopes: ['openid', 'profile'] },
      scopes: SCOPES,
      outgoing: outgoing(),
    })
  })
  afterAll(async () => {
    await provider.close()
    await web.close()
  })

  const PAIRWISE = { subject_type: 'pairwise' }
  const twoHosts = { redirect_uris: [REDIRECT, 'https://other.example/cb'] }

  it('accepts algorithms that the server supports, and refuses others', async () => {
    const taken = { id_token_signed_response_alg: 'RS256', userinfo_signed_response_alg: 'RS256' }
    expect(await registerAt(provider, taken)).toMatchObject(taken)
    for (const id_token_signed_response_alg of ['none', 'HS256', 'PS512', 'EdDSA']) {
      const problem = await registerAndReadError(provider, {
        ...METADATA,
        id_token_signed_response_alg,
      })
      expect(problem).toMatchObject({ error: 'invalid_client_metadata' })
    }
  })

  it('ignores metadata that the server does not use', async () => {
    const client = await registerAt(provider, {
      request_uris: ['https://app.example/r'],
      backchannel_logout_uri: 'https://app.example/l',
      post_logout_redirect_uris: ['https://app.example/bye'],
    })
    expect(client).not.toHaveProperty('request_uris')
    expect(client).not.toHaveProperty('backchannel_logout_uri')
    expect(client).not.toHaveProperty('post_logout_redirect_uris')
  })

  it('fetches the sector identifier document, and checks that it lists all redirect URIs', async () => {
    web.answerJson([...twoHosts.redirect_uris, 'https://third.example/'])
    const sector_identifier_uri = web.urlOf('/sector.json')
    const metadata = { ...PAIRWISE, ...twoHosts, sector_identifier_uri }
    expect(await registerAt(provider, metadata)).toMatchObject({ sector_identifier_uri })
    expect(web.asked).toHaveLength(1)
  })

  it('fetches the sector identifier document at each registration, without a cache', async () => {
    const metadata = {
      ...PAIRWISE,
      ...twoHosts,
      sector_identifier_uri: web.urlOf('/changing.json'),
    }
    web.answerJson(twoHosts.redirect_uris, { 'cache-control': 'max-age=3600' })
    await registerAt(provider, metadata)
    web.answerJson([REDIRECT])
    const problem = await registerAndReadError(provider, { ...METADATA, ...metadata })
    expect(problem).toMatchObject({ status: 400, error: 'invalid_client_metadata' })
  })

  it.each([
    ['redirect URIs on several hosts without a sector identifier', null],
    ['a sector identifier that lists only one of the redirect URIs', [REDIRECT]],
    ['a sector identifier whose content is no list', { redirect_uris: [] }],
  ])('refuses %s', async (_what, listed) => {
    web.answerJson(listed)
    const sector =
      listed === null
        ? {}
        : { sector_identifier_uri: web.urlOf(`/${JSON.stringify(listed).length}`) }
    const problem = await registerAndReadError(provider, {
      ...METADATA,
      ...PAIRWISE,
      ...twoHosts,
      ...sector,
    })
    expect(problem).toMatchObject({ status: 400, error: 'invalid_client_metadata' })
  })

  it('does not reveal what a sector identifier URL returned (threat S1)', async () => {
    const closed = web.urlOf('/fails.json', 'localhost')
    const nowhere = 'https://app.example:1/sector.json'
    web.answer((_request, response) => response.writeHead(500).end('secret'))
    const problems = await Promise.all(
      [closed, nowhere].map((sector_identifier_uri) =>
        registerAndReadError(provider, { ...METADATA, sector_identifier_uri }),
      ),
    )
    expect(problems[0]).toEqual(problems[1])
    expect(JSON.stringify(problems)).not.toMatch(/secret|127|ECONN/)
  })

  it('counts a change that fetches a sector identifier document as a registration for the rate limit (threat S4)', async () => {
    const own = await startServer({
      features: [
        openid({ pairwiseSalt: 'a salt of more than thirty-two characters' }),
        clientRegistration({ policy: 'open', perMinute: 2 }),
      ],
      selfRegistered: { scopes: ['openid'] },
      outgoing: outgoing(),
      addressOf: () => '192.0.2.1',
    })
    try {
      web.answerJson([REDIRECT])
      const client = await registerAt(own)
      const change = { ...METADATA, ...PAIRWISE, sector_identifier_uri: web.urlOf('/own.json') }
      const authorization = `Bearer ${client.registration_access_token}`
      const statuses: number[] = []
      for (let count = 0; count < 3; count += 1) {
        const body = { ...change, client_id: client.client_id }
        const path = `/oauth/register/${client.client_id}`
        statuses.push((await postJson(own, path, body, { authorization }, 'PUT')).status)
      }
      expect(statuses).toEqual([200, 200, 429])
    } finally {
      await own.close()
    }
  })

  it('requires keys for private_key_jwt, and issues no secret to such clients', async () => {
    const signer = await createSigner('ES256')
    const method = { token_endpoint_auth_method: 'private_key_jwt' }
    expect(await registerAndReadError(provider, { ...METADATA, ...method })).toMatchObject({
      status: 400,
    })
    const jwks = { keys: [signer.jwk] }
    const client = await registerAt(provider, { ...method, jwks })
    expect(client).not.toHaveProperty('client_secret')
    const wrong = { ...method, jwks, token_endpoint_auth_signing_alg: 'HS256' }
    expect(await registerAndReadError(provider, { ...METADATA, ...wrong })).toMatchObject({
      status: 400,
    })
  })

  it('refuses requested claims whose scope is closed to self-registered clients', async () => {
    const client = await registerAt(provider)
    const page = await requestAuthorization(provider, 'ada', {
      client_id: client.client_id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      scope: 'openid',
      claims: JSON.stringify({ userinfo: { email: null } }),
    })
    expect(page.headers.get('location')).toContain('error=invalid_scope')
  })

  it('refuses claims of a closed scope also in the device flow, and also for clients that the operator has verified', async () => {
    const device = await registerAt(provider, {
      grant_types: ['authorization_code', DEVICE_CODE],
    })
    const asked = {
      client_id: device.client_id,
      client_secret: device.client_secret ?? '',
      scope: 'openid',
      claims: JSON.stringify({ userinfo: { email: null } }),
    }
    const reply = await provider.post('/oauth/device_authorization', asked)
    expect([reply.status, (await reply.json()).error]).toEqual([400, 'invalid_scope'])
    await provider.oauth.clients.verify(device.client_id)
    const { client_secret: _, ...params } = asked
    const page = await requestAuthorization(provider, 'ada', {
      ...params,
      redirect_uri: REDIRECT,
      response_type: 'code',
    })
    expect(page.headers.get('location')).toContain('error=invalid_scope')
  })
})
