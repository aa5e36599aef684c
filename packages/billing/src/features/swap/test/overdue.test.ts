import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import { PaymentOverdue, type Subscription } from '../../../index.ts'

/** Changes that give credit. `MORE` has those that only add cost. */
const BACK: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['swap()', (it) => it.swap('monthly')],
  ['swapAndInvoice()', (it) => it.swapAndInvoice('monthly')],
  ['swap() to another interval', (it) => it.swap('yearly')],
  ['swap() of all prices', (it) => it.swap([{ price: 'pro', quantity: 3 }])],
  ['updateQuantity()', (it) => it.updateQuantity(1)],
  ['decrementQuantity()', (it) => it.decrementQuantity()],
  ['removePrice()', (it) => it.removePrice('storage')],
  ['swapItem()', (it) => it.swapItem('storage', 'support')],
]
const MORE: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['addPrice()', (it) => it.addPrice('support')],
  ['incrementQuantity()', (it) => it.incrementQuantity()],
]
const PREVIEWS: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['previewSwap()', (it) => it.previewSwap('monthly')],
]

async function started(): Promise<FlowTest> {
  const test = await start('stripe', { webhooks: false })
  for (const id of ['storage', 'support']) {
    test.sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
  }
  return test
}

const LATER = new Date('2026-03-12T10:00:00Z')

async function dateBeforePeriodEnd(subscription: Subscription): Promise<Date> {
  const end = await subscription.periodEndsAt()
  return new Date(Number(end) - 5 * 86_400_000)
}

/** All ways to end a subscription within an unpaid period. */
const ENDS: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['cancelNow()', (it) => it.cancelNow()],
  ['cancelNow({ invoiceNow: true })', (it) => it.cancelNow({ invoiceNow: true })],
  ['cancelAt()', async (it) => it.cancelAt(await dateBeforePeriodEnd(it))],
  [
    'cancelAt() with a new date',
    async (it) => (await it.cancelAt(LATER)).cancelAt(await dateBeforePeriodEnd(it)),
  ],
  ['cancel()', (it) => it.cancel()],
]

async function expectNothingBack(
  { test, user, late }: Awaited<ReturnType<typeof startUnpaid>>,
  end: (it: Subscription) => Promise<unknown>,
): Promise<void> {
  const taken = sumChargedCents(test, user)
  await end(late)
  await test.sandbox.clock.advance({ months: 2 })
  await user.sync()
  expect(await user.subscribed('main')).toBe(false)
  expect((await user.balance()).amount).toBe(0)
  expect([sumChargedCents(test, user), sumRefundedCents(test, user)]).toEqual([taken, 0])
}

/**
 * Subscribes to `pro` three times and `storage`, and leaves either the upgrade or the renewal
 * unpaid.
 */
async function startUnpaid(because: 'an unpaid change' | 'an unpaid renewal') {
  const test = await started()
  const { user } = test
  if (because === 'an unpaid renewal') {
    await user.newSubscription('main', 'pro').quantity(3).price('storage').create('pm_card_visa')
    await user.updateCard('pm_card_chargeCustomerFail')
    await test.sandbox.clock.advance({ months: 1, hours: 2 })
  } else {
    const { providerId: id } = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await user.updateCard('pm_card_chargeCustomerFail')
    const stripe = await stripeSdk(test)
    const [item] = (await stripe.subscriptions.retrieve(id)).items.data
    // Changes were once made like this, before they waited for their payment.
    await stripe.subscriptions.update(id, {
      items: [{ id: item?.id ?? '', price: 'pro', quantity: 3 }, { price: 'storage' }],
      metadata: { main: 'pro' },
      proration_behavior: 'always_invoice',
      payment_behavior: 'allow_incomplete',
    })
  }
  await user.sync()
  const late = await user.subscription('main')
  expect(late.pastDue()).toBe(true)
  return { test, user, late }
}

describe.each(['an unpaid change', 'an unpaid renewal'] as const)(
  'a subscription at Stripe, after %s,',
  (because) => {
    it.each([...BACK, ...PREVIEWS])(
      'rejects a change that would credit unpaid money: %s',
      async (_how, change) => {
        const { test, user, late } = await startUnpaid(because)
        const taken = sumChargedCents(test, user)
        await expect(change(late)).rejects.toThrow(PaymentOverdue)
        expect((await user.balance()).amount).toBe(0)
        const before = await late.amountOwed()
        await user.updateCard('pm_card_visa')
        await late.payNow()
        expect(sumChargedCents(test, user)).toBe(taken + Number(before?.amount))
        await change(await user.subscription('main'))
        expect(sumRefundedCents(test, user)).toBe(0)
      },
    )

    it.each(ENDS)('gives neither credit nor a refund when it ends: %s', async (_how, end) =>
      expectNothingBack(await startUnpaid(because), end),
    )

    it.each(MORE)('accepts a change that only adds cost: %s', async (_how, change) => {
      const { late } = await startUnpaid(because)
      const before = (await late.amountOwed())?.amount
      await change(late)
      expect((await late.amountOwed())?.amount).toBe(before)
    })

    it('accepts a swap with noProrate(), which does not credit unused time', async () => {
      const { user, late } = await startUnpaid(because)
      await late.noProrate().swap('monthly')
      expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
      expect((await user.balance()).amount).toBe(0)
    })
  },
)

it('a renewal invoice that is still a draft does not prevent a swap', async () => {
  const test = await started()
  const { user, sandbox } = test
  const subscription = await user.newSubscription('main', 'pro').create('pm_card_visa')
  await sandbox.clock.advance({ months: 1, minutes: 10 })
  const drafts = sandbox.stripe.invoices(user.providerId ?? '').map(({ status }) => status)
  expect(drafts.sort()).toEqual(['draft', 'paid'])
  await subscription.swap('monthly')
  expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
})

/**
 * Starts a subscription whose current month was billed, but whose invoice was voided or paused: the
 * month was never paid, and nothing is owed.
 */
async function startNeverPaid(
  by: 'void' | 'mark_uncollectible' | 'keep_as_draft' | 'voided by hand',
) {
  const test = await started()
  const { user, sandbox } = test
  await user.newSubscription('main', 'pro').quantity(3).price('storage').create('pm_card_visa')
  const subscription = await user.subscription('main')
  if (by === 'voided by hand') {
    await user.updateCard('pm_card_chargeCustomerFail')
    await sandbox.clock.advance({ months: 1, hours: 2 })
    const [open] = await user.invoicesIncludingPending()
    await (await user.findInvoice(open?.id ?? ''))?.void()
    await user.updateCard('pm_card_visa')
  } else {
    await subscription.pause({ bills: by })
    await sandbox.clock.advance({ months: 1, hours: 2 })
    await subscription.unpause()
  }
  await sandbox.clock.advance({ days: 3 })
  await user.sync()
  return { test, user, late: await user.subscription('main') }
}

describe.each(['void', 'mark_uncollectible', 'keep_as_draft', 'voided by hand'] as const)(
  'a subscription at Stripe, after a renewal that was never paid (invoice: %s),',
  (by) => {
    it.each([...BACK, ...PREVIEWS])(
      'rejects a change that would credit unpaid money: %s',
      async (_how, change) => {
        const { test, user, late } = await startNeverPaid(by)
        const taken = sumChargedCents(test, user)
        expect(late.pastDue()).toBe(false)
        await expect(change(late)).rejects.toThrow(PaymentOverdue)
        await expect(change(late)).rejects.toThrow('noProrate(), or swapAtPeriodEnd()')
        expect([sumChargedCents(test, user), (await user.balance()).amount]).toEqual([taken, 0])
      },
    )

    it.each(ENDS)('gives neither credit nor a refund when it ends: %s', async (_how, end) =>
      expectNothingBack(await startNeverPaid(by), end),
    )

    it('accepts a change that only adds cost, but still rejects a swap after that change was paid', async () => {
      const { late } = await startNeverPaid(by)
      await late.addPriceAndInvoice('support')
      await expect(late.swap('monthly')).rejects.toThrow(PaymentOverdue)
    })

    it('accepts a swap with noProrate(), and a swap at the end of the period', async () => {
      const { test, user, late } = await startNeverPaid(by)
      await late.noProrate().swap('monthly')
      expect((await user.balance()).amount).toBe(0)
      await late.swapAtPeriodEnd('pro')
      await test.sandbox.clock.advance({ months: 1 })
      await user.sync()
      expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
    })

    it('accepts any change again after the next paid invoice', async () => {
      const { test, user, late } = await startNeverPaid(by)
      await test.sandbox.clock.advance({ months: 1 })
      await user.sync()
      await late.swap('monthly')
      expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    })
  },
)
