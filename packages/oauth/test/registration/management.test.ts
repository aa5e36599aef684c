import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  type TestServer,
} from '../support.ts'
import {
  METADATA,
  type Registered,
  registerAt,
  startOpen,
  toFlowClient,
} from './open-registration.ts'

let server: TestServer
beforeAll(async () => {
  server = await startOpen()
})
afterAll(() => server.close())

describe('management of a self-registered client (RFC 7592)', () => {
  const call = (
    { registration_client_uri, registration_access_token }: Registered,
    method: string,
    body?: object,
    token = registration_access_token,
  ) =>
    server.request(new URL(registration_client_uri).pathname, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })

  it('returns the registered metadata', async () => {
    const client = await registerAt(server)
    const reply = await call(client, 'GET')
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { client_secret: _, client_secret_expires_at: __, ...rest } = client
    expect(await reply.json()).toEqual(rest)
  })

  it('replaces all metadata with PUT: members that are missing from the request are deleted', async () => {
    const client = await registerAt(server, { contacts: ['a@b.example'] })
    const redirect_uris = ['https://app.example/new']
    const reply = await call(client, 'PUT', { client_id: client.client_id, redirect_uris })
    expect(reply.status).toBe(200)
    const after = await reply.json()
    expect(after).toMatchObject({ redirect_uris, client_name: 'app.example' })
    expect(after).not.toHaveProperty('contacts')
    const old = await requestAuthorization(server, 'ada', {
      client_id: client.client_id,
      response_type: 'code',
      redirect_uri: REDIRECT,
    })
    expect(old.status).toBe(400)
    expect((await call(client, 'GET')).status).toBe(200)
  })

  it('deletes the client with all its tokens', async () => {
    const client = await registerAt(server)
    const { access_token } = await runCodeFlow(server, toFlowClient(client))
    expect((await call(client, 'DELETE')).status).toBe(204)
    expect((await call(client, 'GET')).status).toBe(401)
    const api = await createClient(server, { resourceServer: true })
    const reply = await server.post('/oauth/introspect', {
      token: access_token,
      client_id: api.id,
      client_secret: api.secret,
    })
    expect(await reply.json()).toEqual({ active: false })
  })

  it.each(['GET', 'PUT', 'DELETE'])(
    'requires the registration access token of this client for the method %s',
    async (method) => {
      const [mine, other] = [await registerAt(server), await registerAt(server)]
      const body = method === 'PUT' ? { ...METADATA, client_id: mine.client_id } : undefined
      for (const token of ['', 'wrong', other.registration_access_token]) {
        expect((await call(mine, method, body, token)).status).toBe(401)
      }
      const { client } = await server.oauth.clients.create({ name: 'Own', redirect: REDIRECT })
      const ours = { ...mine, registration_client_uri: `${server.url}/oauth/register/${client.id}` }
      expect((await call(ours, method, body)).status).toBe(401)
      expect((await call(mine, 'GET')).status).toBe(200)
    },
  )

  it.each([
    ['another client_id', { client_id: 'other' }],
    ['no client_id', { client_id: undefined }],
    ['a client_secret of its choice', { client_secret: 'chosen' }],
    ['its registration access token', { registration_access_token: 'x' }],
    ['client_id_issued_at', { client_id_issued_at: 1 }],
    ['token_endpoint_auth_method none', { token_endpoint_auth_method: 'none' }],
    ['a grant that is not allowed', { grant_types: ['client_credentials'] }],
  ])('refuses a replacement with %s', async (_what, changes) => {
    const client = await registerAt(server)
    const body = { ...METADATA, client_id: client.client_id, ...changes }
    const reply = await call(client, 'PUT', body)
    expect(reply.status).toBe(400)
    expect(await reply.json()).toMatchObject({ error: 'invalid_client_metadata' })
  })

  it('makes the client unverified with every change', async () => {
    const client = await registerAt(server)
    await server.oauth.clients.verify(client.client_id)
    const body = { ...METADATA, client_id: client.client_id, client_name: 'Your bank' }
    await call(client, 'PUT', body)
    const row = await server.oauth.clients.find(client.client_id)
    expect(row?.settings.self_registered).not.toHaveProperty('verified')
  })
})
