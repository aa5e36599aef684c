import { decodeJwt } from 'jose'
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest'
import {
  AccessDenied,
  type AccessTokenClaimsContext,
  type AccessTokenClaimsOption,
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  implicit,
  openid,
  password,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  runCodeFlow,
  startServer,
  submitApprovalDecision,
  type TestServer,
  type TestServerOptions,
  type TestUser,
} from '../support.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ORDERS = 'https://orders.example.com'

let server: TestServer
afterEach(() => server.close())

type Hook = AccessTokenClaimsOption<TestUser>
type NewClient = Awaited<ReturnType<typeof createClient>>

async function start(accessTokenClaims: Hook, options: TestServerOptions = {}): Promise<NewClient> {
  server = await startServer({ accessTokenClaims, ...options })
  return createClient(server, {
    grants: ['authorization_code', 'refresh_token', 'password', 'client_credentials', 'implicit'],
  })
}

const asClient = ({ id: client_id, secret: client_secret }: NewClient) => ({
  client_id,
  client_secret,
})

const refresh = (client: NewClient, refresh_token: string, more: Record<string, string> = {}) =>
  server.post('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token,
    ...asClient(client),
    ...more,
  })

/** Approves as Ada and returns the URL she is redirected to. */
async function approve(client: NewClient, response_type: string): Promise<URL> {
  const request = { client_id: client.id, redirect_uri: REDIRECT, response_type }
  const page = await requestAuthorization(server, 'ada', request)
  if (page.status === 200) return submitApprovalDecision(server, 'ada', page)
  return new URL(page.headers.get('location') ?? '')
}

async function introspect(client: NewClient, token: string) {
  return (await server.post('/oauth/introspect', { ...asClient(client), token })).json()
}

const credentials = (token: string) => ({
  authorization: `Bearer ${token}`,
  cookie: null,
  csrfToken: null,
})

describe.each(['jwt', 'opaque'] as const)('accessTokenClaims with %s tokens', (format) => {
  const tenantOf: Hook = async ({ findUser, client, grantType, scopes }) => ({
    tenant: (await findUser())?.email ?? client.id,
    by: grantType,
    may: scopes,
  })

  it('adds claims in the authorization code grant and at each refresh, which introspection and guards then return', async () => {
    let plan = 'free'
    const client = await start(async ({ userId }) => ({ plan, member: userId }), {
      accessTokenFormat: format,
    })
    const first = await runCodeFlow(server, client)
    plan = 'pro'
    const second = await (await refresh(client, first.refresh_token)).json()
    expect(await introspect(client, second.access_token)).toMatchObject({
      active: true,
      plan: 'pro',
      member: 'ada',
      sub: 'user:ada',
    })
    const caller = await server.oauth.guard.authenticate('api', credentials(second.access_token))
    expect(caller.claims).toEqual({ plan: 'pro', member: 'ada' })
    if (format === 'jwt') {
      expect(decodeJwt(first.access_token)).toMatchObject({ plan: 'free' })
      expect(decodeJwt(second.access_token)).toMatchObject({ plan: 'pro' })
    }
  })

  it('adds claims in every other grant', async () => {
    const client = await start(tenantOf, { accessTokenFormat: format })
    const asked = async (form: Record<string, string>) => {
      const reply = await server.post('/oauth/token', { ...asClient(client), ...form })
      return introspect(client, (await reply.json()).access_token)
    }
    const person = { username: 'ada@example.com', password: 'correct horse' }
    expect(await asked({ grant_type: 'password', ...person, scope: 'place-orders' })).toMatchObject(
      { tenant: 'ada@example.com', by: 'password', may: ['place-orders'] },
    )
    expect(await asked({ grant_type: 'client_credentials' })).toMatchObject({
      tenant: client.id,
      by: 'client_credentials',
    })
    const personal = await server.oauth.tokens.createPersonal({ userId: 'ada', name: 'mine' })
    const { claims } = await server.oauth.guard.authenticate(
      'api',
      credentials(personal.accessToken),
    )
    expect(claims).toMatchObject({ tenant: 'ada@example.com', by: 'personal_access' })
  })

  it('keeps the claims of tokens for different resources apart, even within one grant', async () => {
    const client = await start(async ({ scopes }) => ({ may: scopes }), {
      accessTokenFormat: format,
    })
    const whole = await runCodeFlow(server, client, { scope: 'place-orders check-status' })
    const reply = await refresh(client, whole.refresh_token, { scope: 'check-status' })
    const narrow = await reply.json()
    expect(await introspect(client, narrow.access_token)).toMatchObject({ may: ['check-status'] })
    const before = await introspect(client, whole.access_token)
    // An opaque token's claims are read from its row, which holds those of the newest token.
    expect(before.may).toEqual(format === 'jwt' ? ['place-orders', 'check-status'] : undefined)
  })

  it('adds the same claims to the tokens of two concurrent refreshes', async () => {
    let asked = 0
    const client = await start(
      async () => {
        asked += 1
        return { asked }
      },
      { accessTokenFormat: format },
    )
    const { refresh_token } = await runCodeFlow(server, client)
    const replies = await Promise.all([
      refresh(client, refresh_token),
      refresh(client, refresh_token),
    ])
    const claims = await Promise.all(
      replies.map(async (reply) => introspect(client, (await reply.json()).access_token)),
    )
    expect(claims[0]).toMatchObject({ active: true, asked: expect.any(Number) })
    expect(claims[1]?.asked).toBe(claims[0]?.asked)
  })
})

describe('the `accessTokenClaims` option', () => {
  it('accepts fixed claims', async () => {
    const client = await start({ region: 'eu' })
    expect(decodeJwt((await runCodeFlow(server, client)).access_token)).toMatchObject({
      region: 'eu',
    })
  })

  it('adds claims to a token that is returned in the redirect (response_type=token)', async () => {
    const client = await start({ region: 'eu' }, { grants: [implicit()] })
    const back = await approve(client, 'token')
    const token = new URLSearchParams(back.hash.slice(1)).get('access_token')
    expect(decodeJwt(token ?? '')).toMatchObject({ region: 'eu' })
  })

  it('passes the resources of the token to the hook, and calls the hook again in a token exchange', async () => {
    const asked: Pick<AccessTokenClaimsContext, 'resources' | 'grantType'>[] = []
    server = await startServer({
      accessTokenClaims: ({ resources, grantType }) => {
        asked.push({ resources, grantType })
        return { number: asked.length }
      },
      grants: [authorizationCode(), tokenExchange()],
      resources: { [ORDERS]: {} },
    })
    const client = await createClient(server, { grants: ['authorization_code', TOKEN_EXCHANGE] })
    const { access_token } = await runCodeFlow(server, client)
    const reply = await server.post('/oauth/token', {
      ...asClient(client),
      grant_type: TOKEN_EXCHANGE,
      subject_token: access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })
    expect(decodeJwt((await reply.json()).access_token)).toMatchObject({ number: 2 })
    expect(asked).toEqual([
      { resources: [server.url], grantType: 'authorization_code' },
      { resources: [server.url], grantType: TOKEN_EXCHANGE },
    ])
  })

  it('adds claims that are visible to resource servers, but not to a client with pairwise subjects', async () => {
    server = await startServer({
      features: [openid({ pairwiseSalt: 's'.repeat(32) })],
      accessTokenClaims: { tenant: 't1' },
    })
    const client = await createClient(server, { settings: { subject_type: 'pairwise' } })
    const { access_token } = await runCodeFlow(server, client)
    const introspection = await introspect(client, access_token)
    expect(introspection.active).toBe(true)
    expect(introspection).not.toHaveProperty('tenant')
    const api = await createClient(server, { grants: ['client_credentials'], resourceServer: true })
    expect(await introspect(api, access_token)).toMatchObject({ tenant: 't1' })
  })

  it("determines the TypeScript type of the claims of a guard's caller", async () => {
    server = await startServer()
    const typed = createAuthorizationServer({
      issuer: 'https://api.example.com',
      secret: 'x'.repeat(32),
      database: server.database,
      users: server.users,
      grants: [clientCredentials()],
      accessTokenClaims: async ({ findUser }) => ({ tenant: (await findUser())?.email ?? 'none' }),
    })
    const caller = typed.guard.authenticate('client', credentials('x'))
    expectTypeOf<Awaited<typeof caller>['claims']['tenant']>().toEqualTypeOf<string | undefined>()
    await Promise.resolve(caller).catch(() => {})
    typed.close()
  })
})

describe('the `accessTokenClaims` option with invalid claims (threat T18)', () => {
  const cases: [string, () => unknown, number, string][] = [
    [
      'fails',
      () => {
        throw new Error('the directory is away')
      },
      503,
      'temporarily_unavailable',
    ],
    [
      'hangs for longer than two seconds',
      () => new Promise(() => {}),
      503,
      'temporarily_unavailable',
    ],
    ['returns a reserved claim', () => ({ sub: 'user:bob' }), 500, 'server_error'],
    ['returns a list', () => ['t1'], 500, 'server_error'],
    ['returns undefined', () => undefined, 500, 'server_error'],
    ['returns values that JSON cannot represent', () => ({ big: 1n }), 500, 'server_error'],
    ['returns more than fits into a header', () => ({ x: 'x'.repeat(5000) }), 500, 'server_error'],
    [
      'refuses the token with an OAuthError',
      () => {
        throw new AccessDenied('This tenant is closed')
      },
      400,
      'access_denied',
    ],
  ]

  it.each(cases)(
    'uses up neither the code nor the refresh token when the hook %s',
    async (_what, hook, status, error) => {
      let broken = false
      const client = await start((() => (broken ? hook() : { tenant: 't1' })) as Hook)
      const { refresh_token } = await runCodeFlow(server, client)
      broken = true
      const code = (await approve(client, 'code')).searchParams.get('code') ?? ''
      const exchange = () =>
        server.post('/oauth/token', {
          grant_type: 'authorization_code',
          code,
          redirect_uri: REDIRECT,
          ...asClient(client),
        })
      const refused = [await exchange(), await refresh(client, refresh_token)]
      for (const reply of refused) {
        expect(reply.status).toBe(status)
        expect((await reply.json()).error).toBe(error)
      }
      expect(server.logged.length).toBe(error === 'access_denied' ? 0 : 2)
      broken = false
      expect((await exchange()).status).toBe(200)
      expect((await refresh(client, refresh_token)).status).toBe(200)
    },
  )

  it.each(['sub', 'aud', 'scope', 'client_id', 'cnf', 'act', 'active', 'exp', '__proto__'])(
    'rejects at start-up the fixed claim %s, which only the server may set',
    async (name) => {
      server = await startServer()
      const fixed = JSON.parse(`{${JSON.stringify(name)}: "x"}`)
      expect(() =>
        createAuthorizationServer({
          issuer: 'https://api.example.com',
          secret: 'x'.repeat(32),
          database: server.database,
          users: server.users,
          grants: [password(), refreshToken()],
          accessTokenClaims: fixed,
        }),
      ).toThrow(`'${name}' is reserved for the server`)
    },
  )
})
