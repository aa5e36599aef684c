import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AccessTokenClaims,
  type AccessTokenFormat,
  authorizationCode,
  clientCredentials,
  dpop,
  implicit,
  password,
  pushedRequests,
  refreshToken,
} from '../../src/index.ts'
import { pushAndBuildParams } from '../pushed/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'
import {
  askByPassword,
  type BoundReply,
  claimsOf,
  type KeyHolderKeys,
  newHolder,
  refresh,
  requestBoundTokens,
  tokenProof,
} from './support.ts'

const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
const CHALLENGE = '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y'
const grants = [authorizationCode(), refreshToken(), password(), implicit(), clientCredentials()]
const ofPeople = ['authorization_code', 'refresh_token', 'password', 'implicit']

let server: TestServer
let holder: KeyHolderKeys
beforeAll(async () => {
  server = await startServer({ grants, features: [dpop(), pushedRequests()] })
  holder = await newHolder()
})
afterAll(() => server.close())

const publicClient = (on = server) => createClient(on, { confidential: false, grants: ofPeople })
const secretClient = (on = server) => createClient(on, { grants: ofPeople })

describe('a DPoP proof at the token endpoint', () => {
  it.each(['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256'])(
    'binds the token to a key of the algorithm %s',
    async (alg) => {
      const its = await newHolder(alg)
      const reply = await requestBoundTokens(server, await publicClient(), its)
      expect(reply.token_type).toBe('DPoP')
      expect(claimsOf(reply.access_token).cnf).toEqual({ jkt: its.thumbprint })
    },
  )

  it('binds the tokens of the client credentials grant', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret }
    const proof = await tokenProof(server, holder)
    const reply = await server.post('/oauth/token', form, { dpop: proof })
    expect(await reply.json()).toMatchObject({ token_type: 'DPoP' })
  })

  it('is not required of clients that want bearer tokens', async () => {
    const reply = await askByPassword(server, await publicClient(), null)
    const tokens = (await reply.json()) as BoundReply
    expect(tokens.token_type).toBe('Bearer')
    expect(claimsOf(tokens.access_token)).not.toHaveProperty('cnf')
  })

  it('is announced in the metadata only if the feature is enabled', async () => {
    const metadata = async (on: TestServer) =>
      (await on.request('/.well-known/oauth-authorization-server')).json()
    expect(await metadata(server)).toMatchObject({
      dpop_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519', 'RS256', 'PS256'],
    })
    const plain = await startServer()
    expect(await metadata(plain)).not.toHaveProperty('dpop_signing_alg_values_supported')
    await plain.close()
  })

  it('makes introspection return the thumbprint of the key as cnf', async () => {
    const client = await secretClient()
    const { access_token: token } = await requestBoundTokens(server, client, holder)
    const form = { token, client_id: client.id, client_secret: client.secret }
    expect(await (await server.post('/oauth/introspect', form)).json()).toMatchObject({
      active: true,
      token_type: 'DPoP',
      cnf: { jkt: holder.thumbprint },
    })
  })

  it('is rejected if the server does not support DPoP, and no bearer token is issued instead', async () => {
    const plain = await startServer({ grants })
    const reply = await askByPassword(
      plain,
      await publicClient(plain),
      await tokenProof(plain, holder),
    )
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
    expect(await plain.oauth.tokens.listByUser('ada')).toEqual([])
    await plain.close()
  })
})

describe('DPoP with a custom access token format', () => {
  const kept = new Map<string, AccessTokenClaims>()
  const format = (change: (claims: AccessTokenClaims) => AccessTokenClaims): AccessTokenFormat => ({
    recognizes: (text) => text.startsWith('own.'),
    encode(claims) {
      const text = `own.${kept.size}`
      kept.set(text, change(claims))
      return text
    },
    decode: (text) => kept.get(text) ?? null,
  })

  it.each([
    ['which keeps the cnf claim', 200, (claims: AccessTokenClaims) => claims],
    ['which drops the cnf claim', 500, ({ cnf: _, ...claims }: AccessTokenClaims) => claims],
  ])('%s: responds with status %i', async (_what, status, change) => {
    const own = await startServer({ grants, features: [dpop()], accessTokenFormat: format(change) })
    const client = await publicClient(own)
    const bound = await askByPassword(own, client, await tokenProof(own, holder))
    expect(bound.status).toBe(status)
    expect((await askByPassword(own, client, null)).status).toBe(200)
    await own.close()
  })
})

describe('a DPoP proof', () => {
  it('is required from a client with dpop_bound_access_tokens', async () => {
    const settings = { dpop_bound_access_tokens: true }
    const client = await createClient(server, { grants: ofPeople, settings })
    const reply = await askByPassword(server, client, null)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_request' })
    expect((await requestBoundTokens(server, client, holder)).token_type).toBe('DPoP')
  })

  it('is required from every client if the option required is true, which also disables response_type=token', async () => {
    const strict = await startServer({ grants, features: [dpop({ required: true })] })
    const client = await secretClient(strict)
    expect((await askByPassword(strict, client, null)).status).toBe(400)
    const asked = await requestAuthorization(strict, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'token',
    })
    expect(asked.headers.get('location')).toContain('error=invalid_request')
    await strict.close()
  })
})

describe('the `dpop_jkt` parameter (thumbprint of a DPoP key)', () => {
  async function codeFor(client: { id: string }, params: Record<string, string>): Promise<string> {
    const page = await requestAuthorization(server, 'ada', {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...params,
    })
    return (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
  }

  async function exchange(client: { id: string }, code: string, by: KeyHolderKeys | null) {
    const form = {
      grant_type: 'authorization_code',
      client_id: client.id,
      redirect_uri: REDIRECT,
      code,
      code_verifier: VERIFIER,
    }
    const headers = by ? { dpop: await tokenProof(server, by) } : undefined
    return server.post('/oauth/token', form, headers)
  }

  it('binds the authorization code to the key: only this key can exchange the code', async () => {
    const client = await publicClient()
    const code = await codeFor(client, { dpop_jkt: holder.thumbprint })
    for (const thief of [null, await newHolder()]) {
      const reply = await exchange(client, code, thief)
      expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    }
    expect(await (await exchange(client, code, holder)).json()).toMatchObject({
      token_type: 'DPoP',
    })
  })

  it('is not needed in a pushed request with a proof: the code is bound to the key of the proof', async () => {
    const client = await publicClient()
    const url = `${server.url}/oauth/par`
    const form = {
      client_id: client.id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    }
    const other = await newHolder()
    const contradicting = await server.post(
      '/oauth/par',
      { ...form, dpop_jkt: other.thumbprint },
      { dpop: await tokenProof(server, holder, { url }) },
    )
    expect(await contradicting.json()).toMatchObject({ error: 'invalid_dpop_proof' })
    const dpopHeader = { dpop: await tokenProof(server, holder, { url }) }
    const reply = await server.post('/oauth/par', form, dpopHeader)
    const { request_uri } = (await reply.json()) as { request_uri: string }
    const page = await requestAuthorization(server, 'ada', { client_id: client.id, request_uri })
    const code = (await submitApprovalDecision(server, 'ada', page)).searchParams.get('code') ?? ''
    expect((await exchange(client, code, other)).status).toBe(400)
    expect((await exchange(client, code, holder)).status).toBe(200)
  })

  it.each([
    ['when it is no thumbprint', { dpop_jkt: 'short' }],
    ['with a response type that issues tokens without a proof', { response_type: 'token' }],
  ])('is rejected %s', async (_what, params) => {
    const page = await requestAuthorization(server, 'ada', {
      client_id: (await secretClient()).id,
      redirect_uri: REDIRECT,
      response_type: 'code',
      dpop_jkt: holder.thumbprint,
      ...params,
    })
    expect(page.headers.get('location')).toContain('error=invalid_request')
  })

  it('is rejected, and not ignored, if the server does not support DPoP', async () => {
    const plain = await startServer({ grants, features: [pushedRequests()] })
    const client = await secretClient(plain)
    await expect(
      pushAndBuildParams(plain, client, { dpop_jkt: holder.thumbprint }),
    ).rejects.toThrow('invalid_request')
    await plain.close()
  })
})

describe('DPoP-bound refresh tokens', () => {
  it('work only with the key of the public client, and stay valid after a request with another key', async () => {
    const client = await publicClient()
    const { refresh_token } = await requestBoundTokens(server, client, holder)
    const thieves = [null, await tokenProof(server, await newHolder())]
    for (const proof of thieves) {
      const reply = await refresh(server, client, refresh_token, proof)
      expect(await reply.json()).toMatchObject({ error: 'invalid_grant' })
    }
    const reply = await refresh(server, client, refresh_token, await tokenProof(server, holder))
    const tokens = (await reply.json()) as BoundReply
    expect(tokens.token_type).toBe('DPoP')
    expect(claimsOf(tokens.access_token).cnf).toEqual({ jkt: holder.thumbprint })
  })

  it('remain unbound if a public client got them without a key', async () => {
    const client = await publicClient()
    const first = (await (await askByPassword(server, client, null)).json()) as BoundReply
    const proof = await tokenProof(server, holder)
    expect((await refresh(server, client, first.refresh_token, proof)).status).toBe(400)
    expect((await refresh(server, client, first.refresh_token, null)).status).toBe(200)
  })

  it.each(['jwt', 'opaque'] as const)(
    'can be used with another key, but not without a key, if the client has a secret (%s tokens)',
    async (accessTokenFormat) => {
      const own = await startServer({ grants, features: [dpop()], accessTokenFormat })
      const client = await secretClient(own)
      const first = await requestBoundTokens(own, client, holder)
      expect((await refresh(own, client, first.refresh_token, null)).status).toBe(400)
      const next = await newHolder()
      const proof = await tokenProof(own, next)
      const reply = await refresh(own, client, first.refresh_token, proof)
      const second = (await reply.json()) as BoundReply
      const bound = async (token: string) => {
        const form = { token, client_id: client.id, client_secret: client.secret }
        return (await own.post('/oauth/introspect', form)).json()
      }
      expect(await bound(first.access_token)).toMatchObject({ cnf: { jkt: holder.thumbprint } })
      expect(await bound(second.access_token)).toMatchObject({ cnf: { jkt: next.thumbprint } })
      await own.close()
    },
  )

  it('remain bound when the feature is disabled, and never yield bearer tokens', async () => {
    const client = await publicClient()
    const { refresh_token } = await requestBoundTokens(server, client, holder)
    const off = server.another({ features: [] })
    const reply = await off.fetch(
      new Request(`${server.url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          client_id: client.id,
          refresh_token,
        }),
      }),
    )
    const { token_type, access_token } = (await reply.json()) as BoundReply
    expect(token_type).toBe('DPoP')
    for (const scheme of ['Bearer', 'DPoP']) {
      const credentials = {
        authorization: `${scheme} ${access_token}`,
        cookie: null,
        csrfToken: null,
      }
      await expect(async () => off.guard.authenticate('api', credentials)).rejects.toMatchObject({
        code: 'invalid_token',
      })
    }
  })
})
