import { describe, expect, it, onTestFinished } from 'vitest'
import type { AuthorizationServerOptions } from '../src/index.ts'
import { clientCredentials, memoryStorage, toTokenJson } from '../src/index.ts'
import { sealedTokens } from './outside/sealed-tokens.ts'
import { ISSUER, startServer } from './outside/start-server.ts'

function start(options: Partial<AuthorizationServerOptions> = {}) {
  const server = startServer({ grants: [clientCredentials()], ...options })
  onTestFinished(() => server.oauth.close())
  const { oauth } = server
  const guard = async (text: string) => {
    const request = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
    const caller = await oauth.guard.authenticate('api', request)
    return caller.id
  }
  async function introspect(token: string) {
    const { client, secret } = await oauth.clients.create({
      name: 'API',
      grants: ['client_credentials'],
      resourceServer: true,
    })
    const body = new URLSearchParams({
      token,
      client_id: client.id,
      client_secret: secret ?? '',
    })
    const request = new Request(`${ISSUER}/oauth/introspect`, { method: 'POST', body })
    return (await (await oauth.fetch(request)).json()) as { active: boolean; sub?: string }
  }
  const create = (expiresAt?: Date) =>
    oauth.tokens.createPersonal({
      userId: 'ada',
      name: 'script',
      scopes: ['read'],
      ...(expiresAt && { expiresAt }),
    })
  return { ...server, guard, introspect, create }
}

const key = Buffer.alloc(32, 7)
const FORMATS = [
  ['jwt', 'jwt'],
  ['opaque', 'opaque'],
  ['of its own', sealedTokens(key)],
] as const

describe.each(FORMATS)('a personal access token with a prefix, in the format %s,', (_, format) => {
  it('is accepted by the guard and by introspection, with and without the prefix', async () => {
    const { create, guard, introspect } = start({
      accessTokenFormat: format,
      personalAccessTokenPrefix: 'tgp_',
    })
    const { accessToken } = await create()
    expect(accessToken).toMatch(/^tgp_(eyJ|tga_|sealed\.)/)
    for (const text of [accessToken, accessToken.slice('tgp_'.length)]) {
      // The second time from the cache.
      expect([await guard(text), await guard(text)]).toEqual(['ada', 'ada'])
      expect(await introspect(text)).toMatchObject({ active: true, sub: 'user:ada' })
    }
  })

  it('is rejected in both forms once it is revoked, and if it was altered', async () => {
    const { oauth, create, guard, introspect } = start({
      accessTokenFormat: format,
      personalAccessTokenPrefix: 'tgp_',
    })
    const { accessToken, token } = await create()
    const forms = [accessToken, accessToken.slice('tgp_'.length)]
    const altered = accessToken.slice(0, -8) + (accessToken.at(-8) === 'A' ? 'B' : 'A')
    const wrong = [
      `tgp_${accessToken}`,
      'tgp_',
      `tgp-${accessToken}`,
      altered + accessToken.slice(-7),
    ]
    for (const text of wrong) {
      await expect(guard(text), text).rejects.toMatchObject({ code: 'invalid_token' })
      expect(await introspect(text)).toEqual({ active: false })
    }
    await oauth.tokens.revoke(token.id)
    for (const text of forms) {
      await expect(guard(text)).rejects.toMatchObject({ code: 'invalid_token' })
      expect(await introspect(text)).toEqual({ active: false })
    }
  })

  it('is the only kind of token that gets the prefix', async () => {
    const { oauth, token } = start({
      accessTokenFormat: format,
      personalAccessTokenPrefix: 'tgp_',
    })
    const { client, secret } = await oauth.clients.create({
      name: 'Shop',
      grants: ['client_credentials'],
    })
    const { access_token } = await token({
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: secret ?? '',
    })
    expect(access_token).not.toMatch(/^tgp_/)
  })
})

describe.each(['jwt', 'opaque'] as const)('a prefix of a token in the format %s', (format) => {
  it('may be changed or removed while tokens with the previous prefix are in use', async () => {
    const storage = start({ accessTokenFormat: format })
    const { accessToken } = await storage.create()
    expect(accessToken).not.toMatch(/^tgp_/)
    expect(await storage.guard(`acme_${accessToken}`)).toBe('ada')
  })
})

describe('the option personalAccessTokenPrefix', () => {
  it.each(['tgp_', 'acme_', 'ACME2_', ''])('accepts %j', (prefix) => {
    expect(() => start({ personalAccessTokenPrefix: prefix })).not.toThrow()
  })

  it.each(['tgp', '_', 'p_', 'tga_', 'tgr_', 'tgs_', 'a b_', 'ü_x', '2x_', `${'x'.repeat(16)}_`])(
    'rejects %j',
    (prefix) => {
      expect(() => start({ personalAccessTokenPrefix: prefix })).toThrow(
        /personalAccessTokenPrefix/,
      )
    },
  )
})

describe('the expiry of a personal access token', () => {
  const seconds = (clock: { now(): Date }, count: number) =>
    new Date(Math.floor(clock.now().getTime() / 1000 + count) * 1000)

  it('is the longest lifetime of the server if none is chosen', async () => {
    const { create, clock } = start({ personalAccessTokensExpireIn: '90d' })
    expect((await create()).token.expiresAt).toEqual(seconds(clock, 90 * 86_400))
  })

  it('makes the token invalid at the chosen time', async () => {
    const { create, clock, guard } = start()
    const { accessToken, token } = await create(seconds(clock, 3600))
    expect(token.expiresAt).toEqual(seconds(clock, 3600))
    clock.advance({ minutes: 59 })
    expect(await guard(accessToken)).toBe('ada')
    clock.advance({ seconds: 61 })
    await expect(guard(accessToken)).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it.each([0, -1, 90 * 86_400 + 1])(
    'is rejected if it is %i seconds from now, and no token is stored',
    async (count) => {
      const { create, clock, oauth } = start({ personalAccessTokensExpireIn: '90d' })
      await expect(create(seconds(clock, count))).rejects.toMatchObject({
        code: 'validation_failed',
        errors: { expires_in: [expect.stringContaining('expire in the future')] },
      })
      expect(await oauth.tokens.listByUser('ada')).toEqual([])
    },
  )
})

describe('the last use of a personal access token', () => {
  type Started = ReturnType<typeof start>
  const lastUse = async ({ oauth }: Started) =>
    (await oauth.tokens.listByUser('ada'))[0]?.lastUsedAt

  /** A server whose storage counts the writes of uses, and fails on request. */
  function startCounting() {
    const storage = memoryStorage()
    const state = { writes: 0, fails: false, errors: [] as string[] }
    const recordUse: typeof storage.tokens.recordUse = async (...use) => {
      state.writes += 1
      if (state.fails) throw new Error('the disk is full')
      return storage.tokens.recordUse(...use)
    }
    const tokens = { ...storage.tokens, recordUse }
    const logger = { error: (message: string) => state.errors.push(message) }
    return { ...start({ storage: { ...storage, tokens }, logger }), state }
  }

  it('is null before the first use, and then the time of the use', async () => {
    const server = start()
    const { accessToken, token } = await server.create()
    expect([token.lastUsedAt, await lastUse(server)]).toEqual([null, null])
    server.clock.advance({ days: 3 })
    const at = server.clock.now()
    await server.guard(accessToken)
    await expect.poll(() => lastUse(server)).toEqual(at)
  })

  it('is recorded by introspection', async () => {
    const server = start()
    const { accessToken } = await server.create()
    expect(await server.introspect(accessToken)).toMatchObject({ active: true })
    await expect.poll(() => lastUse(server)).toEqual(server.clock.now())
  })

  it('is written once per day and process, however many requests there are', async () => {
    const server = startCounting()
    const { state, clock, guard } = server
    const { accessToken } = await server.create()
    const first = clock.now()
    for (let count = 0; count < 5; count += 1) await guard(accessToken)
    clock.advance({ hours: 23 })
    await guard(accessToken)
    await expect.poll(() => lastUse(server)).toEqual(first)
    expect(state.writes).toBe(1)
    clock.advance({ hours: 1 })
    await guard(accessToken)
    await expect.poll(() => lastUse(server)).toEqual(clock.now())
    expect(state.writes).toBe(2)
  })

  it('is not recorded for tokens that are refused, nor for other tokens', async () => {
    const server = startCounting()
    const { accessToken, token } = await server.create()
    await server.oauth.tokens.revoke(token.id)
    await expect(server.guard(accessToken)).rejects.toMatchObject({ code: 'invalid_token' })
    expect(await server.introspect(accessToken)).toEqual({ active: false })
    const { client, secret } = await server.oauth.clients.create({
      name: 'Shop',
      grants: ['client_credentials'],
    })
    const form = { client_id: client.id, client_secret: secret ?? '' }
    const { access_token } = await server.token({ ...form, grant_type: 'client_credentials' })
    const authorization = `Bearer ${access_token}`
    const request = { authorization, cookie: null, csrfToken: null }
    expect(await server.oauth.guard.authenticate('client', request)).toMatchObject({
      clientId: client.id,
    })
    await server.oauth.close()
    expect(server.state.writes).toBe(0)
  })

  it('does not make the request fail if recording fails, and is recorded by a request a minute later', async () => {
    const server = startCounting()
    const { state, clock, guard } = server
    const { accessToken } = await server.create()
    state.fails = true
    for (let count = 0; count < 3; count += 1) {
      expect(await guard(accessToken)).toBe('ada')
      await expect.poll(() => state.errors.length).toBe(1)
    }
    expect(state.errors).toEqual(['The last use of a personal access token could not be recorded'])
    expect(state.writes).toBe(1)
    state.fails = false
    clock.advance({ minutes: 1 })
    expect(await guard(accessToken)).toBe('ada')
    await expect.poll(() => lastUse(server)).toEqual(clock.now())
  })

  it('is in the JSON of the list of tokens, and is written before close() returns', async () => {
    const server = start()
    const { accessToken, token, client } = await server.create()
    expect(toTokenJson(token, client).last_used_at).toBeNull()
    const at = server.clock.now()
    await server.guard(accessToken)
    await server.oauth.close()
    const [used] = await server.oauth.tokens.listByUser('ada')
    expect(used && toTokenJson(used, client).last_used_at).toBe(at.toISOString())
  })
})
