import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Client,
  type ClientUpdate,
  isVerifiedClient,
  jwtClientAuthentication,
  type NewClient,
  pickOwnSettings,
} from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

const KEYS = { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'YQ' }] }

let server: TestServer
beforeAll(async () => {
  server = await startServer({ features: [jwtClientAuthentication({ sharedSecrets: true })] })
})
afterAll(() => server.close())

const update = (id: string, change: ClientUpdate) => server.oauth.clients.update(id, change)
const stored = async (id: string) => (await server.oauth.clients.find(id)) as Client
const invalid = { code: 'validation_failed' }

async function newClient(options: Partial<NewClient> = {}): Promise<Client> {
  return stored((await createClient(server, options)).id)
}

function tokenAt(
  { id, secret }: { readonly id: string; readonly secret: string },
  form: Record<string, string>,
): Promise<Response> {
  return server.post('/oauth/token', { client_id: id, client_secret: secret, ...form })
}

const errorOf = async (reply: Response) => ((await reply.json()) as { error?: string }).error

describe('clients.update()', () => {
  const changes: readonly [string, ClientUpdate, Partial<Client>][] = [
    ['the name', { name: 'New' }, { name: 'New' }],
    [
      'redirect URIs',
      { redirect: ['https://b.example/'] },
      { redirectUris: ['https://b.example/'] },
    ],
    ['grants', { grants: ['client_credentials'] }, { grantTypes: ['client_credentials'] }],
    ['scopes', { scopes: ['place-orders'] }, { scopes: ['place-orders'] }],
    ['resourceServer', { resourceServer: true }, { resourceServer: true }],
    ['firstParty', { firstParty: true }, { firstParty: true }],
  ]
  it.each(changes)('changes only %s if nothing else is passed', async (_what, change, fields) => {
    const before = await newClient()
    const after = await update(before.id, change)
    expect(after).toEqual({ ...before, ...fields, updatedAt: after.updatedAt })
    expect(await stored(before.id)).toEqual(after)
    expect(after.updatedAt.getTime()).toBeGreaterThan(before.updatedAt.getTime())
  })

  it('changes nothing if no field is passed', async () => {
    const before = await newClient()
    expect(await update(before.id, {})).toEqual(before)
    expect(await stored(before.id)).toEqual(before)
  })

  it('lets a client request all defined scopes again if scopes is null', async () => {
    const { id } = await newClient({ scopes: ['place-orders'] })
    expect((await update(id, { scopes: null })).scopes).toBeNull()
  })

  it('changes, adds and removes single settings', async () => {
    const settings = { client_uri: 'https://a.example', default_max_age: 60 }
    const { id } = await newClient({ settings })
    const change = { client_uri: null, default_max_age: 30, tos_uri: 'https://a.example/terms' }
    const after = await update(id, { settings: change })
    expect(after.settings).toEqual({ default_max_age: 30, tos_uri: 'https://a.example/terms' })
  })

  const refused: readonly [string, Partial<NewClient>, ClientUpdate][] = [
    ['an empty name', {}, { name: ' ' }],
    ['a redirect URI with a script', {}, { redirect: 'javascript:alert(1)' }],
    ['no redirect URI for a grant that stays', {}, { redirect: [] }],
    [
      'a grant without its redirect URI',
      { redirect: [], grants: ['client_credentials'] },
      { grants: ['authorization_code'] },
    ],
    ['an unknown grant', {}, { grants: ['magic' as 'password'] }],
    ['the grant of personal access tokens', {}, { grants: ['personal_access'] }],
    ['an undefined scope', {}, { scopes: ['fly'] }],
    ['an unknown setting', {}, { settings: { colour: 'red' } as ClientUpdate['settings'] & {} }],
    [
      'a setting of the server',
      {},
      { settings: { verified: true } as ClientUpdate['settings'] & {} },
    ],
    ['an invalid setting', {}, { settings: { default_max_age: -1 } }],
    [
      'settings that exclude each other',
      { settings: { jwks: KEYS } },
      { settings: { jwks_uri: 'https://a.example/' } },
    ],
    ['a feature that the server lacks', {}, { settings: { dpop_bound_access_tokens: true } }],
    [
      'a key method without keys',
      {},
      { settings: { token_endpoint_auth_method: 'private_key_jwt' } },
    ],
    [
      'no authentication for a confidential client',
      {},
      { settings: { token_endpoint_auth_method: 'none' } },
    ],
    [
      'a secret for a public client',
      { confidential: false },
      { settings: { token_endpoint_auth_method: 'client_secret_post' } },
    ],
    [
      'client_secret_jwt for a secret of which only a hash is stored',
      {},
      { settings: { token_endpoint_auth_method: 'client_secret_jwt' } },
    ],
    [
      'a secret for a client that has a key',
      { settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: KEYS } },
      { settings: { token_endpoint_auth_method: 'client_secret_basic' } },
    ],
  ]
  it.each(refused)('refuses %s and changes nothing', async (_what, options, change) => {
    const before = await newClient(options)
    await expect(update(before.id, change)).rejects.toMatchObject(invalid)
    await expect(
      update(before.id, { ...change, name: change.name ?? 'New' }),
    ).rejects.toMatchObject(invalid)
    expect(await stored(before.id)).toEqual(before)
  })

  it('deletes the secret if the client changes to a key, and deletes its encrypted copy if the client needs only the hash', async () => {
    const { id, secret } = await createClient(server, {
      settings: { token_endpoint_auth_method: 'client_secret_jwt' },
      grants: ['client_credentials'],
    })
    const hashed = await update(id, { settings: { token_endpoint_auth_method: null } })
    expect(hashed.settings).toEqual({})
    const grant = { grant_type: 'client_credentials' }
    expect((await tokenAt({ id, secret }, grant)).status).toBe(200)
    const settings = { token_endpoint_auth_method: 'private_key_jwt', jwks: KEYS } as const
    const keyed = await update(id, { settings })
    expect(keyed).toMatchObject({ secretHash: null, settings })
    expect((await tokenAt({ id, secret }, grant)).status).toBe(401)
  })

  it('changes nothing but the name of the personal access client, to which personal access tokens belong', async () => {
    const { id } = await server.oauth.clients.personal()
    expect((await update(id, { name: 'Tokens' })).name).toBe('Tokens')
    await expect(update(id, { grants: ['password'] })).rejects.toMatchObject(invalid)
    await expect(update(id, { redirect: REDIRECT })).rejects.toMatchObject(invalid)
  })

  it('fails for a client that does not exist or was deleted', async () => {
    const { id } = await newClient()
    await server.oauth.clients.revoke(id)
    for (const each of [id, 'nobody', 'https://nobody.example/client']) {
      await expect(update(each, { name: 'New' })).rejects.toMatchObject({ code: 'not_found' })
    }
  })
})

describe('clients.update() with unchangedSince', () => {
  it('fails with a conflict, and changes nothing, if the client has changed since that time', async () => {
    const { id, updatedAt } = await newClient()
    const first = await update(id, { name: 'First', unchangedSince: updatedAt })
    const second = update(id, { name: 'Second', unchangedSince: updatedAt })
    await expect(second).rejects.toMatchObject({ code: 'conflict', status: 409 })
    expect(await stored(id)).toEqual(first)
    await update(id, { name: 'Second', unchangedSince: first.updatedAt })
  })

  it('lets only one of several concurrent callers succeed', async () => {
    const { id, updatedAt: unchangedSince } = await newClient()
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) => update(id, { name, unchangedSince })),
    )
    const won = results.filter(({ status }) => status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'conflict' })
    }
  })

  it('keeps the changes of all concurrent callers that do not pass unchangedSince', async () => {
    const { id } = await newClient()
    await Promise.all([
      update(id, { name: 'New' }),
      update(id, { scopes: ['place-orders'] }),
      update(id, { settings: { default_max_age: 5 } }),
      update(id, { settings: { client_uri: 'https://a.example' } }),
    ])
    expect(await stored(id)).toMatchObject({
      name: 'New',
      scopes: ['place-orders'],
      settings: { default_max_age: 5, client_uri: 'https://a.example' },
    })
  })
})

describe('a client that a user registered', () => {
  it('stays verified if the operator changes it, and becomes unverified if its owner changes it', async () => {
    const { id } = await newClient({ userId: 'bob' })
    await server.oauth.clients.verify(id)
    expect(
      isVerifiedClient(await update(id, { name: 'A', settings: { default_max_age: 5 } })),
    ).toBe(true)
    const reply = await server.json('bob', 'PUT', `/oauth/clients/${id}`, {
      name: 'Bank',
      redirect: REDIRECT,
    })
    expect(reply.status).toBe(200)
    const changed = await stored(id)
    expect(isVerifiedClient(changed)).toBe(false)
    expect(changed.settings).toEqual({ default_max_age: 5 })
  })

  it('becomes unverified by unverify(), which can be called repeatedly', async () => {
    const { id } = await newClient({ userId: 'bob' })
    await server.oauth.clients.verify(id)
    expect(isVerifiedClient(await server.oauth.clients.unverify(id))).toBe(false)
    expect(isVerifiedClient(await server.oauth.clients.unverify(id))).toBe(false)
    expect(isVerifiedClient(await server.oauth.clients.verify(id))).toBe(true)
  })

  it('cannot be changed by its owner, except for its name and redirect URIs (threat M2)', async () => {
    const before = await newClient({ userId: 'bob' })
    const more = {
      grants: ['client_credentials'],
      scopes: null,
      firstParty: true,
      resourceServer: true,
      settings: { default_max_age: 5 },
      by: 'operator',
    }
    await server.json('bob', 'PUT', `/oauth/clients/${before.id}`, {
      name: 'New',
      redirect: REDIRECT,
      ...more,
    })
    const { name, updatedAt } = await stored(before.id)
    expect(await stored(before.id)).toEqual({ ...before, name, updatedAt })
    for (const [field, value] of Object.entries(more)) {
      const change = { [field]: value, by: 'owner' } as ClientUpdate
      if (field !== 'by') await expect(update(before.id, change)).rejects.toMatchObject(invalid)
    }
  })
})

it('unverify() fails for a client registered by the operator', async () => {
  const { id } = await newClient()
  await expect(server.oauth.clients.unverify(id)).rejects.toMatchObject({ code: 'not_found' })
})

it('pickOwnSettings() returns only the settings that can be changed, without those set by the server', async () => {
  const settings = { token_endpoint_auth_method: 'client_secret_jwt' } as const
  const client = await newClient({ settings })
  expect(client.settings).toHaveProperty('sealed_secret')
  expect(pickOwnSettings(client.settings)).toEqual(settings)
})

describe('after an update that removes a grant or scope from a client,', () => {
  const lost = async (change: ClientUpdate) => {
    const client = await createClient(server)
    const scope = 'place-orders check-status'
    const { refresh_token } = await runCodeFlow(server, client, { scope })
    const another = server.another()
    await another.ready()
    const refreshAt = (token: string) =>
      another.fetch(
        new Request(`${server.url}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            refresh_token: token,
            client_id: client.id,
            client_secret: client.secret,
          }),
        }),
      )
    const first = (await (await refreshAt(refresh_token)).json()) as { refresh_token: string }
    await update(client.id, change)
    const replyOf = async () => (await refreshAt(first.refresh_token)).clone()
    return { client, replyOf }
  }

  it('no process refreshes its tokens any more, within a second, if the grant refresh_token was removed (threat T3)', async () => {
    const { replyOf } = await lost({ grants: ['authorization_code'] })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await errorOf(await replyOf())).toBe('unauthorized_client')
  })

  it('its next access token lacks the removed scope', async () => {
    const { replyOf } = await lost({ scopes: ['place-orders'] })
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await (await replyOf()).json()).toMatchObject({ scope: 'place-orders' })
  })

  it.each<[string, ClientUpdate]>([
    ['the grant that the screen is for', { grants: ['client_credentials'] }],
    ['a scope that the screen shows', { scopes: ['check-status'] }],
  ])(
    'approving a screen that was already open returns nothing to the client if the update removed %s (threat T3)',
    async (_what, change) => {
      const { id } = await createClient(server, { grants: ['implicit'] })
      const page = await requestAuthorization(server, 'ada', {
        client_id: id,
        redirect_uri: REDIRECT,
        response_type: 'token',
        scope: 'place-orders',
      })
      expect(page.status).toBe(200)
      await update(id, change)
      expect((await submitApprovalDecision(server, 'ada', page)).href).toBe('error:400')
    },
  )
})
