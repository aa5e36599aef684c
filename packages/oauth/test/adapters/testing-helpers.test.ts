import {
  type AuthorizationServer,
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  memoryStorage,
  type Storage,
} from '@tollgate/oauth'
import { forHono, type HonoGuardVariables } from '@tollgate/oauth/hono'
import {
  actingAs,
  actingAsClient,
  type Duration,
  type MovableClock,
  movableClock,
  storageContract,
} from '@tollgate/oauth/testing'
import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'

interface Customer {
  readonly id: number
  readonly name: string
}

const ada: Customer = { id: 7, name: 'Ada' }

/** An application as its author would test it: in memory, without a network. */
function createShop(oauth: AuthorizationServer<Customer>) {
  const { auth, scopes } = forHono(oauth)
  const app = new Hono<{ Variables: HonoGuardVariables<Customer> }>()
  app.get('/me', auth('api'), async (c) => c.json((await c.get('user').find())?.name ?? null))
  app.get('/reports', auth('client'), scopes('check-status'), (c) =>
    c.json(c.get('oauthClient').clientId),
  )
  app.get('/orders', auth('api'), scopes('place-orders'), (c) => c.json([]))
  return app
}

let test: TestDatabase
let clock: MovableClock
let oauth: AuthorizationServer<Customer>
beforeEach(async () => {
  test = await createTestDatabase()
  clock = movableClock(new Date('2030-06-01T12:00:00Z'))
  oauth = createAuthorizationServer<Customer>({
    issuer: 'http://localhost:3000',
    secret: 'a secret for tests, long enough to be one',
    database: test.database,
    users: {
      findById: async (id) => (id === '7' ? ada : null),
      fromRequest: async () => null,
    },
    scopes: { 'place-orders': 'Place orders', 'check-status': 'Check order status' },
    grants: [authorizationCode(), clientCredentials()],
    personalAccessTokensExpireIn: '10d',
    clock,
  })
})
afterEach(async () => {
  oauth.close()
  await test.drop()
})

describe('actingAs', () => {
  it('makes a request as the user without any preparation', async () => {
    const headers = { ...(await actingAs(oauth, ada)) }
    const reply = await createShop(oauth).request('/me', { headers })
    expect(await reply.json()).toBe('Ada')
  })

  it.each([
    [['place-orders'], 200],
    [['place-orders', 'check-status'], 200],
    [['*'], 200],
    [['check-status'], 403],
    [[], 403],
  ])(
    'issues a token with the scopes %j, which gets status %i from a route that requires place-orders',
    async (scopes, status) => {
      const headers = { ...(await actingAs(oauth, ada, scopes)) }
      expect((await createShop(oauth).request('/orders', { headers })).status).toBe(status)
    },
  )

  it('rejects a scope that the application does not define', async () => {
    await expect(actingAs(oauth, ada, ['mistyped'])).rejects.toThrow('mistyped')
  })

  it('issues a real token, which expires and is revoked like any other', async () => {
    const headers = { ...(await actingAs(oauth, ada)) }
    await oauth.revokeUser(ada.id)
    expect((await createShop(oauth).request('/me', { headers })).status).toBe(401)
  })
})

describe('actingAsClient', () => {
  const createRobot = (settings = {}) =>
    oauth.clients.create({ name: 'Robot', grants: ['client_credentials'], settings })

  it('makes a request as the client itself', async () => {
    const robot = await createRobot()
    const headers = { ...(await actingAsClient(oauth, robot, ['check-status'])) }
    const reply = await createShop(oauth).request('/reports', { headers })
    expect(await reply.json()).toBe(robot.client.id)
    expect((await createShop(oauth).request('/me', { headers })).status).toBe(401)
  })

  it('grants only the given scopes', async () => {
    const headers = { ...(await actingAsClient(oauth, await createRobot())) }
    expect((await createShop(oauth).request('/reports', { headers })).status).toBe(403)
  })

  it('authenticates the client by the method in its settings', async () => {
    const robot = await createRobot({ token_endpoint_auth_method: 'client_secret_post' })
    const headers = { ...(await actingAsClient(oauth, robot, ['check-status'])) }
    expect((await createShop(oauth).request('/reports', { headers })).status).toBe(200)
  })

  it('throws the error of the token endpoint if no token is issued', async () => {
    const robot = await createRobot()
    await expect(actingAsClient(oauth, robot, ['mistyped'])).rejects.toThrow('mistyped')
    const app = await oauth.clients.create({ name: 'App', redirect: 'https://app.example/' })
    await expect(actingAsClient(oauth, app)).rejects.toThrow('unauthorized_client')
  })
})

describe('movableClock', () => {
  it('stands still until a test advances it', async () => {
    const before = clock.now()
    await actingAs(oauth, ada)
    expect(clock.now()).toEqual(before)
  })

  it('makes a token expire when a test advances it', async () => {
    const app = createShop(oauth)
    const headers = { ...(await actingAs(oauth, ada)) }
    clock.advance({ days: 9 })
    expect((await app.request('/me', { headers })).status).toBe(200)
    clock.advance({ hours: 23, minutes: 59, seconds: 59 })
    expect((await app.request('/me', { headers })).status).toBe(200)
    clock.advance({ seconds: 1 })
    expect((await app.request('/me', { headers })).status).toBe(401)
  })

  it('can be set to any time, and is not affected when a caller changes the Date that now() returned', () => {
    clock.set(new Date('2040-01-01T00:00:00Z'))
    clock.now().setFullYear(1999)
    expect(clock.now().toISOString()).toBe('2040-01-01T00:00:00.000Z')
  })

  it('moves by calendar months and years, like the clock of the sandbox', () => {
    clock.set(new Date('2031-12-31T12:00:00Z'))
    clock.advance({ years: 1, months: 2, weeks: 1, hours: 1 })
    expect(clock.now().toISOString()).toBe('2033-03-07T13:00:00.000Z')
  })

  it.each(['15d', '', 15, 1.5, null, undefined, { day: 15 }, { days: 1.5 }, { days: '15' }])(
    'rejects %j as a duration to advance by',
    (by) => {
      const before = clock.now()
      expect(() => clock.advance(by as Duration)).toThrow(TypeError)
      expect(clock.now()).toEqual(before)
    },
  )

  it('rejects a negative duration to advance by', () => {
    const before = clock.now()
    expect(() => clock.advance({ days: 1, hours: -25 })).toThrow(RangeError)
    expect(clock.now()).toEqual(before)
  })
})

/** Runs the contract as a test runner would, and returns the names of the failed tests. */
async function failuresOf(create: () => Promise<Storage>): Promise<string[]> {
  const tests: Array<{ name: string; body: () => Promise<void> }> = []
  storageContract(
    {
      describe: (_name, body) => body(),
      it: (name, body) => tests.push({ name, body }),
    },
    create,
  )
  const failed: string[] = []
  for (const { name, body } of tests) await body().catch(() => failed.push(name))
  return failed
}

describe('storageContract() (the test suite for custom storage)', () => {
  storageContract({ describe, it }, async () => memoryStorage())

  it('runs in any test runner that has describe and it', async () => {
    expect(await failuresOf(async () => memoryStorage())).toEqual([])
  })

  it('fails for a storage in which a code can be exchanged twice', async () => {
    const careless = async (): Promise<Storage> => {
      const storage = memoryStorage()
      const exchange: Storage['codes']['exchange'] = async (...args) => {
        await storage.codes.exchange(...args)
        return true
      }
      return { ...storage, codes: { ...storage.codes, exchange } }
    }
    expect(await failuresOf(careless)).not.toEqual([])
  })

  it('fails for a storage that does not publish a revocation', async () => {
    const silent = async (): Promise<Storage> => {
      const storage = memoryStorage()
      const readFrom = async () => ({ entries: [], now: new Date() })
      return { ...storage, revocations: { ...storage.revocations, readFrom } }
    }
    expect(await failuresOf(silent)).not.toEqual([])
  })
})
