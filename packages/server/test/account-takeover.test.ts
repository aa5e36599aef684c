import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceMail } from '../src/config/shapes.ts'
import { computeTotpCode, totpStepAt } from '../src/factors/totp.ts'
import { newAddress, PASSWORD } from './accounts.ts'
import { createOperatorHelpers } from './admin/operators.ts'
import { createSoftAuthenticator } from './soft-authenticator.ts'
import { startTestService, type TestService } from './support.ts'

const NEW_PASSWORD = 'another horse'
/** Enough work for passwords to queue up when many are hashed at once. */
const COST = { memoryCost: 8192, timeCost: 2, parallelism: 1 }

let service: TestService
const mails: ServiceMail[] = []
beforeAll(async () => {
  const openid = { clientId: 'tollgate', clientSecret: 'client-secret' }
  service = await startTestService({
    environment: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1' },
    options: { passwords: { atOnce: 1, waiting: 20, cost: COST } },
    settings: {
      support: 'help@example.com',
      mail: { send: async (mail) => void mails.push(mail) },
      signInWith: { custom: { acme: { ...openid, name: 'Acme', issuer: 'https://acme.example' } } },
    },
  })
})
beforeEach(() => {
  mails.length = 0
  // Limits count per hour.
  service.clock.advance({ hours: 2 })
})
afterAll(() => service?.stop())

interface Person {
  readonly id: string
  readonly email: string
}

async function createPerson(more: { isVerified?: boolean; role?: 'owner' } = {}): Promise<Person> {
  const email = newAddress('victim')
  const { id } = await service.users.create({ email, password: PASSWORD, ...more })
  return { id, email }
}

async function addPasskey({ id, email }: Person) {
  const authenticator = createSoftAuthenticator()
  const origin = service.url
  const user = { id, email, name: null }
  const { challenge } = await service.factors.passkeys.registration(user, 's')
  const response = authenticator.create({ origin, challenge })
  await service.factors.addPasskey(id, { session: 's', response, name: 'Key' })
  return authenticator
}

/** Adds an authenticator app. Returns a function that returns a fresh code. */
async function addApp(person: Person) {
  const enrolment = service.factors.beginTotp(person)
  const code = () => computeTotpCode(enrolment.secret, totpStepAt(service.clock.now()))
  expect(await service.factors.addTotp(person.id, enrolment, code())).toBe(true)
  return () => {
    service.clock.advance({ seconds: 30 })
    return code()
  }
}

/** Adds every way to sign in, as an intruder with the password can. */
async function addAllWays(person: Person) {
  const passkey = await addPasskey(person)
  await addApp(person)
  await service.factors.renewRecoveryCodes(person.id)
  await service.users.identities.add(person.id, {
    provider: 'acme',
    subject: `acme of ${person.id}`,
    email: 'intruder@example.com',
  })
  return passkey
}

async function signInWithPasskey(passkey: ReturnType<typeof createSoftAuthenticator>) {
  const browser = service.browser()
  const html = await (await browser.get('/login')).text()
  const options = /data-options="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '{}'
  const form = { passkey: passkey.get({ origin: service.url, ...JSON.parse(options) }) }
  return (await browser.post('/login/passkey', form)).status
}

async function mailTo(email: string, kind: string) {
  await service.recovery.process()
  return mails.filter((mail) => mail.to === email && mail.kind === kind)
}

/** Requests a mail, and returns the token of the link in it. */
async function tokenFor(email: string, page: string, kind: string) {
  await service.browser().post(page, { email, name: 'Ada' })
  const [mail] = (await mailTo(email, kind)).slice(-1)
  const [, token = ''] = /token=([\w.-]+)/.exec(mail?.text ?? '') ?? []
  return token
}

const resetToken = (email: string) => tokenFor(email, '/recovery/forgot', 'password_reset')

/** Chooses a new password by the link in a mail. Returns the page that follows. */
async function resetPassword(email: string, password = NEW_PASSWORD) {
  const browser = service.browser()
  const token = await resetToken(email)
  const done = await browser.post('/recovery/reset', { token, password })
  expect(done.status).toBe(303)
  return (await browser.get(done.headers.get('location') ?? '')).text()
}

describe('a new password for an account whose address was never confirmed (threat Q11)', () => {
  it('removes every other way to sign in that a stranger may have added, and says so', async () => {
    const victim = await createPerson()
    const passkey = await addAllWays(victim)
    const { client } = await service.oauth.clients.create({
      name: 'Intruder',
      redirect: 'https://intruder.example/callback',
      grants: ['authorization_code'],
    })
    await service.database.kysely
      .insertInto('oauth_consents')
      .values({
        ...{ user_id: victim.id, client_id: client.id, scopes: '["profile"]' },
        updated_at: service.clock.now().getTime(),
      })
      .execute()
    expect(await service.oauth.consents.listByUser(victim.id)).toHaveLength(1)
    const page = await resetPassword(victim.email)
    expect(await signInWithPasskey(passkey)).toBe(401)
    expect(await service.factors.list(victim.id)).toEqual({
      passkeys: [],
      totp: null,
      recoveryCodes: 0,
    })
    expect(await service.users.identities.list(victim.id)).toEqual([])
    expect(await service.oauth.consents.listByUser(victim.id)).toEqual([])
    expect(page).toContain('have been removed')
    const [removed] = await mailTo(victim.email, 'sign_in_method_removed')
    expect(removed?.text).toContain('Passkeys, Authenticator app, Acme')
    // The victim signs in with the new password alone.
    const browser = service.browser()
    await browser.signIn(victim.email, NEW_PASSWORD)
    expect((await browser.get('/account')).status).toBe(200)
  })

  it('says nothing about other ways to sign in if there were none', async () => {
    const { email } = await createPerson()
    const page = await resetPassword(email)
    expect(page).not.toContain('removed')
    expect(page).not.toContain('still work')
    expect(await mailTo(email, 'sign_in_method_removed')).toEqual([])
    const [changed] = await mailTo(email, 'password_changed')
    expect(changed?.text).not.toContain('still')
  })
})

describe('a password reset for an account', () => {
  it.each([
    ['whose address was confirmed', { isVerified: true }],
    ['that an operator has made an operator', { role: 'owner' }],
  ] as const)(
    '%s keeps the other sign-in methods, and lists them on the page and in the mail',
    async (_, more) => {
      const person = await createPerson(more)
      const passkey = await addAllWays(person)
      const page = await resetPassword(person.email)
      expect(page).toContain('still work')
      expect(await signInWithPasskey(passkey)).toBe(303)
      expect(await service.factors.list(person.id)).toMatchObject({ totp: {}, recoveryCodes: 10 })
      expect(await service.users.identities.list(person.id)).toHaveLength(1)
      const [changed] = await mailTo(person.email, 'password_changed')
      expect(changed?.text).toContain('can still be used with: Passkeys, Acme.')
    },
  )
})

const from = (address: string) => ({ 'x-forwarded-for': address })

/** Signs in with a password and a code, from a network. Returns the status of the second step. */
async function signInWithCode(email: string, password: string, code: string, network: string) {
  const browser = service.browser()
  const first = await browser.post('/login', { email, password }, from(network))
  expect(first.headers.get('location')).toBe('/login/second-step')
  return (await browser.post('/login/second-step', { code }, from(network))).status
}

describe('wrong codes of a thief who knows the password', () => {
  const [HOME, THIEF, CAFE] = ['198.51.100.1', '198.51.100.2', '198.51.100.3']

  /** Types as many wrong codes as a day allows. */
  async function exhaustCodes(email: string, password = PASSWORD) {
    const browser = service.browser()
    for (let attempt = 0; attempt < 50; attempt += 1) {
      if (attempt % 10 === 0) {
        service.clock.advance({ minutes: 16 })
        await browser.post('/login', { email, password }, from(THIEF))
      }
      const wrong = await browser.post('/login/second-step', { code: '000000' }, from(THIEF))
      expect(wrong.status).toBe(401)
    }
    service.clock.advance({ minutes: 16 })
  }

  it('do not lock the owner out on a network where a code was right before (threat N2)', async () => {
    const person = await createPerson({ isVerified: true })
    const nextCode = await addApp(person)
    const signIn = (network: string) => signInWithCode(person.email, PASSWORD, nextCode(), network)
    expect(await signIn(HOME)).toBe(303)
    await exhaustCodes(person.email)
    expect(await signIn(CAFE)).toBe(429)
    expect(await signIn(HOME)).toBe(303)
  })

  it('are limited on a network that the person has used, too (threat N12)', async () => {
    const person = await createPerson({ isVerified: true })
    const nextCode = await addApp(person)
    expect(await signInWithCode(person.email, PASSWORD, nextCode(), THIEF)).toBe(303)
    await exhaustCodes(person.email)
    expect(await signInWithCode(person.email, PASSWORD, nextCode(), THIEF)).toBe(429)
  })

  it('are not counted any more after the password was changed, at most three times a day (threat N3)', async () => {
    const person = await createPerson({ isVerified: true })
    const nextCode = await addApp(person)
    const statuses = []
    for (let at = 0; at < 4; at += 1) {
      await exhaustCodes(person.email, at === 0 ? PASSWORD : `horse number ${at - 1}`)
      await resetPassword(person.email, `horse number ${at}`)
      statuses.push(await signInWithCode(person.email, `horse number ${at}`, nextCode(), CAFE))
      // The network of a right code would have limits of its own.
      await service.database.kysely.deleteFrom('known_networks').execute()
    }
    expect(statuses).toEqual([303, 303, 303, 429])
  })
})

describe('many requests with one link at once (threat L3)', () => {
  it.each([
    ['reset', '/recovery/forgot', 'password_reset', '/recovery/reset'],
    ['registration', '/register', 'registration', '/recovery/join'],
  ])('do not prevent others from signing in: %s', async (_, page, kind, path) => {
    const others = await Promise.all(Array.from({ length: 5 }, () => createPerson()))
    const isReset = kind === 'password_reset'
    const email = isReset ? (await createPerson()).email : newAddress('new')
    const token = await tokenFor(email, page, kind)
    const form = { token, password: NEW_PASSWORD, name: 'Ada' }
    const flood = Array.from({ length: 80 }, async () => {
      const done = await service.browser().post(path, form, from('203.0.113.1'))
      return done.status
    })
    const signIns = others.map(async ({ email }, at) => {
      const own = { email, password: PASSWORD }
      return (await service.browser().post('/login', own, from(`203.0.113.${at + 10}`))).status
    })
    expect(await Promise.all(signIns)).toEqual(Array(5).fill(303))
    const statuses = await Promise.all(flood)
    expect(statuses.filter((status) => status === 303)).toHaveLength(1)
    expect(new Set(statuses)).not.toContain(503)
  })
})

describe('the owner of an account is told', () => {
  it('when recovery codes were created, and when one was used, with the number that is left', async () => {
    const person = await createPerson({ isVerified: true })
    const nextCode = await addApp(person)
    const browser = service.browser()
    await browser.post('/login', { email: person.email, password: PASSWORD })
    await browser.post('/login/second-step', { code: nextCode() })
    const csrf_token = await browser.csrfToken()
    const html = await (
      await browser.post('/account/security/recovery-codes', { csrf_token })
    ).text()
    expect(await mailTo(person.email, 'recovery_codes_created')).toHaveLength(1)
    const [, recovery = ''] = /<li><code>([^<]+)<\/code>/.exec(html) ?? []

    const other = service.browser()
    await other.post('/login', { email: person.email, password: PASSWORD })
    await other.post('/login/second-step', { recovery: 'wrong' })
    expect(await mailTo(person.email, 'recovery_code_used')).toEqual([])
    expect((await other.post('/login/second-step', { recovery })).status).toBe(303)
    const told = await mailTo(person.email, 'recovery_code_used')
    expect(told.map(({ text }) => text)).toEqual([
      expect.stringContaining('9 recovery codes are left.'),
    ])
  })

  it('when an operator removed a link with another provider', async () => {
    const person = await createPerson({ isVerified: true })
    await addAllWays(person)
    const [link] = await service.users.identities.list(person.id)
    const admin = await createOperatorHelpers(service).operator('admin')
    const done = await admin.call('DELETE', `/users/${person.id}/links/${link?.id}`)
    expect(done.status).toBe(204)
    const [told] = await mailTo(person.email, 'sign_in_method_removed')
    expect(told?.text).toContain('this way to sign in: Acme.')
  })
})

it('the second step of a sign-in names whom to ask for the removal of a lost factor, with and without recovery codes (threat N3)', async () => {
  const person = await createPerson({ isVerified: true })
  await addApp(person)
  for (const hasCodes of [false, true]) {
    if (hasCodes) await service.factors.renewRecoveryCodes(person.id)
    const browser = service.browser()
    await browser.post('/login', { email: person.email, password: PASSWORD })
    const html = await (await browser.get('/login/second-step')).text()
    expect(html).toContain('href="mailto:help@example.com"')
    expect(html.includes('name="recovery"')).toBe(hasCodes)
  }
})
