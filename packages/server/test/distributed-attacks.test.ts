import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const HOME = '198.51.100.1'
const ELSEWHERE = '198.51.100.2'
const CALLBACK = 'https://app.example/callback'
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'
const PKCE = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
const NETWORKS = 1000

let service: TestService
let app: string
beforeAll(async () => {
  service = await startTestService({
    environment: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1', TOLLGATE_CLIENT_DOCUMENTS: 'on' },
  })
  await service.users.create({ email: EMAIL, password: PASSWORD })
  const { client } = await service.oauth.clients.create({
    name: 'App',
    redirect: CALLBACK,
    grants: ['authorization_code', DEVICE_CODE],
    confidential: false,
  })
  app = client.id
})
afterAll(() => service.stop())
beforeEach(() => resetAllLimits())

/** Resets all limits. A process remembers exceeded ones until they end. */
async function resetAllLimits(): Promise<void> {
  for (const table of ['oauth_limits', 'oauth_tickets', 'known_networks']) {
    await service.database.kysely.deleteFrom(table).execute()
  }
  service.clock.advance({ hours: 1 })
}

function send(path: string, address: string, body: Record<string, string> | string) {
  const isJson = typeof body === 'string'
  return fetch(`${service.url}${path}`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'x-forwarded-for': address,
      ...(isJson ? { 'content-type': 'application/json' } : {}),
    },
    body: isJson ? body : new URLSearchParams(body),
  })
}

const clientOf = (name: 'password' | 'service') => {
  const { id = '', secret } = service.demo?.clients[name] ?? {}
  return { client_id: id, client_secret: secret ?? '' }
}

/** Correct requests, and the status of each. */
const right = {
  signIn: [303, (from: string) => send('/login', from, { email: EMAIL, password: PASSWORD })],
  passwordGrant: [
    200,
    (from: string) =>
      send('/oauth/token', from, {
        ...clientOf('password'),
        grant_type: 'password',
        username: EMAIL,
        password: PASSWORD,
      }),
  ],
  clientSecret: [
    200,
    (from: string) =>
      send('/oauth/token', from, { ...clientOf('service'), grant_type: 'client_credentials' }),
  ],
  push: [
    201,
    (from: string) =>
      send('/oauth/par', from, { client_id: app, response_type: 'code', ...PKCE, junk: 'x' }),
  ],
  device: [200, (from: string) => send('/oauth/device_authorization', from, { client_id: app })],
  registerClient: [
    201,
    (from: string) => send('/oauth/register', from, JSON.stringify({ redirect_uris: [CALLBACK] })),
  ],
} as const satisfies Record<string, readonly [number, (from: string) => Promise<Response>]>

/**
 * Requests of strangers: everything that is valid without a secret, and everything that is wrong.
 */
const strange: readonly ((from: string, number: number) => Promise<Response>)[] = [
  (from) => right.push[1](from),
  (from) => right.device[1](from),
  (from) => right.registerClient[1](from),
  (from) => send('/login', from, { email: EMAIL, password: 'wrong' }),
  (from, number) => send('/login', from, { email: `n${number}@example.com`, password: 'wrong' }),
  (from, number) =>
    send('/register', from, { email: `${from}-${number}@example.com`, password: PASSWORD }),
  (from) =>
    send('/oauth/token', from, {
      ...clientOf('password'),
      grant_type: 'password',
      username: EMAIL,
      password: 'wrong',
    }),
  (from) =>
    send('/oauth/token', from, {
      ...clientOf('service'),
      client_secret: 'wrong',
      grant_type: 'client_credentials',
    }),
  (from, number) =>
    send('/oauth/token', from, { client_id: `c${number}`, client_secret: 'x', grant_type: 'x' }),
  (from) =>
    send('/oauth/token', from, {
      client_id: app,
      grant_type: 'authorization_code',
      code: 'guess',
      redirect_uri: CALLBACK,
    }),
  (from, number) => {
    const query = new URLSearchParams({
      client_id: `https://127.0.0.1:1/${number}`,
      response_type: 'code',
      ...PKCE,
    })
    const headers = { 'x-forwarded-for': from }
    return fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual', headers })
  },
  (from) => send('/oauth/par', from, 'not a form'),
  (from) => send('/oauth/token', from, { garbage: '\u0000' }),
]

const addressOf = (network: number) => `100.64.${network >> 8}.${network & 255}`

interface StrangerRequest {
  readonly network: number
  readonly what: number
  readonly times: number
}

/** Sends sixteen at a time. */
async function flood(requests: readonly StrangerRequest[]): Promise<number[]> {
  const all = requests.flatMap(({ network, what, times }, index) =>
    Array.from(
      { length: times },
      (_, count) => () => strange[what]?.(addressOf(network), index * 100 + count),
    ),
  )
  const statuses: number[] = []
  const next = all.values()
  const worker = async () => {
    for (const work of next) {
      const response = await work()
      await response?.arrayBuffer()
      statuses.push(response?.status ?? 0)
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  return statuses
}

async function statusesFrom(address: string): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  for (const [name, [, ask]] of Object.entries(right)) statuses[name] = (await ask(address)).status
  return statuses
}

const allRight = Object.fromEntries(Object.entries(right).map(([name, [status]]) => [name, status]))

describe('attacks from up to a thousand networks (threat Q6)', () => {
  it('cannot block a correct request from a known network, and can at most delay password checks from other networks', async () => {
    const requests = fc.array(
      fc.record({
        network: fc.integer({ min: 0, max: NETWORKS - 1 }),
        what: fc.integer({ min: 0, max: strange.length - 1 }),
        times: fc.integer({ min: 1, max: 12 }),
      }),
      { minLength: 10, maxLength: 40 },
    )
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        await resetAllLimits()
        expect((await right.signIn[1](HOME)).status).toBe(303)
        const statuses = await flood(sent)
        expect(statuses.filter((status) => status === 500)).toEqual([])
        expect(await statusesFrom(HOME)).toEqual(allRight)
        const { signIn, passwordGrant, ...others } = await statusesFrom(ELSEWHERE)
        const { signIn: _, passwordGrant: __, ...expected } = allRight
        expect(others).toEqual(expected)
        // Only the limit of the account may delay these (threat L2).
        expect([303, 429]).toContain(signIn)
        expect([200, 429]).toContain(passwordGrant)
      }),
      { numRuns: 12 },
    )
  }, 300_000)

  it('can block only password checks for the attacked account, even if the attackers guess, register accounts and push requests at the same time', async () => {
    expect((await right.signIn[1](HOME)).status).toBe(303)
    const kinds = [0, 1, 2, 3, 7]
    const sent = kinds.flatMap((what) =>
      Array.from({ length: NETWORKS }, (_, network) => ({ network, what, times: 1 })),
    )
    const statuses = await flood(sent)
    expect(statuses.filter((status) => status >= 500)).toEqual([])
    expect(await statusesFrom(HOME)).toEqual(allRight)
    // By now the password is not checked any more from unknown networks.
    const elsewhere = { ...allRight, signIn: 429, passwordGrant: 429 }
    expect(await statusesFrom(ELSEWHERE)).toEqual(elsewhere)
  }, 300_000)
})
