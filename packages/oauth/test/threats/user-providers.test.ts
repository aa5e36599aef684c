import { randomUUID } from 'node:crypto'
import { fromWebRequest } from '@tollgate/http'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  deviceCode,
  implicit,
  jwtBearer,
  openid,
  password,
  refreshToken,
  type SignedIn,
  tokenExchange,
} from '../../src/index.ts'
import {
  DEVICE_CODE,
  newDevice,
  pollError,
  readPageForm,
  send,
  startDeviceFlow,
} from '../device/support.ts'
import { exchange, TOKEN_EXCHANGE } from '../exchange/support.ts'
import { ACME, createSigner, JWT_BEARER, type Signer, sign } from '../jwt-bearer/support.ts'
import {
  buildSessionCookie,
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  type TestServer,
  TestUsers,
} from '../support.ts'

/**
 * Customers and administrators with the same ids. Their sessions are in two cookies, or in one for
 * both.
 */
class Customers extends TestUsers {
  claims({ id }: { readonly id: string }) {
    return { name: `Customer ${id}` }
  }
}

class Admins extends Customers {
  override async fromRequest(request: Request): Promise<SignedIn | null> {
    const cookie = (request.headers.get('cookie') ?? '').replace(/\bsession=/, 'other=')
    const headers = { cookie: cookie.replace(/\badmin=/, 'session=') }
    return super.fromRequest(new Request(request.url, { headers }))
  }
  override claims({ id }: { readonly id: string }) {
    return { name: `Admin ${id}` }
  }
}

const adminSession = 'admin=ada.1'
const customers = new Customers()
const admins = new Admins()
admins.all.set('ada', { id: 'ada', email: 'ada@example.com', password: 'admin password' })
admins.all.set('root', { id: 'root', email: 'root@example.com', password: 'root password' })

interface TestClient {
  readonly id: string
  readonly secret: string
}

let server: TestServer
let issuer: Signer
let customerApp: TestClient
let adminApp: TestClient
let anyApp: TestClient

const everyGrant = ['authorization_code', 'refresh_token', 'implicit', TOKEN_EXCHANGE, JWT_BEARER]

beforeAll(async () => {
  issuer = await createSigner('ES256')
  server = await startServer({
    users: { customers, admins },
    features: [openid({ logout: true })],
    grants: [
      authorizationCode(),
      refreshToken(),
      password(),
      implicit(),
      deviceCode(),
      tokenExchange(),
      jwtBearer({
        issuers: [
          {
            issuer: ACME,
            jwks: { keys: [issuer.jwk] },
            scopes: ['place-orders'],
            userOf: { '17': 'admins/ada', '18': 'ada', '19': 'customers/ada', '20': 'nobody/ada' },
          },
        ],
      }),
    ],
  })
  const grants = [...everyGrant, 'password']
  customerApp = await createClient(server, { grants, provider: 'customers' })
  adminApp = await createClient(server, { grants, provider: 'admins' })
  anyApp = await createClient(server, { grants: everyGrant })
})
afterAll(() => server.close())

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token?: string
  readonly error?: string
}

async function ask(client: TestClient, fields: Record<string, string>): Promise<Tokens> {
  const credentials = { client_id: client.id, client_secret: client.secret }
  const reply = await server.post('/oauth/token', { ...credentials, ...fields })
  return (await reply.json()) as Tokens
}

const byPassword = (client: TestClient, secret: string, scope = 'place-orders') =>
  ask(client, { grant_type: 'password', username: 'ada@example.com', password: secret, scope })

const customerTokens = (scope?: string) => byPassword(customerApp, 'correct horse', scope)
const adminTokens = (scope?: string) => byPassword(adminApp, 'admin password', scope)

/** Returns the caller the guard identifies, or the error if it refuses. */
async function callerOf(authorization: string | null, provider?: string, cookie = {}) {
  const guard = provider === undefined ? server.oauth.guard : server.oauth.guardFor({ provider })
  const credentials = { authorization, cookie: null, csrfToken: null, ...cookie }
  try {
    const caller = await guard.authenticate('api', credentials)
    const record = await caller.find()
    return { id: caller.id, password: record?.password }
  } catch (error) {
    return (error as { readonly code: string }).code
  }
}

const bearer = ({ access_token }: { readonly access_token: string }) => `Bearer ${access_token}`

/** Returns the user of an access token as each of the three guards sees it. */
async function identifyByEachGuard(header: string) {
  return {
    any: await callerOf(header),
    customers: await callerOf(header, 'customers'),
    admins: await callerOf(header, 'admins'),
  }
}

const CUSTOMER = {
  any: { id: 'customers/ada', password: 'correct horse' },
  customers: { id: 'ada', password: 'correct horse' },
  admins: 'invalid_token',
}
const ADMIN = {
  any: { id: 'admins/ada', password: 'admin password' },
  customers: 'invalid_token',
  admins: { id: 'ada', password: 'admin password' },
}

const codeRequest = (client: TestClient, extra: Record<string, string> = {}) => ({
  client_id: client.id,
  redirect_uri: REDIRECT,
  response_type: 'code',
  scope: 'place-orders',
  ...extra,
})

const asAdmin = (client: TestClient, extra: Record<string, string> = {}) =>
  server.request(`/oauth/authorize?${new URLSearchParams(codeRequest(client, extra))}`, {
    headers: { cookie: adminSession, accept: 'text/html' },
  })

const REFUSED = { error: 'invalid_grant' }

const introspect = async (token: string) => {
  const api = await createClient(server, { grants: [], resourceServer: true })
  const credentials = { client_id: api.id, client_secret: api.secret }
  const reply = await server.post('/oauth/introspect', { ...credentials, token })
  return (await reply.json()) as { readonly active: boolean; readonly sub?: string }
}

const assertionFor = (client: TestClient, subject: string) => {
  const now = Math.floor(server.clock.now().getTime() / 1000)
  const claims = {
    iss: ACME,
    sub: subject,
    aud: server.url,
    iat: now,
    exp: now + 60,
    jti: randomUUID(),
  }
  return sign(claims, issuer.privateKey, { alg: 'ES256', kid: 'key' }).then((assertion) =>
    ask(client, { grant_type: JWT_BEARER, assertion, scope: 'place-orders' }),
  )
}

describe('two users with the same id in different user providers (threat T20)', () => {
  const ways: ReadonlyArray<readonly [string, () => Promise<Tokens>, () => Promise<Tokens>]> = [
    ['the password grant', () => customerTokens(), () => adminTokens()],
    [
      'an authorization code',
      () => runCodeFlow(server, customerApp),
      async () => {
        const page = await asAdmin(adminApp)
        const { action, csrf_token } = readPageForm(await page.text())
        const headers = { cookie: adminSession, origin: server.url }
        const answer = await server.post(action, { csrf_token, decision: 'approve' }, headers)
        const { searchParams } = new URL(answer.headers.get('location') ?? '')
        const code = searchParams.get('code') ?? ''
        return ask(adminApp, { grant_type: 'authorization_code', redirect_uri: REDIRECT, code })
      },
    ],
    [
      'a refresh token',
      async () =>
        ask(customerApp, {
          grant_type: 'refresh_token',
          refresh_token: (await customerTokens()).refresh_token,
        }),
      async () =>
        ask(adminApp, {
          grant_type: 'refresh_token',
          refresh_token: (await adminTokens()).refresh_token,
        }),
    ],
    ['an assertion', () => assertionFor(customerApp, '19'), () => assertionFor(adminApp, '17')],
    [
      'an exchange',
      async () => exchange(server, anyApp, (await customerTokens()).access_token) as never,
      async () => exchange(server, anyApp, (await adminTokens()).access_token) as never,
    ],
    [
      'a personal access token',
      async () => personal('customers/ada'),
      async () => personal('admins/ada'),
    ],
  ]
  async function personal(userId: string): Promise<Tokens> {
    const made = await server.oauth.tokens.createPersonal({ userId, name: 'CI' })
    return { access_token: made.accessToken, refresh_token: '' }
  }

  it.each(ways)(
    'are distinguished by every guard if they authenticate with %s',
    async (_way, customer, admin) => {
      expect(await identifyByEachGuard(bearer(await customer()))).toEqual(CUSTOMER)
      expect(await identifyByEachGuard(bearer(await admin()))).toEqual(ADMIN)
    },
  )

  it('have different subjects in tokens, ID tokens, UserInfo and introspection', async () => {
    const both = [await customerTokens('openid profile'), await adminTokens('openid profile')]
    const subjects = both.map(({ access_token }) => decodeJwt(access_token).sub)
    expect(subjects).toEqual(['user:customers/ada', 'user:admins/ada'])
    const introspections = await Promise.all(
      both.map(({ access_token }) => introspect(access_token)),
    )
    expect(introspections.map(({ sub }) => sub)).toEqual(subjects)
    const infos = both.map(async (tokens) =>
      (
        await server.request('/oauth/userinfo', { headers: { authorization: bearer(tokens) } })
      ).json(),
    )
    expect(await Promise.all(infos)).toEqual([
      { sub: 'customers/ada', name: 'Customer ada' },
      { sub: 'admins/ada', name: 'Admin ada' },
    ])
  })

  it('are distinguished in cookie mode', async () => {
    const customer = await server.cookieMode('ada')
    const page = new Request(server.url, { headers: { cookie: adminSession } })
    const fresh = await server.oauth.freshToken(fromWebRequest(page))
    const admin = {
      cookie: fresh.setCookie?.split(';')[0] ?? '',
      csrfToken: fresh.csrfToken ?? '',
    }
    for (const [cookie, seen] of [
      [customer, CUSTOMER],
      [admin, ADMIN],
    ] as const) {
      expect({
        any: await callerOf(null, undefined, cookie),
        customers: await callerOf(null, 'customers', cookie),
        admins: await callerOf(null, 'admins', cookie),
      }).toEqual(seen)
    }
    expect(await callerOf(null, 'admins', { ...admin, csrfToken: customer.csrfToken })).toBe(
      'invalid_token',
    )
  })

  it('keep their own consents, clients, tokens and sessions', async () => {
    const { oauth } = server
    const app = await createClient(server, { grants: everyGrant, userId: 'admins/ada' })
    await runCodeFlow(server, app)
    expect(await oauth.consents.listByUser('customers/ada')).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ clientId: app.id })]),
    )
    const ofAdmin = await oauth.consents.listByUser('admins/ada')
    expect(ofAdmin.map(({ clientId }) => clientId)).not.toContain(app.id)
    // The customer's approval does not count for the administrator: the page is shown again.
    expect((await asAdmin(app)).status).toBe(200)
    expect((await requestAuthorization(server, 'ada', codeRequest(app))).status).toBe(303)
    const listed = await oauth.clients.listByUser('admins/ada')
    expect(listed.map(({ id }) => id)).toEqual([app.id])
    expect(await oauth.clients.listByUser('customers/ada')).toEqual([])
    const mine = await server.json('ada', 'GET', '/oauth/clients')
    expect(await mine.json()).toEqual([])
    expect((await server.json('ada', 'DELETE', `/oauth/clients/${app.id}`)).status).toBe(404)
  })

  it('lose only their own tokens, cookies and approvals when one of them is revoked', async () => {
    const both = [await customerTokens(), await adminTokens()] as const
    const customer = await server.cookieMode('ada')
    await server.oauth.revokeUser('admins/ada')
    expect(await callerOf(bearer(both[1]))).toBe('invalid_token')
    expect(await introspect(both[1].access_token)).toEqual({ active: false })
    const { refresh_token } = both[1]
    const again = { grant_type: 'refresh_token', refresh_token }
    expect(await ask(adminApp, again)).toMatchObject(REFUSED)
    expect(await identifyByEachGuard(bearer(both[0]))).toEqual(CUSTOMER)
    expect(await callerOf(null, 'customers', customer)).toEqual(CUSTOMER.customers)
    await server.oauth.revokeUser('customers/ada')
    expect(await callerOf(bearer(both[0]))).toBe('invalid_token')
  })

  it('have separate sessions, even with the same session id', async () => {
    const customer = await server.cookieMode('ada')
    const page = new Request(server.url, { headers: { cookie: adminSession } })
    const admin = await server.oauth.freshToken(fromWebRequest(page))
    const cookie = admin.setCookie?.split(';')[0] ?? ''
    const ofAdmin = { cookie, csrfToken: admin.csrfToken }
    await server.oauth.endSession('admins/ada.1')
    expect(await callerOf(null, 'admins', ofAdmin)).toBe('invalid_token')
    expect(await callerOf(null, 'customers', customer)).toEqual(CUSTOMER.customers)
  })

  it('lose access only when their own account is deleted', async () => {
    const customer = await customerTokens()
    const ada = customers.all.get('ada')
    customers.all.delete('ada')
    try {
      const { refresh_token } = customer
      const again = { grant_type: 'refresh_token', refresh_token }
      expect(await ask(customerApp, again)).toMatchObject(REFUSED)
      const admin = await adminTokens()
      expect(await identifyByEachGuard(bearer(admin))).toEqual(ADMIN)
    } finally {
      if (ada) customers.all.set('ada', ada)
    }
  })
})

describe('a client limited to one user provider (threat T20)', () => {
  it.each<[string, () => Promise<unknown>, unknown]>([
    ['a password of another provider', () => byPassword(adminApp, 'correct horse'), REFUSED],
    ['an assertion about a user of another provider', () => assertionFor(adminApp, '19'), REFUSED],
    ['an assertion about a bare id', () => assertionFor(adminApp, '18'), REFUSED],
    ['an assertion about an unknown provider', () => assertionFor(anyApp, '20'), REFUSED],
    [
      "another provider's token in an exchange",
      async () => exchange(server, adminApp, (await customerTokens()).access_token),
      { error: 'invalid_request' },
    ],
    [
      "another client's refresh token",
      async () =>
        ask(adminApp, {
          grant_type: 'refresh_token',
          refresh_token: (await customerTokens()).refresh_token,
        }),
      REFUSED,
    ],
  ])('refuses %s', async (_what, attempt, refused) => {
    expect(await attempt()).toMatchObject(refused as object)
  })

  it.each(['code', 'token'])(
    'sends users of other providers to the sign-in page (%s)',
    async (type) => {
      const first = await requestAuthorization(
        server,
        'ada',
        codeRequest(adminApp, { response_type: type }),
      )
      const page = new URL(first.headers.get('location') ?? '', server.url)
      expect([page.pathname, page.searchParams.get('provider')]).toEqual(['/login', 'admins'])
      const silent = { response_type: type, prompt: 'none' }
      const refused = await requestAuthorization(server, 'ada', codeRequest(adminApp, silent))
      expect(refused.headers.get('location')).toContain('error=login_required')
    },
  )

  it('uses the session of its own provider if the browser has sessions of both providers', async () => {
    const headers = { cookie: `${buildSessionCookie('bob')}; ${adminSession}`, accept: 'text/html' }
    const query = new URLSearchParams(codeRequest(adminApp, { prompt: 'consent' }))
    const page = await server.request(`/oauth/authorize?${query}`, { headers })
    const { action, csrf_token } = readPageForm(await page.text())
    const press = (cookie: string) =>
      server.post(action, { csrf_token, decision: 'approve' }, { cookie, origin: server.url })
    // Neither the customer nor another administrator can approve instead of the person who was
    // asked.
    expect((await press(buildSessionCookie('ada'))).status).toBeGreaterThanOrEqual(400)
    expect((await press('admin=root.1')).status).toBeGreaterThanOrEqual(400)
    const answer = await press(headers.cookie)
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const grant = { grant_type: 'authorization_code', redirect_uri: REDIRECT, code }
    expect(await identifyByEachGuard(bearer(await ask(adminApp, grant)))).toEqual(ADMIN)
  })

  it('refuses requests through an adapter that is set up for another provider, or for none', async () => {
    const query = new URLSearchParams(codeRequest(adminApp))
    const address = new Request(`${server.url}/oauth/authorize?${query}`)
    const by = (person: SignedIn) =>
      server.oauth.handle(Object.assign(fromWebRequest(address), { signedIn: () => person }))
    const customer = await by({ id: 'ada', provider: 'customers', sessionId: 'ada.1' })
    expect(customer?.headers?.location).toMatch(/^\/login\?.*provider=admins.*prompt=login$/)
    expect((await by({ id: 'admins/ada', sessionId: 'ada.1' }))?.status).toBe(500)
    expect(JSON.stringify(server.logged.splice(0), errorText)).toContain(
      'signedIn must name the user provider of the user: one of customers, admins',
    )
  })

  it('refuses the approval of a device code by a user of another provider', async () => {
    const device = await newDevice(server, { provider: 'admins' })
    const asked = await startDeviceFlow(server, device)
    const open = (cookie: string) =>
      server.request('/oauth/device', { headers: { cookie, accept: 'text/html' } })
    const form = readPageForm(await (await open(buildSessionCookie('ada'))).text())
    const reply = await send(server, 'ada', form, { user_code: asked.user_code })
    expect([reply.status, await reply.text()]).toEqual([
      403,
      expect.stringContaining('This code is for an application that this account cannot use.'),
    ])
    expect(await pollError(server, device, asked.device_code)).toBe('authorization_pending')
    const headers = { cookie: adminSession, origin: server.url, accept: 'text/html' }
    const { action, csrf_token } = readPageForm(await (await open(adminSession)).text())
    const typed = await server.post(action, { csrf_token, user_code: asked.user_code }, headers)
    const { action: there, ...proof } = readPageForm(await typed.text())
    await server.post(there, { ...proof, decision: 'approve' }, headers)
    server.clock.advance({ seconds: 5 })
    const tokens = await ask(device, { grant_type: DEVICE_CODE, device_code: asked.device_code })
    expect(await identifyByEachGuard(bearer(tokens))).toEqual(ADMIN)
  })

  it('must name an existing provider, and only clients that name a provider can use the password grant', async () => {
    const without = server.oauth.clients.create({ name: 'App', grants: ['password'] })
    await expect(without).rejects.toThrow('The password grant needs the name of a user provider')
    const unknown = server.oauth.clients.create({ name: 'App', provider: 'robots' })
    await expect(unknown).rejects.toThrow("There is no user provider 'robots'")
    const settings = { provider: 'admins' } as object
    const bySettings = server.oauth.clients.create({ name: 'App', settings })
    await expect(bySettings).rejects.toThrow('provider is not a client setting')
  })
})

describe('a user id without the name of its user provider', () => {
  it.each<[string, (id: string) => unknown]>([
    ['revokeUser', (id) => server.oauth.revokeUser(id)],
    ['endSession', (id) => server.oauth.endSession(id)],
    ['tokens.listByUser', (id) => server.oauth.tokens.listByUser(id)],
    [
      'tokens.createPersonal',
      (userId) => server.oauth.tokens.createPersonal({ userId, name: 'x' }),
    ],
    ['consents.listByUser', (id) => server.oauth.consents.listByUser(id)],
    ['consents.revoke', (id) => server.oauth.consents.revoke(id, customerApp.id)],
    ['sessions.listByUser', (id) => server.oauth.sessions.listByUser(id)],
    ['sessions.move', (id) => server.oauth.sessions.move(id, id)],
    ['sessions.hash', async (id) => server.oauth.sessions.hash(id)],
    ['clients.listByUser', (id) => server.oauth.clients.listByUser(id)],
    ['clients.create', (userId) => server.oauth.clients.create({ name: 'App', userId })],
    ['clients.pairwiseSubject', (id) => server.oauth.clients.pairwiseSubject(anyApp.id, id)],
  ])('is rejected by %s', async (_method, call) => {
    for (const id of ['ada', '/ada', 'robots/ada', 'admins/']) {
      await expect(call(id)).rejects.toThrow(
        "With several user providers an id is written 'provider/id'. The providers are: customers, admins.",
      )
    }
  })

  it('is rejected in a token that was issued when there was only one provider', async () => {
    const before = server.another({ users: customers })
    const old = await before.tokens.createPersonal({ userId: 'ada', name: 'old' })
    expect(await identifyByEachGuard(`Bearer ${old.accessToken}`)).toEqual({
      any: 'invalid_token',
      customers: 'invalid_token',
      admins: 'invalid_token',
    })
  })

  it('cannot be made ambiguous, because invalid provider names are rejected at start-up', () => {
    for (const users of [{}, { 'a/b': customers }, { Admins: admins }, { admins: {} as Admins }]) {
      expect(() => server.another({ users })).toThrow(/^users: /)
    }
    expect(() => server.oauth.guardFor({ provider: 'robots' })).toThrow(
      "provider: 'robots' is not listed in the option users.",
    )
  })
})

describe('a server with a single user provider', () => {
  it('stores plain user ids, and refuses every user at a client that is limited to a named provider', async () => {
    const single = server.another({ users: customers, features: [] })
    const { accessToken } = await single.tokens.createPersonal({ userId: 'ada', name: 'CI' })
    expect(decodeJwt(accessToken).sub).toBe('user:ada')
    const [row] = await single.tokens.listByUser('ada')
    expect([row?.userId, row?.details]).toEqual(['ada', null])
    const { client } = await single.clients.create({ name: 'App', redirect: REDIRECT })
    expect(client.settings).toEqual({})
    const body = new URLSearchParams({
      grant_type: 'password',
      client_id: adminApp.id,
      client_secret: adminApp.secret,
      username: 'ada@example.com',
      password: 'correct horse',
    })
    const reply = await single.fetch(
      new Request(`${server.url}/oauth/token`, { method: 'POST', body }),
    )
    expect(await reply.json()).toMatchObject({ error: 'unauthorized_client' })
  })
})

/** Serializes errors, which JSON would write as empty objects. */
function errorText(_name: string, value: unknown): unknown {
  return value instanceof Error ? value.message : value
}
