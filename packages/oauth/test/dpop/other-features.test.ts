import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientRegistration,
  cors,
  deviceCode,
  dpop,
  password,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import { DEVICE_CODE, decide, newDevice, startDeviceFlow } from '../device/support.ts'
import { ACCESS_TOKEN, newService, newShop, TOKEN_EXCHANGE } from '../exchange/support.ts'
import { startServer, type TestServer } from '../support.ts'
import {
  askByPassword,
  claimsOf,
  type KeyHolderKeys,
  newHolder,
  refresh,
  requestBoundTokens,
  tokenProof,
} from './support.ts'

const PAGE = 'https://app.example'

let server: TestServer
let holder: KeyHolderKeys
let thief: KeyHolderKeys
beforeAll(async () => {
  server = await startServer({
    grants: [authorizationCode(), refreshToken(), password(), deviceCode(), tokenExchange()],
    features: [dpop(), cors(), clientRegistration({ policy: 'open' })],
    selfRegistered: { scopes: ['check-status'] },
  })
  holder = await newHolder()
  thief = await newHolder()
})
afterAll(() => server.close())

type Form = Record<string, string>

/** Sends a form to the token endpoint with a proof by this key. */
const ask = async (form: Form, key: KeyHolderKeys, headers: Form = {}): Promise<Response> =>
  server.post('/oauth/token', form, { dpop: await tokenProof(server, key), ...headers })

describe('the device flow with a DPoP key (threat T15)', () => {
  it('issues tokens that can be used and refreshed only with this key', async () => {
    const device = await newDevice(server)
    const { device_code, user_code } = await startDeviceFlow(server, device)
    await decide(server, 'ada', user_code)
    server.clock.advance({ seconds: 5 })
    const form = { grant_type: DEVICE_CODE, client_id: device.id, device_code }
    const made = await (await ask(form, holder)).json()
    expect(made.token_type).toBe('DPoP')
    expect(claimsOf(made.access_token).cnf).toEqual({ jkt: holder.thumbprint })
    const stolen = await refresh(
      server,
      device,
      made.refresh_token,
      await tokenProof(server, thief),
    )
    expect(stolen.status).toBe(400)
    const bare = await refresh(server, device, made.refresh_token, null)
    expect(bare.status).toBe(400)
    const own = await refresh(server, device, made.refresh_token, await tokenProof(server, holder))
    expect(own.status).toBe(200)
  })

  it('issues tokens only for the key named by dpop_jkt in the device request', async () => {
    const device = await newDevice(server)
    const { device_code, user_code } = await startDeviceFlow(server, device, {
      dpop_jkt: holder.thumbprint,
    })
    await decide(server, 'ada', user_code)
    const form = { grant_type: DEVICE_CODE, client_id: device.id, device_code }
    server.clock.advance({ seconds: 5 })
    const stolen = await ask(form, thief)
    expect([stolen.status, (await stolen.json()).error]).toEqual([400, 'invalid_grant'])
    server.clock.advance({ seconds: 5 })
    const bare = await server.post('/oauth/token', form)
    expect([bare.status, (await bare.json()).error]).toEqual([400, 'invalid_grant'])
    server.clock.advance({ seconds: 5 })
    const made = await (await ask(form, holder)).json()
    expect(claimsOf(made.access_token).cnf).toEqual({ jkt: holder.thumbprint })
  })

  it('issues to a self-registered client only tokens of at most an hour, and only for scopes that are open to such clients', async () => {
    const registered = await server.request('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Stranger',
        grant_types: [DEVICE_CODE, 'refresh_token'],
        token_endpoint_auth_method: 'none',
        dpop_bound_access_tokens: true,
      }),
    })
    expect(registered.status).toBe(201)
    const device = { id: (await registered.json()).client_id, secret: '' }
    await expect(startDeviceFlow(server, device, { scope: 'place-orders' })).rejects.toThrow(
      'invalid_scope',
    )
    const { device_code, user_code } = await startDeviceFlow(server, device, {
      scope: 'check-status',
    })
    await decide(server, 'ada', user_code)
    server.clock.advance({ seconds: 5 })
    const form = { grant_type: DEVICE_CODE, client_id: device.id, device_code }
    const bare = await server.post('/oauth/token', form)
    expect([bare.status, (await bare.json()).error]).toEqual([400, 'invalid_request'])
    server.clock.advance({ seconds: 5 })
    const made = await (await ask(form, holder)).json()
    expect(made).toMatchObject({ token_type: 'DPoP', expires_in: 3600, scope: 'check-status' })
  })
})

describe('a token exchange with DPoP (threat T16)', () => {
  it('issues a token for the key of the client that makes the exchange', async () => {
    const shop = await newShop(server)
    const service = await newService(server)
    const subject = await (await askByPassword(server, shop, null)).json()
    const form = {
      grant_type: TOKEN_EXCHANGE,
      client_id: service.id,
      client_secret: service.secret,
      subject_token: subject.access_token,
      subject_token_type: ACCESS_TOKEN,
    }
    const made = await (await ask(form, holder)).json()
    expect(made.token_type).toBe('DPoP')
    expect(claimsOf(made.access_token).cnf).toEqual({ jkt: holder.thumbprint })
  })

  /** Expects a refusal without a key and with another key. */
  async function expectNotExchanged(
    subject_token: string,
    service: { id: string; secret: string },
  ) {
    const form = {
      grant_type: TOKEN_EXCHANGE,
      client_id: service.id,
      client_secret: service.secret,
      subject_token,
      subject_token_type: ACCESS_TOKEN,
    }
    for (const reply of [await server.post('/oauth/token', form), await ask(form, thief)]) {
      expect([reply.status, (await reply.json()).error]).toEqual([400, 'invalid_request'])
    }
  }

  it('does not turn a bound token into a token without a key', async () => {
    const shop = await newShop(server)
    const service = await newService(server)
    const bound = await requestBoundTokens(server, shop, holder)
    await expectNotExchanged(bound.access_token, service)
  })

  it('does not turn a bound token into a token without a key, even if the original grant began without a key', async () => {
    const shop = await newShop(server)
    const service = await newService(server)
    const first = await (await askByPassword(server, shop, null)).json()
    const proof = await tokenProof(server, holder)
    const bound = await (await refresh(server, shop, first.refresh_token, proof)).json()
    expect(bound.token_type).toBe('DPoP')
    await expectNotExchanged(bound.access_token, service)
  })
})

describe('a page on another origin that uses DPoP', () => {
  it('may send a proof, and may read the nonce that the server requires', async () => {
    const demanding = await startServer({
      grants: [password()],
      features: [dpop({ nonces: true }), cors()],
    })
    try {
      const client = await newShop(demanding, { redirect: `${PAGE}/callback` })
      const asked = await demanding.request('/oauth/token', {
        method: 'OPTIONS',
        headers: {
          origin: PAGE,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'dpop',
        },
      })
      expect(asked.headers.get('access-control-allow-headers')).toContain('dpop')
      const form = {
        grant_type: 'password',
        client_id: client.id,
        client_secret: client.secret,
        username: 'ada@example.com',
        password: 'correct horse',
      }
      const proof = await tokenProof(demanding, holder)
      const reply = await demanding.post('/oauth/token', form, { dpop: proof, origin: PAGE })
      expect([reply.status, (await reply.json()).error]).toEqual([400, 'use_dpop_nonce'])
      expect(reply.headers.get('access-control-allow-origin')).toBe(PAGE)
      expect(reply.headers.get('access-control-expose-headers')).toContain('dpop-nonce')
      const nonce = reply.headers.get('dpop-nonce') ?? ''
      const again = await tokenProof(demanding, holder, { claims: { nonce } })
      const made = await demanding.post('/oauth/token', form, { dpop: again, origin: PAGE })
      expect((await made.json()).token_type).toBe('DPoP')
    } finally {
      await demanding.close()
    }
  })
})
