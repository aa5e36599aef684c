import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLimits } from '../src/limits/limits.ts'
import { policies } from '../src/limits/policies.ts'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const MINUTE = 60

let service: TestService
beforeAll(async () => {
  // So that a test can come from any network.
  service = await startTestService({
    environment: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1' },
  })
  await service.users.create({ email: EMAIL, password: PASSWORD })
})
afterAll(() => service.stop())
beforeEach(async () => {
  await service.database.kysely.deleteFrom('rate_limits').execute()
  // The service remembers for a second what it saw.
  service.clock.advance(MINUTE)
})

const from = (address: string) => ({ 'x-forwarded-for': address })

async function signIn(password: string, address: string, email = EMAIL): Promise<number> {
  const response = await service.browser().post('/login', { email, password }, from(address))
  return response.status
}

function token(
  form: Record<string, string>,
  address: string,
  headers: Record<string, string> = {},
) {
  return fetch(`${service.url}/oauth/token`, {
    method: 'POST',
    headers: { ...from(address), ...headers },
    body: new URLSearchParams(form),
  })
}

function passwordGrant(password: string, address: string) {
  const { id = '', secret } = service.demo?.clients.password ?? {}
  return token(
    {
      grant_type: 'password',
      client_id: id,
      client_secret: secret ?? '',
      username: EMAIL,
      password,
    },
    address,
  )
}

/** Ten at a time: hundreds would wait for a connection longer than the database may take. */
async function repeat(count: number, work: (index: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += 10) {
    const size = Math.min(10, count - first)
    await Promise.all(Array.from({ length: size }, (_, index) => work(first + index)))
  }
}

/** As if so many had failed. */
async function fail(count: number, address: string): Promise<void> {
  for (let tries = 0; tries < count; tries++) expect(await signIn('wrong', address)).toBe(401)
}

describe('passwords', () => {
  it('of one account from one network are tried ten times, then 429 with Retry-After', async () => {
    await fail(policies.passwordPair.points, '203.0.113.1')
    const refused = await service
      .browser()
      .post('/login', { email: EMAIL, password: PASSWORD }, from('203.0.113.1'))
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(policies.passwordPair.seconds)
    expect(await refused.text()).toContain('Please try again in')
    // The owner elsewhere, and others here, are not concerned.
    expect(await signIn(PASSWORD, '203.0.113.2')).toBe(303)
    expect(await signIn('wrong', '203.0.113.1', 'bob@example.com')).toBe(401)
    service.clock.advance(wait)
    expect(await signIn(PASSWORD, '203.0.113.1')).toBe(303)
  })

  it('are counted the same for somebody unknown', async () => {
    const email = 'nobody@example.com'
    for (let tries = 0; tries < policies.passwordPair.points; tries++) {
      expect(await signIn('wrong', '203.0.113.3', email)).toBe(401)
    }
    expect(await signIn('wrong', '203.0.113.3', email)).toBe(429)
  })

  it('that are right clear the count', async () => {
    await fail(9, '203.0.113.4')
    expect(await signIn(PASSWORD, '203.0.113.4')).toBe(303)
    await fail(9, '203.0.113.4')
    expect(await signIn(PASSWORD, '203.0.113.4')).toBe(303)
  })

  it('tried fifty at once are looked at ten times', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => signIn('wrong', '203.0.113.5')),
    )
    expect(answers.filter((status) => status === 401)).toHaveLength(policies.passwordPair.points)
    expect(answers.filter((status) => status === 429)).toHaveLength(40)
  })

  it('share their count between the sign-in page and the password grant', async () => {
    await fail(5, '203.0.113.6')
    for (let tries = 0; tries < 5; tries++) {
      expect((await passwordGrant('wrong', '203.0.113.6')).status).toBe(400)
    }
    const refused = await passwordGrant(PASSWORD, '203.0.113.6')
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: 'too_many_requests' })
    expect(await signIn(PASSWORD, '203.0.113.6')).toBe(429)
    expect((await passwordGrant(PASSWORD, '203.0.113.60')).status).toBe(200)
  })

  it('are counted by the /64 of an IPv6 address', async () => {
    for (let tries = 0; tries < policies.passwordPair.points; tries++) {
      expect(await signIn('wrong', `2001:db8:1:2::${tries + 1}`)).toBe(401)
    }
    expect(await signIn(PASSWORD, '2001:db8:1:2:ffff::1')).toBe(429)
    expect(await signIn(PASSWORD, '2001:db8:1:3::1')).toBe(303)
  })

  it('tried from many networks lock out strangers, not the owner', async () => {
    expect(await signIn(PASSWORD, '198.51.100.1')).toBe(303)
    // What two hundred networks would have done, without their two hundred hashes.
    await repeat(policies.passwordAccount.points, async (network) => {
      const attempt = await service.limits.attemptPassword(EMAIL, `10.0.${network}.1`)
      await attempt.failed()
    })
    expect(await signIn(PASSWORD, '198.51.100.99')).toBe(429)
    expect(await signIn(PASSWORD, '198.51.100.1')).toBe(303)
  })

  it('tried on many accounts stop the network', async () => {
    await repeat(policies.passwordNetwork.points, async (account) => {
      const attempt = await service.limits.attemptPassword(`${account}@example.com`, '192.0.2.1')
      await attempt.failed()
    })
    expect(await signIn('wrong', '192.0.2.1', 'one-more@example.com')).toBe(429)
  })
})

describe('client secrets', () => {
  const wrongSecret = (clientId: string, address: string) =>
    token({ grant_type: 'client_credentials', client_id: clientId, client_secret: 'no' }, address)

  it('of one client from one network are tried thirty times', async () => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const right = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
    for (let tries = 0; tries < policies.clientPair.points; tries++) {
      expect((await wrongSecret(id, '203.0.113.20')).status).toBe(401)
    }
    const refused = await token(right, '203.0.113.20')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect((await token(right, '203.0.113.21')).status).toBe(200)
    for (const route of ['introspect', 'revoke']) {
      const response = await fetch(`${service.url}/oauth/${route}`, {
        method: 'POST',
        headers: from('203.0.113.20'),
        body: new URLSearchParams({ client_id: id, client_secret: 'no', token: 'x' }),
      })
      expect(response.status).toBe(429)
    }
    // Basic names the same client.
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    const header = { authorization: `Basic ${basic}` }
    const form = { grant_type: 'client_credentials' }
    expect((await token(form, '203.0.113.20', header)).status).toBe(429)
    expect((await token(form, '203.0.113.22', header)).status).toBe(200)
  })

  it('that are right clear the count', async () => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const right = { grant_type: 'client_credentials', client_id: id, client_secret: secret ?? '' }
    for (let round = 0; round < 2; round++) {
      for (let tries = 0; tries < policies.clientPair.points - 1; tries++) {
        await wrongSecret(id, '203.0.113.23')
      }
      expect((await token(right, '203.0.113.23')).status).toBe(200)
    }
  })
})

describe('codes and refresh tokens', () => {
  it('that fail are counted for the client and its network', async () => {
    const { id = '', secret } = service.demo?.clients.web ?? {}
    const client = { client_id: id, client_secret: secret ?? '' }
    const guess = { ...client, grant_type: 'refresh_token', refresh_token: 'tgr_guess' }
    expect((await token(guess, '203.0.113.30')).status).toBe(400)
    await repeat(policies.grantPair.points - 1, () =>
      service.limits.clientFailed('grant', id, '203.0.113.30'),
    )
    expect((await token(guess, '203.0.113.30')).status).toBe(429)
    expect((await token(guess, '203.0.113.31')).status).toBe(400)
  })
})

describe('the counts', () => {
  it('are shared by all processes and outlive them', async () => {
    await fail(policies.passwordPair.points, '203.0.113.40')
    const other = createLimits(service.database, service.clock)
    await expect(other.attemptPassword(EMAIL, '203.0.113.40')).rejects.toThrow('Too many attempts')
  })

  it('are added up exactly by many at once', async () => {
    const others = Array.from({ length: 4 }, () => createLimits(service.database, service.clock))
    const attempts = others.flatMap((limits) =>
      Array.from({ length: 10 }, () =>
        limits.attemptPassword('busy@example.com', '203.0.113.41').then(
          () => 'in',
          () => 'out',
        ),
      ),
    )
    const outcomes = await Promise.all(attempts)
    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(10)
  })

  it('are purged when they have ended, and not before', async () => {
    await fail(1, '203.0.113.42')
    expect(await service.limits.purge()).toBe(0)
    service.clock.advance(120 * MINUTE)
    expect(await service.limits.purge()).toBe(3)
  })

  it('limit new accounts from one network', async () => {
    for (let count = 0; count < policies.registrations.points; count++) {
      await service.limits.countRegistration('203.0.113.50')
    }
    const form = { email: 'late@example.com', password: PASSWORD }
    const refused = await service.browser().post('/register', form, from('203.0.113.50'))
    expect(refused.status).toBe(429)
  })
})

describe('forwarded addresses', () => {
  it('count only from proxies that are configured', async () => {
    const plain = await startTestService()
    try {
      const attempt = (address: string) =>
        plain.browser().post('/login', { email: EMAIL, password: 'wrong' }, from(address))
      for (let tries = 0; tries < policies.passwordPair.points; tries++) {
        expect((await attempt(`203.0.113.${tries}`)).status).toBe(401)
      }
      expect((await attempt('203.0.113.200')).status).toBe(429)
    } finally {
      await plain.stop()
    }
  })
})
