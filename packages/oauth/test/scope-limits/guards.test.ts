import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assertAnyScope, assertScopes } from '../../src/guard/guard.ts'
import {
  authorizationCode,
  type Caller,
  clientCredentials,
  dpop,
  type GuardCredentials,
  type LimitedSubject,
  openid,
  password,
  refreshToken,
  TemporarilyUnavailable,
  tokenExchange,
} from '../../src/index.ts'
import { makeProof, newHolder, requestBoundTokens, tokenProof } from '../dpop/support.ts'
import { exchange, TOKEN_EXCHANGE } from '../exchange/support.ts'
import {
  createClient,
  runCodeFlow,
  startServer,
  type TestServer,
  TestUsers,
  type TokenReply,
} from '../support.ts'
import { Plan, PROBLEM, whileLimited, withholding } from './support.ts'

const API = 'https://orders.example.com'
const OPAQUE = 'https://opaque.example.com'
const MACHINE = 'users:delete'
const BOTH = 'place-orders check-status'
const ADA = { grant_type: 'password', username: 'ada@example.com', password: 'correct horse' }

interface TestClient {
  readonly id: string
  readonly secret: string
}

let server: TestServer
let app: TestClient
let robot: TestClient
beforeAll(async () => {
  server = await startServer({
    grants: [
      ...[authorizationCode(), refreshToken(), password(), clientCredentials()],
      tokenExchange(),
    ],
    features: [dpop(), openid()],
    resources: { [API]: {}, [OPAQUE]: { accessTokenFormat: 'opaque' } },
    machineScopes: { [MACHINE]: 'Delete accounts' },
  })
  const grants = ['authorization_code', 'refresh_token', 'password']
  app = await createClient(server, { grants })
  robot = await createClient(server, {
    grants: ['client_credentials', TOKEN_EXCHANGE],
    scopes: ['place-orders', 'check-status', MACHINE],
  })
})
afterAll(() => server.close())

async function ask(client: TestClient, form: Record<string, string>): Promise<TokenReply> {
  const credentials = { client_id: client.id, client_secret: client.secret }
  const reply = await server.post('/oauth/token', { ...credentials, ...form })
  expect(reply.status).toBe(200)
  return (await reply.json()) as TokenReply
}

/** Returns a function that sends the token to the guard of an API, as one request does. */
const bearer =
  (name: 'api' | 'client', token: string, resource?: string): (() => Promise<Caller>) =>
  async () => {
    const guard = resource === undefined ? server.oauth.guard : server.oauth.guardFor(resource)
    const authorization = `Bearer ${token}`
    return guard.authenticate(name, { authorization, cookie: null, csrfToken: null })
  }

/** Returns a function that sends a token bound to a key, each time with a new proof. */
async function bound(name: 'api' | 'client', scope: string): Promise<() => Promise<Caller>> {
  const holder = await newHolder()
  const form = { grant_type: 'client_credentials', client_id: robot.id, scope }
  const { access_token: token } =
    name === 'api'
      ? await requestBoundTokens(server, app, holder, scope)
      : await (
          await server.post(
            '/oauth/token',
            { ...form, client_secret: robot.secret },
            { dpop: await tokenProof(server, holder) },
          )
        ).json()
  return async () => {
    const url = `${server.url}/orders`
    const proof = await makeProof(holder, { url, token, at: server.clock.now() })
    return server.oauth.guard.authenticate(name, {
      authorization: `DPoP ${token}`,
      cookie: null,
      csrfToken: null,
      dpop: proof,
      method: 'GET',
      path: '/orders',
    })
  }
}

interface TokenKind {
  readonly kind: string
  open(scope: string): Promise<() => Promise<Caller>>
  subject(): LimitedSubject
}

const adaAt = (client: () => TestClient) => () => ({ userId: 'ada', clientId: client().id })
const robotItself = () => ({ userId: null, clientId: robot.id })

const kinds: readonly TokenKind[] = [
  {
    kind: 'a token of the code flow',
    open: async (scope) => bearer('api', (await runCodeFlow(server, app, { scope })).access_token),
    subject: adaAt(() => app),
  },
  {
    kind: 'a refreshed token',
    async open(scope) {
      const { refresh_token } = await ask(app, { ...ADA, scope })
      const next = await ask(app, { grant_type: 'refresh_token', refresh_token })
      return bearer('api', next.access_token)
    },
    subject: adaAt(() => app),
  },
  {
    kind: 'a personal access token',
    async open(scope) {
      const scopes = scope.split(' ').filter(Boolean)
      const request = { userId: 'ada', name: 'Script', scopes }
      const { accessToken } = await server.oauth.tokens.createPersonal(request)
      return bearer('api', accessToken)
    },
    subject: () => ({ userId: 'ada', clientId: expect.any(String) }),
  },
  {
    kind: 'an exchanged token',
    async open(scope) {
      const { access_token } = await ask(app, { ...ADA, scope })
      return bearer('api', (await exchange(server, robot, access_token)).access_token)
    },
    subject: adaAt(() => robot),
  },
  {
    kind: 'a token for another API',
    open: async (scope) =>
      bearer('api', (await ask(app, { ...ADA, scope, resource: API })).access_token, API),
    subject: adaAt(() => app),
  },
  {
    kind: 'an opaque token',
    open: async (scope) =>
      bearer('api', (await ask(app, { ...ADA, scope, resource: OPAQUE })).access_token, OPAQUE),
    subject: adaAt(() => app),
  },
  {
    kind: 'a token bound to a key',
    open: (scope) => bound('api', scope),
    subject: adaAt(() => app),
  },
  {
    kind: 'a token of a client acting for itself',
    open: async (scope) =>
      bearer(
        'client',
        (await ask(robot, { grant_type: 'client_credentials', scope })).access_token,
      ),
    subject: robotItself,
  },
  {
    kind: 'a key-bound token of a client acting for itself',
    open: (scope) => bound('client', scope),
    subject: robotItself,
  },
]

/** Returns the outcome of a scope check: `passes`, or the status and the scopes of the response. */
function outcomeOf(check: () => void): string {
  try {
    check()
    return 'passes'
  } catch (error) {
    const { status, headers, body } = server.oauth.guard.refusal(error)
    const challenge = headers['www-authenticate'] === undefined ? '' : ' with a challenge'
    const { scopes = [] } = JSON.parse(String(body)) as { readonly scopes?: string[] }
    return [`${status}${challenge}`, ...scopes].join(' ')
  }
}
const all = (caller: Caller, ...scopes: string[]) => outcomeOf(() => assertScopes(caller, scopes))
const any = (caller: Caller, ...scopes: string[]) => outcomeOf(() => assertAnyScope(caller, scopes))

const [PLACE, CHECK] = ['place-orders', 'check-status']

describe.each(kinds)('scope limits (threat G10) for $kind', ({ open, subject }) => {
  it("withhold a scope of the token: tokenCan() returns false, and scope checks fail with the limiter's response, without a challenge", async () => {
    const send = await open(BOTH)
    const plan = new Plan(PLACE)
    await whileLimited(server, plan, async () => {
      const caller = await send()
      expect(plan.asked).toEqual([subject()])
      expect([caller.tokenCan(PLACE), caller.tokenCan(CHECK)]).toEqual([false, true])
      expect([PLACE, CHECK].map((name) => caller.scopeStatus(name))).toEqual([
        'withheld',
        'granted',
      ])
      expect(caller.scopes).toEqual([PLACE, CHECK])
      expect(all(caller, PLACE)).toBe(`402 ${PLACE}`)
      expect(all(caller, PLACE, CHECK)).toBe(`402 ${PLACE}`)
      expect(all(caller, CHECK)).toBe('passes')
      expect(any(caller, PLACE, CHECK)).toBe('passes')
      expect(any(caller, PLACE)).toBe(`402 ${PLACE}`)
    })
  })

  it('do not change the 403 and the challenge for a scope that the token lacks', async () => {
    const send = await open(CHECK)
    await whileLimited(server, new Plan(PLACE, CHECK), async () => {
      const caller = await send()
      expect(caller.scopeStatus(PLACE)).toBe('missing')
      expect(all(caller, PLACE)).toBe('403 with a challenge')
      expect(all(caller, PLACE, CHECK)).toBe('403 with a challenge')
      expect(any(caller, PLACE, CHECK)).toBe(`402 ${CHECK}`)
    })
  })

  it('apply to every request between limitScopes() and the removal of the limiter', async () => {
    const send = await open(BOTH)
    expect(all(await send(), PLACE, CHECK)).toBe('passes')
    const remove = server.oauth.limitScopes(new Plan(CHECK))
    expect(all(await send(), PLACE, CHECK)).toBe(`402 ${CHECK}`)
    remove()
    const after = await send()
    expect(all(after, PLACE, CHECK)).toBe('passes')
    expect(after.scopeRefusal([PLACE])).toBeNull()
  })

  it('apply if the limiter returns them asynchronously', async () => {
    const send = await open(BOTH)
    const slow = { limitsOf: async () => withholding(PLACE) }
    await whileLimited(server, slow, async () => {
      expect(all(await send(), PLACE)).toBe(`402 ${PLACE}`)
    })
  })

  it('make authentication fail if the limiter fails', async () => {
    const send = await open(BOTH)
    const busy = {
      limitsOf() {
        throw new TemporarilyUnavailable('The plans are being loaded')
      },
    }
    await whileLimited(server, busy, async () => {
      await expect(send()).rejects.toMatchObject({ code: 'temporarily_unavailable' })
    })
    const away = { limitsOf: () => Promise.reject(new Error('The database is away')) }
    await whileLimited(server, away, async () => {
      const failure = await send().catch((error) => error)
      expect(server.oauth.guard.refusal(failure).status).toBe(503)
    })
    expect(all(await send(), PLACE)).toBe('passes')
  })
})

describe('scope limits (threat G10)', () => {
  const credentials = (token: string): GuardCredentials => ({
    authorization: `Bearer ${token}`,
    cookie: null,
    csrfToken: null,
  })

  it('apply to a token with the scope *, which has all other scopes', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: '*' })
    const send = bearer('api', access_token)
    await whileLimited(server, new Plan(PLACE), async () => {
      const caller = await send()
      expect(caller.scopes).toEqual(['*'])
      expect(all(caller, PLACE)).toBe(`402 ${PLACE}`)
      expect(all(caller, CHECK, 'any-other')).toBe('passes')
      expect(all(caller, MACHINE)).toBe('403 with a challenge')
    })
    expect(all(await send(), PLACE)).toBe('passes')
  })

  it('apply in cookie mode, where the limiter gets the user id and no client id', async () => {
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const send = () =>
      server.oauth.guard.authenticate('api', { authorization: undefined, cookie, csrfToken })
    const plan = new Plan(PLACE)
    await whileLimited(server, plan, async () => {
      const caller = await send()
      expect(plan.asked).toEqual([{ userId: 'ada', clientId: null }])
      expect(all(caller, PLACE)).toBe(`402 ${PLACE}`)
      expect(all(caller, CHECK)).toBe('passes')
      expect(all(caller, MACHINE)).toBe('403 with a challenge')
    })
    expect(all(await send(), PLACE)).toBe('passes')
  })

  it('apply to machine scopes', async () => {
    const form = { grant_type: 'client_credentials', scope: MACHINE }
    const send = bearer('client', (await ask(robot, form)).access_token)
    await whileLimited(server, new Plan(MACHINE), async () => {
      expect(all(await send(), MACHINE)).toBe(`402 ${MACHINE}`)
    })
  })

  it('do not apply to the scopes of OpenID Connect, so that sign-in and UserInfo keep working', async () => {
    const { access_token } = await runCodeFlow(server, app, { scope: 'openid email' })
    await whileLimited(server, new Plan('openid', 'email'), async () => {
      const caller = await bearer('api', access_token)()
      expect(all(caller, 'openid', 'email')).toBe('passes')
      const headers = { authorization: `Bearer ${access_token}` }
      expect((await server.request('/oauth/userinfo', { headers })).status).toBe(200)
    })
  })

  it('can differ from user to user', async () => {
    const send = async (userId: string) => {
      const request = { userId, name: 'Script', scopes: [PLACE] }
      const { accessToken } = await server.oauth.tokens.createPersonal(request)
      return bearer('api', accessToken)()
    }
    const free = {
      limitsOf: ({ userId }: LimitedSubject) => (userId === 'ada' ? withholding(PLACE) : null),
    }
    await whileLimited(server, free, async () => {
      expect((await send('ada')).tokenCan(PLACE)).toBe(false)
      expect((await send('bob')).tokenCan(PLACE)).toBe(true)
    })
  })

  it('apply together if there are several limiters', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: BOTH })
    await whileLimited(server, new Plan(PLACE), () =>
      whileLimited(server, new Plan(CHECK), async () => {
        const caller = await bearer('api', access_token)()
        expect(all(caller, CHECK)).toBe(`402 ${CHECK}`)
        expect(all(caller, PLACE, CHECK)).toBe(`402 ${PLACE}`)
      }),
    )
  })

  it('take effect in a running request when they change, because every check asks again', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: BOTH })
    let ended = false
    const trial = {
      limitsOf: () => ({ ...withholding(), allows: () => !ended }),
    }
    await whileLimited(server, trial, async () => {
      const caller = await bearer('api', access_token)()
      expect(caller.tokenCan(PLACE)).toBe(true)
      ended = true
      expect(caller.tokenCan(PLACE)).toBe(false)
    })
  })

  it('are not requested for callers without a valid token for this API', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: BOTH, resource: API })
    const { access_token: own } = await ask(robot, { grant_type: 'client_credentials' })
    const plan = new Plan(PLACE)
    await whileLimited(server, plan, async () => {
      for (const token of ['garbage', access_token, own]) {
        await expect(bearer('api', token)()).rejects.toMatchObject({ code: 'invalid_token' })
      }
      const none = { authorization: undefined, cookie: 'tollgate_token=x', csrfToken: 'y' }
      await expect(server.oauth.guard.authenticate('api', none)).rejects.toMatchObject({
        code: 'invalid_token',
      })
    })
    expect(plan.asked).toEqual([])
  })

  it('do not make the guard asynchronous for a cached token, if the limiter answers synchronously', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: BOTH })
    const authenticate = () => server.oauth.guard.authenticate('api', credentials(access_token))
    for (let time = 0; time < 3; time += 1) await authenticate()
    expect(authenticate()).not.toBeInstanceOf(Promise)
    await whileLimited(server, new Plan(PLACE), async () => {
      expect(authenticate()).not.toBeInstanceOf(Promise)
    })
  })

  it('do not appear in the JSON of a caller', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: BOTH })
    const { cookie, csrfToken } = await server.cookieMode('ada')
    const callers = () =>
      Promise.all([
        server.oauth.guard.authenticate('api', credentials(access_token)),
        server.oauth.guard.authenticate('api', { authorization: undefined, cookie, csrfToken }),
      ])
    const before = JSON.stringify(await callers())
    expect(before).toContain('"id":"ada"')
    await whileLimited(server, new Plan(PLACE), async () => {
      expect(JSON.stringify(await callers())).toBe(before)
    })
  })

  it('are requested by owner key (provider/id) if there are several user providers, also at the guard of one provider', async () => {
    const several = await startServer({
      users: { customers: new TestUsers(), admins: new TestUsers() },
    })
    try {
      const client = await createClient(several, { grants: ['password'], provider: 'admins' })
      const form = { ...ADA, client_id: client.id, client_secret: client.secret, scope: PLACE }
      const reply = await several.post('/oauth/token', form)
      const { access_token } = (await reply.json()) as TokenReply
      const plan = new Plan(PLACE)
      await whileLimited(several, plan, async () => {
        for (const guard of [several.oauth.guard, several.oauth.guardFor({ provider: 'admins' })]) {
          const caller = await guard.authenticate('api', credentials(access_token))
          expect(caller.tokenCan(PLACE)).toBe(false)
        }
        const others = several.oauth.guardFor({ provider: 'customers' })
        await expect(
          (async () => others.authenticate('api', credentials(access_token)))(),
        ).rejects.toMatchObject({ code: 'invalid_token' })
      })
      const subject = { userId: 'admins/ada', clientId: client.id }
      expect(plan.asked).toEqual([subject, subject])
    } finally {
      await several.close()
    }
  })

  it("make the guard return the limiter's response unchanged", async () => {
    const { access_token } = await ask(app, { ...ADA, scope: PLACE })
    await whileLimited(server, new Plan(PLACE), async () => {
      const caller = await bearer('api', access_token)()
      const expected = {
        status: 402,
        headers: { 'content-type': PROBLEM, 'cache-control': 'no-store' },
        body: JSON.stringify({ title: 'Not in your plan', scopes: [PLACE] }),
      }
      expect(caller.scopeRefusal([PLACE])).toEqual(expected)
      for (const guard of [server.oauth.guard, server.oauth.guardFor(API)]) {
        try {
          assertScopes(caller, [PLACE])
          expect.unreachable()
        } catch (error) {
          expect(guard.refusal(error)).toEqual(expected)
        }
      }
    })
  })

  it('make the scope check fail with 500, instead of passing, if their refusal() throws', async () => {
    const { access_token } = await ask(app, { ...ADA, scope: PLACE })
    const broken = {
      limitsOf: () => ({
        allows: () => false,
        refusal() {
          throw new Error('no page')
        },
      }),
    }
    await whileLimited(server, broken, async () => {
      const caller = await bearer('api', access_token)()
      expect(all(caller, PLACE)).toBe('500')
    })
  })
})
