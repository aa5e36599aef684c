import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceMail } from '../src/config/shapes.ts'
import type { Store } from '../src/factors/passkeys.ts'
import { computeTotpCode, totpStepAt } from '../src/factors/totp.ts'
import { newAddress, PASSWORD } from './accounts.ts'
import { createSoftAuthenticator } from './soft-authenticator.ts'
import { startTestService, type TestService } from './support.ts'

const NEW_PASSWORD = 'another horse'
const NETWORK = '203.0.113.1'
const PLACE = { methods: ['pwd'], address: null, browser: null }

let service: TestService
const mails: ServiceMail[] = []
beforeAll(async () => {
  const openid = { clientId: 'tollgate', clientSecret: 'client-secret' }
  service = await startTestService({
    settings: {
      mail: { send: async (mail) => void mails.push(mail) },
      signInWith: { custom: { acme: { ...openid, name: 'Acme', issuer: 'https://acme.example' } } },
    },
  })
})
afterAll(() => service?.stop())

/** An account that a stranger created with the address of another person, who has a link for it. */
async function createVictim() {
  const email = newAddress('victim')
  const user = await service.users.create({ email, password: PASSWORD })
  const { sessionId } = await service.sessions.start(user.id, PLACE)
  await service.recovery.requestPasswordReset(email, 'en')
  await service.recovery.process()
  const mail = mails.find(({ to, kind }) => to === email && kind === 'password_reset')
  const [, token = ''] = /token=([\w.-]+)/.exec(mail?.text ?? '') ?? []
  const reset = () => service.recovery.resetPassword(token, NEW_PASSWORD, NETWORK)
  return { user, sessionId, token, reset }
}

type Victim = Awaited<ReturnType<typeof createVictim>>

async function createPasskey({ user, sessionId }: Pick<Victim, 'user' | 'sessionId'>) {
  const { challenge } = await service.factors.passkeys.registration(user, sessionId)
  return createSoftAuthenticator().create({ origin: service.url, challenge })
}

/** Everything that signs in to the account besides the password. */
async function readWays({ user }: Pick<Victim, 'user'>) {
  const { passkeys, totp, recoveryCodes } = await service.factors.list(user.id)
  const links = await service.users.identities.list(user.id)
  const sessions = await service.sessions.list(user.id)
  const pending = await service.database.kysely
    .selectFrom('pending_sign_ins')
    .select('id_hash')
    .where('user_id', '=', Number(user.id))
    .execute()
  return { passkeys, totp, recoveryCodes, links, sessions, pending }
}

const NOTHING = {
  passkeys: [],
  totp: null,
  recoveryCodes: 0,
  links: [],
  sessions: [],
  pending: [],
}

/** The ways to sign in that a stranger adds, with the write as its own step. */
const PLANTS: Record<string, (victim: Victim, store: Store) => Promise<unknown>> = {
  async passkey(victim, store) {
    const { user, sessionId: session } = victim
    const passkey = { session, response: await createPasskey(victim), name: 'Key' }
    await service.factors.addPasskey(user.id, passkey, store)
  },
  async 'authenticator app'({ user }, store) {
    const enrolment = service.factors.beginTotp(user)
    const code = computeTotpCode(enrolment.secret, totpStepAt(service.clock.now()))
    await service.factors.addTotp(user.id, enrolment, code, store)
  },
  async 'set of recovery codes'({ user }, store) {
    await service.factors.renewRecoveryCodes(user.id, store)
  },
  async 'link with another provider'({ user }, store) {
    const identity = { provider: 'acme', subject: user.id, email: user.email }
    await service.users.identities.link(user.id, identity, store)
  },
}

describe.each(Object.keys(PLANTS))('a %s of a stranger and a password reset at once', (name) => {
  const plant = PLANTS[name] ?? expect.fail(name)

  it('leave nothing of the stranger if the reset ends between the check and the write (threat Q11)', async () => {
    const victim = await createVictim()
    const { user, sessionId, reset } = victim
    const planting = plant(victim, async (write) => {
      await reset()
      return service.sessions.whileOpen(user.id, sessionId, write)
    })
    await expect(planting).rejects.toMatchObject({ name: 'SignInEnded' })
    expect(await readWays(victim)).toEqual(NOTHING)
  })

  it('leave nothing of the stranger if the reset begins after the write, before its commit (threat Q11)', async () => {
    const victim = await createVictim()
    const { user, sessionId, reset } = victim
    let begin = () => {}
    const written = new Promise<void>((resolve) => {
      begin = resolve
    })
    // Started out here, because what starts in the transaction belongs to it.
    const resetting = written.then(reset)
    await plant(victim, (write) =>
      service.sessions.whileOpen(user.id, sessionId, async () => {
        const result = await write()
        begin()
        await service.database.kysely.selectFrom('sessions').select('id_hash').execute()
        return result
      }),
    )
    await resetting
    expect(await readWays(victim)).toEqual(NOTHING)
  })
})

describe('a sign-in that a password reset overtakes', () => {
  it('starts no session with the old password (threat Q11)', async () => {
    const victim = await createVictim()
    const proved = await service.users.proveCredentials(victim.user.email, PASSWORD)
    expect(await proved?.stillHolds()).toBe(true)
    await victim.reset()
    const { sessions } = service
    await expect(sessions.start(victim.user.id, PLACE, proved?.stillHolds)).rejects.toMatchObject({
      name: 'SignInEnded',
    })
    const begun = {
      ...({ userId: victim.user.id, step: 'enrolment', methods: ['pwd'] } as const),
      ...{ authenticatedAt: service.clock.now(), returnTo: '/', sessionId: null },
    }
    await expect(sessions.pending.start(begun, proved?.stillHolds)).rejects.toMatchObject({
      name: 'SignInEnded',
    })
    expect(await readWays(victim)).toEqual(NOTHING)
  })

  it('starts no session with a passkey that the reset has removed (threat Q11)', async () => {
    const victim = await createVictim()
    const { user, sessionId: session } = victim
    const { passkeys } = service.factors
    const authenticator = createSoftAuthenticator()
    const origin = service.url
    const { challenge } = await passkeys.registration(user, session)
    const response = authenticator.create({ origin, challenge })
    await service.factors.addPasskey(user.id, { session, response, name: 'Key' })
    const options = await passkeys.request(null, '')
    const proved = await passkeys.verify(null, '', authenticator.get({ origin, ...options }))
    expect(await proved.stillHolds()).toBe(true)
    await victim.reset()
    await expect(service.sessions.start(user.id, PLACE, proved.stillHolds)).rejects.toMatchObject({
      name: 'SignInEnded',
    })
  })
})

it('a change of password that a reset overtakes does not replace the new password (threat Q11)', async () => {
  const { user, sessionId, reset } = await createVictim()
  await reset()
  const from = { network: NETWORK, sessionId }
  await expect(service.recovery.changePassword(user, 'stolen horse', from)).rejects.toMatchObject({
    name: 'SignInEnded',
  })
  expect(await service.users.findByCredentials(user.email, NEW_PASSWORD)).not.toBeNull()
})

/** Requests of a stranger who knows the old password, each ready to be sent. */
const REQUESTS: Record<string, (victim: Victim) => Promise<() => Promise<Response>>> = {
  async 'a new passkey'({ user }) {
    const browser = service.browser()
    await browser.signIn(user.email, PASSWORD)
    const [own] = await service.sessions.list(user.id)
    const passkey = await createPasskey({ user, sessionId: own?.id ?? '' })
    const csrf_token = await browser.csrfToken()
    return () => browser.post('/account/security/passkey', { csrf_token, passkey, name: 'Key' })
  },
  async 'a sign-in'({ user }) {
    return () => service.browser().signIn(user.email, PASSWORD)
  },
  async 'a change of address'({ user }) {
    const browser = service.browser()
    await browser.signIn(user.email, PASSWORD)
    const form = { csrf_token: await browser.csrfToken(), current: PASSWORD }
    return () => browser.post('/account/email', { ...form, email: newAddress('thief') })
  },
}

describe.each(Object.keys(REQUESTS))('%s and a password reset in the same instant', (name) => {
  const prepare = REQUESTS[name] ?? expect.fail(name)

  it('leave the account to the owner of the address alone, in whichever order (threat Q11)', async () => {
    for (let round = 0; round < 6; round += 1) {
      const victim = await createVictim()
      // The session that `createVictim()` started would be listed first.
      await service.sessions.endAll(victim.user.id)
      const send = await prepare(victim)
      const form = { token: victim.token, password: NEW_PASSWORD }
      const reset = () => service.browser().post('/recovery/reset', form)
      const both = round % 2 === 0 ? [send(), reset()] : [reset(), send()]
      const statuses = (await Promise.all(both)).map(({ status }) => status)
      expect(statuses.filter((status) => status >= 500)).toEqual([])
      expect(await readWays(victim)).toEqual(NOTHING)
      expect(await service.users.findByCredentials(victim.user.email, NEW_PASSWORD)).not.toBeNull()
      await service.recovery.process()
      const links = await service.database.kysely
        .selectFrom('account_links')
        .selectAll()
        .where('user_id', '=', Number(victim.user.id))
        .where('purpose', '=', 'change')
        .execute()
      for (const { id } of links) expect(await isUsable(id)).toBe(false)
    }
  })
})

/** Whether a link in a mail still works. */
async function isUsable(id: string): Promise<boolean> {
  const text = mails.find((mail) => mail.text.includes(id))?.text ?? ''
  const [, token = ''] = /token=([\w.-]+)/.exec(text) ?? []
  expect(token).not.toBe('')
  return (await service.recovery.find(['change'], token)) !== null
}
