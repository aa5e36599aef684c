import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthorizationServer,
  type Client,
  type ClientAuthMethod,
  type ClientSettings,
  clientRegistration,
  describeClientSecret,
  jwtClientAuthentication,
  pickOwnSettings,
  toClientJson,
} from '../../src/index.ts'
import { METADATA, registerAt, toFlowClient, UNLIMITED } from '../registration/open-registration.ts'
import {
  ASSERTION_TYPE,
  assertionClaims,
  outgoing,
  postJson,
  sign,
} from '../registration/support.ts'
import { createClient, runCodeFlow, SECRET, startServer, type TestServer } from '../support.ts'

const features = [
  jwtClientAuthentication({ sharedSecrets: true }),
  clientRegistration({ policy: 'open', perMinute: UNLIMITED }),
]

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    features,
    selfRegistered: { scopes: ['place-orders'] },
    outgoing: outgoing(),
  })
})
afterAll(() => server.close())

const HOUR = 3600 * 1000
const rotate = async (id: string, rotation = {}) =>
  (await server.oauth.clients.rotateSecret(id, rotation)).secret ?? ''
const stored = async (id: string) => (await server.oauth.clients.find(id)) as Client

/** Sends a form with the client's credentials in the way of its method. */
async function send(
  id: string,
  secret: string,
  form: Record<string, string>,
  { method, at = server.oauth }: { method?: ClientAuthMethod; at?: AuthorizationServer } = {},
): Promise<Response> {
  const body: Record<string, string> = { ...form }
  const headers: Record<string, string> = {}
  if (method === 'client_secret_jwt') {
    const key = new TextEncoder().encode(secret)
    body.client_assertion_type = ASSERTION_TYPE
    body.client_assertion = await sign(assertionClaims(server, id), key, { alg: 'HS256' })
  } else if (method === 'client_secret_basic') {
    headers.authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`
  } else {
    Object.assign(body, { client_id: id, client_secret: secret })
  }
  const init = { method: 'POST', body: new URLSearchParams(body), headers }
  return at.fetch(new Request(`${server.url}/oauth/token`, init))
}

const MACHINE = { grant_type: 'client_credentials' }

/** Returns the status of each secret at the token endpoint. */
async function readSecretStatuses(
  id: string,
  secrets: readonly string[],
  options: Parameters<typeof send>[3] = {},
): Promise<number[]> {
  const replies = await Promise.all(secrets.map((secret) => send(id, secret, MACHINE, options)))
  return replies.map(({ status }) => status)
}

/** Gets a token for the client itself. */
async function ownToken(id: string, secret: string, at = server.oauth): Promise<string> {
  const reply = await send(id, secret, MACHINE, { at })
  expect(reply.status).toBe(200)
  return ((await reply.json()) as { access_token: string }).access_token
}

/** Returns for each token whether introspection says that it is active. */
async function areActive(id: string, secret: string, tokens: string[]): Promise<boolean[]> {
  const active: boolean[] = []
  for (const token of tokens) {
    const form = { client_id: id, client_secret: secret, token }
    const reply = await server.post('/oauth/introspect', form)
    active.push(((await reply.json()) as { active: boolean }).active)
  }
  return active
}

const methods = ['client_secret_basic', 'client_secret_post', 'client_secret_jwt'] as const

describe.each(methods)('a planned rotation of the secret of a client with %s', (method) => {
  const newClient = () =>
    createClient(server, {
      grants: ['client_credentials'],
      settings: { token_endpoint_auth_method: method },
    })

  it('keeps both secrets valid, the old one exactly until the overlap ends (threat T7)', async () => {
    const { id, secret: first } = await newClient()
    const another = server.another()
    expect(await readSecretStatuses(id, [first], { method, at: another })).toEqual([200])
    const second = await rotate(id, { overlap: '24h' })
    const until = new Date(server.clock.now().getTime() + 24 * HOUR)
    expect(describeClientSecret(await stored(id), server.clock)).toEqual({
      hasSecret: true,
      previousUntil: until,
    })
    expect(await readSecretStatuses(id, [first, second, `${first}x`], { method })).toEqual([
      200, 200, 401,
    ])
    await expect
      .poll(() => readSecretStatuses(id, [first, second], { method, at: another }), {
        timeout: 5000,
      })
      .toEqual([200, 200])
    server.clock.set(new Date(until.getTime() - 1))
    expect(await readSecretStatuses(id, [first, second], { method })).toEqual([200, 200])
    expect(await readSecretStatuses(id, [first, second], { method, at: another })).toEqual([
      200, 200,
    ])
    server.clock.set(until)
    expect(await readSecretStatuses(id, [first, second], { method })).toEqual([401, 200])
    expect(await readSecretStatuses(id, [first, second], { method, at: another })).toEqual([
      401, 200,
    ])
    expect(describeClientSecret(await stored(id), server.clock).previousUntil).toBeNull()
  })

  it('keeps at most one old secret valid: a second rotation ends the oldest one (threat M4)', async () => {
    const { id, secret: first } = await newClient()
    const second = await rotate(id, { overlap: '30d' })
    const third = await rotate(id, { overlap: 60 })
    expect(await readSecretStatuses(id, [first, second, third], { method })).toEqual([
      401, 200, 200,
    ])
  })

  it('can be ended early, by endPreviousSecret() or by rotating a leaked secret (threat M4)', async () => {
    const { id, secret: first } = await newClient()
    const second = await rotate(id, { overlap: '24h' })
    await server.oauth.clients.endPreviousSecret(id)
    expect(await readSecretStatuses(id, [first, second], { method })).toEqual([401, 200])
    const unchanged = await stored(id)
    expect(await server.oauth.clients.endPreviousSecret(id)).toEqual(unchanged)
    const third = await rotate(id, { overlap: '24h' })
    const fourth = await rotate(id)
    expect(await readSecretStatuses(id, [first, second, third, fourth], { method })).toEqual([
      401, 401, 401, 200,
    ])
    expect((await stored(id)).settings).not.toHaveProperty('previous_secret')
  })
})

describe('a rotation of a client secret', () => {
  it('keeps refresh tokens valid if it is planned, and revokes them if the secret leaked (threat T7)', async () => {
    const client = await createClient(server)
    const { id, secret: first } = client
    const { refresh_token } = await runCodeFlow(server, client)
    const second = await rotate(id, { overlap: '1h' })
    const form = { grant_type: 'refresh_token', refresh_token }
    const reply = await send(id, first, form)
    expect(reply.status).toBe(200)
    const next = (await reply.json()) as { refresh_token: string }
    server.clock.advance({ hours: 1 })
    const later = await send(id, second, { ...form, refresh_token: next.refresh_token })
    expect(later.status).toBe(200)
    const last = (await later.json()) as { refresh_token: string }
    const third = await rotate(id)
    expect((await send(id, third, { ...form, refresh_token: last.refresh_token })).status).toBe(400)
  })

  it("keeps the client's own tokens valid if it is planned, and revokes them if the secret leaked (threat T7)", async () => {
    const client = await createClient(server, {
      grants: ['client_credentials', 'authorization_code', 'refresh_token'],
    })
    const { id, secret: first } = client
    const ofUser = await runCodeFlow(server, client)
    const token = await ownToken(id, first)
    const second = await rotate(id, { overlap: '1h' })
    expect(await areActive(id, second, [token, ofUser.access_token])).toEqual([true, true])
    const third = await rotate(id)
    expect(await areActive(id, third, [token, ofUser.access_token])).toEqual([false, true])
    expect(await areActive(id, third, [await ownToken(id, third)])).toEqual([true])
  })

  it('revokes the tokens that another process issues for a leaked secret before it learns of the rotation (threat T7)', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const another = server.another()
    const stolen = [await ownToken(id, secret, another)]
    const { secretVersion } = await stored(id)
    const rotation = rotate(id)
    await expect.poll(async () => (await stored(id)).secretVersion).toBe(secretVersion + 1)
    for (;;) {
      const reply = await send(id, secret, MACHINE, { at: another })
      if (reply.status !== 200) break
      stolen.push(((await reply.json()) as { access_token: string }).access_token)
    }
    // The process had the old secret in its cache.
    expect(stolen.length).toBeGreaterThan(1)
    const next = await rotation
    const still = await areActive(id, next, stolen)
    expect(still.filter(Boolean)).toEqual([])
  })

  it.each([0, -1, 1.5, '31d', '1 day', '', 30 * 24 * 3600 + 1])(
    'rejects an overlap of %j and changes nothing',
    async (overlap) => {
      const { id } = await createClient(server)
      const before = await stored(id)
      await expect(rotate(id, { overlap })).rejects.toMatchObject({ code: 'validation_failed' })
      expect(await stored(id)).toEqual(before)
    },
  )

  it('fails for clients without a secret', async () => {
    const open = await createClient(server, { confidential: false })
    await expect(rotate(open.id, { overlap: '1h' })).rejects.toMatchObject({ code: 'not_found' })
    expect(describeClientSecret(await stored(open.id))).toEqual({
      hasSecret: false,
      previousUntil: null,
    })
    await expect(server.oauth.clients.endPreviousSecret('nobody')).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it.each([{}, { overlap: '1h' }])(
    'succeeds for only one of several concurrent callers with %j (threat R1)',
    async (rotation) => {
      const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
      const results = await Promise.allSettled(
        Array.from({ length: 5 }, () => rotate(id, rotation)),
      )
      const won = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      const lost = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
      // Callers that read the client after the first write are not concurrent.
      expect(won.length).toBeGreaterThanOrEqual(1)
      for (const reason of lost) expect(reason).toMatchObject({ code: 'conflict' })
      const accepted = await readSecretStatuses(id, [...won, secret])
      const most = 'overlap' in rotation ? 2 : 1
      expect(accepted.filter((status) => status === 200)).toHaveLength(most)
    },
  )

  it('can at the same time change the client to an authentication method that needs a new secret', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    const method = 'client_secret_jwt'
    await expect(rotate(id, { method, overlap: '1h' })).rejects.toMatchObject({
      code: 'validation_failed',
    })
    const next = await rotate(id, { method })
    expect(await readSecretStatuses(id, [secret, next], { method })).toEqual([401, 200])
    expect(await readSecretStatuses(id, [secret, next])).toEqual([401, 401])
    const last = await rotate(id, { method: 'client_secret_post' })
    expect((await stored(id)).settings).toEqual({
      token_endpoint_auth_method: 'client_secret_post',
    })
    expect(await readSecretStatuses(id, [next, last])).toEqual([401, 200])
  })
})

describe('the previous secret of a client, after a planned rotation,', () => {
  const jwt: ClientSettings = { token_endpoint_auth_method: 'client_secret_jwt' }

  it("never appears in the client's JSON, and neither does its hash (threat M3)", async () => {
    const { id, secret } = await createClient(server, { userId: 'ada', settings: jwt })
    await rotate(id, { overlap: '1h' })
    const client = await stored(id)
    const previous = client.settings.previous_secret
    expect(previous?.hash).toMatch(/^[\w-]{43}$/)
    const list = await server.json('ada', 'GET', '/oauth/clients')
    const shown = [
      JSON.stringify(toClientJson(client)),
      JSON.stringify(pickOwnSettings(client.settings)),
      JSON.stringify(describeClientSecret(client)),
      await list.text(),
    ]
    for (const text of shown) {
      for (const hidden of [secret, previous?.hash, previous?.sealed, 'previous_secret']) {
        expect(text).not.toContain(hidden)
      }
    }
    expect(JSON.stringify(client)).not.toContain(secret)
  })

  it('stays valid when the operator changes the client, and is deleted by the first change after it expired', async () => {
    const { id, secret } = await createClient(server, { grants: ['client_credentials'] })
    await rotate(id, { overlap: '1h' })
    const previous = (await stored(id)).settings.previous_secret
    const settings = { default_max_age: 60 }
    const changed = await server.oauth.clients.update(id, { settings })
    expect(changed.settings).toEqual({ ...settings, previous_secret: previous })
    expect(await readSecretStatuses(id, [secret])).toEqual([200])
    server.clock.advance({ hours: 1 })
    const after = await server.oauth.clients.update(id, { settings: { default_max_age: 30 } })
    expect(after.settings).toEqual({ default_max_age: 30 })
  })

  it('is no longer stored encrypted once the client needs only its hash, and is deleted once the client uses a key', async () => {
    const settings = jwt
    const { id, secret } = await createClient(server, { grants: ['client_credentials'], settings })
    const next = await rotate(id, { overlap: '1h' })
    const { update } = server.oauth.clients
    await update(id, { settings: { token_endpoint_auth_method: null } })
    expect((await stored(id)).settings.previous_secret).not.toHaveProperty('sealed')
    expect(await readSecretStatuses(id, [secret, next])).toEqual([200, 200])
    const jwks = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'YQ' }] }
    const keyed = { token_endpoint_auth_method: 'private_key_jwt', jwks } as const
    expect((await update(id, { settings: keyed })).settings).toEqual(keyed)
  })

  it("cannot be set in the client's settings", async () => {
    const { id } = await createClient(server)
    const settings = { previous_secret: { hash: 'x', until: 1 } }
    await expect(server.oauth.clients.update(id, { settings } as object)).rejects.toMatchObject({
      code: 'validation_failed',
    })
    await expect(createClient(server, { settings } as object)).rejects.toMatchObject({
      code: 'validation_failed',
    })
  })

  it.each(['client_secret_basic', 'client_secret_jwt'])(
    'is not lost, extended or shown when a client with %s replaces its registration (threat M4)',
    async (token_endpoint_auth_method) => {
      const client = await registerAt(server, { token_endpoint_auth_method })
      const { client_id: id, client_secret: first = '' } = client
      await runCodeFlow(server, toFlowClient({ ...client, client_secret: first })).catch(() => null)
      const second = await rotate(id, { overlap: '1h' })
      const { previous_secret: previous } = (await stored(id)).settings
      const replace = (metadata: object) =>
        postJson(
          server,
          `/oauth/register/${id}`,
          { ...METADATA, client_id: id, token_endpoint_auth_method, ...metadata },
          { authorization: `Bearer ${client.registration_access_token}` },
          'PUT',
        )
      const until = server.clock.now().getTime() + 100 * HOUR
      const forged = { previous_secret: { ...previous, until } }
      for (const metadata of [{}, { client_secret: first }, { client_secret: second }, forged]) {
        const reply = await replace({ ...metadata, client_name: 'New' })
        expect(reply.status).toBe(200)
        expect(await reply.text()).not.toMatch(/previous_secret|sealed/)
        expect((await stored(id)).settings.previous_secret).toEqual(previous)
      }
      server.clock.advance({ hours: 1 })
      expect((await replace({ client_secret: first })).status).toBe(400)
      expect((await replace({ client_secret: second })).status).toBe(200)
      expect((await stored(id)).settings).not.toHaveProperty('previous_secret')
    },
  )

  it("stays valid after a change of the server's secret, and is not encrypted again once it has expired", async () => {
    const own = await startServer({ features })
    try {
      const { id, secret } = await createClient(own, {
        grants: ['client_credentials'],
        settings: jwt,
      })
      await own.oauth.clients.rotateSecret(id, { overlap: '24h' })
      const next = 'another secret of more than thirty-two characters'
      const both = own.another({ secret: [next, SECRET] })
      expect(await both.keys.reseal()).toBeGreaterThan(0)
      expect(await both.keys.toReseal()).toBe(0)
      const after = own.another({ secret: next })
      const key = new TextEncoder().encode(secret)
      const body = new URLSearchParams({
        ...MACHINE,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: await sign(assertionClaims(own, id), key, { alg: 'HS256' }),
      })
      const request = new Request(`${own.url}/oauth/token`, { method: 'POST', body })
      expect((await after.fetch(request)).status).toBe(200)
      own.clock.advance({ hours: 24 })
      const third = own.another({
        secret: ['a third secret of more than thirty-two characters', next],
      })
      const sealed = (await own.oauth.clients.find(id))?.settings
      expect(await third.keys.reseal()).toBeGreaterThan(0)
      const resealed = (await own.oauth.clients.find(id))?.settings
      expect(resealed?.sealed_secret).not.toBe(sealed?.sealed_secret)
      expect(resealed).not.toHaveProperty('previous_secret')
    } finally {
      await own.close()
    }
  })
})
