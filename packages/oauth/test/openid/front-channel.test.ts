import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorizationCode, refreshToken } from '../../src/index.ts'
import {
  authorize,
  exchange,
  newClient,
  type OpenIdServer,
  startOpenId,
  verifyIdToken,
} from './support.ts'

const types = [
  'id_token',
  'id_token token',
  'code id_token',
  'code token',
  'code id_token token',
] as const

let server: OpenIdServer
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startOpenId({}, { responseTypes: types })
  client = await newClient(server, { grants: ['authorization_code', 'refresh_token', 'implicit'] })
})
afterAll(() => server.close())

const leftHalf = (text: string | null) =>
  createHash('sha256')
    .update(text ?? '')
    .digest()
    .subarray(0, 16)
    .toString('base64url')

const tokenIdOf = (accessToken: string) => decodeJwt(accessToken).jti?.split('.')[0] ?? ''

describe('response types that include an ID token (threat N5)', () => {
  it('are rejected at start-up if a grant that they need is missing', async () => {
    const grants = [authorizationCode(), refreshToken()]
    const started = startOpenId({ grants }, { responseTypes: ['id_token', 'code token'] })
    await expect(started).rejects.toThrow(
      "openid: responseTypes has 'code token', which needs implicit() in grants.",
    )
  })

  it.each(types)(
    'return in the fragment exactly the values that the response type names: response_type=%s',
    async (response_type) => {
      const back = await authorize(server, client, {
        response_type,
        nonce: 'n',
        scope: 'openid email',
      })
      const params = new URLSearchParams(back.hash.slice(1))
      expect(back.search).toBe('')
      const parts = response_type.split(' ')
      expect(params.has('code')).toBe(parts.includes('code'))
      expect(params.has('access_token')).toBe(parts.includes('token'))
      expect(params.has('id_token')).toBe(parts.includes('id_token'))
      if (parts.includes('id_token')) {
        const { payload } = await verifyIdToken(server, client, params.get('id_token') ?? '')
        expect(payload.nonce).toBe('n')
        expect(payload.c_hash).toBe(
          parts.includes('code') ? leftHalf(params.get('code')) : undefined,
        )
        expect(payload.at_hash).toBe(
          parts.includes('token') ? leftHalf(params.get('access_token')) : undefined,
        )
        // The ID token contains the claims only if no access token will be issued.
        expect(payload.email).toBe(response_type === 'id_token' ? 'ada@example.com' : undefined)
      }
      if (parts.includes('code')) {
        const reply = await exchange(server, client, params.get('code') ?? '')
        expect([reply.status, await reply.json()]).toMatchObject([
          200,
          { id_token: expect.any(String) },
        ])
      }
    },
  )

  it.each(types)(
    'can be used with prompt=none after the person has approved: response_type=%s',
    async (type) => {
      const other = await newClient(server, { grants: ['authorization_code', 'implicit'] })
      const request = { response_type: type, nonce: 'n' }
      const silent = { ...request, prompt: 'none' }
      const paramsOf = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)))
      expect(paramsOf(await authorize(server, other, silent))).toMatchObject({
        error: 'consent_required',
      })
      await authorize(server, other, request)
      const again = paramsOf(await authorize(server, other, silent))
      expect(Object.keys(again)).toEqual(
        expect.arrayContaining(
          type.split(' ').map((part) => (part === 'token' ? 'access_token' : part)),
        ),
      )
      // The issued token is stored and can be revoked.
      if (again.access_token) {
        const id = tokenIdOf(again.access_token)
        expect(await server.oauth.tokens.find(id)).toMatchObject({
          userId: 'ada',
          clientId: other.id,
        })
      }
      // The approval covers no more than the requested scopes.
      const more = await authorize(server, other, { ...silent, scope: 'openid email' })
      expect(paramsOf(more)).toMatchObject({ error: 'consent_required' })
      await server.oauth.consents.revoke('ada', other.id)
      expect(paramsOf(await authorize(server, other, silent))).toMatchObject({
        error: 'consent_required',
      })
    },
  )

  it("require a nonce, response_mode=fragment or form_post, and the client's permission", async () => {
    const response_type = 'code id_token'
    const errorOf = (url: URL) => new URLSearchParams(url.hash.slice(1)).get('error')
    expect(errorOf(await authorize(server, client, { response_type }))).toBe('invalid_request')
    const query = { response_type, nonce: 'n', response_mode: 'query' }
    expect(errorOf(await authorize(server, client, query))).toBe('invalid_request')
    const other = await newClient(server)
    const asked = await authorize(server, other, { response_type, nonce: 'n' })
    expect(errorOf(asked)).toBe('unauthorized_client')
  })

  it("are limited to those in the client's `response_types` setting, if it has one (threat A7)", async () => {
    const grants = ['authorization_code', 'implicit']
    const hybrid = await newClient(server, {
      grants,
      settings: { response_types: ['code id_token'] },
    })
    const outcomeOf = async (response_type: string) => {
      const { search, hash } = await authorize(server, hybrid, { response_type, nonce: 'n' })
      const params = new URLSearchParams(`${search.slice(1)}&${hash.slice(1)}`)
      return params.get('error') ?? [...params.keys()].filter((name) => name !== 'iss')
    }
    expect(await outcomeOf('code id_token')).toEqual(['code', 'id_token'])
    for (const type of ['token', 'code', 'id_token token']) {
      expect(await outcomeOf(type), type).toBe('unauthorized_client')
    }
  })

  it.each(types.filter((type) => type.startsWith('code')))(
    'return an error and no code to a public client without PKCE: response_type=%s',
    async (response_type) => {
      const grants = ['authorization_code', 'implicit']
      const own = await newClient(server, { grants, confidential: false })
      const back = await authorize(server, own, { response_type, nonce: 'n' })
      const params = new URLSearchParams(back.hash.slice(1))
      expect([params.get('error'), params.has('code')]).toEqual(['invalid_request', false])
    },
  )

  it('are refused unless the `responseTypes` option lists them', async () => {
    const plain = await startOpenId()
    try {
      const own = await newClient(plain, { grants: ['authorization_code', 'implicit'] })
      const back = await authorize(plain, own, { response_type: 'code id_token', nonce: 'n' })
      expect(back.searchParams.get('error')).toBe('unsupported_response_type')
    } finally {
      await plain.close()
    }
  })
})
