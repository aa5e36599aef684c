import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dpop, fapi2, jwtClientAuthentication, pushedRequests } from '../../src/index.ts'
import { newHolder } from '../dpop/support.ts'
import { createSigner } from '../registration/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'
import {
  approve,
  type Changes,
  exchange,
  GRANTS,
  type KeyClient,
  newKeyClient,
  push,
  readStatusAndError,
  refresh,
  requestOf,
  send,
  startFapi,
  tokensOf,
} from './support.ts'

let server: TestServer
let client: KeyClient
beforeAll(async () => {
  server = await startFapi()
  client = await newKeyClient(server)
})
afterAll(() => server.close())

/**
 * Both have the same grants, so that they can use one database: the server without the profile
 * creates what the one with it refuses.
 */
const strictOptions = () => ({ grants: GRANTS, features: [fapi2()] })
const looserOptions = () => ({
  grants: GRANTS,
  features: [dpop(), jwtClientAuthentication(), pushedRequests()],
})

const REQUEST = [400, 'invalid_request'] as const
const CLIENT = [401, 'invalid_client'] as const
const GRANT = [400, 'invalid_grant'] as const

describe('a pushed request with fapi2()', () => {
  const cases: ReadonlyArray<[string, Changes, readonly [number, string]]> = [
    [
      'without PKCE',
      { params: { code_challenge: undefined, code_challenge_method: undefined } },
      REQUEST,
    ],
    ['with the PKCE method plain', { params: { code_challenge_method: 'plain' } }, REQUEST],
    ['with PKCE without a method', { params: { code_challenge_method: undefined } }, REQUEST],
    [
      'without redirect_uri, even if only one is registered',
      { params: { redirect_uri: undefined } },
      REQUEST,
    ],
    [
      'with a redirect_uri that is not registered',
      { params: { redirect_uri: `${REDIRECT}/x` } },
      REQUEST,
    ],
    [
      'with response_type=token',
      { params: { response_type: 'token' } },
      [400, 'unsupported_response_type'],
    ],
    [
      'with response_type=code id_token',
      { params: { response_type: 'code id_token' } },
      [400, 'unsupported_response_type'],
    ],
    [
      'with a request_uri',
      { params: { request_uri: 'urn:ietf:params:oauth:request_uri:x' } },
      REQUEST,
    ],
    ['with a request object', { params: { request: 'e30.e30.' } }, [400, 'request_not_supported']],
    [
      'with another dpop_jkt than that of its proof',
      { params: { dpop_jkt: 'a'.repeat(43) } },
      [400, 'invalid_dpop_proof'],
    ],
    ['without a client assertion', { assertion: null }, CLIENT],
    ['with a secret', { assertion: null, params: { client_secret: 'secret' } }, CLIENT],
    [
      'with the token endpoint as aud',
      { assertion: { aud: 'http://localhost:4999/oauth/token' } },
      CLIENT,
    ],
    [
      'with the PAR endpoint as aud',
      { assertion: { aud: 'http://localhost:4999/oauth/par' } },
      CLIENT,
    ],
    ['with the issuer in a list as aud', { assertion: { aud: ['http://localhost:4999'] } }, CLIENT],
    [
      'with the issuer plus a slash as aud',
      { assertion: { aud: 'http://localhost:4999/' } },
      CLIENT,
    ],
    ['with an assertion that has expired', { assertion: { exp: 1_500_000_000 } }, CLIENT],
    [
      'with an iat more than a minute ahead',
      { assertion: { iat: Date.parse('2026-01-01T00:01:05Z') / 1000 } },
      CLIENT,
    ],
    [
      'with an nbf more than a minute ahead',
      { assertion: { nbf: Date.parse('2026-01-01T00:01:05Z') / 1000 } },
      CLIENT,
    ],
    ['with an assertion without sub', { assertion: { sub: undefined } }, CLIENT],
  ]
  it.each(cases)('is refused %s', async (_what, changes, expected) => {
    expect(await readStatusAndError(await push(server, client, changes))).toEqual(expected)
  })

  it('is refused with an RS256 assertion, while PS256, ES256 and Ed25519 are accepted', async () => {
    for (const [algorithm, status] of [
      ['RS256', 401],
      ['PS256', 201],
      ['ES256', 201],
      ['Ed25519', 201],
    ] as const) {
      const other = await newKeyClient(server, algorithm)
      expect([algorithm, (await push(server, other)).status]).toEqual([algorithm, status])
    }
  })

  it('is refused with an RS256 DPoP proof', async () => {
    const holder = await newHolder('RS256')
    expect(await readStatusAndError(await push(server, client, { holder }))).toEqual([
      400,
      'invalid_dpop_proof',
    ])
    expect((await push(server, client, { holder: await newHolder('PS256') })).status).toBe(201)
  })

  it("is refused with a client assertion signed by another client's key", async () => {
    const signer = await createSigner('ES256')
    expect(await readStatusAndError(await push(server, client, { signer }))).toEqual(CLIENT)
  })
})

describe('an authorization request with fapi2()', () => {
  it('is refused if it was not pushed, and the client learns this by an error in the redirect', async () => {
    const { client_id = '', ...rest } = requestOf(client)
    const page = await requestAuthorization(server, 'ada', {
      client_id,
      ...(rest as Record<string, string>),
    })
    const back = new URL(page.headers.get('location') ?? '')
    expect(back.origin + back.pathname).toBe(REDIRECT)
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'invalid_request',
      iss: server.url,
    })
  })

  it('is refused if another client pushed it, or if the person has already decided', async () => {
    const { request_uri } = await (await push(server, client)).json()
    const other = await newKeyClient(server)
    expect(
      (await requestAuthorization(server, 'ada', { client_id: other.id, request_uri })).status,
    ).toBe(400)
    await approve(server, client)
    const again = await (await push(server, client)).json()
    const ask = () =>
      requestAuthorization(server, 'ada', { client_id: client.id, request_uri: again.request_uri })
    expect((await ask()).status).toBe(303)
    expect((await ask()).status).toBe(400)
  })

  it('is refused if its redirect URI is plain http, even if it was registered before fapi2() was enabled', async () => {
    const http = 'http://app.example/callback'
    const old = await newKeyClient(server)
    await server.database.kysely
      .updateTable('oauth_clients')
      .set({ redirect_uris: JSON.stringify([REDIRECT, http]) })
      .where('id', '=', old.id)
      .execute()
    expect((await push(server, old)).status).toBe(201)
    const reply = await push(server, old, { params: { redirect_uri: http } })
    expect(await reply.json()).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('https'),
    })
  })
})

describe('an authorization code with fapi2()', () => {
  const cases: ReadonlyArray<[string, Changes, readonly [number, string]]> = [
    ['without a DPoP proof', { holder: null }, REQUEST],
    ['without a code verifier', { params: { code_verifier: undefined } }, GRANT],
    ['with another code verifier', { params: { code_verifier: 'b'.repeat(43) } }, GRANT],
    ['without a client assertion', { assertion: null }, CLIENT],
    [
      'with the token endpoint as aud',
      { assertion: { aud: 'http://localhost:4999/oauth/token' } },
      CLIENT,
    ],
    ['without redirect_uri', { params: { redirect_uri: undefined } }, GRANT],
  ]
  it.each(cases)(
    'is refused at the token endpoint %s, and stays valid',
    async (_what, changes, expected) => {
      const back = await approve(server, client)
      expect(await readStatusAndError(await exchange(server, client, back, changes))).toEqual(
        expected,
      )
      // The refusal did not use up the code.
      expect((await exchange(server, client, back)).status).toBe(200)
    },
  )

  it('is refused with a DPoP proof by a key other than the key of the pushed request', async () => {
    const back = await approve(server, client)
    const holder = await newHolder()
    expect(await readStatusAndError(await exchange(server, client, back, { holder }))).toEqual(
      GRANT,
    )
  })

  it('is refused with a DPoP key other than the key that the pushed `dpop_jkt` parameter names', async () => {
    const dpop_jkt = client.holder.thumbprint
    const back = await approve(server, client, { holder: null, params: { dpop_jkt } })
    const holder = await newHolder()
    expect(await readStatusAndError(await exchange(server, client, back, { holder }))).toEqual(
      GRANT,
    )
    expect((await exchange(server, client, back)).status).toBe(200)
  })

  it('is refused if another client sends it', async () => {
    const back = await approve(server, client)
    expect(
      await readStatusAndError(await exchange(server, await newKeyClient(server), back)),
    ).toEqual(GRANT)
  })

  it('is refused after 60 seconds', async () => {
    const [early, late] = [await approve(server, client), await approve(server, client)]
    server.clock.advance({ seconds: 59 })
    expect((await exchange(server, client, early)).status).toBe(200)
    server.clock.advance({ seconds: 1 })
    expect(await readStatusAndError(await exchange(server, client, late))).toEqual(GRANT)
  })

  it('is refused on its second use, which revokes the tokens issued for it', async () => {
    const back = await approve(server, client)
    const { refresh_token } = await (await exchange(server, client, back)).json()
    expect(await readStatusAndError(await exchange(server, client, back))).toEqual(GRANT)
    expect(await readStatusAndError(await refresh(server, client, refresh_token))).toEqual(GRANT)
  })
})

describe('clients with fapi2()', () => {
  it.each([
    ['with a secret', {}],
    ['that are public', { confidential: false }],
    ['that are public by their settings', { settings: { token_endpoint_auth_method: 'none' } }],
    [
      'with client_secret_basic',
      { settings: { token_endpoint_auth_method: 'client_secret_basic' } },
    ],
    ['with client_secret_jwt', { settings: { token_endpoint_auth_method: 'client_secret_jwt' } }],
  ] as const)('cannot be created %s', async (_what, changes) => {
    await expect(createClient(server, changes)).rejects.toThrow(
      'token_endpoint_auth_method must be private_key_jwt',
    )
  })

  it('are refused at every endpoint if they are public or have a secret, even if they were registered before fapi2() was enabled', async () => {
    const before = await startServer()
    try {
      const secret = await createClient(before, { grants: ['client_credentials'] })
      const open = await createClient(before, { confidential: false })
      const strict = before.another(strictOptions())
      const post = (path: string, form: Record<string, string>, headers = {}) =>
        strict.fetch(
          new Request(`${before.url}${path}`, {
            method: 'POST',
            body: new URLSearchParams(form),
            headers,
          }),
        )
      const basic = { authorization: `Basic ${btoa(`${secret.id}:${secret.secret}`)}` }
      for (const path of ['/oauth/token', '/oauth/par', '/oauth/revoke', '/oauth/introspect']) {
        const form = { grant_type: 'client_credentials', token: 'x' }
        const body = { client_id: secret.id, client_secret: secret.secret }
        expect(await readStatusAndError(await post(path, { ...form, ...body }))).toEqual(CLIENT)
        expect(await readStatusAndError(await post(path, form, basic))).toEqual(CLIENT)
        expect(await readStatusAndError(await post(path, { ...form, client_id: open.id }))).toEqual(
          CLIENT,
        )
      }
    } finally {
      await before.close()
    }
  })

  it('get no client credentials token without a DPoP proof', async () => {
    const form = { grant_type: 'client_credentials' }
    const ask = (changes: Changes) => send(server, '/oauth/token', client, form, changes)
    expect(await readStatusAndError(await ask({ holder: null }))).toEqual(REQUEST)
    expect((await ask({})).status).toBe(200)
  })
})

describe('a refresh token with fapi2()', () => {
  it('stays the same and can be used repeatedly (threat T6)', async () => {
    const first = await tokensOf(server, client)
    const tokens = [first.access_token]
    for (let times = 0; times < 4; times += 1) {
      server.clock.advance({ hours: 1 })
      const reply = await refresh(server, client, first.refresh_token)
      const next = await reply.json()
      expect([reply.status, next.token_type, next.refresh_token]).toEqual([
        200,
        'DPoP',
        first.refresh_token,
      ])
      tokens.push(next.access_token)
    }
    expect(new Set(tokens).size).toBe(5)
    const id = first.refresh_token.slice(4, 40)
    expect((await server.oauth.tokens.find(id))?.revokedAt).toBe(null)
  })

  it.each([
    ['without a DPoP proof', { holder: null }, REQUEST],
    ['without a client assertion', { assertion: null }, CLIENT],
  ] as const)('is refused %s, and stays valid (threat T6)', async (_what, changes, expected) => {
    const { refresh_token } = await tokensOf(server, client)
    expect(await readStatusAndError(await refresh(server, client, refresh_token, changes))).toEqual(
      expected,
    )
    expect((await refresh(server, client, refresh_token)).status).toBe(200)
  })

  it('is refused with the key of another client, and for another client (threat T6)', async () => {
    const { refresh_token } = await tokensOf(server, client)
    const signer = await createSigner('ES256')
    expect(
      await readStatusAndError(await refresh(server, client, refresh_token, { signer })),
    ).toEqual(CLIENT)
    const other = await newKeyClient(server)
    expect(await readStatusAndError(await refresh(server, other, refresh_token))).toEqual(GRANT)
    expect((await refresh(server, client, refresh_token)).status).toBe(200)
  })

  it('issues tokens for a new DPoP key if the client has authenticated itself (RFC 9449 §5)', async () => {
    const { refresh_token } = await tokensOf(server, client)
    const holder = await newHolder()
    const reply = await refresh(server, client, refresh_token, { holder })
    const { access_token } = await reply.json()
    const [, payload = ''] = access_token.split('.')
    const { cnf } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    expect([reply.status, cnf]).toEqual([200, { jkt: holder.thumbprint }])
  })

  it('is returned unchanged to many processes that refresh concurrently', async () => {
    const { refresh_token } = await tokensOf(server, client)
    const replies = await Promise.all(
      Array.from({ length: 12 }, () => refresh(server, client, refresh_token)),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    for (const reply of replies) expect((await reply.json()).refresh_token).toBe(refresh_token)
  })

  it('is refused after it was revoked or has expired, and after the approval was revoked', async () => {
    const revoked = await tokensOf(server, client)
    const gone = await send(
      server,
      '/oauth/revoke',
      client,
      { token: revoked.refresh_token },
      { holder: null },
    )
    expect(gone.status).toBe(200)
    expect(await readStatusAndError(await refresh(server, client, revoked.refresh_token))).toEqual(
      GRANT,
    )
    const withdrawn = await tokensOf(server, client)
    await server.oauth.consents.revoke('ada', client.id)
    expect(
      await readStatusAndError(await refresh(server, client, withdrawn.refresh_token)),
    ).toEqual(GRANT)
    const old = await tokensOf(server, client)
    server.clock.advance({ days: 366 })
    expect(await readStatusAndError(await refresh(server, client, old.refresh_token))).toEqual(
      GRANT,
    )
  })

  it('stays valid after fapi2() is disabled, and older refresh tokens are still rotated', async () => {
    const { refresh_token } = await tokensOf(server, client)
    expect((await refresh(server, client, refresh_token)).status).toBe(200)
    expect((await refresh(server, client, refresh_token)).status).toBe(200)
    const looser = server.another(looserOptions())
    const through = (): TestServer => ({
      ...server,
      post: (path, form, headers) =>
        looser.fetch(
          new Request(new URL(path, server.url), {
            method: 'POST',
            body: new URLSearchParams(form),
            ...(headers && { headers }),
          }),
        ),
    })
    const kept = await refresh(through(), client, refresh_token)
    expect([kept.status, (await kept.json()).refresh_token]).toEqual([200, refresh_token])
    expect(
      await readStatusAndError(await refresh(through(), client, refresh_token, { holder: null })),
    ).toEqual(GRANT)
    const rotating = await exchange(through(), client, await approve(server, client))
    const { refresh_token: before } = await rotating.json()
    const after = await (await refresh(server, client, before)).json()
    expect(after.refresh_token).not.toBe(before)
  })
})
