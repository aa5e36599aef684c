import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openid, pushedRequests, requestObjects } from '../../src/index.ts'
import { UsersWithClaims } from '../openid/support.ts'
import { locationOf } from '../pushed/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'
import {
  claimsOf,
  createSigner,
  createSigningClient,
  encodeUnsigned,
  requestAndReadError,
  requestWithObject,
  type SigningClient,
  sign,
  signedBy,
  startObjects,
} from './support.ts'

let server: TestServer
let client: SigningClient
beforeAll(async () => {
  server = await startObjects({ features: [requestObjects(), pushedRequests()] })
  client = await createSigningClient(server)
})
afterAll(() => server.close())

const METADATA = '/.well-known/oauth-authorization-server'
const plain = { redirect_uri: REDIRECT, response_type: 'code', state: 'url' }

describe('a signed request object (RFC 9101)', () => {
  it.each(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])(
    'is accepted with the algorithm %s, and the other parameters in the URL are ignored',
    async (algorithm) => {
      const own = await createSigningClient(server, {}, algorithm)
      const reply = await requestWithObject(server, own, await signedBy(server, own), {
        redirect_uri: 'https://evil.example/',
        response_type: 'token',
        scope: 'check-status',
        state: 'url',
        prompt: 'none',
      })
      const back = locationOf(reply)
      expect(`${back.origin}${back.pathname}`).toBe(REDIRECT)
      expect(back.searchParams.get('state')).toBe('signed')
      const tokens = await server.post('/oauth/token', {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT,
        client_id: own.id,
        client_secret: own.secret,
      })
      expect(await tokens.json()).toMatchObject({ scope: 'place-orders' })
    },
  )

  it('is complete: a parameter that it lacks is not read from the URL', async () => {
    const { state: _state, ...claims } = claimsOf(server, client)
    const object = await sign(client.signer, claims)
    const back = locationOf(await requestWithObject(server, client, object, { state: 'url' }))
    expect(back.searchParams.get('code')).toMatch(/^tgc_/)
    expect(back.searchParams.get('state')).toBeNull()
  })

  it.each([undefined, 'JWT', 'application/oauth-authz-req+jwt'])(
    'may have the typ %s',
    async (typ) => {
      const object = await sign(client.signer, claimsOf(server, client), { typ } as object)
      expect((await requestWithObject(server, client, object)).status).toBe(303)
    },
  )

  it('is accepted without a kid if any key of the client verifies it', async () => {
    const [first, second] = [await createSigner('ES256', 'a'), await createSigner('ES256', 'b')]
    const jwks = { keys: [first.jwk, second.jwk] }
    const own = await createClient(server, { firstParty: true, settings: { jwks } })
    const header = { kid: undefined } as object
    const object = await sign(second, claimsOf(server, own), header)
    expect((await requestWithObject(server, own, object)).status).toBe(303)
    const foreign = await sign(await createSigner('ES256'), claimsOf(server, own), header)
    expect((await requestWithObject(server, own, foreign)).status).toBe(400)
  })

  it("allows errors to be sent to the client's redirect URI once it is verified", async () => {
    const object = await signedBy(server, client, { scope: 'everything' })
    const back = locationOf(await requestWithObject(server, client, object))
    expect(back.searchParams.get('error')).toBe('invalid_scope')
    expect(back.searchParams.get('state')).toBe('signed')
  })

  it('may expire while the person signs in, for up to an hour', async () => {
    const request = await signedBy(server, client, { login_hint: 'ada@example.com' })
    const query = new URLSearchParams({ client_id: client.id, request })
    const reply = await server.request(`/oauth/authorize?${query}`, {
      headers: { accept: 'text/html' },
    })
    const away = locationOf(reply)
    expect(away.searchParams.get('login_hint')).toBe('ada@example.com')
    const returned = new URL(away.searchParams.get('return_to') ?? '', server.url)
    const params = Object.fromEntries(returned.searchParams)
    server.clock.advance({ minutes: 20 })
    expect((await requestWithObject(server, client, request)).status).toBe(400)
    expect(locationOf(await requestAuthorization(server, 'ada', params)).href).toContain(
      `${REDIRECT}?code=`,
    )
    server.clock.advance({ minutes: 41 })
    expect((await requestAuthorization(server, 'ada', params)).status).toBe(400)
  })

  it('may require a new sign-in by prompt or max_age', async () => {
    const request = await signedBy(server, client, { prompt: 'login', max_age: 5 })
    server.users.signIns.set('ada.1', server.clock.now())
    const away = locationOf(await requestWithObject(server, client, request))
    server.clock.advance({ minutes: 3 })
    server.users.signIns.set('ada.1', server.clock.now())
    const returned = new URL(away.searchParams.get('return_to') ?? '', server.url)
    const reply = await requestAuthorization(
      server,
      'ada',
      Object.fromEntries(returned.searchParams),
    )
    expect(locationOf(reply).href).toContain(`${REDIRECT}?code=`)
  })

  it('may be pushed without other request parameters', async () => {
    const push = async (object: string) =>
      server.post('/oauth/par', {
        client_id: client.id,
        client_secret: client.secret,
        request: object,
      })
    const reply = await push(await signedBy(server, client))
    expect(reply.status).toBe(201)
    const { request_uri } = await reply.json()
    const asked = await requestAuthorization(server, 'ada', { client_id: client.id, request_uri })
    expect(locationOf(asked).searchParams.get('state')).toBe('signed')
    const foreign = await push(await sign(await createSigner('ES256'), claimsOf(server, client)))
    expect(foreign.status).toBe(400)
    expect(await foreign.json()).toMatchObject({ error: 'invalid_request_object' })
    const wrong = await push(await signedBy(server, client, { scope: 'everything' }))
    expect(await wrong.json()).toMatchObject({ error: 'invalid_scope' })
  })

  it('is refused if the request also has a request_uri', async () => {
    const object = await signedBy(server, client)
    const request_uri = 'urn:ietf:params:oauth:request_uri:x'
    for (const request of [object, 'no object']) {
      const query = { client_id: client.id, request, request_uri }
      const problem = await requestAndReadError(server, query)
      expect(problem).toMatchObject({ status: 400, error: 'invalid_request' })
    }
  })
})

describe('an unsigned request object', () => {
  it("is accepted only if the client's setting request_object_signing_alg is none", async () => {
    const own = await createClient(server, {
      firstParty: true,
      settings: { request_object_signing_alg: 'none' },
    })
    const { iss: _iss, aud: _aud, ...claims } = claimsOf(server, own)
    expect((await requestWithObject(server, own, encodeUnsigned(claims))).status).toBe(303)
    for (const lie of [{ iss: 'other' }, { aud: 'https://other.example' }, { exp: 1 }]) {
      expect(
        (await requestWithObject(server, own, encodeUnsigned({ ...claims, ...lie }))).status,
      ).toBe(400)
    }
    expect((await requestWithObject(server, own, `${encodeUnsigned(claims)}AAAA`)).status).toBe(400)
  })
})

describe('the requirement that authorization requests are signed', () => {
  it('can be set for one client, whose unsigned requests are then refused, even if they are pushed', async () => {
    const strict = await createSigningClient(server, { require_signed_request_object: true })
    const back = locationOf(
      await requestAuthorization(server, 'ada', { ...plain, client_id: strict.id }),
    )
    expect(back.searchParams.get('error')).toBe('invalid_request')
    const credentials = { client_id: strict.id, client_secret: strict.secret }
    expect((await server.post('/oauth/par', { ...credentials, ...plain })).status).toBe(400)
    const request = await signedBy(server, strict)
    const pushed = await server.post('/oauth/par', { ...credentials, request })
    const { request_uri } = await pushed.json()
    const asked = await requestAuthorization(server, 'ada', { client_id: strict.id, request_uri })
    expect(locationOf(asked).searchParams.get('code')).toMatch(/^tgc_/)
  })

  it("excludes request objects with alg none, whatever else the client's settings say", async () => {
    const settings = { require_signed_request_object: true, request_object_signing_alg: 'none' }
    const own = await createClient(server, { settings })
    expect(
      (await requestWithObject(server, own, encodeUnsigned(claimsOf(server, own)))).status,
    ).toBe(400)
  })

  it('can be set for all clients by the server option', async () => {
    const strict = await startObjects({ features: [requestObjects({ required: true })] })
    try {
      const own = await createSigningClient(strict)
      const back = locationOf(
        await requestAuthorization(strict, 'ada', { ...plain, client_id: own.id }),
      )
      expect(back.searchParams.get('error')).toBe('invalid_request')
      expect((await requestWithObject(strict, own, await signedBy(strict, own))).status).toBe(303)
      expect(await (await strict.request(METADATA)).json()).toMatchObject({
        require_signed_request_object: true,
        request_object_signing_alg_values_supported: expect.not.arrayContaining(['none']),
      })
    } finally {
      await strict.close()
    }
  })
})

describe('request objects with other features', () => {
  it.each([
    ['before', [requestObjects(), openid()]],
    ['after', [openid(), requestObjects()]],
  ])(
    'are announced in the metadata whether the feature is listed before or after openid() (here: %s)',
    async (_where, features) => {
      const both = await startServer({ users: new UsersWithClaims(), features })
      try {
        expect(await (await both.request(METADATA)).json()).toMatchObject({
          request_parameter_supported: true,
          request_uri_parameter_supported: false,
          require_signed_request_object: false,
          request_object_signing_alg_values_supported: expect.not.arrayContaining(['none']),
        })
      } finally {
        await both.close()
      }
    },
  )

  it('may contain parameters of other features, including numbers and JSON objects', async () => {
    const both = await startServer({
      users: new UsersWithClaims(),
      features: [openid(), requestObjects()],
    })
    try {
      const own = await createSigningClient(both)
      const object = await signedBy(both, own, {
        scope: 'openid',
        nonce: 'n',
        claims: { id_token: { email: null } },
      })
      const back = locationOf(await requestWithObject(both, own, object))
      const reply = await both.post('/oauth/token', {
        grant_type: 'authorization_code',
        code: back.searchParams.get('code') ?? '',
        redirect_uri: REDIRECT,
        client_id: own.id,
        client_secret: own.secret,
      })
      const { id_token } = await reply.json()
      const claims = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString())
      expect(claims).toMatchObject({ nonce: 'n', email: 'ada@example.com' })
    } finally {
      await both.close()
    }
  })

  it('are refused if the feature requestObjects() is off', async () => {
    const without = await startServer()
    try {
      const own = await createClient(without)
      const query = { ...plain, client_id: own.id, request: encodeUnsigned({}) }
      const back = locationOf(await requestAuthorization(without, 'ada', query))
      expect(back.searchParams.get('error')).toBe('request_not_supported')
      const metadata = await (await without.request(METADATA)).json()
      expect(Object.keys(metadata).filter((name) => name.includes('request'))).toEqual([])
    } finally {
      await without.close()
    }
  })

  it('are rejected at start-up if their options contradict each other', () => {
    expect(() => requestObjects({ algorithms: [] })).toThrow(TypeError)
    expect(() => requestObjects({ algorithms: ['HS256' as 'ES256'] })).toThrow(TypeError)
  })
})
