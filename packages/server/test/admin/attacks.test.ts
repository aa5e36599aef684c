import { gzipSync } from 'node:zlib'
import { TemporarilyUnavailable } from '@tollgate/oauth'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { startTcpProxy } from '../../../../test-support/tcp-proxy.ts'
import { createAccountHelpers, PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { type AdminCall, type AdminRequest, createOperatorHelpers } from './operators.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
let accounts: ReturnType<typeof createAccountHelpers>
beforeAll(async () => {
  service = await startTestService({ settings: { passwordGrant: true, exchangeGrant: true } })
  operators = createOperatorHelpers(service)
  accounts = createAccountHelpers(service)
})
afterAll(() => service?.stop())

const problem = (name: string) => `${service.url}/admin/v1/problems#${name}`
const ANY_VERSION = { 'if-match': '*' }

/** Every entry of the audit log that is about this object. */
const entriesAbout = (id: string) =>
  service.database.kysely
    .selectFrom('audit_entries')
    .selectAll()
    .where('subject_id', '=', id)
    .execute()

async function requestTokenReply(fields: Record<string, string>) {
  const response = await fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(fields),
  })
  return { status: response.status, body: (await response.json()) as Record<string, string> }
}

/** A client of the management API with its first token. */
async function managementClient(...scopes: string[]) {
  const owner = await operators.operator('owner')
  const { body } = await owner.call('POST', '/management-clients', {
    body: { name: 'Desk', scopes },
  })
  const { id, secret } = body as { id: string; secret: string }
  const token = await requestTokenReply({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
    scope: scopes.join(' '),
  })
  const bearer = token.body.access_token ?? ''
  return { owner, id, secret, bearer, call: operators.with({ authorization: `Bearer ${bearer}` }) }
}

async function ordinaryClient(fields: object = {}) {
  const admin = await operators.operator('admin')
  const made = await admin.call('POST', '/clients', {
    body: { name: 'App', grants: ['client_credentials'], ...fields },
  })
  expect(made.status).toBe(201)
  return made.body as { id: string; secret: string; version: string }
}

/** Ends the role of every owner, so that a test knows all of them. */
async function removeAllOwners(): Promise<void> {
  await service.database.kysely
    .updateTable('users')
    .set({ role: null })
    .where('role', '=', 'owner')
    .execute()
}

async function countOwners(): Promise<number> {
  const rows = await service.database.kysely
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .execute()
  return rows.length
}

describe('an operator or client whose role or scopes are not enough (management API)', () => {
  const target = async () => {
    const { id } = await operators.person()
    return id
  }
  const client = async () => (await ordinaryClient()).id
  const CALLS = [
    ['viewer', 'POST', '/users', { email: 'a@b.c', password: PASSWORD }, target],
    ['viewer', 'POST', '/users/ID/disable', {}, target],
    ['viewer', 'POST', '/users/ID/sign-out', undefined, target],
    ['viewer', 'POST', '/users/ID/comp', { until: null }, target],
    ['viewer', 'DELETE', '/users/ID/tokens/x', undefined, target],
    ['viewer', 'DELETE', '/users/ID/sessions/x', undefined, target],
    ['viewer', 'DELETE', '/users/ID/links/x', undefined, target],
    ['viewer', 'GET', '/audit/entries', undefined, target],
    ['viewer', 'GET', '/webhooks/1', undefined, target],
    ['support', 'POST', '/users', { email: 'a@b.c', password: PASSWORD }, target],
    ['support', 'POST', '/users/ID/delete', {}, target],
    ['support', 'PUT', '/users/ID/role', { role: 'owner' }, target],
    ['support', 'PUT', '/users/ID/password', { password: PASSWORD }, target],
    ['support', 'PATCH', '/clients/ID', { name: 'x' }, client],
    ['support', 'POST', '/clients/ID/rotate-secret', {}, client],
    ['support', 'POST', '/clients/ID/replace-leaked-secret', {}, client],
    ['support', 'DELETE', '/clients/ID', undefined, client],
    ['support', 'PUT', '/clients/ID/verification', undefined, client],
    ['support', 'POST', '/keys', {}, target],
    ['support', 'DELETE', '/keys/x', undefined, target],
    ['support', 'GET', '/audit/export', undefined, target],
    ['support', 'GET', '/users/ID/export', undefined, target],
    ['admin', 'PUT', '/users/ID/role', { role: 'owner' }, target],
    ['admin', 'PUT', '/users/ID/password', { password: PASSWORD }, target],
    ['admin', 'DELETE', '/keys/x', undefined, target],
    ['admin', 'POST', '/keys/reseal', {}, target],
    ['admin', 'POST', '/management-clients', { name: 'x', scopes: ['admin.users:write'] }, target],
  ] as const

  it.each(CALLS)('is refused: %s may not %s %s', async (role, method, path, body, create) => {
    const { call } = await operators.operator(role)
    const headers = { ...ANY_VERSION, 'idempotency-key': 'k' }
    const made = await call(method, path.replace('ID', await create()), {
      headers,
      ...(body && { body }),
    })
    expect(made).toMatchObject({ status: 403, body: { type: problem('forbidden') } })
  })

  it.each([
    ['viewer', '/admin/people/ID/disable', {}],
    ['viewer', '/admin/people/ID/sign-out', {}],
    ['viewer', '/admin/people/ID/enable', {}],
    ['support', '/admin/people/ID/delete', { confirm: 'yes' }],
    ['support', '/admin/people/ID/role', { role: 'owner' }],
    ['admin', '/admin/people/ID/role', { role: 'owner' }],
    ['support', '/admin/applications/new', { name: 'Mine' }],
  ] as const)('is refused: %s may not send the form of %s', async (role, path, fields) => {
    const operator = await operatorWithForms(service, role)
    const { id } = await operators.person()
    const token = { csrf_token: await operator.browser.csrfToken() }
    const seen = await operator.post(path.replace('ID', id), { ...token, ...fields })
    expect(seen.status).toBe(403)
    expect(await service.users.findAccount(id)).toMatchObject({ disabledAt: null, role: null })
  })

  const BEYOND = [
    ['POST', '/users/ID/disable', {}],
    ['POST', '/users/ID/enable', undefined],
    ['POST', '/users/ID/sign-out', undefined],
    ['POST', '/users/ID/comp', { until: null }],
    ['POST', '/users/ID/credit', { amount: { amount: 1, currency: 'usd' } }],
    ['POST', '/users/ID/debit', { amount: { amount: 1, currency: 'usd' } }],
    ['POST', '/users/ID/invoices/in_1/refund', {}],
    ['POST', '/users/ID/subscriptions/1/cancel', undefined],
    ['DELETE', '/users/ID/sessions/x', undefined],
    ['DELETE', '/users/ID/tokens/x', undefined],
    ['DELETE', '/users/ID/applications/x', undefined],
  ] as const

  it.each(BEYOND)(
    'is refused: support may not %s %s of an operator',
    async (method, path, body) => {
      const support = await operators.operator('support')
      for (const role of ['support', 'admin', 'owner'] as const) {
        const other = await operators.operator(role)
        const headers = { 'idempotency-key': `beyond-${role}` }
        const made = await support.call(method, path.replace('ID', other.id), {
          headers,
          ...(body && { body }),
        })
        expect(made, role).toMatchObject({ status: 403 })
        expect((await other.browser.get('/account')).status).toBe(200)
      }
    },
  )

  it.each(BEYOND)(
    'is refused: a client with every scope may not %s %s of an operator',
    async (...act) => {
      const [method, path, body] = act
      const { call } = await managementClient(
        'admin.users:write',
        'admin.billing:write',
        'admin:irreversible',
      )
      const { id } = await operators.operator('viewer')
      const headers = { 'idempotency-key': 'beyond' }
      const made = await call(method, path.replace('ID', id), { headers, ...(body && { body }) })
      expect(made.status).toBe(403)
    },
  )

  it.each([
    ['its redirects', { redirect_uris: ['https://evil.example/'] }],
    [
      'its keys',
      { settings: { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } } },
    ],
    ['its grants', { grants: ['authorization_code', 'client_credentials'] }],
    ['its scopes', { scopes: ['admin.keys:write'] }],
  ])('is refused: an admin may not change %s of a management client', async (_, body) => {
    const { id } = await managementClient('admin.users:read')
    const admin = await operators.operator('admin')
    const made = await admin.call('PATCH', `/clients/${id}`, { body, headers: ANY_VERSION })
    expect(made).toMatchObject({ status: 403, body: { type: problem('forbidden') } })
  })

  it('is refused: an owner may not give a management client a grant for acting on behalf of people', async () => {
    const { id, owner } = await managementClient('admin.users:read')
    const made = await owner.call('PATCH', `/clients/${id}`, {
      body: { grants: ['authorization_code'], redirect_uris: ['https://app.example/cb'] },
      headers: ANY_VERSION,
    })
    expect(made.status).toBe(422)
  })
})

describe('credentials for the management API:', () => {
  async function person(role: 'owner' | null = 'owner') {
    const { id, email } = await operators.operator(role)
    return { id, email }
  }
  const personalToken = async (scopes: readonly string[]) => {
    const { id } = await person()
    const made = await service.oauth.tokens.createPersonal({ userId: id, name: 'x', scopes })
    return made.accessToken
  }

  it.each([
    ['a personal token with a scope of people', () => personalToken(['place-orders'])],
    [
      'a token of the password grant with every scope',
      async () => {
        const { email } = await person()
        const { id, secret } = await ordinaryClient({ grants: ['password'] })
        const { body } = await requestTokenReply({
          grant_type: 'password',
          client_id: id,
          client_secret: secret,
          username: email,
          password: PASSWORD,
          scope: '*',
        })
        expect(body.scope).toBe('*')
        return body.access_token ?? ''
      },
    ],
    [
      'a truncated token',
      async () => (await managementClient('admin.users:read')).bearer.slice(0, -3),
    ],
    ['nothing', async () => ''],
  ])('a bearer token is rejected if it is %s', async (_, create) => {
    const call = operators.with({ authorization: `Bearer ${await create()}` })
    for (const path of ['/users', '/clients', '/audit/entries', '/settings']) {
      expect(await call('GET', path)).toMatchObject({
        status: 401,
        body: { type: problem('unauthenticated') },
      })
    }
  })

  it.each([
    ['password', { username: 'USER', password: PASSWORD }],
    ['client_credentials', {}],
    [
      'urn:ietf:params:oauth:grant-type:token-exchange',
      {
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        subject_token: 'TOKEN',
      },
    ],
  ])(
    'a scope of the management API cannot be requested with the grant %s',
    async (grant_type, fields) => {
      const { email, id: userId } = await person()
      const { accessToken } = await service.oauth.tokens.createPersonal({
        userId,
        name: 'x',
        scopes: ['place-orders'],
      })
      const { id, secret } = await ordinaryClient({
        grants: [
          'password',
          'client_credentials',
          'urn:ietf:params:oauth:grant-type:token-exchange',
        ],
      })
      for (const scope of ['admin.users:read', 'admin:irreversible', '* admin.users:read']) {
        const { status, body } = await requestTokenReply({
          grant_type,
          client_id: id,
          client_secret: secret,
          scope,
          ...Object.fromEntries(
            Object.entries(fields).map(([name, value]) => [
              name,
              value.replace('USER', email).replace('TOKEN', accessToken),
            ]),
          ),
        })
        expect(status, scope).toBe(400)
        expect(body, scope).not.toHaveProperty('access_token')
      }
    },
  )

  it('a personal token cannot have a scope of the management API', async () => {
    await expect(personalToken(['admin.users:read'])).rejects.toThrow()
    await expect(personalToken(['*'])).rejects.toThrow()
  })

  it.each([
    ['deleted', (id: string) => ['DELETE', `/clients/${id}`, undefined] as const, 401],
    [
      'limited to another scope',
      (id: string) => ['PATCH', `/clients/${id}`, { scopes: ['admin.keys:read'] }] as const,
      403,
    ],
  ])('an access token is no longer valid when its client is %s', async (_, act, status) => {
    const { owner, id, call } = await managementClient('admin.users:read')
    expect((await call('GET', '/users')).status).toBe(200)
    const [method, path, body] = act(id)
    const done = await owner.call(method, path, { headers: ANY_VERSION, ...(body && { body }) })
    expect(done.status).toBeLessThan(300)
    expect((await call('GET', '/users')).status).toBe(status)
  })

  it('a leaked client secret gets no token after it was replaced', async () => {
    const { owner, id, secret } = await managementClient('admin.users:read')
    await owner.call('POST', `/clients/${id}/replace-leaked-secret`)
    const again = await requestTokenReply({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    })
    expect(again.status).toBe(401)
  })

  it('a token that was issued for a leaked secret becomes invalid when the secret is replaced, but not in a planned rotation (threat T7)', async () => {
    const { owner, id, call } = await managementClient('admin.users:read')
    const planned = await owner.call('POST', `/clients/${id}/rotate-secret`, { body: {} })
    expect(planned.status).toBe(200)
    expect((await call('GET', '/users')).status).toBe(200)
    const replaced = await owner.call('POST', `/clients/${id}/replace-leaked-secret`)
    expect(replaced.status).toBe(200)
    expect((await call('GET', '/users')).status).toBe(401)
  })

  it.each([
    ['no CSRF token', (own: Record<string, string>) => ({ ...own, 'x-csrf-token': '' })],
    ['another CSRF token', (own: Record<string, string>) => ({ ...own, 'x-csrf-token': 'x' })],
    [
      'another origin',
      (own: Record<string, string>) => ({ ...own, origin: 'https://evil.example' }),
    ],
    ['the origin null', (own: Record<string, string>) => ({ ...own, origin: 'null' })],
  ])('a session cookie with %s gives no access', async (_, change) => {
    const { browser } = await operators.operator('owner')
    const own = { origin: service.url, 'x-csrf-token': await browser.csrfToken() }
    const request = (headers: Record<string, string>) =>
      browser.request('/admin/v1/users', { headers: { accept: 'application/json', ...headers } })
    expect((await request(own)).status).toBe(200)
    expect((await request(change(own))).status).toBe(401)
  })

  it('the CSRF token of another person gives no access', async () => {
    const owner = await operators.operator('owner')
    const stranger = await operators.operator(null)
    const headers = { origin: service.url, 'x-csrf-token': await stranger.browser.csrfToken() }
    const mixed = await owner.browser.request('/admin/v1/users', { headers })
    expect(mixed.status).toBe(401)
  })

  it('the session of an operator ends when the operator loses the role', async () => {
    const owner = await operators.operator('owner')
    const admin = await operatorWithForms(service, 'admin')
    const page = await admin.open('/admin/people')
    expect(page.status).toBe(200)
    const csrf_token = await admin.browser.csrfToken()
    await owner.call('PUT', `/users/${admin.id}/role`, { body: { role: null } })
    expect((await admin.call('GET', '/users')).status).toBe(401)
    const { id } = await operators.person()
    await admin.post(`/admin/people/${id}/disable`, { csrf_token })
    expect(await service.users.findAccount(id)).toMatchObject({ disabledAt: null })
  })
})

describe('the last owner of the service', () => {
  it.each([
    ['demote', (id: string) => ['PUT', `/users/${id}/role`, { role: 'admin' }] as const],
    ['disable', (id: string) => ['POST', `/users/${id}/disable`, {}] as const],
    ['delete', (id: string) => ['POST', `/users/${id}/delete`, {}] as const],
  ])(
    'can still sign in as an owner after two owners %s each other concurrently',
    async (_, act) => {
      for (let round = 0; round < 6; round++) {
        await removeAllOwners()
        const [a, b] = [await operators.operator('owner'), await operators.operator('owner')]
        const attempt = (call: AdminCall, id: string) => {
          const [method, path, body] = act(id)
          return call(method, path, { body })
        }
        const both = await Promise.all([attempt(a.call, b.id), attempt(b.call, a.id)])
        expect(await countOwners(), JSON.stringify(both.map(({ status }) => status))).toBe(1)
      }
    },
  )

  it('can still sign in as an owner after owners demote, disable and delete each other in a circle', async () => {
    await removeAllOwners()
    const [a, b, c] = [
      await operators.operator('owner'),
      await operators.operator('owner'),
      await operators.operator('owner'),
    ]
    await Promise.all([
      a.call('PUT', `/users/${b.id}/role`, { body: { role: null } }),
      b.call('POST', `/users/${c.id}/disable`, { body: {} }),
      c.call('POST', `/users/${a.id}/delete`, { body: {} }),
    ])
    expect(await countOwners()).toBeGreaterThan(0)
  })

  it('cannot be disabled by a command', async () => {
    await removeAllOwners()
    const { email, id } = await operators.operator('owner')
    const { code, stderr } = await accounts.tollgate('user', 'disable', email)
    expect([code, stderr]).toEqual([2, expect.stringContaining('last owner')])
    expect(await service.users.findAccount(id)).toMatchObject({ disabledAt: null })
  })

  it.each([
    ['PUT', 'role', { role: 'viewer' }],
    ['POST', 'disable', {}],
    ['POST', 'delete', {}],
    ['POST', 'sign-out', undefined],
    ['POST', 'reset-factors', undefined],
    ['PUT', 'password', { password: PASSWORD }],
  ])('cannot change their own account: %s %s', async (method, act, body) => {
    const owner = await operators.operator('owner')
    const made = await owner.call(method, `/users/${owner.id}/${act}`, { ...(body && { body }) })
    expect(made).toMatchObject({ status: 409, body: { type: problem('conflict') } })
  })
})

describe('input of the management API:', () => {
  const raw = (text: string): AdminRequest => ({ body: text })
  const LONG = 'x'.repeat(3000)

  it.each([
    ['an unknown field', 'POST', '/users/ID/disable', raw('{"x":1}'), 422, 'invalid-input'],
    [
      '__proto__',
      'POST',
      '/users/ID/disable',
      raw('{"__proto__":{"role":"owner"}}'),
      422,
      'invalid-input',
    ],
    ['constructor', 'POST', '/users/ID/disable', raw('{"constructor":{}}'), 422, 'invalid-input'],
    ['toString', 'POST', '/users/ID/disable', raw('{"toString":1}'), 422, 'invalid-input'],
    [
      '__proto__ within',
      'POST',
      '/clients',
      raw('{"name":"x","settings":{"__proto__":{}}}'),
      422,
      'invalid-input',
    ],
    [
      'a list for text',
      'POST',
      '/users',
      raw('{"email":["a@b.c"],"password":"x"}'),
      422,
      'invalid-input',
    ],
    ['a list as the body', 'POST', '/users/ID/disable', raw('[]'), 400, 'invalid-request'],
    ['null as the body', 'POST', '/users/ID/disable', raw('null'), 400, 'invalid-request'],
    ['broken JSON', 'POST', '/users/ID/disable', raw('{"a":'), 400, 'invalid-request'],
    ['the id twice', 'POST', '/users/ID/disable', raw('{"id":"1"}'), 400, 'invalid-request'],
    ['an escaped NUL', 'POST', '/clients', raw('{"name":"a\\u0000b"}'), 422, 'invalid-input'],
    ['half of a character', 'POST', '/clients', raw('{"name":"a\\ud800"}'), 422, 'invalid-input'],
    [
      'half of a character in a name',
      'POST',
      '/clients',
      raw('{"name":"x","settings":{"\\udfff":1}}'),
      422,
      'invalid-input',
    ],
    [
      'a huge number',
      'POST',
      '/clients/x/rotate-secret',
      raw('{"overlap_hours":1e400}'),
      422,
      'invalid-input',
    ],
    [
      'deep nesting',
      'POST',
      '/clients',
      raw(`{"name":"x","settings":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`),
      422,
      'invalid-input',
    ],
    ['a NUL in a filter', 'GET', '/users?customer=%00', {}, 400, 'invalid-request'],
    ['invalid UTF-8 in a filter', 'GET', '/users?customer=%ff', {}, 400, 'invalid-request'],
    ['__proto__ in the query', 'GET', '/users?__proto__=1', {}, 422, 'invalid-input'],
    ['constructor in the query', 'GET', '/users?constructor=1', {}, 422, 'invalid-input'],
    ['a filter twice', 'GET', '/users?limit=1&limit=2', {}, 400, 'invalid-request'],
    ['a list as a filter', 'GET', '/users?limit[]=1', {}, 422, 'invalid-input'],
    ['a huge limit', 'GET', '/users?limit=1e9', {}, 422, 'invalid-input'],
    ['a query on a change', 'POST', '/users/ID/disable?force=1', {}, 400, 'invalid-request'],
    ['an unknown id', 'GET', '/users/999999999', {}, 404, 'not-found'],
    ['a prototype as the id', 'GET', '/users/__proto__', {}, 422, 'invalid-input'],
    ['a huge id', 'GET', `/users/${'9'.repeat(40)}`, {}, 422, 'invalid-input'],
    ['a negative id', 'GET', '/users/-1', {}, 422, 'invalid-input'],
    ['a path within the id', 'GET', '/users/..%2fclients', {}, 422, 'invalid-input'],
    ['a NUL in an id', 'GET', '/clients/a%00b', {}, 422, 'invalid-input'],
    ['a broken escape in an id', 'GET', '/clients/%ff', {}, 404, 'not-found'],
    ['a long id', 'GET', `/clients/${LONG}`, {}, 422, 'invalid-input'],
    ['a prototype as a client', 'GET', '/clients/__proto__', {}, 404, 'not-found'],
    ['a double slash', 'GET', '//users', {}, 404, 'not-found'],
    ['a trailing slash', 'GET', '/users/', {}, 404, 'not-found'],
    ['another method', 'PUT', '/users', raw('{}'), 405, 'method-not-allowed'],
    ['OPTIONS', 'OPTIONS', '/users', {}, 405, 'method-not-allowed'],
    [
      'a form',
      'POST',
      '/users/ID/disable',
      { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported-media-type',
    ],
    [
      'text',
      'POST',
      '/users/ID/disable',
      { body: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported-media-type',
    ],
    ['a large body', 'POST', '/clients', raw(`{"name":"${'x'.repeat(70_000)}"}`), 413, 'too-large'],
    [
      'a long idempotency key',
      'POST',
      '/users/ID/sign-out',
      { headers: { 'idempotency-key': LONG } },
      400,
      'invalid-request',
    ],
    [
      'an empty idempotency key',
      'POST',
      '/users/ID/sign-out',
      { headers: { 'idempotency-key': '' } },
      400,
      'invalid-request',
    ],
    ['a cursor of nowhere', 'GET', '/users?after=x', {}, 400, 'invalid-cursor'],
    ['a cursor with more parts', 'GET', '/users?after=a.b.c', {}, 400, 'invalid-cursor'],
    ['a long cursor', 'GET', `/users?after=${LONG}`, {}, 422, 'invalid-input'],
  ] as const)('%s is rejected: %s %s', async (_, method, path, request, status, name) => {
    const owner = await operators.operator('owner')
    const { id } = await operators.person()
    const made = await owner.call(method, path.replace('ID', id), request)
    expect(made).toMatchObject({ status, body: { type: problem(name), status } })
    expect(made.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.stringify(made.body)).not.toMatch(/select |insert |at .*\.ts|node_modules|stack/i)
    expect(await service.users.findAccount(id)).toMatchObject({ disabledAt: null, role: null })
  })

  it('a compressed body is not decompressed', async () => {
    const { browser } = await operators.operator('owner')
    const made = await browser.request('/admin/v1/clients', {
      method: 'POST',
      headers: {
        origin: service.url,
        'x-csrf-token': await browser.csrfToken(),
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(JSON.stringify({ name: 'x' })),
    })
    expect(made.status).toBe(400)
  })

  it('a percent sign and characters of all languages are treated as plain text', async () => {
    const admin = await operators.operator('admin')
    for (const name of ['10 % off', '100%', '%zz %00', 'Zoë 🎈 مرحبا']) {
      const made = await admin.call('POST', '/clients', {
        body: { name, grants: ['client_credentials'] },
      })
      expect(made).toMatchObject({ status: 201, body: { name } })
    }
  })

  it('a list cursor is valid only for the same list with the same filters', async () => {
    const viewer = await operators.operator('viewer')
    await operators.operator('viewer')
    const { body } = await viewer.call('GET', '/users?limit=1')
    const { next } = body as { next: string }
    const [position = '', tag = ''] = next.split('.')
    const forged = `${Buffer.from('"999999"').toString('base64url')}.${tag}`
    for (const [path, cursor, status] of [
      ['/users?limit=1', next, 200],
      ['/users?role=viewer', next, 400],
      ['/clients?limit=1', next, 400],
      ['/webhooks?limit=1', next, 400],
      ['/users?limit=1', forged, 400],
      ['/users?limit=1', `${position}.${tag.slice(0, -1)}`, 400],
      ['/users?limit=1', `${position}.`, 400],
      ['/users?limit=1', `${position}.${tag}.${tag}`, 400],
    ] as const) {
      const made = await viewer.call('GET', `${path}&after=${cursor}`)
      expect(made.status, `${path} ${cursor}`).toBe(status)
    }
  })

  it.each([
    ['absent', () => ({}), 428],
    ['present', (version: string) => ({ 'if-match': `"${version}"` }), 200],
    ['weak', (version: string) => ({ 'if-match': `W/"${version}"` }), 412],
    ['stale', () => ({ 'if-match': '"1"' }), 412],
    ['empty', () => ({ 'if-match': '' }), 412],
    ['quoted twice', (version: string) => ({ 'if-match': `""${version}""` }), 412],
    ['one of several stale ones', () => ({ 'if-match': '"1", "2"' }), 412],
    ['a prefix', (version: string) => ({ 'if-match': `"${version.slice(0, -1)}"` }), 412],
  ] as const)(
    'a change with an If-Match header that is %s gets the right status',
    async (_, headers, status) => {
      const admin = await operators.operator('admin')
      const { id, version } = await ordinaryClient()
      const made = await admin.call('PATCH', `/clients/${id}`, {
        body: { name: 'Changed' },
        headers: headers(version),
      })
      expect(made.status).toBe(status)
      const { body } = await admin.call('GET', `/clients/${id}`)
      expect(body.name).toBe(status === 200 ? 'Changed' : 'App')
    },
  )
})

describe('an idempotency key of the management API', () => {
  const key = { 'idempotency-key': 'same-key' }

  it('is known only to the operator who used it', async () => {
    const [a, b] = [await operators.operator('admin'), await operators.operator('admin')]
    const body = { name: 'Twice', grants: ['client_credentials'] }
    const one = await a.call('POST', '/clients', { body, headers: key })
    const two = await b.call('POST', '/clients', { body, headers: key })
    expect([one.status, two.status]).toEqual([201, 201])
    expect(two.body.id).not.toBe(one.body.id)
  })

  it.each([
    [
      'the same members in another order',
      '{"settings":{"tos_uri":"https://a.example/t","client_uri":"https://a.example/"},"grants":["client_credentials"],"name":"Order"}',
      201,
    ],
    [
      'another member',
      '{"name":"Other","grants":["client_credentials"],"settings":{"client_uri":"https://a.example/","tos_uri":"https://a.example/t"}}',
      422,
    ],
  ])('gets the right response if it is used again with %s', async (_, second, status) => {
    const admin = await operators.operator('admin')
    const first =
      '{"name":"Order","grants":["client_credentials"],"settings":{"client_uri":"https://a.example/","tos_uri":"https://a.example/t"}}'
    const made = await admin.call('POST', '/clients', { body: first, headers: key })
    expect(made.status).toBe(201)
    const again = await admin.call('POST', '/clients', { body: second, headers: key })
    expect(again.status).toBe(status)
    if (status === 201) expect(again.body.id).toBe(made.body.id)
  })

  it('creates one client even if two requests are concurrent', async () => {
    const admin = await operators.operator('admin')
    const body = { name: 'At once', grants: ['client_credentials'] }
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => admin.call('POST', '/clients', { body, headers: key })),
    )
    const made = all.filter(({ status }) => status === 201)
    expect(new Set(made.map(({ body: { id } }) => id)).size).toBe(1)
    expect(made.filter(({ body: { secret } }) => secret !== null)).toHaveLength(1)
    expect(all.filter(({ status }) => status >= 500)).toEqual([])
  })

  it('returns no stored response once the operator has lost the role', async () => {
    const owner = await operators.operator('owner')
    const admin = await operators.operator('admin')
    const body = { name: 'Before', grants: ['client_credentials'] }
    await admin.call('POST', '/clients', { body, headers: key })
    await owner.call('PUT', `/users/${admin.id}/role`, { body: { role: 'viewer' } })
    await admin.browser.signIn(admin.email, PASSWORD)
    const again = await admin.browser.request('/admin/v1/clients', {
      method: 'POST',
      headers: {
        ...key,
        origin: service.url,
        'content-type': 'application/json',
        'x-csrf-token': await admin.browser.csrfToken(),
      },
      body: JSON.stringify(body),
    })
    expect(again.status).toBe(403)
  })
})

describe('the audit log of operators', () => {
  const failing = () =>
    vi.spyOn(service.admin.audit, 'add').mockRejectedValueOnce(new Error('the disk is full'))

  it('makes a change fail if its entry cannot be written, and the change is undone in the database and in memory', async () => {
    const { owner, id, call } = await managementClient('admin.users:read')
    const person = await operators.operator(null)
    const app = await ordinaryClient({ grants: ['password'] })
    const grant = { client_id: app.id, client_secret: app.secret }
    const { body: token } = await requestTokenReply({
      grant_type: 'password',
      username: person.email,
      password: PASSWORD,
      ...grant,
    })
    const user = () =>
      fetch(`${service.url}/api/user`, {
        headers: { authorization: `Bearer ${token.access_token}` },
      })
    const ended = vi.fn()
    const off = service.oauth.events.on('AccessTokenRevoked', ended)
    expect((await user()).status).toBe(200)
    for (const [method, path, body] of [
      ['DELETE', `/clients/${id}`, undefined],
      ['DELETE', `/clients/${app.id}`, undefined],
      ['PATCH', `/clients/${id}`, { scopes: ['admin.keys:read'] }],
      ['POST', `/clients/${id}/replace-leaked-secret`, undefined],
      ['POST', `/users/${person.id}/sign-out`, undefined],
      ['POST', `/users/${person.id}/enable`, undefined],
      ['PUT', `/users/${person.id}/password`, { password: 'another horse' }],
      ['PUT', `/users/${person.id}/role`, { role: 'owner' }],
    ] as const) {
      failing()
      const made = await owner.call(method, path, { headers: ANY_VERSION, ...(body && { body }) })
      expect(made, path).toMatchObject({ status: 500, body: { type: problem('unexpected') } })
      expect(JSON.stringify(made.body)).not.toContain('disk')
    }
    expect((await call('GET', '/users')).status).toBe(200)
    expect((await user()).status).toBe(200)
    expect((await person.browser.get('/account')).status).toBe(200)
    expect(await service.users.findAccount(person.id)).toMatchObject({ role: null })
    expect(await accounts.canSignIn(person.email)).toBe(true)
    expect(ended).not.toHaveBeenCalled()
    off()
    const done = await owner.call('POST', `/users/${person.id}/sign-out`)
    expect(done.status).toBe(204)
    expect((await user()).status).toBe(401)
  })

  it('prevents an action in several steps if its first entry (the intent) cannot be written', async () => {
    const support = await operators.operator('support')
    const { id } = await operators.person()
    failing()
    expect((await support.call('POST', `/users/${id}/disable`, { body: {} })).status).toBe(500)
    expect(await service.users.findAccount(id)).toMatchObject({ disabledAt: null })
  })

  it('gets at most one entry per minute about refused actions, however many are refused', async () => {
    const viewer = await operators.operator('viewer')
    const { id } = await operators.person()
    const count = async () =>
      (await operators.entries('users.disable')).filter((each) => each.actor_id === viewer.id)
    const attempts = Array.from({ length: 20 }, () =>
      viewer.call('POST', `/users/${id}/disable`, { body: {} }),
    )
    expect((await Promise.all(attempts)).every(({ status }) => status === 403)).toBe(true)
    expect(await count()).toHaveLength(1)
    service.clock.advance({ seconds: 61 })
    await viewer.call('POST', `/users/${id}/disable`, { body: {} })
    expect(await count()).toHaveLength(2)
  })

  it('gets no entry about a client without a scope of the management API', async () => {
    const { id, secret } = await ordinaryClient()
    const { body } = await requestTokenReply({
      grant_type: 'client_credentials',
      client_id: id,
      client_secret: secret,
    })
    const call = operators.with({ authorization: `Bearer ${body.access_token}` })
    const made = await call('POST', '/users/1/disable', { body: {} })
    expect(made).toMatchObject({ status: 403, body: { type: problem('forbidden') } })
    const about = await service.database.kysely
      .selectFrom('audit_entries')
      .selectAll()
      .where('actor_id', '=', id)
      .execute()
    expect(about).toEqual([])
  })

  it('cannot be forged by texts in a request', async () => {
    const admin = await operators.operator('admin')
    const forged = '"}\r\n{"audit":{"operation":"forged"}}\u001b[2K'
    await admin.call('DELETE', `/clients/${encodeURIComponent(forged)}`)
    await admin.call('GET', `/users?email=${encodeURIComponent(forged)}`)
    await admin.call('POST', '/clients', { body: { name: forged } })
    await operators.with({ 'user-agent': 'x', authorization: 'Bearer {"audit":1}' })(
      'GET',
      '/users',
    )
    const lines = service.log().split('\n').filter(Boolean)
    expect(lines.map((line) => JSON.parse(line)).filter(({ audit }) => audit)).toEqual([])
    const { body } = await admin.call('GET', '/audit/entries?operation=forged')
    expect(body.data).toEqual([])
  })

  it('contains no secrets, and neither do the stored requests and the log of the service', async () => {
    const owner = await operators.operator('owner')
    const { id } = await operators.person()
    const headers = { 'idempotency-key': 'secretive' }
    const { secret, id: clientId } = await ordinaryClient()
    const password = 'very secret horse'
    await owner.call('PUT', `/users/${id}/password`, { body: { password }, headers })
    const rotated = await owner.call('POST', `/clients/${clientId}/rotate-secret`, {
      body: {},
      headers: { 'idempotency-key': 'rotate' },
    })
    const tables = ['audit_entries', 'audit_personal', 'admin_requests']
    const rows = await Promise.all(
      tables.map((table) => service.database.kysely.selectFrom(table).selectAll().execute()),
    )
    const all = JSON.stringify(rows) + service.log()
    for (const each of [password, secret, rotated.body.secret, PASSWORD]) {
      expect(each).toMatch(/.{8}/)
      expect(all).not.toContain(each)
    }
  })
})

describe('two operators who act at the same time', () => {
  it('cannot both change the same version of a client', async () => {
    const [a, b] = [await operators.operator('admin'), await operators.operator('admin')]
    const { id, version } = await ordinaryClient()
    const headers = { 'if-match': `"${version}"` }
    const both = await Promise.all([
      a.call('PATCH', `/clients/${id}`, { body: { name: 'A' }, headers }),
      b.call('PATCH', `/clients/${id}`, { body: { scopes: ['check-status'] }, headers }),
    ])
    const statuses = both.map(({ status }) => status).sort()
    expect([
      [200, 409],
      [200, 412],
    ]).toContainEqual(statuses)
  })

  it('can rotate the same secret, and each receives either a secret that works or an error', async () => {
    const [a, b] = [await operators.operator('admin'), await operators.operator('admin')]
    const { id } = await ordinaryClient()
    const both = await Promise.all(
      [a, b].map(({ call }) => call('POST', `/clients/${id}/rotate-secret`, { body: {} })),
    )
    for (const { status, body } of both) {
      if (status !== 200) {
        expect(status).toBe(409)
        continue
      }
      const fields = { grant_type: 'client_credentials', client_id: id, client_secret: body.secret }
      expect((await requestTokenReply(fields)).status).toBe(200)
    }
  })

  it('can disable and delete the same person, and the person is deleted in the end', async () => {
    const [a, b] = [await operators.operator('admin'), await operators.operator('support')]
    const { id } = await operators.person()
    const both = await Promise.all([
      a.call('POST', `/users/${id}/delete`, { body: {} }),
      b.call('POST', `/users/${id}/disable`, { body: {} }),
    ])
    expect(both.map(({ status }) => status)).toEqual([200, expect.toBeOneOf([200, 404])])
    expect(await service.users.findAccount(id)).toBeNull()
    const outcomes = (await entriesAbout(id)).map(({ outcome }) => outcome)
    expect(outcomes.filter((each) => each === 'started').length).toBe(
      outcomes.filter((each) => each !== 'started').length,
    )
  })
})

describe('an action of an operator that fails halfway', () => {
  it('is recorded as failed if a provider is unavailable, and is completed when the request is repeated', async () => {
    const support = await operators.operator('support')
    const { id, email } = await accounts.customer('stripe')
    await service.advance({})
    service.sandbox?.trouble.failNext(100, '500', 'stripe')
    const path = `/users/${id}/disable`
    const body = { subscription: 'now' }
    const headers = { 'idempotency-key': 'disable-now' }
    const failed = await support.call('POST', path, { body, headers })
    service.sandbox?.trouble.clear()
    expect(failed).toMatchObject({ status: 502, body: { type: problem('provider-unavailable') } })
    // Locked first of all, so that an intruder is out.
    expect(await accounts.canSignIn(email)).toBe(false)
    const outcomes = async () => (await entriesAbout(id)).map(({ outcome }) => outcome).sort()
    expect(await outcomes()).toEqual(['failed', 'started'])
    expect((await support.call('POST', path, { body, headers })).status).toBe(200)
    expect(await outcomes()).toEqual(['done', 'failed', 'started', 'started'])
  })

  it.each([
    ['early', 1000, 409, 'request-in-progress'],
    ['late', 121_000, 409, 'outcome-unknown'],
  ])(
    'is not performed again if the request is repeated %s after a crash',
    async (_, age, status, name) => {
      const support = await operators.operator('support')
      const { id } = await operators.person()
      const request = { body: {}, headers: { 'idempotency-key': `crash-${name}` } }
      const path = `/users/${id}/disable`
      expect((await support.call('POST', path, request)).status).toBe(200)
      // What a process leaves behind that dies before it has stored the response.
      await service.database.kysely
        .updateTable('admin_requests')
        .set({ response: null, created_at: service.clock.now().getTime() - age })
        .where('response', 'like', `%"id":"${id}"%`)
        .execute()
      const again = await support.call('POST', path, request)
      expect(again).toMatchObject({ status, body: { type: problem(name) } })
      expect((await entriesAbout(id)).filter(({ outcome }) => outcome === 'started')).toHaveLength(
        1,
      )
    },
  )

  it('is answered with how to find out whether a key was created, if the database stops responding', async () => {
    const admin = await operators.operator('admin')
    const cut = new TemporarilyUnavailable('The database does not answer')
    vi.spyOn(service.oauth.keys, 'rotate').mockRejectedValueOnce(cut)
    expect(await admin.call('POST', '/keys', { body: {} })).toMatchObject({
      status: 409,
      body: {
        type: problem('outcome-unknown'),
        detail: expect.stringContaining('List the keys before you repeat the request'),
      },
    })
    const [started, failed] = (await operators.entries('keys.rotate')).slice(-2)
    expect(started?.outcome).toBe('started')
    expect(failed).toMatchObject({ outcome: 'failed', intent_id: started?.id })
  })

  // SQLite has no server that could be cut off.
  it.skipIf(process.env.TEST_DATABASE === 'sqlite')(
    'is answered with 503 and a problem document if the database is unavailable, and has no effect',
    async () => {
      const { url, drop } = await createTestDatabase()
      const proxy = await startTcpProxy(url)
      const own = await startTestService({ environment: { DATABASE_URL: proxy.url } })
      try {
        const theirs = createOperatorHelpers(own)
        const owner = await theirs.operator('owner')
        const { id } = await theirs.person()
        await proxy.cut()
        for (const [method, path, body] of [
          ['GET', '/users', undefined],
          ['POST', `/users/${id}/disable`, {}],
          ['PUT', `/users/${id}/role`, { role: 'owner' }],
        ] as const) {
          const made = await owner.call(method, path, { ...(body && { body }) })
          expect(made).toMatchObject({
            status: 503,
            body: { type: `${own.url}/admin/v1/problems#unavailable` },
          })
          expect(made.headers.get('content-type')).toBe('application/problem+json')
          expect(made.headers.get('retry-after')).toBe('1')
          expect(JSON.stringify(made.body)).not.toMatch(/ECONN|select/)
        }
        await proxy.heal()
        await expect.poll(async () => (await owner.call('GET', '/users')).status).toBe(200)
        expect(await own.users.findAccount(id)).toMatchObject({ disabledAt: null, role: null })
      } finally {
        await own.stop()
        await proxy.close()
        await drop()
      }
    },
  )
})
