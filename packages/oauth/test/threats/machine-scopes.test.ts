import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthorizationServerOptions,
  authorizationCode,
  type ClientUpdate,
  clientCredentials,
  clientRegistration,
  createAuthorizationServer,
  deviceCode,
  type GrantType,
  implicit,
  memoryStorage,
  type NewClient,
  openid,
  password,
  pushedRequests,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import { DEVICE_CODE } from '../device/support.ts'
import { ACCESS_TOKEN, TOKEN_EXCHANGE } from '../exchange/support.ts'
import { assertionFor, JWT_BEARER, sendAssertion, startAssertions } from '../jwt-bearer/support.ts'
import { UNLIMITED } from '../registration/open-registration.ts'
import { outgoing, postJson } from '../registration/support.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  SCOPES,
  SECRET,
  startServer,
  type TestServer,
  TestUsers,
  type TokenReply,
} from '../support.ts'

const MACHINE = 'users:delete'
const machineScopes = { [MACHINE]: 'Delete accounts', 'users:list': 'List accounts' }
const API = 'https://api.example.com'
const GRANTS: GrantType[] = [
  'authorization_code',
  'refresh_token',
  'password',
  'client_credentials',
  'implicit',
  DEVICE_CODE,
  TOKEN_EXCHANGE,
]
const ADA = { username: 'ada@example.com', password: 'correct horse' }

interface Secret {
  readonly id: string
  readonly secret: string
}

let server: TestServer
/** A client with every grant that may request a machine scope for itself. */
let robot: Secret
beforeAll(async () => {
  server = await startServer({
    grants: [
      ...[authorizationCode(), refreshToken(), password(), clientCredentials(), implicit()],
      ...[deviceCode(), tokenExchange()],
    ],
    features: [
      openid(),
      pushedRequests(),
      clientRegistration({ policy: 'open', perMinute: UNLIMITED }),
    ],
    machineScopes,
    resources: { [API]: { scopes: ['place-orders', MACHINE] } },
    selfRegistered: { scopes: ['place-orders'] },
    outgoing: outgoing(),
  })
  robot = await createClient(server, { grants: GRANTS, scopes: ['place-orders', MACHINE] })
})
afterAll(() => server.close())

const send = ({ id, secret }: Secret, form: Record<string, string>, path = '/oauth/token') =>
  server.post(path, { client_id: id, client_secret: secret, ...form })

async function replyOf<T = TokenReply>(reply: Response): Promise<T> {
  return (await reply.json()) as T
}
const machineToken = async (client: Secret, scope: string) =>
  replyOf<TokenReply & { error?: string }>(
    await send(client, { grant_type: 'client_credentials', scope }),
  )
const errorOf = async (reply: Response) => (await replyOf<{ error?: string }>(reply)).error

const header = (token: string) => ({
  authorization: `Bearer ${token}`,
  cookie: null,
  csrfToken: null,
})
const allClients = (token: string) => server.oauth.guard.authenticate('client', header(token))
const userOf = (token: string, at = server) => at.oauth.guard.authenticate('api', header(token))

/** The error in the redirect of an authorization request. */
async function authorizeError(responseType: string): Promise<string | null> {
  const page = await requestAuthorization(server, 'ada', {
    client_id: robot.id,
    redirect_uri: REDIRECT,
    response_type: responseType,
    scope: `place-orders ${MACHINE}`,
  })
  const { searchParams, hash } = new URL(page.headers.get('location') ?? 'none:')
  return searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error')
}

const wildcard = async () =>
  replyOf(await send(await wildcardClient(), { grant_type: 'password', ...ADA, scope: '*' }))
const wildcardClient = () => createClient(server, { grants: ['password', 'refresh_token'] })

describe('a machine scope (a scope only for clients that act for themselves, threat T21) is refused', () => {
  const exchangeOf = (subject: string) => ({
    grant_type: TOKEN_EXCHANGE,
    subject_token: subject,
    subject_token_type: ACCESS_TOKEN,
  })
  const scope = `place-orders ${MACHINE}`
  const routes: Record<string, () => Promise<string | undefined | null>> = {
    'the code flow': () => authorizeError('code'),
    'the implicit flow': () => authorizeError('token'),
    'a pushed request': async () =>
      errorOf(
        await send(robot, { response_type: 'code', redirect_uri: REDIRECT, scope }, '/oauth/par'),
      ),
    'the device flow': async () =>
      errorOf(await send(robot, { scope }, '/oauth/device_authorization')),
    'the password grant': async () =>
      errorOf(await send(robot, { grant_type: 'password', ...ADA, scope })),
    'a refresh': async () => {
      const { refresh_token } = await runCodeFlow(server, robot)
      return errorOf(await send(robot, { grant_type: 'refresh_token', refresh_token, scope }))
    },
    'a refresh of *': async () => {
      const client = await wildcardClient()
      const form = { grant_type: 'password', ...ADA, scope: '*' }
      const { refresh_token } = await replyOf(await send(client, form))
      const again = { grant_type: 'refresh_token', refresh_token, scope: MACHINE }
      return errorOf(await send(client, again))
    },
    'an exchange': async () => {
      const { access_token } = await runCodeFlow(server, robot)
      return errorOf(await send(robot, { ...exchangeOf(access_token), scope: MACHINE }))
    },
    'an exchange of *': async () => {
      const { access_token } = await wildcard()
      return errorOf(await send(robot, { ...exchangeOf(access_token), scope: MACHINE }))
    },
    'client credentials for a client without a list of scopes': async () =>
      (await machineToken(await createClient(server, { grants: GRANTS }), MACHINE)).error,
    'client credentials for a client with another list': async () => {
      const other = await createClient(server, { grants: GRANTS, scopes: ['users:list'] })
      return (await machineToken(other, MACHINE)).error
    },
    'client credentials as *': async () => (await machineToken(robot, '*')).error,
  }
  it.each(Object.entries(routes))('in %s', async (_route, errorIn) => {
    expect(await errorIn()).toBe('invalid_scope')
  })

  it('in an assertion of a trusted issuer', async () => {
    const other = await startAssertions({ machineScopes })
    try {
      const caller = await createClient(other, {
        grants: [JWT_BEARER, 'client_credentials'],
        scopes: ['place-orders', MACHINE],
      })
      const fields = { scope: MACHINE }
      const reply = await sendAssertion(other.oauth, caller, await assertionFor(other), fields)
      expect(reply).toMatchObject({ error: 'invalid_scope' })
    } finally {
      await other.close()
    }
  })

  it('in a request for a personal access token', async () => {
    const request = { name: 'Script', scopes: [MACHINE] }
    const reply = await server.json('ada', 'POST', '/oauth/personal-access-tokens', request)
    expect(reply.status).toBeGreaterThanOrEqual(400)
    await expect(
      server.oauth.tokens.createPersonal({ userId: 'ada', ...request }),
    ).rejects.toMatchObject({ code: 'invalid_scope' })
  })

  it('in registrations by clients themselves and by users', async () => {
    const registered = await postJson(server, '/oauth/register', {
      redirect_uris: [REDIRECT],
      scope: `place-orders ${MACHINE}`,
    })
    expect(await registered.json()).toMatchObject({ scope: 'place-orders' })
    const created = await server.json('ada', 'POST', '/oauth/clients', {
      name: 'App',
      redirect: REDIRECT,
      scopes: [MACHINE],
    })
    const { id } = await replyOf<{ id: string }>(created)
    expect((await server.oauth.clients.find(id))?.scopes).toBeNull()
  })
})

describe('a machine scope (a scope only for clients that act for themselves, threat T21)', () => {
  it('is granted to a client that acts for itself if the client may have it and the request names it', async () => {
    expect((await machineToken(robot, `${MACHINE} place-orders`)).scope).toBe(
      `${MACHINE} place-orders`,
    )
    expect((await machineToken(robot, '')).scope).toBe('')
  })

  it("may be a scope of an API other than the server's own", async () => {
    const form = { grant_type: 'client_credentials', scope: MACHINE, resource: API }
    expect((await replyOf(await send(robot, form))).scope).toBe(MACHINE)
    const other = { ...form, scope: 'users:list' }
    await server.oauth.clients.update(robot.id, { scopes: ['place-orders', MACHINE, 'users:list'] })
    expect(await errorOf(await send(robot, other))).toBe('invalid_scope')
  })

  it('is missing from the list of scopes, the metadata and the approval screen', async () => {
    const texts = await Promise.all(
      [
        server.json('ada', 'GET', '/oauth/scopes'),
        server.request('/.well-known/oauth-authorization-server'),
        server.request('/.well-known/openid-configuration'),
        server.request('/.well-known/oauth-protected-resource'),
        requestAuthorization(server, 'ada', {
          client_id: robot.id,
          redirect_uri: REDIRECT,
          response_type: 'code',
          scope: 'place-orders',
          prompt: 'consent',
        }),
      ].map(async (reply) => (await reply).text()),
    )
    for (const text of texts) {
      expect(text).toMatch(/place-orders|Place orders/)
      expect(text).not.toMatch(/users:|accounts/)
    }
    expect(server.oauth.scopes).not.toHaveProperty(MACHINE)
    expect(server.oauth.machineScopes).toEqual(machineScopes)
  })

  it('is available only to tokens that list it', async () => {
    const holder = await allClients((await machineToken(robot, MACHINE)).access_token)
    expect([MACHINE, 'users:list', 'place-orders'].map(holder.tokenCan)).toEqual([
      true,
      false,
      false,
    ])
    const without = await allClients((await machineToken(robot, 'place-orders')).access_token)
    expect(without.tokenCan(MACHINE)).toBe(false)
  })

  it('is included neither in * nor in cookie mode', async () => {
    const all = await userOf((await wildcard()).access_token)
    expect(all.tokenCan('place-orders')).toBe(true)
    expect(all.tokenCan(MACHINE)).toBe(false)
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const credentials = { authorization: undefined, cookie, csrfToken }
    const own = await server.oauth.guard.authenticate('api', credentials)
    expect(own.tokenCan('place-orders')).toBe(true)
    expect(own.tokenCan(MACHINE)).toBe(false)
  })

  it('is removed from tokens, refreshes and introspection of users who granted the scope before it became a machine scope', async () => {
    const old = await startServer({ scopes: { ...SCOPES, [MACHINE]: 'Delete accounts' } })
    try {
      const client = await createClient(old)
      const scope = `place-orders ${MACHINE}`
      const { access_token, refresh_token } = await runCodeFlow(old, client, { scope })
      const now = old.another({ scopes: SCOPES, machineScopes })
      const user = await now.guard.authenticate('api', header(access_token))
      expect(user.scopes).toEqual(['place-orders'])
      expect(user.tokenCan(MACHINE)).toBe(false)
      const post = async (path: string, form: Record<string, string>) => {
        const body = new URLSearchParams({
          client_id: client.id,
          client_secret: client.secret,
          ...form,
        })
        const reply = await now.fetch(new Request(`${old.url}${path}`, { method: 'POST', body }))
        return reply.json()
      }
      const introspected = await post('/oauth/introspect', { token: access_token })
      expect(introspected).toMatchObject({ active: true, scope: 'place-orders' })
      const grant = { grant_type: 'refresh_token', refresh_token }
      expect(await post('/oauth/token', grant)).toMatchObject({ scope: 'place-orders' })
    } finally {
      await old.close()
    }
  })

  it('can be checked again with find(), which no longer returns it once the client has lost it', async () => {
    const client = await createClient(server, {
      grants: ['client_credentials'],
      scopes: [MACHINE],
    })
    const { access_token } = await machineToken(client, MACHINE)
    const holder = await allClients(access_token)
    expect((await holder.find())?.scopes).toEqual([MACHINE])
    await server.oauth.clients.update(client.id, { scopes: ['place-orders'] })
    expect((await holder.find())?.scopes).toEqual(['place-orders'])
    expect((await machineToken(client, MACHINE)).error).toBe('invalid_scope')
    await server.oauth.clients.revoke(client.id)
    expect(await holder.find()).toBeNull()
  })
})

describe('a client (threat T21) cannot get a machine scope', () => {
  const grants: GrantType[] = ['client_credentials']
  const unfit: readonly [string, Partial<NewClient>][] = [
    ['if a user owns it', { grants, userId: 'ada' }],
    ['if it is public', { grants, confidential: false }],
    ['without the grant client_credentials', { grants: ['authorization_code'] }],
  ]
  it.each(unfit)('%s', async (_why, options) => {
    const refused = { code: 'validation_failed', errors: { scopes: [expect.any(String)] } }
    await expect(createClient(server, { ...options, scopes: [MACHINE] })).rejects.toMatchObject(
      refused,
    )
    const { id } = await createClient(server, options)
    const update = server.oauth.clients.update(id, { scopes: [MACHINE] })
    await expect(update).rejects.toMatchObject(refused)
    expect((await server.oauth.clients.find(id))?.scopes).toBeNull()
  })

  it('if it registered itself', async () => {
    const reply = await postJson(server, '/oauth/register', { redirect_uris: [REDIRECT] })
    const { client_id } = await replyOf<{ client_id: string }>(reply)
    for (const change of [{ scopes: [MACHINE] }, { grants, scopes: [MACHINE] }] as ClientUpdate[]) {
      await expect(server.oauth.clients.update(client_id, change)).rejects.toMatchObject({
        code: 'validation_failed',
      })
    }
  })

  it('if an update removes its grant but keeps the scope', async () => {
    const { id } = await createClient(server, { grants, scopes: [MACHINE] })
    const without: GrantType[] = ['authorization_code']
    await expect(server.oauth.clients.update(id, { grants: without })).rejects.toMatchObject({
      code: 'validation_failed',
    })
    await server.oauth.clients.update(id, { grants: without, scopes: null })
  })
})

describe('the option machineScopes', () => {
  const start = (options: Partial<AuthorizationServerOptions>) => () =>
    createAuthorizationServer({
      issuer: 'http://localhost',
      secret: SECRET,
      storage: memoryStorage(),
      users: new TestUsers(),
      grants: [clientCredentials()],
      scopes: SCOPES,
      machineScopes,
      ...options,
    })
  const wrong: Record<string, Partial<AuthorizationServerOptions>> = {
    'a name that users can grant': { machineScopes: { 'place-orders': 'Place orders' } },
    'a name of a feature': { features: [openid()], machineScopes: { openid: 'Sign in' } },
    'the wildcard': { machineScopes: { '*': 'Everything' } },
    'a name with a space': { machineScopes: { 'a b': 'Both' } },
    'a name without a description': { machineScopes: { a: ' ' } },
    'a default scope': { defaultScopes: [MACHINE] },
    'an optional scope': { optionalScopes: [MACHINE] },
    'a scope of self-registered clients': { selfRegistered: { scopes: [MACHINE] } },
    'a scope to ask callers for': { resources: { [API]: { scopesToAskFor: [MACHINE] } } },
  }
  it.each(Object.entries(wrong))('rejects %s at start-up', (_what, options) => {
    expect(start(options)).toThrow(TypeError)
  })

  it('accepts other scope names', () => {
    expect(start({})).not.toThrow()
  })
})
