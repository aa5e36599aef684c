import { connect, type Database } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Config } from '../src/config/config.ts'
import type { ServiceMail } from '../src/config/shapes.ts'
import { type Core, createCore } from '../src/core.ts'
import { createLogger } from '../src/logger.ts'
import { createRecovery, type Recovery } from '../src/recovery/recovery.ts'
import { newAddress, PASSWORD } from './accounts.ts'
import { testConfig } from './support.ts'

const NETWORK = '203.0.113.1'

interface Process {
  readonly core: Core
  readonly database: Database
  readonly recovery: Recovery
}

const clock = movableClock()
const closers: Array<() => unknown> = []
let config: Config
let processes: readonly [Process, Process]
let sent: ServiceMail[] = []
/** Called before a process sends a mail. */
let beforeSending: (by: number) => Promise<void> = async () => {}

async function startProcess(number: number, databaseUrl: string): Promise<Process> {
  const database = await connect(databaseUrl)
  closers.push(() => database.close())
  const logger = createLogger('silent')
  const parts = { config, database, clock, logger, url: 'http://localhost' }
  const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
  const core = createCore({ ...parts, background: false, passwords: { cost } })
  closers.push(() => core.oauth.close())
  // As a service does, so that no transaction waits until the keys are there.
  await core.oauth.ready()
  const send = async (mail: ServiceMail) => {
    await beforeSending(number)
    sent.push(mail)
  }
  const mailer = { send, close() {} }
  const recovery = createRecovery({ ...parts, ...core, mailer, hasMail: true })
  closers.push(() => recovery.close())
  return { core, database, recovery }
}

beforeAll(async () => {
  const made = await testConfig()
  config = made.config
  closers.push(made.remove)
  processes = [await startProcess(0, made.databaseUrl), await startProcess(1, made.databaseUrl)]
})
beforeEach(() => {
  sent = []
  beforeSending = async () => {}
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const processAll = () => Promise.all(processes.map(({ recovery }) => recovery.process()))

async function createPerson() {
  const email = newAddress('racer')
  return processes[0].core.users.create({ email, password: PASSWORD })
}

/** The tokens in the mail to an address, oldest first. */
async function tokensTo(email: string): Promise<string[]> {
  await processAll()
  return sent
    .filter(({ to }) => to === email)
    .flatMap(({ text }) => /\?token=([\w.-]+)/.exec(text)?.[1] ?? [])
}

/** Runs the attempts at once, in both processes in turn. Returns the number that succeeded. */
async function countWinners(
  attempts: readonly ((recovery: Recovery) => Promise<unknown>)[],
): Promise<number> {
  const results = await Promise.allSettled(
    attempts.map((attempt, at) => attempt((processes[at % 2] ?? processes[0]).recovery)),
  )
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'LinkUnusable' })
  }
  return results.filter(({ status }) => status === 'fulfilled').length
}

it('mail about accounts is sent once by two processes', async () => {
  const people = await Promise.all(Array.from({ length: 12 }, createPerson))
  await Promise.all(
    people.map(({ email }, at) =>
      (processes[at % 2] ?? processes[0]).recovery.requestPasswordReset(email, 'en'),
    ),
  )
  await processAll()
  expect(sent.map(({ to }) => to).sort()).toEqual(people.map(({ email }) => email).sort())
})

it('mail of a process that was killed while it sent is sent by another one after the lease, with the same Message-ID', async () => {
  const { email } = await createPerson()
  let kill = () => {}
  const killed = new Promise<void>((resolve) => {
    kill = resolve
  })
  let reached = () => {}
  const isSending = new Promise<void>((resolve) => {
    reached = resolve
  })
  beforeSending = (by) => {
    if (by !== 0) return Promise.resolve()
    reached()
    return killed
  }
  await processes[0].recovery.requestPasswordReset(email, 'en')
  const hanging = processes[0].recovery.process()
  await isSending
  clock.advance({ minutes: 4 })
  await processes[1].recovery.process()
  expect(sent).toEqual([])
  clock.advance({ minutes: 2 })
  await processes[1].recovery.process()
  expect(sent).toMatchObject([{ to: email, kind: 'password_reset' }])
  kill()
  await hanging
  // The killed one had been accepted by the mail server.
  expect(sent.map(({ id }) => id)).toEqual([sent[0]?.id, sent[0]?.id])
  clock.advance({ hours: 1 })
  await processAll()
  expect(sent).toHaveLength(2)
})

it('mail about accounts is not sent if its transaction is undone', async () => {
  const user = await createPerson()
  const { database, recovery } = processes[0]
  const undone = database.unitOfWork(async () => {
    await recovery.notify(user, 'password_changed')
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await processAll()
  expect(sent).toEqual([])
})

it('only one of many simultaneous attempts with two links for a new password succeeds (threat N8)', async () => {
  const { email } = await createPerson()
  for (const { recovery } of processes) await recovery.requestPasswordReset(email, 'en')
  const tokens = await tokensTo(email)
  expect(tokens).toHaveLength(2)
  const all = [...tokens, ...tokens, ...tokens].flatMap((token) => [token, token])
  const winners = await countWinners(
    all.map(
      (token, at) => (recovery) => recovery.resetPassword(token, `horse number ${at}`, NETWORK),
    ),
  )
  expect(winners).toBe(1)
  await processAll()
  expect(sent.filter(({ kind }) => kind === 'password_changed')).toHaveLength(1)
})

it('only one of many simultaneous attempts to create an account succeeds', async () => {
  const email = newAddress('racer')
  const person = { email, name: null, returnTo: '/' }
  for (const { recovery } of processes) await recovery.requestRegistration(person, 'en')
  const [one = '', two = ''] = await tokensTo(email)
  const winners = await countWinners(
    [one, two, one, two, two, one].map(
      (token) => (recovery) => recovery.join(token, { name: null, password: PASSWORD }, NETWORK),
    ),
  )
  expect(winners).toBe(1)
})

it('only one of two accounts that confirm the same new address at once gets it', async () => {
  const [one, two] = [await createPerson(), await createPerson()]
  const next = newAddress('racer')
  await processes[0].recovery.requestAddressChange(one, next, 'en')
  await processes[1].recovery.requestAddressChange(two, next.toUpperCase(), 'en')
  const [first = ''] = await tokensTo(next)
  const [second = ''] = await tokensTo(next.toUpperCase())
  const winners = await countWinners(
    [first, second, first, second].map((token) => (recovery) => recovery.confirmAddress(token)),
  )
  expect(winners).toBe(1)
  expect(await processes[0].core.users.findByEmail(next)).not.toBeNull()
})

it('only one of a password reset and a change of address takes effect if both happen at once', async () => {
  const user = await createPerson()
  const next = newAddress('racer')
  await processes[0].recovery.requestPasswordReset(user.email, 'en')
  await processes[1].recovery.requestAddressChange(user, next, 'en')
  const [reset = ''] = await tokensTo(user.email)
  const [change = ''] = await tokensTo(next)
  const winners = await countWinners([
    (recovery) => recovery.resetPassword(reset, 'another horse', NETWORK),
    (recovery) => recovery.confirmAddress(change),
  ])
  expect(winners).toBe(1)
})
