import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { sumChargedCents } from '../../../../test/support.ts'
import { Busy, type Subscription } from '../../../index.ts'
import { type MeteredTest, startWithMeter } from './support.ts'

interface Waiting {
  readonly test: MeteredTest
  readonly subscription: Subscription
  readonly calls: string
  readonly other: string
}

/**
 * Ten calls at five cents each, which the provider does not have yet when the subscription changes.
 */
const REPORTS: Readonly<Record<string, (waiting: Waiting) => Promise<unknown>>> = {
  'written in a transaction': ({ test, subscription }) =>
    test.database.transaction((transaction) =>
      subscription.reportUsage({ meter: 'calls', value: 10, transaction }),
    ),
  'waiting for the next attempt': async ({ test, subscription }) => {
    await test.billing.usage.meters()
    test.sandbox.trouble.failNext(3, '500', 'stripe')
    await subscription.reportUsage({ meter: 'calls', value: 10 })
    await test.billing.process()
    test.sandbox.trouble.clear()
  },
  'claimed by a process that died': async ({ test, subscription }) => {
    await REPORTS['written in a transaction']?.({ test, subscription, calls: '', other: '' })
    const now = test.sandbox.clock.now().getTime()
    await test.database.kysely
      .updateTable('billing_usage')
      .set({ asked_at: now, due_at: now + 600_000 })
      .execute()
  },
}

/** Changes after which the usage would be counted, but not billed. */
const CHANGES: Readonly<Record<string, (waiting: Waiting) => Promise<unknown>>> = {
  'cancelNow({ invoiceNow: true })': ({ subscription }) =>
    subscription.cancelNow({ invoiceNow: true }),
  'a price that is removed': ({ subscription, calls }) => subscription.removePrice(calls),
  'a price that is swapped': ({ subscription, calls, other }) =>
    subscription.swapItem(calls, other),
  'a swap without the price': ({ subscription }) => subscription.swap([{ price: 'monthly' }]),
  'a swap to another interval': ({ subscription }) => subscription.swap([{ price: 'yearly' }]),
}

async function subscribe(test: MeteredTest, user = test.user): Promise<Waiting> {
  const calls = await test.price({ unit_amount: 5 })
  const other = await test.price({ unit_amount: 7 })
  await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
  await test.sandbox.clock.advance({ days: 1 })
  return { test, calls, other, subscription: await user.subscription('main') }
}

/** Returns the cost of usage, including what waits for the next invoice. */
async function usageBilled({ test }: Waiting): Promise<number> {
  const customer = test.user.providerId ?? ''
  const invoices = await test.stripe.invoices.list({ customer })
  const lines = invoices.data.flatMap(({ lines }) => lines.data)
  const items = (await test.stripe.invoiceItems.list({ customer, pending: true })).data
  const ofUsage = [...lines, ...items].filter(({ pricing }) => {
    const price = pricing?.price_details?.price
    return (typeof price === 'string' ? price : (price?.id ?? '')).startsWith('price_')
  })
  return ofUsage.reduce((sum, { amount }) => sum + amount, 0)
}

describe('usage that was reported but not yet sent to Stripe', () => {
  const table = Object.keys(CHANGES).flatMap((change) =>
    Object.keys(REPORTS).map((report) => [report, change] as const),
  )
  it.each(table)(
    'is billed even if it is still %s when the subscription is changed by: %s',
    async (report, change) => {
      const waiting = await subscribe(await startWithMeter())
      await REPORTS[report]?.(waiting)
      await waiting.test.sandbox.clock.advance({ seconds: 1 })
      await CHANGES[change]?.(waiting)
      expect(await usageBilled(waiting)).toBe(50)
      expect(await waiting.test.states()).toEqual(['sent'])
    },
  )

  it.each(LOSSES)(
    'is billed once when a response is lost before the subscription ends (kind of failure: %s)',
    async (how) => {
      const test = await startWithMeter()
      const billing = createImpatientBilling(test)
      const seen: unknown[] = []
      for (let after = 0; ; after++) {
        const user = await test.createUser()
        await user.updateCard('pm_card_visa')
        const { subscription } = await subscribe(test, user)
        await test.database.transaction((transaction) =>
          subscription.reportUsage({ meter: 'calls', value: 10, transaction }),
        )
        await test.sandbox.clock.advance({ seconds: 1 })
        const mine = await (await billing.user(user.id)).subscription('main')
        loseResponse(test, 'stripe', { after, how })
        const end = () => mine.cancelNow({ invoiceNow: true })
        await end().catch((error: unknown) => {
          seen.push(error)
          return end()
        })
        expect(sumChargedCents(test, user), `after ${after}`).toBe(1000 + 50)
        const isOver = test.sandbox.trouble.pending().calls.length > 0
        test.sandbox.trouble.clear()
        if (isOver) break
      }
      const busy = seen.filter((error) => error instanceof Busy)
      expect(busy.map(({ message }) => message)).toContainEqual(
        expect.stringContaining('1 report of usage'),
      )
    },
  )

  it('delays a change of the subscription only if that change bills its meter', async () => {
    const waiting = await subscribe(await startWithMeter())
    const { test, subscription } = waiting
    await test.billing.usage.createMeter({ name: 'Others', eventName: 'others' })
    await test.database.transaction((transaction) =>
      test.user.reportUsage('others', 10, { transaction }),
    )
    await CHANGES['a price that is removed']?.(waiting)
    expect(await test.states()).toEqual(['pending'])
    await subscription.cancelNow()
    expect(await test.states()).toEqual(['pending'])
  })
})
