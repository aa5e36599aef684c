import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  authorizationCode,
  clientCredentials,
  deviceCode,
  dpop,
  implicit,
  jwtBearer,
  jwtClientAuthentication,
  openid,
  password,
  pushedRequests,
  refreshToken,
  requestObjects,
  signedIntrospection,
  stepUp,
  tokenExchange,
} from '../../src/index.ts'
import { DEVICE_CODE, newDevice, startDeviceFlow } from '../device/support.ts'
import { makeProof, newHolder, requestBoundTokens } from '../dpop/support.ts'
import { ACCESS_TOKEN, createSubjectToken, JWT, TOKEN_EXCHANGE } from '../exchange/support.ts'
import { createSigner, type Signer } from '../request-objects/support.ts'
import { buildSessionCookie, createClient, REDIRECT, startServer } from '../support.ts'
import { createRandom } from './random.ts'

const API = 'https://api.example.com'
const ISSUER = 'https://idp.example.com'
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag'
const NAMES =
  'redirect_uri response_type scope state nonce claims prompt max_age acr_values resource audience request request_uri dpop_jkt code_challenge code_challenge_method response_mode id_token_hint login_hint ui_locales subject_token subject_token_type actor_token actor_token_type requested_token_type refresh_token assertion device_code user_code decision csrf_token client_assertion client_assertion_type code code_verifier token request_seen sign_in_asked registration interaction'.split(
    ' ',
  )

const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url')
const unsigned = (content: unknown) => `${encode({ alg: 'none' })}.${encode(content)}.`

function startAll(signer: Signer) {
  const jwks = { keys: [signer.jwk] }
  const scopes = ['place-orders']
  return startServer({
    grants: [
      authorizationCode(),
      refreshToken(),
      password(),
      implicit(),
      clientCredentials(),
      deviceCode(),
      tokenExchange(),
      jwtBearer({ issuers: [{ issuer: ISSUER, jwks, scopes, userOf: () => 'ada' }] }),
    ],
    resources: { [API]: { scopes: ['place-orders'] } },
    features: [
      openid({ identityAssertions: { [API]: { clients: {}, scopes, resources: [] } } }),
      dpop(),
      pushedRequests(),
      requestObjects({ unsigned: true }),
      jwtClientAuthentication(),
      stepUp(),
      signedIntrospection(),
    ],
  })
}

/** An unhandled rejection fails the run, too: it would crash a process. */
describe('randomly altered requests to features beyond OAuth 2.0 (threat I6)', () => {
  const count = Number(process.env.FUZZ_REQUESTS ?? 5_000)
  const seed = Number(process.env.FUZZ_SEED ?? 20_260_101)

  it(`cause no 5xx and no internal failure in ${count} cases`, {
    timeout: 60_000 + count * 20,
  }, async () => {
    const signer = await createSigner('ES256')
    const server = await startAll(signer)
    const random = createRandom(seed)
    const holder = await newHolder()
    const app = await createClient(server, {
      grants: [
        'authorization_code',
        'refresh_token',
        'password',
        'implicit',
        'client_credentials',
        DEVICE_CODE,
        TOKEN_EXCHANGE,
        JWT_BEARER,
      ],
      settings: { jwks: { keys: [signer.jwk] } },
    })
    const device = await newDevice(server)
    const { device_code, user_code } = await startDeviceFlow(server, device)
    const tokens = await createSubjectToken(server, app)
    const bound = await requestBoundTokens(server, app, holder)
    const credentials = { client_id: app.id, client_secret: app.secret }
    const asked = { client_id: app.id, response_type: 'code', redirect_uri: REDIRECT }
    const pushed = await server.post('/oauth/par', { ...credentials, ...asked })
    const { request_uri } = await pushed.json()
    const said = { ...asked, max_age: 5, claims: { userinfo: { email: null } }, resource: [API] }
    const request = await new SignJWT({ ...said, iss: app.id, aud: server.url })
      .setProtectedHeader({ alg: 'ES256', kid: 'key' })
      .sign(signer.privateKey)

    const now = Math.floor(server.clock.now().getTime() / 1000)
    const times = { iat: now, exp: now + 60, jti: 'one' }
    const asserted = { iss: ISSUER, sub: 'x', aud: server.url, ...times }
    const signAssertion = (claims: Record<string, unknown>) =>
      new SignJWT({ ...asserted, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'key' })
        .sign(signer.privateKey)
    const assertion = await signAssertion({})
    const odd = await signAssertion({ scope: [1], resource: {}, cnf: [], client_id: 7 })

    const values = [
      ...[assertion, odd, 'urn:ietf:params:oauth:token-type:id-jag'],
      ...Object.values({ ...credentials, ...tokens, ...bound }).map(String),
      ...[device_code, user_code, request_uri, request, holder.thumbprint, API, `${API}/`],
      ...[REDIRECT, 'code', 'token', 'code id_token', 'openid email', 'place-orders', '*'],
      ...[ACCESS_TOKEN, JWT, 'none login', 'consent', 'S256', 'form_post', 'fragment', 'approve'],
      ...[
        '',
        ' ',
        'x',
        'x'.repeat(3000),
        '😀',
        '0',
        '-1',
        '1e9',
        'null',
        '{}',
        '[]',
        'a.b.c',
        '..',
      ],
      '{"userinfo":{"__proto__":null,"email":{"values":[1,{}]}}}',
      '{"id_token":{"auth_time":{"essential":true},"sub":{"value":7}}}',
      unsigned({ ...asked, scope: ['a'], state: {}, resource: [1, null, {}], prompt: [] }),
      unsigned({ ...asked, response_type: ['code'], redirect_uri: 5, nonce: [], dpop_jkt: {} }),
      ...[null, [], 'x'].map(unsigned),
      'urn:ietf:params:oauth:request_uri:x',
      'https://app.example/request.jwt',
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    ]
    const exchange = {
      ...credentials,
      grant_type: TOKEN_EXCHANGE,
      subject_token: tokens.access_token,
      subject_token_type: ACCESS_TOKEN,
    }
    const { refresh_token = '' } = tokens
    const good: ReadonlyArray<[method: string, path: string, params: Record<string, string>]> = [
      ['POST', '/oauth/par', { ...credentials, ...asked }],
      ['POST', '/oauth/device_authorization', { client_id: device.id, scope: 'place-orders' }],
      ['POST', '/oauth/token', exchange],
      ['POST', '/oauth/token', { ...exchange, requested_token_type: ID_JAG, audience: API }],
      ['POST', '/oauth/token', { ...credentials, grant_type: JWT_BEARER, assertion }],
      ['POST', '/oauth/token', { client_id: device.id, grant_type: DEVICE_CODE, device_code }],
      ['POST', '/oauth/token', { ...credentials, grant_type: 'refresh_token', refresh_token }],
      ['POST', '/oauth/token', { ...credentials, grant_type: 'client_credentials' }],
      ['POST', '/oauth/introspect', { ...credentials, token: tokens.access_token }],
      ['POST', '/oauth/device', { user_code }],
      ['GET', '/oauth/device', { user_code }],
      ['GET', '/oauth/authorize', { client_id: app.id, request }],
      ['GET', '/oauth/authorize', { client_id: app.id, request_uri }],
      ['GET', '/oauth/authorize', { ...asked, scope: 'openid' }],
      ['POST', '/oauth/authorize', { ...asked, scope: 'openid' }],
    ]

    function proofFor(path: string, method: string): string | Promise<string> {
      if (random.below(2) === 0) return random.pick(values).replace(/[^!-~]/g, '')
      const name = random.pick(['jti', 'htu', 'htm', 'iat', 'ath', 'nonce'])
      const wrong = random.pick<unknown>([null, 5, {}, [], '', 'x', undefined, 1e300, -1])
      const claims = random.below(2) === 0 ? { [name]: wrong } : {}
      return makeProof(holder, { url: server.url + path, method, at: server.clock.now(), claims })
    }

    const failed: unknown[] = []
    for (let sent = 0; sent < count; sent += 1) {
      const [method, path, params] = random.pick(good)
      const form = new URLSearchParams(params)
      for (let changes = random.below(3); changes >= 0; changes -= 1) {
        const name = random.pick([...NAMES, ...Object.keys(params)])
        if (random.below(6) === 0) form.delete(name)
        else if (random.below(8) === 0) form.append('resource', random.pick(values))
        else form.set(name, random.pick(values))
      }
      const accept = ['text/html', 'application/json', 'application/token-introspection+jwt']
      const headers = new Headers({
        cookie: buildSessionCookie('ada'),
        origin: server.url,
        accept: random.pick(accept),
      })
      if (random.below(3) === 0) headers.set('dpop', await proofFor(path, method))
      const reply = await server.request(method === 'GET' ? `${path}?${form}` : path, {
        method,
        headers,
        ...(method === 'POST' && { body: form }),
      })
      if (reply.status >= 500) failed.push([method, path, String(form), await reply.text()])
    }
    expect(failed).toEqual([])
    await server.close()
  })
})
