import { connect, type Database } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config, SmtpSettings } from '../src/config/config.ts'
import { type Core, createCore } from '../src/core.ts'
import { createLogger } from '../src/logger.ts'
import { createMailer } from '../src/mail/mailer.ts'
import { createRecovery, type Recovery } from '../src/recovery/recovery.ts'
import type { ServiceTables } from '../src/storage/tables.ts'
import { newAddress, PASSWORD } from './accounts.ts'
import { testConfig } from './support.ts'

interface Process {
  readonly core: Core
  readonly database: Database
  readonly recovery: Recovery
}

const clock = movableClock()
const closers: Array<() => unknown> = []
let sandbox: Awaited<ReturnType<typeof startSandbox<{ mail: true }>>>
let config: Config
let processes: readonly [Process, Process]

async function startProcess(databaseUrl: string): Promise<Process> {
  const database = await connect(databaseUrl)
  closers.push(() => database.close())
  const parts = { config, database, clock, logger: createLogger('silent'), url: 'http://localhost' }
  const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }
  const core = createCore({ ...parts, background: false, passwords: { cost } })
  closers.push(() => core.oauth.close())
  const { hostname: host, port } = new URL(sandbox.mail.url)
  const from = { name: 'Example Ltd', address: 'accounts@example.com' }
  const smtp: SmtpSettings = {
    ...{ host, port: Number(port), isImplicitTls: false, auth: null, needsTls: false, from },
  }
  const mailer = createMailer({ config, smtp })
  closers.push(() => mailer?.close())
  const recovery = createRecovery({ ...parts, ...core, mailer, hasMail: true })
  closers.push(() => recovery.close())
  return { core, database, recovery }
}

beforeAll(async () => {
  sandbox = await startSandbox({ mail: true })
  closers.push(() => sandbox.close())
  const made = await testConfig()
  config = made.config
  closers.push(made.remove)
  processes = [await startProcess(made.databaseUrl), await startProcess(made.databaseUrl)]
})
beforeEach(() => {
  sandbox.mail.recover()
  sandbox.mail.deleteAll()
})
afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

const processAll = () => Promise.all(processes.map(({ recovery }) => recovery.process()))

/** Accounts that ask for a new password, in both processes in turn. Returns their addresses. */
async function askForPasswords(count: number): Promise<string[]> {
  const emails = Array.from({ length: count }, () => newAddress('waiting'))
  const of = (at: number) => processes[at % 2] ?? processes[0]
  for (const email of emails) await processes[0].core.users.create({ email, password: PASSWORD })
  for (const [at, email] of emails.entries())
    await of(at).recovery.requestPasswordReset(email, 'en')
  return emails.sort()
}

/** The mail that arrived for these people. */
const mailFor = (emails: readonly string[]) =>
  sandbox.mail.messages().filter(({ to }) => emails.includes(to[0] ?? ''))

const recipientsAmong = (emails: readonly string[]) =>
  mailFor(emails)
    .flatMap(({ to }) => to)
    .sort()

async function rowsTo(emails: readonly string[]) {
  const database = processes[0].database as unknown as Database<ServiceTables>
  return database.kysely
    .selectFrom('account_mails')
    .select(['state', 'attempts', 'last_error', 'address'])
    .where('address', 'in', [...emails])
    .execute()
}

/** Waits until every mail to these people has the state. */
async function expectState(emails: readonly string[], state: string): Promise<void> {
  const read = async () => (await rowsTo(emails)).map((row) => row.state)
  await expect.poll(read).toEqual(emails.map(() => state))
}

/** Waits until an attempt to send each of these mails has failed. */
async function expectFailures(emails: readonly string[], attempts: number): Promise<void> {
  const read = async () =>
    (await rowsTo(emails)).map((row) => [row.state, row.attempts, row.last_error !== null])
  await expect.poll(read).toEqual(emails.map(() => ['pending', attempts, true]))
}

const messageIdsFor = (emails: readonly string[]) =>
  mailFor(emails).map(
    ({ headers }) => headers.find(({ name }) => name.toLowerCase() === 'message-id')?.value,
  )

describe('mail about accounts, sent by two processes,', () => {
  it('arrives once if the mail server responds slowly', async () => {
    sandbox.mail.fail({ slowMs: 150 })
    const emails = await askForPasswords(10)
    await processAll()
    await expectState(emails, 'done')
    expect(recipientsAmong(emails)).toEqual(emails)
    clock.advance({ minutes: 6 })
    await processAll()
    expect(recipientsAmong(emails)).toEqual(emails)
  })

  it.each(['busy', 'away'] as const)(
    'is kept while the mail server is %s, and arrives once when it works again',
    async (fault) => {
      sandbox.mail.fail(fault)
      const emails = await askForPasswords(6)
      await processAll()
      await expectFailures(emails, 1)
      await processAll()
      await expectFailures(emails, 1)
      clock.advance({ seconds: 6 })
      await processAll()
      await expectFailures(emails, 2)
      expect(recipientsAmong(emails)).toEqual([])
      sandbox.mail.recover()
      clock.advance({ seconds: 21 })
      await processAll()
      await expectState(emails, 'done')
      expect(recipientsAmong(emails)).toEqual(emails)
    },
  )

  it('arrives once if the mail server refuses only some of it for now', async () => {
    sandbox.mail.fail('busy', 3)
    const emails = await askForPasswords(8)
    await processAll()
    await expect.poll(() => recipientsAmong(emails).length).toBe(5)
    clock.advance({ seconds: 6 })
    await processAll()
    await expectState(emails, 'done')
    expect(recipientsAmong(emails)).toEqual(emails)
  })

  it('is not retried if the mail server rejects its recipient, and does not delay other mail', async () => {
    sandbox.mail.fail('unknown-recipient')
    const refused = await askForPasswords(1)
    await processAll()
    await expectState(refused, 'dead')
    sandbox.mail.recover()
    const emails = await askForPasswords(4)
    await processAll()
    await expectState(emails, 'done')
    clock.advance({ hours: 2 })
    await processAll()
    expect(recipientsAmong(emails)).toEqual(emails)
    expect(recipientsAmong(refused)).toEqual([])
    expect(await rowsTo(refused)).toMatchObject([{ state: 'dead', attempts: 1 }])
  })

  it('arrives again with the same Message-ID if the response of the mail server was lost', async () => {
    sandbox.mail.fail('lost-response', 1)
    const emails = await askForPasswords(1)
    await processAll()
    await expectFailures(emails, 1)
    expect(recipientsAmong(emails)).toEqual(emails)
    clock.advance({ seconds: 6 })
    await processAll()
    await expectState(emails, 'done')
    expect(recipientsAmong(emails)).toEqual([...emails, ...emails])
    const [first, second] = messageIdsFor(emails)
    expect(first).toMatch(/^<account-[\w-]+@example\.com>$/)
    expect(second).toBe(first)
    // Both mails have the same link, which works once.
    const [link, repeated] = mailFor(emails).map(
      ({ text }) => /\?token=[\w.-]+/.exec(text ?? '')?.[0],
    )
    expect(link).toBeDefined()
    expect(repeated).toBe(link)
  })
})
