import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openid, refreshToken } from '../../src/index.ts'
import { sealedTokens } from '../outside/sealed-tokens.ts'
import { createClient, startServer, type TestServer } from '../support.ts'
import {
  ACCESS_TOKEN,
  createActorToken,
  createSubjectToken,
  type ExchangeClient,
  exchange,
  GRANTS,
  guardStatus,
  newService,
  newShop,
  ORDERS,
  REPORTS,
  startExchange,
  TOKEN_EXCHANGE,
} from './support.ts'

let server: TestServer
let shop: ExchangeClient
let service: ExchangeClient
beforeAll(async () => {
  server = await startExchange({ features: [openid()] })
  shop = await newShop(server)
  service = await newService(server)
})
afterAll(() => server.close())

describe('a token exchange (threat T16) issues no token for', () => {
  it('a scope that the original token does not have', async () => {
    const given = await createSubjectToken(server, shop, [['scope', 'place-orders']])
    const got = await exchange(server, service, given.access_token, { scope: 'check-status' })
    expect(got).toMatchObject({ error: 'invalid_scope' })
  })

  it('a scope that the client may not request', async () => {
    const given = await createSubjectToken(server, shop)
    const limited = await newService(server, { scopes: ['check-status'] })
    const got = await exchange(server, limited, given.access_token, { scope: 'place-orders' })
    expect(got).toMatchObject({ error: 'invalid_scope' })
  })

  it('the wildcard scope, although scopes that it includes can be requested', async () => {
    const given = await createSubjectToken(server, shop, [['scope', '*']])
    expect(await exchange(server, service, given.access_token, { scope: '*' })).toMatchObject({
      error: 'invalid_scope',
    })
    expect((await exchange(server, service, given.access_token)).scope).toBe('')
    const named = await exchange(server, service, given.access_token, { scope: 'place-orders' })
    expect(named.scope).toBe('place-orders')
  })

  it('the identity scopes of the original token, such as openid', async () => {
    const given = await createSubjectToken(server, shop, [['scope', 'openid email place-orders']])
    const got = await exchange(server, service, given.access_token)
    expect(got.scope).toBe('place-orders')
    expect(got).not.toHaveProperty('id_token')
    const asked = await exchange(server, service, given.access_token, { scope: 'openid' })
    expect(asked).toMatchObject({ error: 'invalid_scope' })
  })

  it.each([
    ['another API, by its resource', { resource: REPORTS }],
    ['another API, by its audience', { audience: 'reports-api' }],
    ['the server itself', { audience: 'http://localhost:4999' }],
    ['an unknown resource', { resource: 'https://else.example' }],
    ['an unknown audience', { audience: 'else' }],
  ])('%s', async (_what, fields) => {
    const given = await createSubjectToken(server, shop, [
      ['scope', 'place-orders'],
      ['resource', ORDERS],
    ])
    const got = await exchange(server, service, given.access_token, fields)
    expect(got).toMatchObject({ error: 'invalid_target' })
  })

  it('an API that belongs to the grant of the original token, but not to the token itself', async () => {
    const given = await createSubjectToken(server, shop, [
      ['scope', 'place-orders'],
      ['resource', ORDERS],
      ['resource', REPORTS],
    ])
    const reply = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      client_id: shop.id,
      client_secret: shop.secret,
      refresh_token: given.refresh_token ?? '',
      resource: ORDERS,
    })
    const { access_token } = (await reply.json()) as { access_token: string }
    const got = await exchange(server, service, access_token, { resource: REPORTS })
    expect(got).toMatchObject({ error: 'invalid_target' })
  })
})

describe('a token exchange (threat T16)', () => {
  it('is refused to a client without this grant, and to a public client', async () => {
    const given = await createSubjectToken(server, shop)
    expect(await exchange(server, shop, given.access_token)).toMatchObject({
      error: 'unauthorized_client',
    })
    const open = await createClient(server, { grants: [TOKEN_EXCHANGE], confidential: false })
    expect(await exchange(server, open, given.access_token)).toMatchObject({
      error: 'unauthorized_client',
    })
  })

  it.each<[string, Record<string, string>]>([
    ['no subject_token_type', { subject_token_type: '' }],
    [
      'another subject_token_type',
      { subject_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
    ],
    [
      'a refresh token as requested_token_type',
      { requested_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' },
    ],
    ['an actor_token without its type', { actor_token: 'x' }],
    ['an actor_token_type without a token', { actor_token_type: ACCESS_TOKEN }],
    ['an invalid actor_token', { actor_token: 'x', actor_token_type: ACCESS_TOKEN }],
    ['no subject_token', { subject_token: '' }],
    ['an invalid subject_token', { subject_token: 'x' }],
  ])('is refused with %s', async (_what, fields) => {
    const given = await createSubjectToken(server, shop)
    const got = await exchange(server, service, given.access_token, fields)
    expect(got).toMatchObject({ error: 'invalid_request' })
  })

  it('is refused if the subject token is a refresh token, altered or expired', async () => {
    const given = await createSubjectToken(server, shop)
    const [header, , signature] = given.access_token.split('.')
    const claims = { ...decodeJwt(given.access_token), scope: 'place-orders check-status' }
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'user:bob' })).toString('base64url')
    for (const text of [given.refresh_token ?? '', `${header}.${forged}.${signature}`]) {
      expect(await exchange(server, service, text)).toMatchObject({ error: 'invalid_request' })
    }
    const own = await startExchange({ accessTokensExpireIn: '1h' })
    const short = await createSubjectToken(own, await newShop(own))
    own.clock.advance({ hours: 1 })
    expect(await exchange(own, await newService(own), short.access_token)).toMatchObject({
      error: 'invalid_request',
    })
    await own.close()
  })

  it("is refused if a client's own token is exchanged with an actor, because actors act only for users", async () => {
    const given = await createActorToken(server, service)
    expect(await exchange(server, service, given)).toMatchObject({ error: 'invalid_request' })
  })

  it('is refused if the actor_token belongs to another client', async () => {
    const given = await createSubjectToken(server, shop)
    const actor_token = await createActorToken(server, await newService(server))
    const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
    expect(await exchange(server, service, given.access_token, acting)).toMatchObject({
      error: 'invalid_request',
    })
  })

  it('is refused if the chain of exchanges is too long', async () => {
    let text = (await createSubjectToken(server, shop)).access_token
    for (let times = 0; times < 16; times += 1) {
      text = (await exchange(server, service, text)).access_token
    }
    expect(await guardStatus(server.oauth, text)).toBe(200)
    expect(await exchange(server, service, text)).toMatchObject({ error: 'invalid_request' })
  })
})

/** Returns the original token, a token exchanged from it, and one exchanged from that. */
async function chainOf(on: TestServer, holder: ExchangeClient) {
  const given = await createSubjectToken(on, holder)
  const middle = await newService(on)
  const child = (await exchange(on, middle, given.access_token)).access_token
  const grandchild = (await exchange(on, await newService(on), child)).access_token
  return { given, middle, child, grandchild }
}

describe('revoking a token (threat T16) also revokes the tokens exchanged from it', () => {
  const revoke = (client: ExchangeClient, token: string) =>
    server.post('/oauth/revoke', { client_id: client.id, client_secret: client.secret, token })

  it.each<[string, (chain: Awaited<ReturnType<typeof chainOf>>, of: ExchangeClient) => unknown]>([
    ['its client revokes it', ({ given }, of) => revoke(of, given.access_token)],
    ['its refresh token is revoked', ({ given }, of) => revoke(of, given.refresh_token ?? '')],
    ['its client is deleted', (_chain, of) => server.oauth.clients.revoke(of.id)],
    ['the person revokes it', (_chain, of) => server.oauth.consents.revoke('ada', of.id)],
    [
      'the application revokes it',
      ({ given }) =>
        server.oauth.tokens.revoke(String(decodeJwt(given.access_token).jti).split('.')[0] ?? ''),
    ],
    ['the person is signed out everywhere', () => server.oauth.revokeUser('ada')],
  ])('when %s, in this process immediately and in others within a second', async (_what, end) => {
    const own = await newShop(server)
    const chain = await chainOf(server, own)
    const another = server.another()
    await another.ready()
    const both = [chain.child, chain.grandchild]
    for (const text of both) {
      expect(await guardStatus(server.oauth, text)).toBe(200)
      expect(await guardStatus(another, text)).toBe(200)
    }
    await end(chain, own)
    for (const text of both) {
      expect(await guardStatus(server.oauth, text)).toBe(401)
      await expect.poll(() => guardStatus(another, text)).toBe(401)
    }
    expect(await exchange(server, service, chain.grandchild)).toMatchObject({
      error: 'invalid_request',
    })
  })

  it('if the revoked token is in the middle of a chain of exchanges, but not the token at its beginning', async () => {
    const { given, middle, child, grandchild } = await chainOf(server, shop)
    await revoke(middle, child)
    expect(await guardStatus(server.oauth, grandchild)).toBe(401)
    expect(await guardStatus(server.oauth, given.access_token)).toBe(200)
  })

  it('so that none of them can be exchanged again', async () => {
    const given = await createSubjectToken(server, shop)
    await revoke(shop, given.access_token)
    expect(await exchange(server, service, given.access_token)).toMatchObject({
      error: 'invalid_request',
    })
  })

  it('if the revoked token was the token of the actor', async () => {
    const acting = await newService(server, { grants: [TOKEN_EXCHANGE, 'password'] })
    const helper = await createSubjectToken(server, acting, [])
    const given = await createSubjectToken(server, shop)
    const got = await exchange(server, acting, given.access_token, {
      actor_token: helper.access_token,
      actor_token_type: ACCESS_TOKEN,
    })
    expect(await guardStatus(server.oauth, got.access_token)).toBe(200)
    await revoke(acting, helper.access_token)
    expect(await guardStatus(server.oauth, got.access_token)).toBe(401)
    expect(await guardStatus(server.oauth, given.access_token)).toBe(200)
  })

  it('so that introspection returns them as inactive', async () => {
    const { given, middle, child } = await chainOf(server, shop)
    await revoke(shop, given.access_token)
    const reply = await server.post('/oauth/introspect', {
      client_id: middle.id,
      client_secret: middle.secret,
      token: child,
    })
    expect(await reply.json()).toEqual({ active: false })
  })

  it('if a refresh invalidates the previous access token of the grant', async () => {
    const own = await startExchange({
      grants: GRANTS.map((each) =>
        each.type === 'refresh_token' ? refreshToken({ endsOldAccessToken: true }) : each,
      ),
    })
    const holder = await newShop(own)
    const { given, child } = await chainOf(own, holder)
    expect(await guardStatus(own.oauth, child)).toBe(200)
    await own.post('/oauth/token', {
      grant_type: 'refresh_token',
      client_id: holder.id,
      client_secret: holder.secret,
      refresh_token: given.refresh_token ?? '',
    })
    expect(await guardStatus(own.oauth, child)).toBe(401)
    await own.close()
  })

  it.each([
    ['opaque tokens', 'opaque' as const],
    ['a token format that drops unknown claims', claimDroppingFormat()],
  ])('on a server with %s', async (_what, accessTokenFormat) => {
    const own = await startServer({ accessTokenFormat, grants: GRANTS })
    const holder = await newShop(own)
    const { given, child, grandchild } = await chainOf(own, holder)
    expect(await guardStatus(own.oauth, grandchild)).toBe(200)
    const form = { client_id: holder.id, client_secret: holder.secret, token: given.access_token }
    await own.post('/oauth/revoke', form)
    for (const text of [child, grandchild]) expect(await guardStatus(own.oauth, text)).toBe(401)
    await own.close()
  })
})

/**
 * A token format by a third party, written before exchanged tokens existed: it drops unknown
 * claims.
 */
function claimDroppingFormat() {
  const sealed = sealedTokens(randomBytes(32))
  return {
    ...sealed,
    encode: (
      claims: Parameters<typeof sealed.encode>[0],
      token: Parameters<typeof sealed.encode>[1],
    ) => {
      const { iss, sub, aud, client_id, jti, iat, exp, scope } = claims
      return sealed.encode({ iss, sub, aud, client_id, jti, iat, exp, scope }, token)
    },
  }
}
