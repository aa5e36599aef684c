import { connect } from '@tollgate/database'
import type { MailFault, SandboxMailbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServiceBilling } from '../src/billing.ts'
import { mailboxSettings, sandboxProviders } from '../src/demo/providers.ts'
import { createLogger } from '../src/logger.ts'
import { createAccountHelpers } from './accounts.ts'
import { startTestService, type TestService, testConfig } from './support.ts'

let service: TestService
let mailbox: SandboxMailbox
beforeAll(async () => {
  service = await startTestService({ options: { mailbox: true, keepDemo: true } })
  if (!service.sandbox?.mail) throw new Error('The demo has no mailbox')
  mailbox = service.sandbox.mail
})
beforeEach(() => {
  mailbox.recover()
  mailbox.deleteAll()
})
afterAll(() => service?.stop())

const helpers = () => createAccountHelpers(service)
const sentTo = (email: string) => mailbox.messages().filter(({ to }) => to.includes(email))
const queue = () => {
  if (!service.billing.notices) throw new Error('There is no mail')
  return service.billing.notices
}

/** A customer who has just paid, while the mail server fails in this way. */
async function pay(fault: MailFault | null = null, count?: number) {
  if (fault !== null) mailbox.fail(fault, count)
  const customer = await helpers().customer('stripe', ['pro'])
  await service.advance({})
  return customer
}

describe('mail to customers of the service', () => {
  it('reaches the mailbox of the demo with the invoice, once', async () => {
    const { email } = await pay()
    await expect.poll(() => sentTo(email)).toHaveLength(1)
    const [mail] = sentTo(email)
    expect(mail?.subject).toContain('Tollgate')
    expect(mail?.html).toContain('<!doctype html>')
    expect(mail?.attachments).toMatchObject([{ type: 'application/pdf' }])
    const { metrics } = service
    expect(await metrics.read()).toContain('tollgate_mails_total{kind="receipt",outcome="sent"}')
    await service.advance({ hours: 1 })
    expect(sentTo(email)).toHaveLength(1)
  })

  it.each<[string, MailFault, number | undefined]>([
    ['is busy', 'busy', 1],
    ['is away', 'away', undefined],
  ])('is sent later, once, if the mail server %s', async (_, fault, count) => {
    const { email } = await pay(fault, count)
    await expect.poll(async () => (await queue().pending()).at(-1)?.attempts).toBe(1)
    expect(sentTo(email)).toEqual([])
    mailbox.recover()
    await service.advance({ hours: 1 })
    await expect.poll(() => sentTo(email)).toHaveLength(1)
    expect(await queue().pending()).toEqual([])
    await service.advance({ hours: 12 })
    expect(sentTo(email)).toHaveLength(1)
  })

  it('is sent once if the mail server is slow', async () => {
    const { email } = await pay({ slowMs: 300 }, 1)
    await service.advance({ hours: 1 })
    await expect.poll(() => sentTo(email)).toHaveLength(1)
    await expect.poll(() => queue().unknown()).toEqual([])
  })

  it('arrives twice, with the same Message-ID, only if the response to the first was lost', async () => {
    const { email } = await pay('lost-response', 1)
    await expect.poll(async () => (await queue().pending()).at(-1)?.attempts).toBe(1)
    await service.advance({ hours: 1 })
    await expect.poll(() => sentTo(email)).toHaveLength(2)
    const ids = sentTo(email).map(
      ({ headers }) => headers.find(({ name }) => /^message-id$/i.test(name))?.value,
    )
    expect(ids[0]).toMatch(/^<evt_\w+@tollgate\.example>$/)
    expect(ids[1]).toBe(ids[0])
  })

  it('is given up if the recipient is refused, which doctor and the log report, and can be sent again', async () => {
    const { email } = await pay('unknown-recipient', 1)
    await expect.poll(async () => (await queue().deadLetters()).length).toBe(1)
    await service.advance({ hours: 12 })
    expect(sentTo(email)).toEqual([])
    const [dead] = await queue().deadLetters()
    expect(dead).toMatchObject({ attempts: 1, lastError: expect.stringContaining('550 5.1.1') })
    expect(service.log()).toMatch(/Mail receipt \(in_\w+\) failed, attempt 1/)
    const report = (await helpers().tollgate('doctor')).stdout
    expect(report).toMatch(/ok +mail +127\.0\.0\.1:\d+ responds without encryption/)
    expect(report).toContain('1 mail was given up. The error of one of them: MailRejected: 550')
    expect(await queue().retry(dead?.id ?? 0)).toBe(true)
    await expect.poll(() => sentTo(email)).toHaveLength(1)
  })

  it('is sent before the service ends', async () => {
    const other = await startTestService({ options: { mailbox: true } })
    const box = other.sandbox?.mail
    box?.fail({ slowMs: 500 })
    const { email } = await createAccountHelpers(other).customer('stripe', ['pro'])
    await other.sandbox?.outbox.flush()
    await expect.poll(() => box?.messages().length).toBe(1)
    await other.billing.close()
    expect(await other.billing.notices?.unknown()).toEqual([])
    expect(box?.messages().filter(({ to }) => to.includes(email))).toHaveLength(1)
    await other.stop()
  })
})

it('two processes on one database send each mail once', async () => {
  mailbox.fail('away')
  const people: string[] = []
  for (let at = 0; at < 6; at++) people.push((await pay()).email)
  await expect.poll(async () => (await queue().pending()).length).toBe(6)
  mailbox.recover()
  const { sandbox, databaseUrl } = service
  if (!sandbox) throw new Error('There is no sandbox')
  const { config, remove } = await testConfig()
  const database = await connect(databaseUrl)
  const other = createServiceBilling({
    config,
    database,
    providers: sandboxProviders(sandbox, 'unused', 'usd'),
    smtp: mailboxSettings(mailbox.url),
    clock: sandbox.clock,
    logger: createLogger('silent'),
    background: false,
  })
  await sandbox.clock.advance({ hours: 1 })
  await Promise.all([service.billing.process(), other.process()])
  await expect.poll(() => queue().pending()).toEqual([])
  expect(people.map((email) => sentTo(email).length)).toEqual([1, 1, 1, 1, 1, 1])
  expect(await queue().unknown()).toEqual([])
  await other.close()
  await database.close()
  await remove()
})

describe('tollgate mail test', () => {
  it('sends one mail to the mailbox of a running demo', async () => {
    const { code, stdout } = await helpers().tollgate('mail', 'test', 'ops@example.com')
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^127\.0\.0\.1:\d+ accepted the mail to ops@example\.com: 250/),
    ])
    expect(sentTo('ops@example.com')).toMatchObject([{ subject: 'Test mail from Tollgate' }])
  })

  it('fails with the reason and the fix if the recipient is refused', async () => {
    mailbox.fail('unknown-recipient')
    const { code, stdout } = await helpers().tollgate('mail', 'test', 'ops@example.com')
    expect(code).toBe(1)
    expect(stdout).toContain('550 5.1.1 There is no such address')
  })

  it('fails if the recipient is not an e-mail address', async () => {
    const { code, stderr } = await helpers().tollgate('mail', 'test', 'ops')
    expect([code, stderr]).toEqual([2, expect.stringContaining('ops is not an e-mail address')])
  })
})
