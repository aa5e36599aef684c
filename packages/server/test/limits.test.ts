import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { KNOWN_NETWORK_DAYS, MAX_KNOWN_NETWORKS } from '../src/limits/known-networks.ts'
import { createLimits } from '../src/limits/limits.ts'
import { failures, guesses, queuePolicy, rates } from '../src/limits/policies.ts'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'

let service: TestService
beforeAll(async () => {
  // Lets a test use any network.
  service = await startTestService({
    environment: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1' },
  })
  await service.users.create({ email: EMAIL, password: PASSWORD })
})
afterAll(() => service.stop())
beforeEach(async () => {
  await service.database.kysely.deleteFrom('oauth_limits').execute()
  await service.database.kysely.deleteFrom('known_networks').execute()
  // A process remembers exceeded limits until they end.
  service.clock.advance({ hours: 1 })
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

/** Runs ten at a time: hundreds would wait longer for a connection than the database allows. */
async function repeat(count: number, work: (index: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += 10) {
    const size = Math.min(10, count - first)
    await Promise.all(Array.from({ length: size }, (_, index) => work(first + index)))
  }
}

/** Signs in with a wrong password this often. */
async function fail(count: number, address: string): Promise<void> {
  for (let tries = 0; tries < count; tries++) expect(await signIn('wrong', address)).toBe(401)
}

/** Counts a wrong password without the work of hashing it. */
function failPassword(account: string, network: string): Promise<void> {
  return service.limits.tryPassword(
    { account, network },
    async () => undefined,
    () => 'wrong',
  )
}

/** Uses up the limit of an account from a hundred networks. */
function failEverywhere(account: string): Promise<void> {
  return repeat(guesses.passwordAccount.max, (network) =>
    failPassword(account, `10.0.${network}.1`),
  )
}

describe('password checks', () => {
  it('are limited to ten per account and network; after that, the response is 429 with Retry-After (threat L2)', async () => {
    await fail(guesses.passwordPair.max, '203.0.113.1')
    const refused = await service
      .browser()
      .post('/login', { email: EMAIL, password: PASSWORD }, from('203.0.113.1'))
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(guesses.passwordPair.seconds)
    expect(await refused.text()).toContain('Please try again in')
    // The owner elsewhere, and other people here, are not affected.
    expect(await signIn(PASSWORD, '203.0.113.2')).toBe(303)
    expect(await signIn('wrong', '203.0.113.1', 'bob@example.com')).toBe(401)
    service.clock.advance({ seconds: wait })
    expect(await signIn(PASSWORD, '203.0.113.1')).toBe(303)
  })

  it('are limited in the same way for an unknown account', async () => {
    const email = 'nobody@example.com'
    for (let tries = 0; tries < guesses.passwordPair.max; tries++) {
      expect(await signIn('wrong', '203.0.113.3', email)).toBe(401)
    }
    expect(await signIn('wrong', '203.0.113.3', email)).toBe(429)
  })

  it('are counted from zero again after a correct password', async () => {
    await fail(9, '203.0.113.4')
    expect(await signIn(PASSWORD, '203.0.113.4')).toBe(303)
    await fail(9, '203.0.113.4')
    expect(await signIn(PASSWORD, '203.0.113.4')).toBe(303)
  })

  it('are limited to ten even if fifty arrive concurrently', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => signIn('wrong', '203.0.113.5')),
    )
    // An attempt that met a busy database was not checked, and may be repeated.
    expect(answers.filter((status) => ![401, 429, 503].includes(status))).toEqual([])
    do answers.push(await signIn('wrong', '203.0.113.5'))
    while (answers.at(-1) !== 429)
    expect(answers.filter((status) => status === 401)).toHaveLength(guesses.passwordPair.max)
  })

  it('are counted together for the sign-in page and the password grant', async () => {
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

  it('are counted per /64 network for IPv6 addresses', async () => {
    for (let tries = 0; tries < guesses.passwordPair.max; tries++) {
      expect(await signIn('wrong', `2001:db8:1:2::${tries + 1}`)).toBe(401)
    }
    expect(await signIn(PASSWORD, '2001:db8:1:2:ffff::1')).toBe(429)
    expect(await signIn(PASSWORD, '2001:db8:1:3::1')).toBe(303)
  })

  it('are blocked after attempts from many networks, but not for the owner in a network that the owner used before (threat N2)', async () => {
    expect(await signIn(PASSWORD, '198.51.100.1')).toBe(303)
    expect(await signIn(PASSWORD, '2001:db8:a:b::1')).toBe(303)
    await failEverywhere(EMAIL)
    expect(await signIn(PASSWORD, '198.51.100.99')).toBe(429)
    expect(await signIn(PASSWORD, '198.51.100.1')).toBe(303)
    expect(await signIn(PASSWORD, '2001:db8:a:b:c::2')).toBe(303)
    expect(await signIn(PASSWORD, '2001:db8:a:c::1')).toBe(429)
  })

  it('are blocked for a network after attempts on many accounts, except for people who signed in from there before', async () => {
    expect(await signIn(PASSWORD, '192.0.2.1')).toBe(303)
    await repeat(guesses.passwordNetwork.max, (account) =>
      failPassword(`${account}@example.com`, '192.0.2.1'),
    )
    expect(await signIn('wrong', '192.0.2.1', 'one-more@example.com')).toBe(429)
    expect(await signIn(PASSWORD, '192.0.2.1')).toBe(303)
  })

  it('stay possible from a network that is used every day, even after the time for which unused networks are remembered', async () => {
    for (let day = 0; day < KNOWN_NETWORK_DAYS + 10; day += 5) {
      expect(await signIn(PASSWORD, '198.51.100.2')).toBe(303)
      service.clock.advance({ days: 5 })
    }
    await failEverywhere(EMAIL)
    expect(await signIn(PASSWORD, '198.51.100.2')).toBe(303)
    service.clock.advance({ days: KNOWN_NETWORK_DAYS + 1 })
    await failEverywhere(EMAIL)
    expect(await signIn(PASSWORD, '198.51.100.2')).toBe(429)
  })

  it('are not blocked in the network in which the account was created', async () => {
    const email = 'new@example.com'
    const made = await service
      .browser()
      .post('/register', { email, password: PASSWORD }, from('198.51.100.3'))
    expect(made.status).toBe(303)
    await failEverywhere(email)
    expect(await signIn(PASSWORD, '198.51.100.3', email)).toBe(303)
  })

  it('are not blocked for a signed-in person who changes the password, whatever others try', async () => {
    const email = 'mover@example.com'
    await service.users.create({ email, password: PASSWORD })
    const browser = service.browser()
    await browser.post('/login', { email, password: PASSWORD }, from('198.51.100.4'))
    await failEverywhere(email)
    // On a train: from a network that the account was never used from.
    const change = async (current: string) => {
      const form = { csrf_token: await browser.csrfToken(), current, password: 'another horse' }
      return (await browser.post('/account/password', form, from('198.51.100.5'))).status
    }
    expect(await change('wrong')).toBe(422)
    expect(await change(PASSWORD)).toBe(303)
    for (let tries = 0; tries < guesses.passwordSession.max; tries++) {
      expect(await change('wrong')).toBe(422)
    }
    expect(await change('another horse')).toBe(429)
  })

  it('are not counted if they fail for another reason than a wrong password', async () => {
    const by = { account: EMAIL, network: '203.0.113.9' }
    for (let tries = 0; tries < guesses.passwordPair.max + 5; tries++) {
      const away = service.limits.tryPassword(
        by,
        () => Promise.reject(new Error('too busy')),
        () => 'right',
      )
      await expect(away).rejects.toThrow('too busy')
    }
    expect(await signIn(PASSWORD, '203.0.113.9')).toBe(303)
  })

  it('are possible for other networks when one network has used up its share (threat L3)', async () => {
    const { maxRunningPerNetwork, maxPerNetwork } = queuePolicy
    const finish: Array<() => void> = []
    const slow = Array.from({ length: maxPerNetwork }, (_, index) =>
      service.limits.tryPassword(
        { account: `${index}@example.com`, network: '203.0.113.10' },
        () => new Promise<void>((resolve) => finish.push(resolve)),
        () => 'unseen',
      ),
    )
    await expect.poll(() => finish.length).toBe(maxRunningPerNetwork)
    expect(await signIn(PASSWORD, '203.0.113.10')).toBe(429)
    expect(await signIn(PASSWORD, '203.0.113.11')).toBe(303)
    for (let done = 0; done < maxPerNetwork; done += 1) {
      await expect.poll(() => finish.length).toBeGreaterThan(0)
      finish.shift()?.()
    }
    await Promise.all(slow)
    expect(await signIn(PASSWORD, '203.0.113.10')).toBe(303)
  })

  it('remain possible during an attack only for a limited number of known networks, those used last', async () => {
    const digits = Array.from({ length: MAX_KNOWN_NETWORKS + 5 }, (_, index) => index + 1)
    for (const last of digits) {
      service.clock.advance({ seconds: 1 })
      await service.limits.rememberNetwork('traveller@example.com', `198.51.100.${last}`)
    }
    const rows = await service.database.kysely.selectFrom('known_networks').selectAll().execute()
    const networks = rows.map(({ name }) => Number(String(name).split('.').at(-1)))
    expect(networks.sort((a, b) => a - b)).toEqual(digits.slice(5))
  })
})

describe('client secrets', () => {
  const wrongSecret = (clientId: string, address: string) =>
    token({ grant_type: 'client_credentials', client_id: clientId, client_secret: 'no' }, address)

  it('are accepted if correct, however many wrong ones others send', async () => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const right = { client_id: id, client_secret: secret ?? '' }
    // Thirty from each of 35 addresses, and from the last one more than a network may fail.
    const fail = async (client: string, network: string) => {
      await service.limits.countWrong('secret', client, network).catch(() => undefined)
    }
    await repeat(35 * 30, (index) => fail(id, `203.0.113.${100 + Math.floor(index / 30)}`))
    await repeat(failures.tokenNetwork.points, (index) => fail(`client ${index}`, '203.0.113.134'))
    expect((await wrongSecret(id, '198.51.100.20')).status).toBe(429)
    expect((await wrongSecret('one more', '203.0.113.134')).status).toBe(429)
    for (const address of ['203.0.113.100', '203.0.113.134', '198.51.100.20']) {
      const grant = { ...right, grant_type: 'client_credentials' }
      const issued = await token(grant, address)
      expect(issued.status).toBe(200)
      const { access_token } = (await issued.json()) as { access_token: string }
      for (const route of ['introspect', 'revoke']) {
        const response = await fetch(`${service.url}/oauth/${route}`, {
          method: 'POST',
          headers: from(address),
          body: new URLSearchParams({ ...right, token: access_token }),
        })
        expect(response.status).toBe(200)
      }
    }
  })

  it('are limited to thirty wrong ones per client and network (threat L2)', async () => {
    const { id = '' } = service.demo?.clients.service ?? {}
    for (let tries = 0; tries < failures.clientPair.points; tries++) {
      expect((await wrongSecret(id, '203.0.113.20')).status).toBe(401)
    }
    const refused = await wrongSecret(id, '203.0.113.20')
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ error: 'too_many_requests' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('cache-control')).toBe('no-store')
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect((await wrongSecret(id, '203.0.113.21')).status).toBe(401)
    for (const route of ['introspect', 'revoke']) {
      const response = await fetch(`${service.url}/oauth/${route}`, {
        method: 'POST',
        headers: from('203.0.113.20'),
        body: new URLSearchParams({ client_id: id, client_secret: 'no', token: 'x' }),
      })
      expect(response.status).toBe(429)
    }
    // Basic authentication names the same client.
    const basic = Buffer.from(`${id}:no`).toString('base64')
    const header = { authorization: `Basic ${basic}` }
    const form = { grant_type: 'client_credentials' }
    expect((await token(form, '203.0.113.20', header)).status).toBe(429)
    expect((await token(form, '203.0.113.22', header)).status).toBe(401)
  })
})

describe('authorization codes and refresh tokens', () => {
  it('are limited per client and network if they are wrong, and always accepted if they are correct', async () => {
    const { id = '', secret } = service.demo?.clients.password ?? {}
    const client = { client_id: id, client_secret: secret ?? '' }
    const guess = { ...client, grant_type: 'refresh_token', refresh_token: 'tgr_guess' }
    const { refresh_token } = (await (await passwordGrant(PASSWORD, '203.0.113.30')).json()) as {
      refresh_token: string
    }
    await repeat(failures.grantPair.points, async () => {
      expect((await token(guess, '203.0.113.30')).status).toBe(400)
    })
    expect((await token(guess, '203.0.113.30')).status).toBe(429)
    expect((await token(guess, '203.0.113.31')).status).toBe(400)
    const right = { ...client, grant_type: 'refresh_token', refresh_token }
    expect((await token(right, '203.0.113.30')).status).toBe(200)
  })
})

describe('a card on the billing page', () => {
  it('is accepted from a person who has paid from this network before, although cards of others were declined there', async () => {
    const { limits } = service
    await (await limits.attemptCard('1', '203.0.113.60')).accepted()
    for (let tries = 0; tries < guesses.cardsNetwork.max; tries++) {
      await (await limits.attemptCard(String(1000 + tries), '203.0.113.60')).declined()
    }
    await expect(limits.attemptCard('2', '203.0.113.60')).rejects.toThrow('Too many attempts')
    for (let tries = 0; tries < guesses.cardsAccount.max; tries++) {
      await (await limits.attemptCard('1', '203.0.113.60')).withdrawn()
      await (await limits.attemptCard('1', '203.0.113.60')).declined()
    }
    await expect(limits.attemptCard('1', '203.0.113.60')).rejects.toThrow('Too many attempts')
  })
})

describe('the counters of rate limits', () => {
  it('are shared by all processes and survive restarts', async () => {
    await fail(guesses.passwordPair.max, '203.0.113.40')
    const other = createLimits(service.database, service.clock)
    const attempt = other.tryPassword(
      { account: EMAIL, network: '203.0.113.40' },
      async () => undefined,
      () => 'right',
    )
    await expect(attempt).rejects.toThrow('Too many attempts')
  })

  it('are exact for concurrent attempts', async () => {
    const others = Array.from({ length: 4 }, () => createLimits(service.database, service.clock))
    const attempts = others.flatMap((limits) =>
      Array.from({ length: 10 }, () =>
        limits
          .tryPassword(
            { account: 'busy@example.com', network: '203.0.113.41' },
            async () => undefined,
            () => 'wrong',
          )
          .then(
            () => 'in',
            () => 'out',
          ),
      ),
    )
    const outcomes = await Promise.all(attempts)
    expect(outcomes.filter((outcome) => outcome === 'in')).toHaveLength(10)
  })

  it('are deleted only after they have expired', async () => {
    await fail(1, '203.0.113.42')
    const rows = async () =>
      (await service.database.kysely.selectFrom('oauth_limits').selectAll().execute()).length
    await service.oauth.purge()
    expect(await rows()).toBe(3)
    service.clock.advance({ hours: 2 })
    await service.oauth.purge()
    expect(await rows()).toBe(0)
  })

  it('include new accounts per network, but not errors in the registration form', async () => {
    const mistake = { email: 'late', password: PASSWORD }
    for (let count = 0; count < rates.registrations.points + 1; count++) {
      const told = await service.browser().post('/register', mistake, from('203.0.113.51'))
      expect(told.status).toBe(422)
    }
    for (let count = 0; count < rates.registrations.points; count++) {
      await service.limits.register('203.0.113.50', async () => {})
    }
    const form = { email: 'late@example.com', password: PASSWORD }
    const refused = await service.browser().post('/register', form, from('203.0.113.50'))
    expect(refused.status).toBe(429)
  })
})

describe('the forwarded IP address of a caller', () => {
  it('counts only if a configured proxy sent it (threat I5)', async () => {
    const plain = await startTestService()
    try {
      const attempt = (address: string) =>
        plain.browser().post('/login', { email: EMAIL, password: 'wrong' }, from(address))
      for (let tries = 0; tries < guesses.passwordPair.max; tries++) {
        expect((await attempt(`203.0.113.${tries}`)).status).toBe(401)
      }
      expect((await attempt('203.0.113.200')).status).toBe(429)
    } finally {
      await plain.stop()
    }
  })
})
