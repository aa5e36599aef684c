import { describe, expect, it } from 'vitest'
import { PaymentOverdue, type Subscription } from '../src/index.ts'
import { type FlowTest, givenBackTo, start, stripeSdk, takenFrom } from './support.ts'

/** Changes that give something back, and those that only cost more. */
const BACK: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['swap', (it) => it.swap('monthly')],
  ['swap and invoice', (it) => it.swapAndInvoice('monthly')],
  ['swap to another rhythm', (it) => it.swap('yearly')],
  ['swap of all prices', (it) => it.swap([{ price: 'pro', quantity: 3 }])],
  ['fewer', (it) => it.updateQuantity(1)],
  ['one less', (it) => it.decrementQuantity()],
  ['a price less', (it) => it.removePrice('storage')],
  ['another price', (it) => it.swapItem('storage', 'support')],
]
const MORE: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['a price more', (it) => it.addPrice('support')],
  ['one more', (it) => it.incrementQuantity()],
]
const PREVIEWS: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['a swap', (it) => it.previewSwap('monthly')],
]

async function started(): Promise<FlowTest> {
  const test = await start('stripe', { webhooks: false })
  for (const id of ['storage', 'support']) {
    test.sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
  }
  return test
}

const LATER = new Date('2026-03-12T10:00:00Z')

async function beforeEndOf(subscription: Subscription): Promise<Date> {
  const end = await subscription.periodEndsAt()
  return new Date(Number(end) - 5 * 86_400_000)
}

/** Ends of all kinds, within the period that nobody has paid. */
const ENDS: ReadonlyArray<[string, (it: Subscription) => Promise<unknown>]> = [
  ['at once', (it) => it.cancelNow()],
  ['at once, with all that is to be billed', (it) => it.cancelNow({ invoiceNow: true })],
  ['on a day', async (it) => it.cancelAt(await beforeEndOf(it))],
  [
    'on a day after another',
    async (it) => (await it.cancelAt(LATER)).cancelAt(await beforeEndOf(it)),
  ],
  ['with the period', (it) => it.cancel()],
]

async function expectNothingBack(
  { test, user, late }: Awaited<ReturnType<typeof owing>>,
  end: (it: Subscription) => Promise<unknown>,
): Promise<void> {
  const taken = takenFrom(test, user)
  await end(late)
  await test.sandbox.clock.advance({ months: 2 })
  await user.sync()
  expect(await user.subscribed('main')).toBe(false)
  expect((await user.balance()).amount).toBe(0)
  expect([takenFrom(test, user), givenBackTo(test, user)]).toEqual([taken, 0])
}

/** `pro` twice and storage, of which the difference to `monthly` or the renewal is open, and nobody pays. */
async function owing(because: 'an unpaid change' | 'an unpaid renewal') {
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
    // As it was done before changes were held back until they are paid.
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

describe.each(['an unpaid change', 'an unpaid renewal'] as const)('after %s', (because) => {
  it.each([...BACK, ...PREVIEWS])(
    'nothing is given back that nobody paid: %s',
    async (_how, change) => {
      const { test, user, late } = await owing(because)
      const taken = takenFrom(test, user)
      await expect(change(late)).rejects.toThrow(PaymentOverdue)
      expect((await user.balance()).amount).toBe(0)
      const before = await late.amountOwed()
      await user.updateCard('pm_card_visa')
      await late.payNow()
      expect(takenFrom(test, user)).toBe(taken + Number(before?.amount))
      await change(await user.subscription('main'))
      expect(givenBackTo(test, user)).toBe(0)
    },
  )

  it.each(ENDS)('whoever ends it gets nothing back: %s', async (_how, end) =>
    expectNothingBack(await owing(because), end),
  )

  it.each(MORE)('what is only added is: %s', async (_how, change) => {
    const { late } = await owing(because)
    const before = (await late.amountOwed())?.amount
    await change(late)
    expect((await late.amountOwed())?.amount).toBe(before)
  })

  it('a swap without proration gives nothing back, and is made', async () => {
    const { user, late } = await owing(because)
    await late.noProrate().swap('monthly')
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    expect((await user.balance()).amount).toBe(0)
  })
})

it('a renewal that is about to be sent stands in nobody’s way', async () => {
  const test = await started()
  const { user, sandbox } = test
  const subscription = await user.newSubscription('main', 'pro').create('pm_card_visa')
  await sandbox.clock.advance({ months: 1, minutes: 10 })
  const drafts = sandbox.stripe.invoices(user.providerId ?? '').map(({ status }) => status)
  expect(drafts.sort()).toEqual(['draft', 'paid'])
  await subscription.swap('monthly')
  expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
})

/** The running month was billed, and its bill given up: nobody has paid for it, and nobody owes anything. */
async function givenUp(by: 'void' | 'mark_uncollectible' | 'keep_as_draft' | 'somebody') {
  const test = await started()
  const { user, sandbox } = test
  await user.newSubscription('main', 'pro').quantity(3).price('storage').create('pm_card_visa')
  const subscription = await user.subscription('main')
  if (by === 'somebody') {
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

describe.each(['void', 'mark_uncollectible', 'keep_as_draft', 'somebody'] as const)(
  'after a renewal that was given up by %s',
  (by) => {
    it.each([...BACK, ...PREVIEWS])(
      'nothing is given back that nobody paid: %s',
      async (_how, change) => {
        const { test, user, late } = await givenUp(by)
        const taken = takenFrom(test, user)
        expect(late.pastDue()).toBe(false)
        await expect(change(late)).rejects.toThrow(PaymentOverdue)
        await expect(change(late)).rejects.toThrow('noProrate(), or swapAtPeriodEnd()')
        expect([takenFrom(test, user), (await user.balance()).amount]).toEqual([taken, 0])
      },
    )

    it.each(ENDS)('whoever ends it gets nothing back: %s', async (_how, end) =>
      expectNothingBack(await givenUp(by), end),
    )

    it('what is only added is, also where that was paid since', async () => {
      const { late } = await givenUp(by)
      await late.addPriceAndInvoice('support')
      await expect(late.swap('monthly')).rejects.toThrow(PaymentOverdue)
    })

    it('a swap without proration is made, and so is one with the next bill', async () => {
      const { test, user, late } = await givenUp(by)
      await late.noProrate().swap('monthly')
      expect((await user.balance()).amount).toBe(0)
      await late.swapAtPeriodEnd('pro')
      await test.sandbox.clock.advance({ months: 1 })
      await user.sync()
      expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
    })

    it('all is as always with the next bill that is paid', async () => {
      const { test, user, late } = await givenUp(by)
      await test.sandbox.clock.advance({ months: 1 })
      await user.sync()
      await late.swap('monthly')
      expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
    })
  },
)
