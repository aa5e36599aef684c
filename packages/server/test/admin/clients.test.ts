import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
})
afterAll(() => service?.stop())

const REDIRECT = 'https://app.example/callback'

/** Requests a token as a client that acts for itself. */
async function tokenFor(client: { id: string; secret: string }, scope?: string) {
  const response = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.id,
      client_secret: client.secret,
      ...(scope !== undefined && { scope }),
    }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

async function createClient(fields: object = {}) {
  const admin = await operators.operator('admin')
  const made = await admin.call('POST', '/clients', {
    body: { name: 'Reports', grants: ['client_credentials'], ...fields },
  })
  expect(made.status).toBe(201)
  return { admin, client: made.body }
}

describe('the management API for applications', () => {
  it('creates a client with several grants, a scope limit, and the right to introspect', async () => {
    const { admin, client } = await createClient({
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      redirect_uris: [REDIRECT],
      scopes: ['check-status'],
      resource_server: true,
    })
    expect(client).toMatchObject({ resource_server: true, scopes: ['check-status'] })
    expect((await tokenFor(client, 'check-status')).status).toBe(200)
    expect((await tokenFor(client, 'place-orders')).body.error).toBe('invalid_scope')
    const shown = await admin.call('GET', `/clients/${client.id}`)
    expect(shown.body).not.toHaveProperty('secret')
    expect(JSON.stringify(shown.body)).not.toContain(client.secret)
  })

  it("keeps a person's client verified when an operator changes it, and removes the verification when its owner changes it", async () => {
    const owner = await operators.operator(null)
    const { admin, client } = await createClient({
      grants: ['authorization_code'],
      redirect_uris: [REDIRECT],
      user_id: owner.id,
    })
    const path = `/clients/${client.id}`
    expect(client).toMatchObject({ registered_by: 'user', verified: false })
    expect((await admin.call('PUT', `${path}/verification`)).body.verified).toBe(true)
    const changed = await admin.call('PATCH', path, {
      body: { name: 'Shop', redirect_uris: [`${REDIRECT}/new`], scopes: ['check-status'] },
      headers: { 'if-match': '*' },
    })
    expect(changed).toMatchObject({ status: 200, body: { name: 'Shop', verified: true } })
    const own = await owner.browser.request(`/oauth/clients/${client.id}`, {
      method: 'PUT',
      headers: {
        origin: service.url,
        'content-type': 'application/json',
        'x-csrf-token': await owner.browser.csrfToken(),
      },
      body: JSON.stringify({ name: 'Bank', redirect: REDIRECT }),
    })
    expect(own.status).toBe(200)
    expect((await admin.call('GET', path)).body).toMatchObject({ name: 'Bank', verified: false })
  })

  it('changes fields only if If-Match contains the current version', async () => {
    const { admin, client } = await createClient()
    const path = `/clients/${client.id}`
    const change = (version: string | null, name: string) =>
      admin.call('PATCH', path, {
        body: { name },
        ...(version !== null && { headers: { 'if-match': version } }),
      })
    const etag = (await admin.call('GET', path)).headers.get('etag') ?? ''
    expect(await change(null, 'One')).toMatchObject({ status: 428 })
    const done = await change(etag, 'One')
    expect(done).toMatchObject({ status: 200, body: { name: 'One' } })
    expect(await change(etag, 'Two')).toMatchObject({
      status: 412,
      body: { type: expect.stringContaining('#stale') },
    })
    expect((await admin.call('GET', path)).body.name).toBe('One')
  })

  it('keeps both secrets valid after a planned rotation, and only the new one after a leak', async () => {
    const { admin, client } = await createClient()
    const planned = await admin.call('POST', `/clients/${client.id}/rotate-secret`, {
      body: { overlap_hours: 2 },
    })
    expect(planned.body.previous_secret_until).not.toBeNull()
    const next = { id: client.id, secret: planned.body.secret }
    expect((await tokenFor(client)).status).toBe(200)
    expect((await tokenFor(next)).status).toBe(200)
    service.clock.advance({ hours: 3 })
    expect((await tokenFor(client)).status).toBe(401)
    expect((await tokenFor(next)).status).toBe(200)
    const again = await operators.operator('admin')
    const leaked = await again.call('POST', `/clients/${client.id}/replace-leaked-secret`)
    expect(leaked.status).toBe(200)
    expect((await tokenFor(next)).status).toBe(401)
    expect((await tokenFor({ id: client.id, secret: leaked.body.secret })).status).toBe(200)
  })

  it('returns a new secret only once, and again if the request is repeated with its idempotency key', async () => {
    const admin = await operators.operator('admin')
    const request = {
      body: { name: 'Twice', grants: ['client_credentials'] },
      headers: { 'idempotency-key': 'create-twice' },
    }
    const first = await admin.call('POST', '/clients', request)
    const second = await admin.call('POST', '/clients', request)
    expect(first.body.secret).toMatch(/^tgs_/)
    expect(second.body).toEqual({ ...first.body, secret: null })
    const stored = await service.database.kysely.selectFrom('admin_requests').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(first.body.secret)
  })

  describe('for clients that call this API', () => {
    async function createManagementClient(scopes: readonly string[]) {
      const owner = await operators.operator('owner')
      const made = await owner.call('POST', '/management-clients', {
        body: { name: 'Support desk', scopes },
      })
      expect(made.status).toBe(201)
      const token = await tokenFor(made.body, scopes.join(' '))
      expect(token.status).toBe(200)
      const call = operators.with({ authorization: `Bearer ${token.body.access_token}` })
      return { owner, client: made.body, call }
    }

    it('lets a client do what its scopes allow, and nothing else', async () => {
      const { call } = await createManagementClient(['admin.users:read'])
      const target = await operators.person()
      expect((await call('GET', `/users/${target.id}`)).status).toBe(200)
      expect((await call('POST', `/users/${target.id}/sign-out`)).status).toBe(403)
      expect((await call('GET', '/clients')).status).toBe(403)
    })

    it('requires an additional scope for actions that cannot be undone', async () => {
      const target = await operators.person()
      const { call: writer } = await createManagementClient(['admin.users:write'])
      const body = {}
      expect((await writer('POST', `/users/${target.id}/delete`, { body })).status).toBe(403)
      const { call } = await createManagementClient(['admin.users:write', 'admin:irreversible'])
      expect(await call('POST', `/users/${target.id}/delete`, { body })).toMatchObject({
        status: 200,
        body: { state: 'deleted' },
      })
    })

    it('takes effect within a second when a client loses a scope', async () => {
      const { owner, client, call } = await createManagementClient(['admin.users:read'])
      expect((await call('GET', '/users')).status).toBe(200)
      const changed = await owner.call('PATCH', `/clients/${client.id}`, {
        body: { scopes: ['admin.keys:read'] },
        headers: { 'if-match': '*' },
      })
      expect(changed.status).toBe(200)
      await expect.poll(async () => (await call('GET', '/users')).status).toBe(403)
    })

    it.each([
      [
        'create one',
        'POST',
        () => '/management-clients',
        { name: 'x', scopes: ['admin.keys:read'] },
      ],
      ['rotate its secret', 'POST', (id: string) => `/clients/${id}/rotate-secret`, {}],
      ['replace its secret', 'POST', (id: string) => `/clients/${id}/replace-leaked-secret`, {}],
      ['delete it', 'DELETE', (id: string) => `/clients/${id}`, undefined],
      ['change it', 'PATCH', (id: string) => `/clients/${id}`, { name: 'Mine now' }],
    ])('does not let an admin or a client %s', async (_, method, path, body) => {
      const all = ['admin.clients:write', 'admin.clients:read', 'admin:irreversible']
      const { client, call } = await createManagementClient(all)
      const admin = await operators.operator('admin')
      const headers = { 'if-match': '*' }
      for (const each of [admin.call, call]) {
        const refused = await each(method, path(client.id), { headers, ...(body && { body }) })
        expect(refused.status).toBe(403)
      }
    })

    it('refuses its scopes to an ordinary client, and rejects every token of a person', async () => {
      const admin = await operators.operator('admin')
      const made = await admin.call('POST', '/clients', {
        body: { name: 'Sly', grants: ['client_credentials'], scopes: ['admin.users:read'] },
      })
      expect(made).toMatchObject({
        status: 422,
        body: { errors: { scopes: [expect.any(String)] } },
      })
      const owner = await operators.operator('owner')
      const { accessToken } = await service.oauth.tokens.createPersonal({
        userId: owner.id,
        name: 'mine',
        scopes: ['place-orders'],
      })
      const call = operators.with({ authorization: `Bearer ${accessToken}` })
      expect((await call('GET', '/users')).status).toBe(401)
    })
  })
})
