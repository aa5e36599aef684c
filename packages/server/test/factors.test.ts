import type { Database } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { createFactors, type Factors } from '../src/factors/factors.ts'
import { PasskeyRefused } from '../src/factors/passkeys.ts'
import { computeTotpCode, totpStepAt } from '../src/factors/totp.ts'
import { createSessions } from '../src/sessions/sessions.ts'
import { createPasswords } from '../src/users/passwords.ts'
import { createUsers } from '../src/users/users.ts'
import { createSoftAuthenticator, type SoftOptions } from './soft-authenticator.ts'
import { serviceTables } from './support.ts'

const SECRET = 'a secret of 32 characters or more'
const ORIGIN = 'https://auth.example.com'

let database: Database
let drop: () => Promise<void>
let clock: ReturnType<typeof movableClock>
let factors: Factors
let people = 0
let user = { id: '', email: 'ada@example.com', name: null }

beforeAll(async () => {
  const made = await createTestDatabase({ template: serviceTables })
  database = made.database
  drop = made.drop
  clock = movableClock()
  factors = create([SECRET])
})
afterAll(() => drop())
beforeEach(() => {
  people += 1
  user = { ...user, id: String(people) }
})

const create = (secrets: readonly string[], url = ORIGIN) =>
  createFactors({ database, clock, secrets, url, serviceName: 'Tollgate' })

/** Adds an authenticator app, with the code of the step before the present one. */
async function addApp() {
  const enrolment = factors.beginTotp(user)
  const codeAt = (offset: number) =>
    computeTotpCode(enrolment.secret, totpStepAt(clock.now()) + offset)
  expect(await factors.addTotp(user.id, enrolment, codeAt(-1))).toBe(true)
  return { ...enrolment, codeAt }
}

describe('a code of an authenticator app', () => {
  it.each([
    ['of the present step', true, 0],
    ['of the next step, from a clock that is fast', true, 1],
    ['from a clock that is a minute fast', false, 2],
    ['of the step before, which was used to add the app', false, -1],
    ['from a clock that is a minute slow', false, -2],
  ])('%s is accepted: %j', async (_, isAccepted, offset) => {
    const { codeAt } = await addApp()
    expect(await factors.useTotp(user.id, codeAt(offset))).toBe(isAccepted)
  })

  it('is accepted from a clock that is 30 seconds slow', async () => {
    const { codeAt } = await addApp()
    clock.advance({ seconds: 60 })
    expect(await factors.useTotp(user.id, codeAt(-1))).toBe(true)
  })

  it('is accepted once, and afterwards no code of an earlier time step is accepted', async () => {
    const { codeAt } = await addApp()
    clock.advance({ seconds: 60 })
    const early = codeAt(-1)
    const present = codeAt(0)
    expect(await factors.useTotp(user.id, ` ${present.slice(0, 3)} ${present.slice(3)}`)).toBe(true)
    expect(await factors.useTotp(user.id, present)).toBe(false)
    expect(await factors.useTotp(user.id, early)).toBe(false)
    expect(await factors.useTotp(user.id, codeAt(1))).toBe(true)
  })

  it('is accepted once when ten requests send it at the same time', async () => {
    const { codeAt } = await addApp()
    const code = codeAt(0)
    const uses = await Promise.all(Array.from({ length: 10 }, () => factors.useTotp(user.id, code)))
    expect(uses.filter(Boolean)).toHaveLength(1)
  })

  it.each(['', '12345', '1234567', 'abcdef', '000000000000', '１２３４５６'])(
    'is refused if it is %j',
    async (code) => {
      await addApp()
      expect(await factors.useTotp(user.id, code)).toBe(false)
    },
  )

  it('belongs to one account: the encrypted secret cannot be moved to another one', async () => {
    const { codeAt } = await addApp()
    const kysely = database.kysely as never as import('kysely').Kysely<
      Record<string, Record<string, unknown>>
    >
    const row = await kysely
      .selectFrom('totp_factors')
      .selectAll()
      .where('user_id', '=', Number(user.id))
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(factors.beginTotp(user).secret)
    people += 1
    await kysely
      .insertInto('totp_factors')
      .values({ ...row, user_id: people })
      .execute()
    await expect(factors.useTotp(String(people), codeAt(1))).rejects.toThrow('not given')
    await factors.reset(String(people))
  })

  it('still works after the secret of the service was rotated and removed', async () => {
    const { codeAt } = await addApp()
    const next = create(['another secret of 32 characters or more', SECRET])
    expect(await next.toReseal()).toBeGreaterThan(0)
    expect(await next.reseal()).toBeGreaterThan(0)
    expect([await next.toReseal(), await next.reseal()]).toEqual([0, 0])
    const later = create(['another secret of 32 characters or more'])
    expect(await later.useTotp(user.id, codeAt(0))).toBe(true)
    factors = create([SECRET, 'another secret of 32 characters or more'])
    await factors.reseal()
  })
})

describe('setting up an authenticator app', () => {
  it('is refused for another person, a forged field, and after an hour', async () => {
    const { sealed, secret } = factors.beginTotp(user)
    expect(factors.readTotp(user, sealed)?.secret).toBe(secret)
    expect(factors.readTotp({ ...user, id: '999999' }, sealed)).toBeNull()
    expect(factors.readTotp(user, `${sealed.slice(0, -4)}AAAA`)).toBeNull()
    expect(factors.readTotp(user, '')).toBeNull()
    clock.advance({ minutes: 61 })
    expect(factors.readTotp(user, sealed)).toBeNull()
  })

  it('keeps one app when two are added at the same time', async () => {
    const add = async () => {
      const enrolment = factors.beginTotp(user)
      return factors.addTotp(
        user.id,
        enrolment,
        computeTotpCode(enrolment.secret, totpStepAt(clock.now())),
      )
    }
    expect((await Promise.all([add(), add()])).filter(Boolean)).toHaveLength(1)
  })
})

describe('recovery codes', () => {
  it('are accepted once each, in any spelling, and stop working when a new set is created', async () => {
    await addApp()
    const first = await factors.renewRecoveryCodes(user.id)
    expect(new Set(first).size).toBe(10)
    const [code = '', other = ''] = first
    const uses = await Promise.all(
      [code, code.toUpperCase(), code.replaceAll('-', ' '), code].map((each) =>
        factors.useRecoveryCode(user.id, each),
      ),
    )
    expect(uses.filter(Boolean)).toHaveLength(1)
    expect((await factors.list(user.id)).recoveryCodes).toBe(9)
    expect(await factors.useRecoveryCode('999999', other)).toBe(false)
    await Promise.all([1, 2].map(() => factors.renewRecoveryCodes(user.id)))
    expect((await factors.list(user.id)).recoveryCodes).toBe(10)
    expect(await factors.useRecoveryCode(user.id, other)).toBe(false)
  })

  it('are deleted with the last factor', async () => {
    await addApp()
    await factors.renewRecoveryCodes(user.id)
    await factors.removeTotp(user.id)
    expect(await factors.list(user.id)).toEqual({ passkeys: [], totp: null, recoveryCodes: 0 })
  })
})

describe('a reset of second factors by an operator', () => {
  it('removes every factor, and is reported once', async () => {
    await addApp()
    await factors.renewRecoveryCodes(user.id)
    await factors.reset(user.id)
    await factors.reset(user.id)
    expect(await factors.has(user.id)).toBe(false)
    expect(await factors.wasReset(user.id)).toBe(true)
    expect(await factors.takeReset(user.id)).toEqual(clock.now())
    expect([await factors.wasReset(user.id), await factors.takeReset(user.id)]).toEqual([
      false,
      null,
    ])
  })
})

type Soft = ReturnType<typeof createSoftAuthenticator>

/** Registers a passkey of a new authenticator. */
async function addPasskey(more: Partial<SoftOptions> = {}) {
  const authenticator = createSoftAuthenticator()
  const { challenge } = await factors.passkeys.registration(user, 'session')
  const response = authenticator.create({ origin: ORIGIN, challenge, ...more })
  await factors.addPasskey(user.id, { session: 'session', response, name: 'Key' })
  return authenticator
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error) => {
      if (error instanceof PasskeyRefused) return error.reason
      throw error
    },
  )

interface Attempt {
  readonly challenge: string
  readonly authenticator: Soft
}

describe('signing in with a passkey (threat N12, threat N11)', () => {
  it.each<[string, string, (attempt: Attempt) => Partial<SoftOptions>]>([
    ['from this origin', 'accepted', () => ({})],
    ['from another origin', 'invalid', () => ({ origin: 'https://auth.example.org' })],
    [
      'from a subdomain',
      'invalid',
      () => ({ origin: 'https://x.auth.example.com', rpId: 'auth.example.com' }),
    ],
    ['from the same host by http', 'invalid', () => ({ origin: 'http://auth.example.com' })],
    ['for another relying party', 'invalid', () => ({ rpId: 'example.com' })],
    ['as a registration', 'invalid', () => ({ type: 'webauthn.create' })],
    ['for another user handle', 'invalid', () => ({ userHandle: '999999' })],
    ['for the user handle of the account', 'accepted', () => ({ userHandle: user.id })],
    [
      'to a challenge of nobody',
      'expired',
      () => ({ challenge: Buffer.alloc(54).toString('base64url') }),
    ],
    ['to a challenge that is too short', 'expired', () => ({ challenge: 'AAAA' })],
  ])('%s is %s', async (_, expected, change) => {
    const authenticator = await addPasskey()
    const { challenge } = await factors.passkeys.request(user.id, 'pending')
    const options = { origin: ORIGIN, challenge }
    const response = authenticator.get({ ...options, ...change({ challenge, authenticator }) })
    expect(await reasonOf(factors.passkeys.verify(user.id, 'pending', response))).toBe(expected)
  })

  it('uses up the challenge, even in ten requests at the same time', async () => {
    const authenticator = await addPasskey()
    const { challenge } = await factors.passkeys.request(user.id, 'pending')
    const response = authenticator.get({ origin: ORIGIN, challenge })
    const uses = await Promise.all(
      Array.from({ length: 10 }, () =>
        reasonOf(factors.passkeys.verify(user.id, 'pending', response)),
      ),
    )
    expect(uses.filter((each) => each === 'accepted')).toHaveLength(1)
    expect(uses.filter((each) => each === 'expired')).toHaveLength(9)
  })

  it('is refused with the challenge of another person, session or purpose, or after an hour', async () => {
    const authenticator = await addPasskey()
    const { passkeys } = factors
    const use = async (challenge: string, as: string | null = user.id, session = 'pending') =>
      reasonOf(passkeys.verify(as, session, authenticator.get({ origin: ORIGIN, challenge })))
    const own = () => passkeys.request(user.id, 'pending')
    expect(await use((await passkeys.request('999999', 'pending')).challenge)).toBe('expired')
    expect(await use((await own()).challenge, user.id, 'another session')).toBe('expired')
    expect(await use((await own()).challenge, null)).toBe('expired')
    expect(await use((await passkeys.registration(user, 'pending')).challenge)).toBe('expired')
    const { challenge } = await own()
    clock.advance({ minutes: 61 })
    expect(await use(challenge)).toBe('expired')
  })

  it("is refused with another person's passkey, and with an unknown or changed one", async () => {
    const stranger = await addPasskey()
    people += 1
    const victim = { ...user, id: String(people) }
    const use = async (change: (response: string) => string, authenticator = stranger) => {
      const { challenge } = await factors.passkeys.request(victim.id, 'pending')
      const response = change(authenticator.get({ origin: ORIGIN, challenge }))
      return reasonOf(factors.passkeys.verify(victim.id, 'pending', response))
    }
    expect(await use((response) => response)).toBe('invalid')
    expect(await use((response) => response, createSoftAuthenticator())).toBe('invalid')
    expect(await use(() => 'no JSON')).toBe('invalid')
    expect(await use(() => '{"id":1}')).toBe('invalid')
    user = victim
    const own = await addPasskey()
    const broken = (response: string) => {
      const json = JSON.parse(response)
      json.response.signature = `${json.response.signature.slice(0, -6)}AAAAAA`
      return JSON.stringify(json)
    }
    expect(await use(broken, own)).toBe('invalid')
    expect(await use((response) => response, own)).toBe('accepted')
  })

  it('without a password needs an authenticator that has verified the person', async () => {
    const authenticator = await addPasskey()
    const use = async (isVerified: boolean) => {
      const { challenge, allowCredentials, userVerification } = await factors.passkeys.request(
        null,
        '',
      )
      expect([allowCredentials, userVerification]).toEqual([undefined, 'required'])
      const response = authenticator.get({ origin: ORIGIN, challenge, isVerified })
      return reasonOf(factors.passkeys.verify(null, '', response))
    }
    expect(await use(false)).toBe('invalid')
    expect(await use(true)).toBe('accepted')
  })

  it.each<[result: string, stored: number, sent: number]>([
    ['accepted', 0, 0],
    ['accepted', 0, 1],
    ['accepted', 5, 6],
    ['cloned', 5, 5],
    ['cloned', 5, 4],
    ['cloned', 5, 0],
  ])(
    'is %s for the counter %i in the table and %i in the response',
    async (result, stored, sent) => {
      const authenticator = await addPasskey({ counter: stored })
      const { challenge } = await factors.passkeys.request(user.id, 'pending')
      const response = authenticator.get({ origin: ORIGIN, challenge, counter: sent })
      expect(await reasonOf(factors.passkeys.verify(user.id, 'pending', response))).toBe(result)
    },
  )
})

describe('adding a passkey', () => {
  it.each<[string, string, Partial<SoftOptions>]>([
    ['from another origin', 'invalid', { origin: 'https://auth.example.org' }],
    ['for another relying party', 'invalid', { rpId: 'example.com' }],
    ['as a sign-in', 'invalid', { type: 'webauthn.get' }],
    ['to a forged challenge', 'expired', { challenge: Buffer.alloc(54).toString('base64url') }],
  ])('%s is refused: %s', async (_, reason, change) => {
    expect(await reasonOf(addPasskey(change))).toBe(reason)
  })

  it('is refused twice with the same challenge, and for a passkey that another person has', async () => {
    const authenticator = createSoftAuthenticator()
    const register = async (challenge: string) => {
      const response = authenticator.create({ origin: ORIGIN, challenge })
      return reasonOf(factors.addPasskey(user.id, { session: 'session', response, name: '' }))
    }
    const { challenge } = await factors.passkeys.registration(user, 'session')
    expect(await register(challenge)).toBe('accepted')
    expect(await register(challenge)).toBe('expired')
    people += 1
    user = { ...user, id: String(people) }
    expect(await register((await factors.passkeys.registration(user, 'session')).challenge)).toBe(
      'taken',
    )
  })

  it('needs a host name', () => {
    const at = (url: string) => create([SECRET], url).passkeys.isPossible
    expect(
      ['https://a.example', 'http://localhost:3000', 'http://127.0.0.1', 'http://[::1]'].map(at),
    ).toEqual([true, true, false, false])
  })
})

describe('the passkeys of a person', () => {
  it('cannot be renamed or removed by another person', async () => {
    await addPasskey()
    const [own] = await factors.passkeys.list(user.id)
    const id = own?.id ?? ''
    expect(await factors.passkeys.rename('999999', id, 'Mine')).toBe(false)
    expect(await factors.passkeys.remove('999999', id)).toBe(false)
    expect(await factors.passkeys.rename(user.id, id, 'Phone')).toBe(true)
    expect((await factors.passkeys.list(user.id)).map(({ name }) => name)).toEqual(['Phone'])
    await factors.removePasskey(user.id, id)
    expect(await factors.has(user.id)).toBe(false)
  })
})

describe('a pending sign-in', () => {
  // Only an account that exists can be signed in to.
  beforeEach(async () => {
    const users = createUsers({ database, clock, passwords: createPasswords() })
    const { id, email } = await users.create({ email: `ada-${people}@example.com`, password: null })
    user = { id, email, name: null }
  })

  it('is found by its cookie only, ends once, and with all sessions of the person', async () => {
    const sessions = createSessions({ database, clock, secure: false })
    const { pending } = sessions
    const begun = {
      userId: user.id,
      step: 'second-factor',
      authenticatedAt: clock.now(),
      methods: ['pwd'],
      returnTo: '/tokens',
      sessionId: null,
    } as const
    const cookieOf = (header: string) => header.split(';')[0] ?? ''
    const cookie = cookieOf(await pending.start(begun))
    const found = await pending.find(cookie)
    expect(found).toMatchObject(begun)
    expect(await pending.find(cookie.replace('tollgate_sign_in', 'tollgate_session'))).toBeNull()
    expect(await sessions.find(cookie.replace('sign_in', 'session'))).toBeNull()
    const id = found?.id ?? ''
    const ends = await Promise.all([pending.end(id), pending.end(id)])
    expect(ends.sort()).toEqual([false, true])

    const other = cookieOf(await pending.start(begun))
    await sessions.endAll(user.id)
    expect(await pending.find(other)).toBeNull()
    const late = cookieOf(await pending.start(begun))
    clock.advance({ minutes: 11 })
    expect(await pending.find(late)).toBeNull()
    expect(await pending.purge()).toBeGreaterThan(0)
  })

  it('leads to a session with a second factor; if the service requires one, sessions without it are not accepted', async () => {
    const sessions = createSessions({ database, clock, secure: false, requiresMfa: true })
    const start = async (methods: readonly string[]) => {
      const { cookie } = await sessions.start(user.id, { methods, address: null, browser: null })
      return sessions.find(cookie.split(';')[0] ?? '')
    }
    expect(await start(['pwd'])).toBeNull()
    expect(await start(['pwd', 'otp', 'mfa'])).toMatchObject({ methods: ['pwd', 'otp', 'mfa'] })
  })
})
