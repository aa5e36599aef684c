import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { escapeHtml } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SECRET,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TokenReply,
} from '../support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const CLIENTS = '/oauth/clients'
const PERSONAL = '/oauth/personal-access-tokens'
const body = { name: 'x', redirect: REDIRECT }

interface Created {
  readonly id: string
  readonly secret: string
  readonly accessToken: string
  readonly token: { readonly id: string }
}

async function created(user: string, path: string, fields: object): Promise<Created> {
  const reply = await server.json(user, 'POST', path, fields)
  expect(reply.status).toBe(201)
  return (await reply.json()) as Created
}

async function isAccepted(text: string): Promise<boolean> {
  const credentials = { authorization: `Bearer ${text}`, cookie: null, csrfToken: null }
  try {
    await server.oauth.guard.authenticate('api', credentials)
    return true
  } catch {
    return false
  }
}

describe("protection of other users' objects (threat M1):", () => {
  it("a request for another user's object gets exactly the same response as for an unknown object", async () => {
    const { id: clientId } = await created('bob', CLIENTS, body)
    const { token, accessToken } = await created('bob', PERSONAL, { name: 'x', scopes: [] })
    const personalId = token.id
    const third = await createClient(server)
    const grant = await runCodeFlow(server, third, { user: 'bob' })
    const [listed] = (await server.oauth.tokens.listByUser('bob')).filter(
      (entry) => entry.clientId === third.id,
    )
    const none = '00000000-0000-4000-8000-000000000000'
    const calls = (id: { client: string; personal: string; token: string }) =>
      [
        ['PUT', `${CLIENTS}/${id.client}`, body],
        ['DELETE', `${CLIENTS}/${id.client}`],
        ['POST', `${CLIENTS}/${id.client}/secret`],
        ['DELETE', `${PERSONAL}/${id.personal}`],
        ['DELETE', `/oauth/tokens/${id.token}`],
      ] as const
    const theirs = { client: clientId, personal: personalId, token: listed?.id ?? '' }
    const missing = calls({ client: none, personal: none, token: none })
    for (const [index, [method, path, fields]] of calls(theirs).entries()) {
      const [, otherPath] = missing[index] ?? ['', '']
      const one = await server.json('ada', method, path, fields)
      const two = await server.json('ada', method, otherPath, fields)
      expect([one.status, two.status]).toEqual([404, 404])
      expect(await one.text()).toBe(await two.text())
      expect([...one.headers]).toEqual([...two.headers])
    }
    expect(await server.oauth.clients.find(clientId)).toMatchObject({
      revokedAt: null,
      name: 'x',
    })
    expect(await isAccepted(accessToken)).toBe(true)
    expect(await isAccepted(grant.access_token)).toBe(true)
  })

  it('no user can manage the clients of the operator', async () => {
    const own = await createClient(server)
    for (const id of [own.id, 'personal-access']) {
      expect((await server.json('ada', 'PUT', `${CLIENTS}/${id}`, body)).status).toBe(404)
      expect((await server.json('ada', 'DELETE', `${CLIENTS}/${id}`)).status).toBe(404)
      expect((await server.json('ada', 'POST', `${CLIENTS}/${id}/secret`)).status).toBe(404)
    }
  })

  it('lists contain only objects of the caller', async () => {
    await created('bob', CLIENTS, { ...body, name: 'of bob' })
    await created('bob', PERSONAL, { name: 'of bob', scopes: [] })
    for (const path of [CLIENTS, PERSONAL, '/oauth/tokens']) {
      for (const query of ['', '?user_id=bob', '?user=bob&userId=bob', '?filter[user_id]=bob']) {
        const reply = await server.json('ada', 'GET', `${path}${query}`)
        expect(reply.status).toBe(200)
        expect(await reply.text()).not.toMatch(/"user_id":"bob"|of bob/)
      }
    }
  })

  it('the list of authorized applications contains no personal access tokens, and the other list contains nothing else', async () => {
    const { token } = await created('ada', PERSONAL, { name: 'x', scopes: [] })
    const { id } = token
    expect((await server.json('ada', 'DELETE', `/oauth/tokens/${id}`)).status).toBe(404)
    expect((await server.json('ada', 'DELETE', `${PERSONAL}/${id}`)).status).toBe(204)
    expect((await server.json('ada', 'DELETE', `${PERSONAL}/${id}`)).status).toBe(404)
  })
})

describe('requests to the management routes (threat M2)', () => {
  const EXTRA = {
    id: 'chosen',
    user_id: 'bob',
    userId: 'bob',
    secret: 'chosen',
    secret_hash: 'chosen',
    secretHash: 'chosen',
    secretVersion: 99,
    revoked: true,
    revokedAt: '2020-01-01',
    firstParty: true,
    first_party: true,
    resourceServer: true,
    resource_server: true,
    password_client: true,
    personal_access_client: true,
    grants: ['password', 'client_credentials'],
    grantTypes: ['password'],
    scopes: ['*'],
    created_at: '2000-01-01',
    __proto__x: 1,
    constructor: { prototype: { polluted: 1 } },
  }
  const withProto = (fields: object) =>
    JSON.stringify(fields).replace('{', '{"__proto__":{"polluted":1,"firstParty":true},')

  async function raw(method: string, path: string, text: string): Promise<Response> {
    const { csrfToken } = await server.cookieMode('ada')
    return server.request(path, {
      method,
      body: text,
      headers: {
        cookie: buildSessionCookie('ada'),
        'x-csrf-token': csrfToken,
        'content-type': 'application/json',
      },
    })
  }

  it('can change only the documented fields of a client', async () => {
    const made = await raw('POST', CLIENTS, withProto({ ...EXTRA, ...body }))
    expect(made.status).toBe(201)
    const { id } = (await made.json()) as { id: string }
    expect(id).not.toBe('chosen')
    const expected = {
      userId: 'ada',
      grantTypes: ['authorization_code', 'refresh_token'],
      scopes: null,
      firstParty: false,
      resourceServer: false,
      revokedAt: null,
      secretVersion: 1,
    }
    expect(await server.oauth.clients.find(id)).toMatchObject(expected)
    const before = await server.oauth.clients.find(id)
    const changed = await raw(
      'PUT',
      `${CLIENTS}/${id}`,
      withProto({ ...EXTRA, ...body, name: 'new' }),
    )
    expect(changed.status).toBe(200)
    expect(await server.oauth.clients.find(id)).toEqual({
      ...before,
      name: 'new',
      updatedAt: expect.any(Date),
    })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    expect(await server.oauth.clients.find('chosen')).toBeNull()
  })

  it('cannot create a personal access token for another user', async () => {
    const extra = { ...EXTRA, name: 'mine', scopes: ['check-status'], expires_at: '2999-01-01' }
    const made = await raw('POST', PERSONAL, withProto(extra))
    expect(made.status).toBe(201)
    const { token } = (await made.json()) as { token: { id: string } }
    const stored = await server.oauth.tokens.find(token.id)
    expect(stored).toMatchObject({ userId: 'ada', scopes: ['check-status'], revokedAt: null })
    expect(stored?.expiresAt.getFullYear()).toBeLessThan(2030)
  })

  it('cannot be sent with an access token, whatever its scopes', async () => {
    const app = await createClient(server, { grants: ['password'] })
    const reply = await server.post('/oauth/token', {
      grant_type: 'password',
      client_id: app.id,
      client_secret: app.secret,
      username: 'ada@example.com',
      password: 'correct horse',
      scope: '*',
    })
    const { access_token } = (await reply.json()) as TokenReply
    const { csrfToken } = await server.cookieMode('ada')
    for (const [method, path] of [
      ['GET', CLIENTS],
      ['POST', CLIENTS],
      ['GET', PERSONAL],
      ['POST', PERSONAL],
      ['GET', '/oauth/tokens'],
      ['POST', '/oauth/token/refresh'],
    ] as const) {
      for (const cookie of ['', buildSessionCookie('ada')]) {
        const refused = await server.request(path, {
          method,
          headers: { authorization: `Bearer ${access_token}`, cookie, 'x-csrf-token': csrfToken },
        })
        expect([path, refused.status]).toEqual([path, 401])
      }
    }
  })

  it('are accepted only with the CSRF token of the session', async () => {
    for (const [method, path] of [
      ['POST', CLIENTS],
      ['PUT', `${CLIENTS}/x`],
      ['DELETE', `${CLIENTS}/x`],
      ['POST', `${CLIENTS}/x/secret`],
      ['POST', PERSONAL],
      ['DELETE', `${PERSONAL}/x`],
      ['DELETE', '/oauth/tokens/x'],
      ['POST', '/oauth/token/refresh'],
    ] as const) {
      const bob = await server.cookieMode('bob')
      for (const token of ['', 'x', bob.csrfToken]) {
        const headers = { cookie: buildSessionCookie('ada'), 'x-csrf-token': token }
        expect((await server.request(path, { method, headers })).status).toBe(403)
      }
    }
  })
})

describe('client secrets and tokens (threat M3)', () => {
  it('never appear in a list, a log or an error message, nor in plain text in the database', async () => {
    const issued = new Map<string, string>([['the server secret', SECRET]])
    const keep = (what: string, text: string | null | undefined) => {
      if (text) issued.set(`${what} ${issued.size}`, text)
    }
    const own = await startServer({ accessTokenFormat: 'jwt' })
    const shown: string[] = []
    try {
      const created = await own.json('ada', 'POST', CLIENTS, body)
      const client = (await created.json()) as { id: string; secret: string }
      keep('client secret', client.secret)
      const rotated = await own.json('ada', 'POST', `${CLIENTS}/${client.id}/secret`)
      const { secret } = (await rotated.json()) as { secret: string }
      keep('rotated secret', secret)
      const asked = { client_id: client.id, redirect_uri: REDIRECT, response_type: 'code' }
      const page = await requestAuthorization(own, 'ada', asked)
      keep('interaction', /interaction=([\w-]+)/.exec(await page.clone().text())?.[1])
      keep('form token', /csrf_token" value="([^"]+)"/.exec(await page.clone().text())?.[1])
      const code = (await submitApprovalDecision(own, 'ada', page)).searchParams.get('code') ?? ''
      keep('code', code)
      const credentials = { client_id: client.id, client_secret: secret }
      const exchange = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code }
      const reply = await own.post('/oauth/token', { ...credentials, ...exchange })
      const tokens = (await reply.json()) as TokenReply
      keep('access token', tokens.access_token)
      keep('signature', tokens.access_token.split('.')[2])
      keep('refresh token', tokens.refresh_token)
      keep('mac', tokens.refresh_token.split('.')[2])
      const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
      const next = (await (
        await own.post('/oauth/token', { ...credentials, ...renewal })
      ).json()) as TokenReply
      keep('access token', next.access_token)
      keep('refresh token', next.refresh_token)
      const personal = await own.json('ada', 'POST', PERSONAL, { name: 'x', scopes: [] })
      keep('personal token', ((await personal.json()) as { accessToken: string }).accessToken)
      const cookies = await own.cookieMode('ada')
      keep('cookie', cookies.cookie.split('=')[1])
      keep('csrf token', cookies.csrfToken)
      keep('session', buildSessionCookie('ada'))
      await own.oauth.endSession('ada.1')
      await own.oauth.keys.rotate({ immediately: true })
      // Requests that fail, with every secret in them.
      for (const text of [...issued.values()]) {
        const wrong = { ...credentials, grant_type: text, code: text, refresh_token: text }
        shown.push(await (await own.post('/oauth/token', wrong)).text())
        shown.push(await (await own.post('/oauth/revoke', { token: text, client_id: 'x' })).text())
      }
      own.users.findById = () => Promise.reject(new Error('the application fails'))
      const failing = {
        ...credentials,
        grant_type: 'refresh_token',
        refresh_token: next.refresh_token,
      }
      expect((await own.post('/oauth/token', failing)).status).toBe(503)
      for (const path of [CLIENTS, PERSONAL, '/oauth/tokens', '/oauth/scopes']) {
        shown.push(await (await own.json('ada', 'GET', path)).text())
      }
      shown.push(await (await own.request('/.well-known/jwks.json')).text())
      shown.push(inspectAll(own.logged))
      for (const table of Object.keys(await tablesOf(own))) shown.push(table)
      const dump = JSON.stringify(await tablesOf(own))
      expect(dump.length).toBeGreaterThan(2000)
      shown.push(dump)
      expect(own.logged.length).toBeGreaterThan(0)
    } finally {
      await own.close()
    }
    for (const [what, text] of issued) {
      for (const page of shown)
        expect(page.includes(text), `${what} in ${page.slice(0, 200)}`).toBe(false)
    }
  })

  it('are returned only once, and their hashes are never returned', async () => {
    const made = await created('ada', CLIENTS, body)
    const { secret, id } = made
    expect(secret).toMatch(/^tgs_[\w-]{43}$/)
    const { secretHash } = (await server.oauth.clients.find(id)) ?? {}
    const replies = [
      await server.json('ada', 'GET', CLIENTS),
      await server.json('ada', 'PUT', `${CLIENTS}/${id}`, { ...body, name: 'other' }),
    ]
    for (const reply of replies) {
      const text = await reply.text()
      expect(text).not.toContain(secret)
      expect(text).not.toContain(secretHash)
      expect(text).not.toMatch(/secret/i)
      expect(reply.headers.get('cache-control')).toContain('no-store')
    }
  })
})

/** Returns every row of every table of the package. */
async function tablesOf(on: TestServer): Promise<Record<string, unknown[]>> {
  const names = [
    'oauth_clients',
    'oauth_tokens',
    'oauth_authorization_codes',
    'oauth_interactions',
    'oauth_consents',
    'oauth_keys',
    'oauth_revocations',
    'tollgate_migrations',
  ]
  const entries = names.map(async (name) => [
    name,
    await on.database.kysely.selectFrom(name).selectAll().execute(),
  ])
  return Object.fromEntries(await Promise.all(entries))
}

function inspectAll(values: readonly unknown[]): string {
  const describe = (value: unknown): string => {
    if (value instanceof Error) return `${value.stack} ${describe(value.cause)}`
    if (Array.isArray(value)) return value.map(describe).join('\n')
    return JSON.stringify(value) ?? String(value)
  }
  return describe(values)
}

describe('personal access tokens and deleted clients (threat M4):', () => {
  it.each([
    [['*']],
    [['place-orders', '*']],
    [['unknown']],
    [['__proto__']],
    [['constructor']],
    [['place-orders check-status']],
    [['']],
    [[1]],
    [[null]],
    [[['place-orders']]],
    [[{}]],
    ['place-orders'],
    [null],
    [{}],
    [7],
  ])('a personal access token with the scopes %j is refused', async (scopes) => {
    expect((await server.json('ada', 'POST', PERSONAL, { name: 'x', scopes })).status).toBe(422)
  })

  it('tokens.createPersonal() also refuses unknown scopes and *', async () => {
    const create = (scopes: string[]) =>
      server.oauth.tokens.createPersonal({ userId: 'ada', name: 'x', scopes })
    for (const scopes of [['*'], ['unknown'], ['place-orders check-status']]) {
      await expect(create(scopes)).rejects.toMatchObject({ code: 'invalid_scope' })
    }
  })

  it('deleting a client ends its tokens, codes and pending approvals', async () => {
    const { id, secret } = await created('ada', CLIENTS, body)
    const tokens = await runCodeFlow(server, { id, secret }, { user: 'bob' })
    const asked = { client_id: id, redirect_uri: REDIRECT, response_type: 'code' }
    const page = await requestAuthorization(server, 'ada', asked)
    const silent = await requestAuthorization(server, 'bob', { ...asked, scope: 'place-orders' })
    const code = new URL(silent.headers.get('location') ?? '').searchParams.get('code') ?? ''
    expect(code).not.toBe('')
    expect((await server.json('ada', 'DELETE', `${CLIENTS}/${id}`)).status).toBe(204)
    expect(await isAccepted(tokens.access_token)).toBe(false)
    expect((await submitApprovalDecision(server, 'ada', page)).protocol).toBe('error:')
    const form = { client_id: id, client_secret: secret, redirect_uri: REDIRECT, code }
    const late = await server.post('/oauth/token', { grant_type: 'authorization_code', ...form })
    expect(late.status).toBe(401)
    expect((await server.json('ada', 'DELETE', `${CLIENTS}/${id}`)).status).toBe(404)
    expect(await (await server.json('bob', 'GET', '/oauth/tokens')).text()).not.toContain(id)
  })

  it('concurrent changes restore neither a deleted client nor an old client secret', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id, secret } = await created('ada', CLIENTS, body)
      const before = (await server.oauth.clients.find(id))?.secretHash
      const changes = [
        server.json('ada', 'POST', `${CLIENTS}/${id}/secret`),
        ...[1, 2, 3].map((n) =>
          server.json('ada', 'PUT', `${CLIENTS}/${id}`, { ...body, name: `${n}` }),
        ),
      ]
      const replies = await Promise.all(changes)
      if (replies[0]?.status === 200) {
        expect((await server.oauth.clients.find(id))?.secretHash).not.toBe(before)
        const form = { grant_type: 'refresh_token', refresh_token: 'x', client_id: id }
        const old = await server.post('/oauth/token', { ...form, client_secret: secret })
        expect(old.status).toBe(401)
      }
      const end = [
        server.json('ada', 'PUT', `${CLIENTS}/${id}`, body),
        server.json('ada', 'DELETE', `${CLIENTS}/${id}`),
        server.json('ada', 'POST', `${CLIENTS}/${id}/secret`),
        server.json('ada', 'PUT', `${CLIENTS}/${id}`, body),
      ]
      const [, deleted] = await Promise.all(end)
      expect(deleted?.status).toBe(204)
      expect((await server.oauth.clients.find(id))?.revokedAt).not.toBeNull()
    }
  })
})

describe('the names of clients and tokens (threat M5)', () => {
  it.each([
    'Robert"); DROP TABLE oauth_clients;--',
    "O'Brien \\' or 1=1 #",
    '%0d%0aset-cookie: x=y',
    '{{7*7}}\u0024{7*7}<%= 7*7 %>',
    '=HYPERLINK("https://evil.example")',
    '👩‍👩‍👧 ünïcödé 日本語',
    'e\u0301 and é',
  ])(
    'are stored exactly, and have no special effect in headers, pages and SQL: %j',
    async (name) => {
      const { id } = await created('ada', CLIENTS, { ...body, name })
      expect((await server.oauth.clients.find(id))?.name).toBe(name)
      const list = (await (await server.json('ada', 'GET', CLIENTS)).json()) as Array<{
        name: string
      }>
      expect(list.some((entry) => entry.name === name)).toBe(true)
      const page = await requestAuthorization(server, 'ada', {
        client_id: id,
        response_type: 'code',
      })
      expect(page.headers.get('set-cookie')).toBeNull()
      expect(await page.text()).toContain(`<bdi>${escapeHtml(name)}</bdi>`)
    },
  )
})
