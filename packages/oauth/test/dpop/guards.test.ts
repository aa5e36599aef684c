import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dpop, openid } from '../../src/index.ts'
import { createUserHeaders } from '../adapters/credentials.ts'
import { type App, frameworks } from '../adapters/frameworks.ts'
import { createClient, startServer } from '../support.ts'
import {
  type KeyHolderKeys,
  makeProof,
  newHolder,
  type ProofRequest,
  requestBoundTokens,
} from './support.ts'

const ALGORITHMS = 'algs="ES256 EdDSA Ed25519 RS256 PS256"'

describe.each(frameworks)('DPoP-bound tokens at the guards in $name', (framework) => {
  let app: App
  let holder: KeyHolderKeys
  let token: string
  beforeAll(async () => {
    app = await framework.start({ features: [dpop()] })
    holder = await newHolder()
    const client = await createClient(app, { confidential: false, grants: ['password'] })
    token = (await requestBoundTokens(app, client, holder)).access_token
  })
  beforeEach(() => {
    app.reached.length = 0
  })
  afterAll(() => app.close())

  const proofFor = (path: string, changes: Partial<ProofRequest> = {}) =>
    makeProof(holder, { url: `${app.url}${path}`, token, at: app.clock.now(), ...changes })

  const call = (path: string, proof: string | null, scheme = 'DPoP', text = token) =>
    app.fetch(path, {
      headers: { authorization: `${scheme} ${text}`, ...(proof !== null && { dpop: proof }) },
    })

  it('are accepted with a new proof for each request', async () => {
    for (let time = 0; time < 3; time += 1) {
      expect((await call('/me', await proofFor('/me'))).status).toBe(200)
    }
    expect(app.reached).toEqual(['me', 'me', 'me'])
  })

  it('are accepted whatever the query of the URL and the letter case of the scheme', async () => {
    expect((await call('/me?page=2', await proofFor('/me'), 'dpop')).status).toBe(200)
  })

  it('are rejected without the required scopes, with a challenge in the DPoP scheme', async () => {
    expect((await call('/orders', await proofFor('/orders'))).status).toBe(200)
    const client = await createClient(app, { confidential: false, grants: ['password'] })
    const { access_token: less } = await requestBoundTokens(app, client, holder, 'check-status')
    const proof = await proofFor('/orders', { token: less })
    const reply = await call('/orders', proof, 'DPoP', less)
    expect(reply.status).toBe(403)
    expect(reply.headers.get('www-authenticate')).toMatch(/^DPoP .*error="insufficient_scope"/)
    expect(app.reached).toEqual(['orders'])
  })

  it('are rejected when a proof is used twice', async () => {
    const proof = await proofFor('/me')
    expect((await call('/me', proof)).status).toBe(200)
    const again = await call('/me', proof)
    expect(again.status).toBe(401)
    expect(again.headers.get('www-authenticate')).toMatch(
      /^DPoP realm="api", error="invalid_dpop_proof", .*algs="ES256 /,
    )
    expect(app.reached).toEqual(['me'])
  })

  it('are rejected when sent as bearer tokens, even if they are cached', async () => {
    expect((await call('/me', await proofFor('/me'))).status).toBe(200)
    for (const proof of [null, await proofFor('/me')]) {
      const reply = await call('/me', proof, 'Bearer')
      expect(reply.status).toBe(401)
      const challenge = reply.headers.get('www-authenticate')
      expect(challenge).toMatch(/^DPoP realm="api", error="invalid_token"/)
      expect(challenge).toContain(ALGORITHMS)
    }
    expect(app.reached).toEqual(['me'])
  })

  it('are rejected without a proof', async () => {
    const reply = await call('/me', null)
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ error: 'invalid_dpop_proof' })
  })

  it.each([
    ['another method', { method: 'POST' }],
    ['another token', { token: 'another.token.altogether' }],
    ['no token', { claims: { ath: undefined } }],
    ['another path', { url: '/orders' }],
  ])('are rejected with a proof for %s', async (_what, changes) => {
    const { url } = changes as { url?: string }
    const proof = await proofFor(url ?? '/me', url ? {} : (changes as Partial<ProofRequest>))
    expect((await call('/me', proof)).status).toBe(401)
    expect(app.reached).toEqual([])
  })

  it('are rejected with a proof signed by another key', async () => {
    const at = app.clock.now()
    const proof = await makeProof(await newHolder(), { url: `${app.url}/me`, token, at })
    const reply = await call('/me', proof)
    expect(reply.status).toBe(401)
    expect(reply.headers.get('www-authenticate')).toMatch(/^DPoP .*error="invalid_token"/)
  })

  it('must always be sent with the DPoP scheme: a bearer token sent together with a proof is rejected', async () => {
    const text = (await createUserHeaders(app)).authorization.slice('Bearer '.length)
    const proof = await proofFor('/me', { token: text })
    const reply = await call('/me', proof, 'DPoP', text)
    expect(reply.status).toBe(401)
    expect(await reply.json()).toMatchObject({ error: 'invalid_token' })
    // The bearer token itself stays valid.
    expect((await call('/me', null, 'Bearer', text)).status).toBe(200)
  })

  it('are offered in the challenge to callers without a token', async () => {
    const reply = await app.fetch('/me')
    expect(reply.headers.get('www-authenticate')).toBe(`Bearer realm="api", DPoP ${ALGORITHMS}`)
  })

  it.runIf(framework.overHttp)(
    'are accepted at a router that is mounted below a path',
    async () => {
      const path = '/guarded/report'
      expect((await call(path, await proofFor(path))).status).toBe(200)
      expect((await call(path, await proofFor('/report'))).status).toBe(401)
      expect(app.reached).toEqual(['report'])
    },
  )

  it.runIf(framework.overHttp)('are rejected if the request contains two proofs', async () => {
    const headers = new Headers({ authorization: `DPoP ${token}` })
    headers.append('dpop', await proofFor('/me'))
    headers.append('dpop', await proofFor('/me'))
    expect((await app.fetch('/me', { headers })).status).toBe(401)
  })
})

describe('UserInfo with DPoP-bound tokens', () => {
  it('accepts a key-bound token only with its proof, and never in the body', async () => {
    const server = await startServer({ features: [openid(), dpop()] })
    const holder = await newHolder()
    const client = await createClient(server, { confidential: false, grants: ['password'] })
    const url = `${server.url}/oauth/token`
    const at = server.clock.now()
    const reply = await server.post(
      '/oauth/token',
      {
        grant_type: 'password',
        client_id: client.id,
        username: 'ada@example.com',
        password: 'correct horse',
        scope: 'openid',
      },
      { dpop: await makeProof(holder, { url, method: 'POST', at }) },
    )
    const { access_token: token } = (await reply.json()) as { access_token: string }
    const target = `${server.url}/oauth/userinfo`
    const proof = await makeProof(holder, { url: target, token, at })
    const ask = (headers: Record<string, string>) => server.request('/oauth/userinfo', { headers })
    const bare = await ask({ authorization: `DPoP ${token}` })
    expect(bare.status).toBe(401)
    expect(bare.headers.get('www-authenticate')).toContain(ALGORITHMS)
    expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(401)
    const inBody = await server.post('/oauth/userinfo', { access_token: token }, { dpop: proof })
    expect(inBody.status).toBe(401)
    expect((await ask({ authorization: `DPoP ${token}`, dpop: proof })).status).toBe(200)
    expect((await ask({ authorization: `DPoP ${token}`, dpop: proof })).status).toBe(401)
    await server.close()
  })
})
