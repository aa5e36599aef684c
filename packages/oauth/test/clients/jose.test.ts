import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Duration, type MovableClock, movableClock } from '../../src/testing/index.ts'
import { createClient, type ListeningServer, listen } from '../support.ts'

type KeySet = Parameters<typeof jwtVerify>[1]

let server: ListeningServer
let clock: MovableClock
let client: { id: string; secret: string }
beforeEach(async () => {
  // Only `Date` is faked: jose measures the age of its cached keys with it, while sockets need real
  // timers.
  vi.useFakeTimers({ toFake: ['Date'] })
  clock = movableClock(new Date())
  server = await listen({ clock })
  client = await createClient(server, { grants: ['client_credentials'] })
})
afterEach(async () => {
  await server.close()
  vi.useRealTimers()
})

function advance(by: Duration): void {
  clock.advance(by)
  vi.setSystemTime(clock.now())
}

async function issue(): Promise<string> {
  const reply = await server.post('/oauth/token', {
    grant_type: 'client_credentials',
    client_id: client.id,
    client_secret: client.secret,
  })
  return (await reply.json()).access_token
}

function kidOf(token: string | undefined): string | undefined {
  return decodeProtectedHeader(token ?? '').kid
}

function jwksUrl(): URL {
  return new URL('/.well-known/jwks.json', server.url)
}

/** An API on another server that trusts this server's tokens, with jose's own defaults. */
function createApi(keys: KeySet = createRemoteJWKSet(jwksUrl())) {
  return (token: string) =>
    jwtVerify(token, keys, { issuer: server.url, audience: server.url, typ: 'at+jwt' })
}

/** An API that refetches the keys only after their `Cache-Control` lifetime. */
function createPatientApi() {
  let known: { until: number; keys: ReturnType<typeof createLocalJWKSet> } | null = null
  return createApi(async (header, token) => {
    if (!known || known.until <= Date.now()) {
      const reply = await fetch(jwksUrl())
      const seconds = /max-age=(\d+)/.exec(reply.headers.get('cache-control') ?? '')?.[1]
      known = {
        until: Date.now() + Number(seconds) * 1000,
        keys: createLocalJWKSet(await reply.json()),
      }
    }
    return known.keys(header, token)
  })
}

describe('an API that verifies tokens with jose', () => {
  it('accepts a token signed with a published key, and rejects the token if anything was altered', async () => {
    const api = createApi()
    const token = await issue()
    const { payload, protectedHeader } = await api(token)
    expect(payload).toMatchObject({ sub: `client:${client.id}`, client_id: client.id })
    expect(protectedHeader).toMatchObject({ alg: 'ES256', typ: 'at+jwt' })
    const [header, , signature] = token.split('.')
    const forged = btoa(JSON.stringify({ ...payload, sub: 'user:ada' })).replace(/=+$/, '')
    await expect(api(`${header}.${forged}.${signature}`)).rejects.toThrow()
  })

  it('rejects an expired token', async () => {
    await server.close()
    server = await listen({ clock, accessTokensExpireIn: '10m' })
    client = await createClient(server, { grants: ['client_credentials'] })
    const api = createApi()
    const token = await issue()
    advance({ minutes: 9 })
    await expect(api(token)).resolves.toBeDefined()
    advance({ minutes: 1 })
    await expect(api(token)).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' })
  })

  it('accepts every valid token while the server rotates to a signing key that it published in advance', async () => {
    const apis = [createApi(), createPatientApi()]
    const tokens: string[] = []
    const acceptAll = async () => {
      tokens.push(await issue())
      for (const api of [...apis, createApi()]) {
        for (const token of tokens) await expect(api(token)).resolves.toBeDefined()
      }
      for (const token of tokens) await expect(guard(token)).resolves.toBeDefined()
    }

    await acceptAll()
    advance({ seconds: 299 })
    await acceptAll()
    const { kid } = await server.oauth.keys.rotate()
    await acceptAll()
    expect(tokens.map(kidOf)).not.toContain(kid)
    for (const seconds of [1, 298, 1, 1, 300]) {
      advance({ seconds })
      await acceptAll()
    }
    expect(tokens.slice(-3).map(kidOf)).toEqual([kid, kid, kid])
    expect(tokens.slice(0, -3).map(kidOf)).not.toContain(kid)
  })

  it('accepts every valid token after an immediate key rotation, as soon as jose may fetch the keys again', async () => {
    const api = createApi()
    const before = await issue()
    await expect(api(before)).resolves.toBeDefined()
    // jose refetches for unknown key ids at most every 30 seconds, which is why keys are published
    // ahead.
    advance({ seconds: 31 })
    const { kid } = await server.oauth.keys.rotate({ immediately: true })
    const after = await issue()
    expect(kidOf(after)).toBe(kid)
    expect(kidOf(before)).not.toBe(kid)
    for (const token of [after, before, await issue()]) {
      await expect(api(token)).resolves.toBeDefined()
      await expect(createApi()(token)).resolves.toBeDefined()
      await expect(guard(token)).resolves.toBeDefined()
    }
  })

  it('rejects the tokens of a revoked key, as the guard does', async () => {
    const token = await issue()
    const kid = kidOf(token) ?? ''
    await expect(guard(token)).resolves.toBeDefined()
    await server.oauth.keys.revoke(kid)
    await expect(createApi()(token)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' })
    await expect(guard(token)).rejects.toMatchObject({ code: 'invalid_token' })
    await expect(createApi()(await issue())).resolves.toBeDefined()
  })
})

async function guard(token: string) {
  return server.oauth.guard.authenticate('client', {
    authorization: `Bearer ${token}`,
    cookie: null,
    csrfToken: null,
  })
}
