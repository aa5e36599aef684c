import { decodeJwt } from 'jose'
import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openid, systemClock, tokenExchange, type VerifiedToken } from '../../src/index.ts'
import { listen, startServer, type TestServer } from '../support.ts'
import {
  ACCESS_TOKEN,
  createActorToken,
  createSubjectToken,
  type ExchangeClient,
  exchange,
  GRANTS,
  guardStatus,
  JWT,
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

describe('an access token issued by a token exchange', () => {
  it('belongs to the same user and to the requesting client, and has no refresh token', async () => {
    const given = await createSubjectToken(server, shop)
    const got = await exchange(server, service, given.access_token, { scope: 'place-orders' })
    expect(got).toMatchObject({
      token_type: 'Bearer',
      issued_token_type: ACCESS_TOKEN,
      scope: 'place-orders',
    })
    expect(got).not.toHaveProperty('refresh_token')
    const claims = decodeJwt(got.access_token)
    expect(claims).toMatchObject({ sub: 'user:ada', client_id: service.id, aud: server.url })
    expect(claims).not.toHaveProperty('act')
    const headers = { authorization: `Bearer ${got.access_token}`, cookie: null, csrfToken: null }
    const user = await server.oauth.guard.authenticate('api', headers)
    expect([user.id, user.clientId, user.actor]).toEqual(['ada', service.id, null])
  })

  it('has every scope that both the original token and the client allow if the request names none', async () => {
    const given = await createSubjectToken(server, shop)
    const got = await exchange(server, service, given.access_token)
    expect(got.scope).toBe('place-orders check-status')
    const limited = await newService(server, { scopes: ['check-status'] })
    expect((await exchange(server, limited, given.access_token)).scope).toBe('check-status')
  })

  it('expires no later than the original token', async () => {
    const given = await createSubjectToken(server, shop)
    server.clock.advance({ days: 10 })
    const got = await exchange(server, service, given.access_token)
    const [before, after] = [given.access_token, got.access_token].map(
      (text) => decodeJwt(text).exp,
    )
    expect(after).toBe(before)
    expect(got.expires_in).toBe(given.expires_in - 10 * 24 * 3600)
  })

  it('is limited to the APIs that the request names with the `resource` or `audience` parameter', async () => {
    const given = await createSubjectToken(server, shop, [
      ['scope', 'place-orders'],
      ['resource', ORDERS],
      ['resource', REPORTS],
    ])
    const audienceOf = async (fields: Record<string, string>) =>
      decodeJwt((await exchange(server, service, given.access_token, fields)).access_token).aud
    expect(await audienceOf({})).toEqual(['orders-api', 'reports-api'])
    expect(await audienceOf({ resource: ORDERS })).toBe('orders-api')
    expect(await audienceOf({ audience: 'reports-api' })).toBe('reports-api')
    expect(await audienceOf({ audience: REPORTS })).toBe('reports-api')
  })

  it("is a JWT if the request asks for one, and the request is refused if the server's tokens are opaque", async () => {
    const given = await createSubjectToken(server, shop)
    const fields = { requested_token_type: JWT }
    const got = await exchange(server, service, given.access_token, fields)
    expect(got.issued_token_type).toBe(JWT)
    const opaque = await startServer({ accessTokenFormat: 'opaque', grants: GRANTS })
    const there = await createSubjectToken(opaque, await newShop(opaque))
    const behind = await newService(opaque)
    expect(await exchange(opaque, behind, there.access_token, fields)).toMatchObject({
      error: 'invalid_request',
    })
    expect(await exchange(opaque, behind, there.access_token)).toHaveProperty('access_token')
    await opaque.close()
  })

  it('is described in introspection with its actor', async () => {
    const given = await createSubjectToken(server, shop)
    const actor_token = await createActorToken(server, service)
    const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
    const got = await exchange(server, service, given.access_token, acting)
    const reply = await server.post('/oauth/introspect', {
      client_id: service.id,
      client_secret: service.secret,
      token: got.access_token,
    })
    expect(await reply.json()).toMatchObject({
      active: true,
      sub: 'user:ada',
      act: { sub: `client:${service.id}` },
    })
  })
})

describe('delegation by a token exchange', () => {
  it('lists the actors in the `act` claim, the latest actor outermost', async () => {
    const given = await createSubjectToken(server, shop)
    const actors = [service, await newService(server)]
    let text = given.access_token
    for (const each of actors) {
      const actor_token = await createActorToken(server, each)
      const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
      text = (await exchange(server, each, text, acting)).access_token
    }
    const [first, second] = actors.map(({ id }) => `client:${id}`)
    expect(decodeJwt(text).act).toEqual({ sub: second, act: { sub: first } })
    const headers = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
    const user = await server.oauth.guard.authenticate('api', headers)
    expect(user.actor).toEqual({ sub: second, act: { sub: first } })
  })

  it('keeps the actors when the token is exchanged again without an actor', async () => {
    const given = await createSubjectToken(server, shop)
    const actor_token = await createActorToken(server, service)
    const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
    const delegated = await exchange(server, service, given.access_token, acting)
    const again = await exchange(server, await newService(server), delegated.access_token)
    expect(decodeJwt(again.access_token).act).toEqual({ sub: `client:${service.id}` })
  })

  it('does not reveal the user id of the actor to a client with pairwise subjects', async () => {
    const pairwiseSalt = 'a salt of more than thirty-two characters'
    const pairwise = await startExchange({ features: [openid({ pairwiseSalt })] })
    try {
      const own = await newShop(pairwise, {
        grants: ['password', TOKEN_EXCHANGE],
        settings: { subject_type: 'pairwise' },
      })
      const given = await createSubjectToken(pairwise, await newShop(pairwise))
      const { access_token: actor_token } = await createSubjectToken(pairwise, own)
      const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
      const { access_token: token } = await exchange(pairwise, own, given.access_token, acting)
      const form = { token, client_id: own.id, client_secret: own.secret }
      const introspection = await (await pairwise.post('/oauth/introspect', form)).json()
      expect(introspection).toMatchObject({ active: true, act: { sub: introspection.sub } })
      expect(JSON.stringify(introspection)).not.toMatch(/\bada\b/)
    } finally {
      await pairwise.close()
    }
  })

  it('can be made mandatory by an option', async () => {
    const strict = await startExchange({
      grants: [...GRANTS.slice(0, -1), tokenExchange({ actorRequired: true })],
    })
    const given = await createSubjectToken(strict, await newShop(strict))
    const behind = await newService(strict)
    expect(await exchange(strict, behind, given.access_token)).toMatchObject({
      error: 'invalid_request',
    })
    const actor_token = await createActorToken(strict, behind)
    const acting = { actor_token, actor_token_type: ACCESS_TOKEN }
    expect(await exchange(strict, behind, given.access_token, acting)).toHaveProperty(
      'access_token',
    )
    await strict.close()
  })
})

describe('the `allow` option of tokenExchange()', () => {
  it('is called after all other checks, with all details of the exchange', async () => {
    const asked: { subject: VerifiedToken; scopes: readonly string[] }[] = []
    const own = await startExchange({
      grants: [
        ...GRANTS.slice(0, -1),
        tokenExchange({
          allow(question) {
            asked.push(question)
            return question.scopes.includes('check-status')
          },
        }),
      ],
    })
    const given = await createSubjectToken(own, await newShop(own))
    const behind = await newService(own)
    const no = await exchange(own, behind, given.access_token, { scope: 'place-orders' })
    expect(no).toMatchObject({ error: 'invalid_request' })
    const yes = await exchange(own, behind, given.access_token, { scope: 'check-status' })
    expect(yes).toHaveProperty('access_token')
    expect(asked.map(({ subject }) => subject.subject)).toEqual([
      { kind: 'user', id: 'ada' },
      { kind: 'user', id: 'ada' },
    ])
    await own.close()
  })
})

it('openid-client exchanges a token with its generic grant request', async () => {
  const listening = await listen({ clock: systemClock, grants: GRANTS })
  const given = await createSubjectToken(listening, await newShop(listening))
  const { id, secret } = await newService(listening)
  const config = await openidClient.discovery(
    new URL(listening.url),
    id,
    undefined,
    openidClient.ClientSecretPost(secret),
    { algorithm: 'oauth2', execute: [openidClient.allowInsecureRequests] },
  )
  const tokens = await openidClient.genericGrantRequest(config, TOKEN_EXCHANGE, {
    subject_token: given.access_token,
    subject_token_type: ACCESS_TOKEN,
    scope: 'place-orders',
  })
  expect(tokens).toMatchObject({ issued_token_type: ACCESS_TOKEN, scope: 'place-orders' })
  expect(await guardStatus(listening.oauth, tokens.access_token)).toBe(200)
  await listening.close()
})
