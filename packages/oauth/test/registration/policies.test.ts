import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientRegistration, openid } from '../../src/index.ts'
import { HOME, UsersWithSignOut } from '../logout/support.ts'
import type { TestServer } from '../support.ts'
import { METADATA, startOpen } from './open-registration.ts'
import { postJson } from './support.ts'

const TOKEN = 'an-initial-access-token-of-more-than-32-characters'

let server: TestServer
beforeAll(async () => {
  server = await startOpen()
})
afterAll(() => server.close())

describe('the policies for client self-registration', () => {
  it('initial-access-token: requires one of the configured tokens', async () => {
    const own = await startOpen(
      clientRegistration({ policy: 'initial-access-token', initialAccessTokens: [TOKEN] }),
    )
    try {
      const withToken = (authorization?: string, metadata: object = METADATA) =>
        postJson(own, '/oauth/register', metadata, authorization ? { authorization } : {})
      const without = await withToken()
      expect(without.status).toBe(401)
      expect(without.headers.get('www-authenticate')).toBe('Bearer realm="api"')
      expect((await withToken(`Bearer ${TOKEN}x`)).status).toBe(401)
      expect((await withToken(`Basic ${btoa(TOKEN)}`)).status).toBe(401)
      expect((await withToken(`Bearer ${TOKEN}`)).status).toBe(201)
    } finally {
      await own.close()
    }
  })

  it('initial-access-token: accepts apps with a custom URL scheme', async () => {
    const own = await startOpen(
      clientRegistration({ policy: 'initial-access-token', initialAccessTokens: [TOKEN] }),
    )
    try {
      const native = { ...METADATA, redirect_uris: ['com.example.app:/cb'] }
      const authorization = `Bearer ${TOKEN}`
      const reply = await postJson(own, '/oauth/register', native, { authorization })
      expect(reply.status).toBe(201)
    } finally {
      await own.close()
    }
  })

  it.each([
    ['a custom URL scheme', 'ms-msdt:/id'],
    ['this server', 'http://localhost:4999/oauth/logout'],
  ])('open: refuses %s as the redirect URI after logout', async (_what, uri) => {
    const own = await startOpen(undefined, {
      features: [clientRegistration({ policy: 'open' }), openid({ logout: true })],
      users: new UsersWithSignOut(),
    })
    try {
      const metadata = { ...METADATA, post_logout_redirect_uris: [HOME, uri] }
      const reply = await postJson(own, '/oauth/register', metadata)
      expect(reply.status).toBe(400)
      expect(await reply.json()).toMatchObject({ error: 'invalid_client_metadata' })
    } finally {
      await own.close()
    }
  })

  it('closed: adds no route and no metadata', async () => {
    const own = await startOpen(clientRegistration({ policy: 'closed' }))
    try {
      expect((await postJson(own, '/oauth/register', METADATA)).status).toBe(404)
      const metadata = await (await own.request('/.well-known/oauth-authorization-server')).json()
      expect(metadata).not.toHaveProperty('registration_endpoint')
    } finally {
      await own.close()
    }
  })

  it('are listed in the server metadata', async () => {
    const metadata = await (await server.request('/.well-known/oauth-authorization-server')).json()
    expect(metadata.registration_endpoint).toBe(`${server.url}/oauth/register`)
    expect(metadata.token_endpoint_auth_methods_supported).toContain('none')
    expect(metadata.introspection_endpoint_auth_methods_supported).not.toContain('none')
  })

  it('are rejected at start-up if they are invalid', () => {
    const make = (options: object) => () => clientRegistration(options as never)
    expect(make({})).toThrow('policy')
    expect(make({ policy: 'initial-access-token' })).toThrow('initialAccessTokens')
    expect(make({ policy: 'initial-access-token', initialAccessTokens: ['short'] })).toThrow('32')
    const unsendable = 'a token that no header can carry, since it has blanks'
    const tokens = { policy: 'initial-access-token', initialAccessTokens: [unsendable] }
    expect(make(tokens)).toThrow('characters of bearer tokens')
    expect(make(tokens)).not.toThrow(unsendable)
    expect(make({ policy: 'open', perMinute: 0 })).toThrow('perMinute')
  })

  it('may contain only scopes that are defined', async () => {
    const starting = startOpen(undefined, { selfRegistered: { scopes: ['nothing'] } })
    await expect(starting).rejects.toThrow("selfRegistered: the scope 'nothing'")
  })
})
