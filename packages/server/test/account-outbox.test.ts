import type { Database } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test-support/create-test-database.ts'
import { createOutbox, type Outbox, type OutboxOptions } from '../src/recovery/outbox.ts'
import { serviceTables } from './support.ts'

const clock = movableClock()
let database: Database
let drop: () => Promise<void>
const outboxes: Outbox[] = []
beforeEach(async () => {
  const created = await createTestDatabase({ template: serviceTables })
  database = created.database
  drop = created.drop
})
afterEach(async () => {
  for (const outbox of outboxes.splice(0)) await outbox.close()
  await drop()
})

/** Addresses to which mail was sent, in order. */
let sent: string[] = []
/** Ends the attempts for addresses that begin with `slow`. */
let release = () => {}

function startOutbox(more: Partial<OutboxOptions> = {}): Outbox {
  sent = []
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const outbox = createOutbox({
    database,
    clock,
    logger: { error: () => {} },
    everySeconds: null,
    async send({ address }) {
      if (address.startsWith('slow')) await released
      sent.push(address)
      return true
    },
    ...more,
  })
  outboxes.push(outbox)
  return outbox
}

const add = (outbox: Outbox, address: string) =>
  outbox.add({ kind: 'password_changed', userId: null, address, locale: 'en' })

const rows = () => database.kysely.selectFrom('account_mails').selectAll().orderBy('id').execute()

describe('the outbox of mail about accounts (threat F4)', () => {
  it('sends later mail while an earlier one hangs', async () => {
    const outbox = startOutbox()
    await add(outbox, 'slow@example.com')
    const first = outbox.process()
    await expect.poll(rows).toMatchObject([{ attempts: 1, state: 'pending' }])
    for (const address of ['ada@example.com', 'grace@example.com']) {
      await add(outbox, address)
      void outbox.process()
      await expect.poll(() => sent).toContain(address)
    }
    release()
    await first
    expect(sent).toEqual(['ada@example.com', 'grace@example.com', 'slow@example.com'])
    expect((await rows()).map(({ state, attempts }) => [state, attempts])).toEqual(
      Array(3).fill(['done', 1]),
    )
  })

  it('sends every mail exactly once in the end, even if more mails hang than can be sent concurrently', async () => {
    const outbox = startOutbox()
    for (let at = 0; at < 25; at += 1) await add(outbox, `slow${at}@example.com`)
    const run = outbox.process()
    const begun = async () => (await rows()).filter(({ attempts }) => attempts === 1).length
    await expect.poll(begun).toBe(20)
    await add(outbox, 'ada@example.com')
    release()
    await run
    expect(new Set(sent)).toHaveLength(26)
    expect(sent).toHaveLength(26)
  })

  it('gives up an attempt that takes too long, and retries it later', async () => {
    const outbox = startOutbox({ limits: { send: 20 } })
    await add(outbox, 'slow@example.com')
    await outbox.process()
    expect(await rows()).toMatchObject([
      { state: 'pending', attempts: 1, last_error: 'Error: Not finished within 0.02 seconds' },
    ])
    await outbox.process()
    expect(await rows()).toMatchObject([{ attempts: 1 }])
    release()
    clock.advance({ seconds: 10 })
    await outbox.process()
    expect(await rows()).toMatchObject([{ state: 'done', attempts: 2, last_error: null }])
  })

  it('closes even if sending a mail hangs, and another process sends that mail after the lease has expired', async () => {
    const outbox = startOutbox({ limits: { close: 20 } })
    await add(outbox, 'slow@example.com')
    void outbox.process()
    await expect.poll(rows).toMatchObject([{ attempts: 1 }])
    await outbox.close()
    const other = startOutbox({ send: async ({ address }) => sent.push(address) > 0 })
    await other.process()
    expect(sent).toEqual([])
    clock.advance({ minutes: 6 })
    await other.process()
    expect(sent).toEqual(['slow@example.com'])
  })
})
