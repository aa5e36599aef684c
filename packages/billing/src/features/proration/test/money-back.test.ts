import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  settleCharge,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import {
  AmountTooLarge,
  type BillableUser,
  type Invoice,
  money,
  type Subscription,
  type SwapPreview,
} from '../../../index.ts'
import { openDispute } from '../../disputes/test/dispute.ts'

/** A subscription to two seats for a year, for 200.00. */
async function subscribeTwoSeats(tax = 0): Promise<FlowTest> {
  const test = await start('stripe', { taxPercentage: () => tax })
  test.sandbox.stripe.seedPrice({
    id: 'storage',
    unitAmount: 5000,
    interval: 'year',
    product: 'Extras',
  })
  await test.user.newSubscription('main', 'yearly').quantity(2).create('pm_card_visa')
  return test
}

async function newest(user: BillableUser): Promise<Invoice> {
  const [invoice] = await user.invoices()
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

const main = ({ user }: Pick<FlowTest, 'user'>) => user.subscription('main')

/**
 * Reads the customer's credit from the balance and the pending invoice items. Negative for a debt.
 */
async function readCustomerCredit(test: FlowTest): Promise<number> {
  const stripe = await stripeSdk(test)
  const customer = test.user.providerId ?? ''
  const waiting = await stripe.invoiceItems.list({ customer, pending: true, limit: 100 })
  const pending = waiting.data.reduce((sum, { amount }) => sum + amount, 0)
  return (await test.user.balance()).amount - pending
}

const refundAll = async ({ user }: FlowTest) => (await newest(user)).refund()

const WAYS: ReadonlyArray<[string, (test: FlowTest) => Promise<unknown>]> = [
  ['refunded', refundAll],
  ['lost in a dispute', async (test) => openDispute(test, test.user)('lost')],
  ['disputed', async (test) => openDispute(test, test.user)],
  [
    'refunded by a credit note',
    async ({ user }) => (await newest(user)).creditNote({ to: 'refund' }),
  ],
  [
    'returned outside Stripe',
    async ({ user }) => (await newest(user)).creditNote({ to: 'outside' }),
  ],
]

interface Change {
  readonly name: string
  /** Amount charged immediately, for future time. */
  readonly charged: number
  readonly make: (it: Subscription) => Promise<unknown>
  readonly preview?: (it: Subscription) => Promise<SwapPreview>
}

const CHANGES: readonly Change[] = [
  {
    name: 'a swap to another interval',
    charged: 2000,
    make: (it) => it.swap('monthly'),
    preview: (it) => it.previewSwap('monthly'),
  },
  {
    name: 'a swap of all prices',
    charged: 1000,
    make: (it) => it.swap([{ price: 'monthly', quantity: 1 }]),
    preview: (it) => it.previewSwap([{ price: 'monthly', quantity: 1 }]),
  },
  {
    name: 'fewer seats',
    charged: 0,
    make: (it) => it.updateQuantity(1),
    preview: (it) => it.preview({ quantity: 1 }),
  },
  {
    name: 'fewer seats, billed immediately',
    charged: 0,
    make: (it) => it.updateQuantityAndInvoice(1),
    preview: (it) => it.preview({ quantity: 1 }, { invoiceNow: true }),
  },
  { name: 'one seat less', charged: 0, make: (it) => it.decrementQuantity() },
]

/** Returns the money of the year, and makes the change. Expects no credit. */
async function expectNoCredit(
  giveBack: (test: FlowTest) => Promise<unknown>,
  { charged, make, preview }: Change,
): Promise<void> {
  const test = await subscribeTwoSeats()
  await giveBack(test)
  await test.advance({ days: 36 })
  const shown = await preview?.(await main(test))
  await make(await main(test))
  expect(await readCustomerCredit(test)).toBe(0)
  expect(sumChargedCents(test, test.user)).toBe(20_000 + charged)
  // Without an invoice of its own, the change is on the next one, which is over one seat.
  if (shown) expect(shown.total.amount).toBe(shown.immediately ? charged : 10_000)
}

describe('a yearly period at Stripe whose payment was returned to the customer (threat Q1)', () => {
  it.each(WAYS)('is not credited in a swap once it was %s', async (_, giveBack) => {
    const [swap] = CHANGES
    if (swap) await expectNoCredit(giveBack, swap)
  })

  it.each(CHANGES.slice(1))('is not credited in $name', async (change) => {
    await expectNoCredit(refundAll, change)
  })

  it('is not credited in cancelAt(), and is not charged again by resume()', async () => {
    const test = await subscribeTwoSeats()
    await refundAll(test)
    const subscription = await main(test)
    await subscription.cancelAt(new Date('2026-01-23T10:00:00Z'))
    expect(await readCustomerCredit(test)).toBe(0)
    await subscription.resume()
    expect(await readCustomerCredit(test)).toBe(0)
    await subscription.cancelAt(new Date('2026-06-23T10:00:00Z'))
    await subscription.cancelAt(new Date('2026-03-23T10:00:00Z'))
    await subscription.cancelAt(new Date('2026-05-23T10:00:00Z'))
    expect(await readCustomerCredit(test)).toBe(0)
    await test.advance({ months: 6 })
    expect(await readCustomerCredit(test)).toBe(0)
    expect(sumChargedCents(test, test.user)).toBe(20_000)
  })

  it('is charged in full after a swap to a more expensive plan, and is not credited in this or the next change', async () => {
    const test = await subscribeTwoSeats()
    test.sandbox.stripe.seedPrice({
      id: 'dear',
      unitAmount: 36_500,
      interval: 'year',
      product: 'Gold',
    })
    await refundAll(test)
    await test.advance({ days: 100 })
    await (await main(test)).swapAndInvoice([{ price: 'dear', quantity: 1 }])
    expect(sumChargedCents(test, test.user)).toBe(20_000 + 26_500)
    expect(await readCustomerCredit(test)).toBe(0)
    await test.advance({ days: 100 })
    await (await main(test)).swapAndInvoice('monthly')
    // 165 days of the more expensive plan are credited at a dollar each, less the first month.
    expect(await readCustomerCredit(test)).toBe(16_500 - 1000)
  })
})

describe('a yearly period at Stripe with a partial refund (threat Q1)', () => {
  it('credits only the unrefunded part of the payment when several swaps follow each other', async () => {
    const test = await subscribeTwoSeats()
    await (await newest(test.user)).refund({ amount: money(10_000, 'usd') })
    await test.advance({ days: 73 })
    const preview = await (await main(test)).preview({ quantity: 1 })
    expect(preview.total.amount).toBe(10_000 - 4000)
    await (await main(test)).updateQuantityAndInvoice(1)
    expect(await readCustomerCredit(test)).toBe(4000)
    await test.advance({ days: 73 })
    // Three fifths of the year of one seat, half of whose price was refunded.
    expect((await (await main(test)).previewSwap('monthly')).credit.amount).toBe(3000)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(4000 + 3000 - 1000)
    expect(sumRefundedCents(test, test.user) + 7000).toBeLessThanOrEqual(
      sumChargedCents(test, test.user),
    )
  })

  it('converts credit back into paid time, exactly, if resume() removes an end date', async () => {
    const test = await subscribeTwoSeats()
    await (await newest(test.user)).refund({ amount: money(5000, 'usd') })
    const subscription = await main(test)
    await subscription.cancelAt(new Date('2026-03-29T10:00:00Z'))
    expect(await readCustomerCredit(test)).toBe(12_000)
    await subscription.cancelAt(new Date('2026-06-10T10:00:00Z'))
    expect(await readCustomerCredit(test)).toBe(9000)
    await subscription.resume()
    expect(await readCustomerCredit(test)).toBe(0)
    await test.advance({ days: 73 })
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(12_000 - 2000)
  })

  it('is not credited a cent too much if taxes are added to the price', async () => {
    const test = await subscribeTwoSeats(19)
    const invoice = await newest(test.user)
    expect(invoice.data.total).toBe(23_800)
    await invoice.refund({ amount: money(7777, 'usd') })
    await (await main(test)).swap('monthly')
    const credit = await readCustomerCredit(test)
    expect(credit).toBeLessThanOrEqual(23_800 - 7777 - 2380)
    expect(credit).toBeGreaterThanOrEqual(23_800 - 7777 - 2380 - 3)
  })

  it('gives less credit for a line that a credit note credited, and full credit for the other lines', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    sandbox.stripe.seedPrice({
      id: 'storage',
      unitAmount: 5000,
      interval: 'year',
      product: 'Extras',
    })
    await user.newSubscription('main', 'yearly').price('storage').create('pm_card_visa')
    const invoice = await newest(user)
    const line = invoice.lines.find(({ amount }) => amount === 5000)?.id ?? ''
    await invoice.creditNote({ to: 'balance', lines: [{ line }] })
    const before = await readCustomerCredit(test)
    expect(before).toBe(5000)
    await (await main(test)).removePrice('storage')
    expect(await readCustomerCredit(test)).toBe(5000)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(5000 + 10_000 - 1000)
  })

  it.each([
    [
      'a refund that failed',
      async (test: FlowTest, refund: string) => void test.sandbox.stripe.failRefund(refund),
    ],
  ])('gives the same credit as if %s had never been made', async (_, undo) => {
    const test = await subscribeTwoSeats()
    const { id } = await (await newest(test.user)).refund()
    await test.advance({ days: 73 })
    expect((await (await main(test)).previewSwap('monthly')).credit.amount).toBe(0)
    await undo(test, id)
    expect((await (await main(test)).previewSwap('monthly')).credit.amount).toBe(16_000)
  })

  it('gives full credit after a won dispute, and the amount withheld before is refunded', async () => {
    const test = await subscribeTwoSeats()
    const decide = openDispute(test, test.user)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(0)
    decide('won')
    await test.settle()
    const first = (await test.user.invoices()).at(-1)
    await first?.refund()
    expect(sumRefundedCents(test, test.user)).toBe(20_000)
  })
})

describe('credit at Stripe that is a gift (threat Q1)', () => {
  it('does not count as a payment, so the time it covered is not credited in a swap', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.creditBalance(money(7500, 'usd'), 'Welcome', { gift: true })
    await user.newSubscription('main', 'yearly').create('pm_card_visa')
    expect(sumChargedCents(test, user)).toBe(2500)
    await (await main(test)).swap('monthly')
    // A quarter of the price was paid with money.
    expect(await readCustomerCredit(test)).toBe(2500 - 1000)
    const first = (await user.invoices()).at(-1)
    await expect(first?.refund()).rejects.toThrow(AmountTooLarge)
  })

  it("is used up after the credit of an earlier swap, which is the customer's own money", async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'yearly').create('pm_card_visa')
    await (await main(test)).swap('monthly')
    await user.creditBalance(money(9000, 'usd'), 'Welcome', { gift: true })
    await (await main(test)).swap('yearly')
    expect(await readCustomerCredit(test)).toBe(9000)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(9000 + 9000)
    expect(sumChargedCents(test, user)).toBe(10_000)
  })
})

describe('a refund after a swap at Stripe (threat Q1)', () => {
  async function swapped(tax = 0) {
    const test = await start('stripe', { taxPercentage: () => tax })
    await test.user.newSubscription('main', 'yearly').create('pm_card_visa')
    await test.advance({ days: 73 })
    const invoice = await newest(test.user)
    await (await main(test)).swap('monthly')
    return { test, user: test.user, invoice }
  }

  it('returns the part that the swap has not credited, once; a higher amount is refused with an error that names the refundable amount', async () => {
    const { test, user, invoice } = await swapped()
    expect(await readCustomerCredit(test)).toBe(7000)
    const tooMuch = invoice.refund({ amount: money(2001, 'usd') })
    await expect(tooMuch).rejects.toThrow(AmountTooLarge)
    await expect(tooMuch).rejects.toThrow('Only $20.00 of the charge can still be refunded: $80.00')
    const refund = await invoice.refund()
    expect(refund.amount).toEqual(money(2000, 'usd'))
    expect((await invoice.refund()).id).toBe(refund.id)
    expect(sumRefundedCents(test, user)).toBe(2000)
    await expect(invoice.refund({ amount: money(1, 'usd') })).rejects.toThrow(AmountTooLarge)
  })

  it('is refused if the swap credited everything', async () => {
    const test = await start('stripe')
    await test.user.newSubscription('main', 'yearly').create('pm_card_visa')
    const invoice = await newest(test.user)
    await (await main(test)).swap('monthly')
    await expect(invoice.refund()).rejects.toThrow(AmountTooLarge)
    expect(sumRefundedCents(test, test.user)).toBe(0)
  })

  it('does not exceed the payment if taxes are added to the price', async () => {
    const { test, user, invoice } = await swapped(19)
    const credit = (await readCustomerCredit(test)) + 1190
    const { amount } = await invoice.refund()
    expect(amount.amount + credit).toBeLessThanOrEqual(11_900)
    expect(amount.amount + credit).toBeGreaterThanOrEqual(11_898)
    expect(sumRefundedCents(test, user)).toBe(amount.amount)
  })

  it.each(['refund', 'balance', 'outside'] as const)(
    'has the same limit as a credit note (option to: %s)',
    async (to) => {
      const { user, invoice } = await swapped()
      const tooMuch = invoice.creditNote({ to, amount: money(2001, 'usd') })
      await expect(tooMuch).rejects.toThrow(AmountTooLarge)
      const line = invoice.lines[0]?.id ?? ''
      await expect(invoice.creditNote({ to, lines: [{ line }] })).rejects.toThrow(AmountTooLarge)
      const note = await invoice.creditNote({ to })
      expect(note.data.total).toBe(2000)
      const more = user.refund(invoice, { amount: money(1, 'usd') })
      await expect(more).rejects.toThrow(AmountTooLarge)
    },
  )

  it('can include the whole invoice after resume() has removed an end date', async () => {
    const test = await subscribeTwoSeats()
    await (await main(test)).cancelAt(new Date('2026-01-23T10:00:00Z'))
    const invoice = await newest(test.user)
    await expect(invoice.refund({ amount: money(20_000, 'usd') })).rejects.toThrow(AmountTooLarge)
    await (await main(test)).resume()
    expect((await invoice.refund()).amount).toEqual(money(20_000, 'usd'))
  })

  it('can return the payment for a cheaper plan, which a later swap then does not credit', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'pro').create('pm_card_visa')
    const invoice = await newest(user)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(1500)
    expect((await invoice.refund()).amount).toEqual(money(1000, 'usd'))
    await (await main(test)).swapAndInvoice('yearly')
    expect([sumChargedCents(test, user), await readCustomerCredit(test)]).toEqual([
      2500 + 10_000 - 1500,
      0,
    ])
  })

  it('can return the payments of two invoices for one period, minus the credit already given', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'yearly').create('pm_card_visa')
    await test.advance({ days: 73 })
    await (await main(test)).updateQuantityAndInvoice(2)
    await test.advance({ days: 73 })
    await (await main(test)).updateQuantityAndInvoice(1)
    expect([sumChargedCents(test, user), await readCustomerCredit(test)]).toEqual([18_000, 6000])
    for (const invoice of await user.invoices()) {
      if (invoice.data.total > 0)
        await invoice.refund().catch((error) => expect(error).toBeInstanceOf(AmountTooLarge))
    }
    expect(sumRefundedCents(test, user)).toBe(12_000)
    await (await main(test)).swap('monthly')
    expect(await readCustomerCredit(test)).toBe(6000 - 1000)
  })
})

describe('a change that requires authentication (threat Q1)', () => {
  it('does not credit refunded money, even after the customer has confirmed the change', async () => {
    const test = await subscribeTwoSeats()
    const { user } = test
    await (await newest(user)).refund()
    await user.updateCard('pm_card_authenticationRequired')
    await test.advance({ days: 36 })
    const asked = await (await main(test)).swap('monthly').catch((error) => error)
    expect(asked.code).toBe('payment_action_required')
    test.sandbox.stripe.completeAuthentication(asked.payment.id)
    await test.settle()
    expect((await main(test)).providerPlan).toBe('monthly')
    expect(await readCustomerCredit(test)).toBe(0)
    expect(sumChargedCents(test, user)).toBe(20_000 + 2000)
  })
})

describe.each([
  ['refunded', async (user: BillableUser) => (await newest(user)).refund()],
  [
    'lost in a dispute',
    async (user: BillableUser, test: FlowTest) => openDispute(test, user)('lost'),
  ],
] as const)('a billing period at Braintree that was %s (threat Q1)', (_, giveBack) => {
  async function givenBack(plan = 'yearly', addOn?: string) {
    const test = await start('braintree')
    test.sandbox.braintree.defineAddOn({ id: 'seat', amount: 3000 })
    const builder = test.user.newSubscription('main', plan)
    await (addOn ? builder.price(addOn) : builder).create(CARD)
    await test.advance({ days: 3 })
    await giveBack(test.user, test)
    await test.settle()
    return test
  }

  it.each([
    ['another interval', 'yearly', 'monthly', 1000],
    ['a cheaper plan', 'pro', 'monthly', 1000],
    ['a more expensive plan', 'monthly', 'pro', 2500],
  ])(
    'is not credited when the plan is swapped to %s, neither in the preview nor in the charge',
    async (_name, plan, to, price) => {
      const test = await givenBack(plan)
      const before = sumChargedCents(test, test.user)
      const preview = await (await main(test)).previewSwap(to)
      await (await main(test)).swap(to)
      expect(sumChargedCents(test, test.user) - before).toBe(price)
      expect([preview.total.amount, preview.credit.amount]).toEqual([price, 0])
      expect((await main(test)).providerPlan).toBe(to)
      // The next charge is a full one too.
      await test.advance({ months: 1 })
      expect(sumChargedCents(test, test.user) - before).toBe(2 * price)
    },
  )

  it('is not credited when an add-on is removed, and the next period is charged without the add-on', async () => {
    const test = await givenBack('monthly', 'seat')
    const before = sumChargedCents(test, test.user)
    await (await main(test)).removePrice('seat')
    expect(sumChargedCents(test, test.user)).toBe(before)
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, test.user) - before).toBe(1000)
  })
})

const CARD = 'fake-valid-visa-nonce'

describe('a period at Braintree with a partial refund (threat Q1)', () => {
  async function withHalfRefunded(plan: string, addOn?: string) {
    const test = await start('braintree')
    test.sandbox.braintree.defineAddOn({ id: 'seat', amount: 3000 })
    const builder = test.user.newSubscription('main', plan)
    await (addOn ? builder.price(addOn) : builder).create(CARD)
    const [first] = await test.user.invoicesIncludingPending()
    await settleCharge(test, 'braintree', first?.id ?? '')
    const amount = money((first?.data.total ?? 0) / 2, 'usd')
    await test.user.refund(first?.id ?? '', { amount })
    return test
  }

  it('gives credit in proportion to the unrefunded part in a swap to another interval', async () => {
    const test = await withHalfRefunded('yearly')
    await test.advance({ days: 73 })
    const preview = await (await main(test)).previewSwap('monthly')
    expect(preview.credit.amount).toBe(4000)
    await (await main(test)).swap('monthly')
    expect(sumChargedCents(test, test.user)).toBe(10_000)
    await test.advance({ months: 5 })
    // The credit pays four months, the card the fifth.
    expect(sumChargedCents(test, test.user)).toBe(11_000)
  })

  it('does not allow removePrice() for an add-on, and the error suggests swap() with all prices', async () => {
    const test = await withHalfRefunded('monthly', 'seat')
    const removed = (await main(test)).removePrice('seat')
    await expect(removed).rejects.toThrow('swap() with all prices')
    await (await main(test)).swap([{ price: 'monthly' }])
    // 20.00 of 40.00 are left, of which the new period uses 10.00.
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, test.user)).toBe(4000)
    await test.advance({ months: 1 })
    expect(sumChargedCents(test, test.user)).toBe(5000)
  })

  it('gives the full credit once the refund has failed, and once a dispute is won', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'yearly').create(CARD)
    await test.advance({ days: 3 })
    const refund = await (await newest(user)).refund()
    expect((await (await main(test)).previewSwap('monthly')).credit.amount).toBe(0)
    const { default: braintree } = await import('braintree')
    const sdk = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
    const { testing } = sdk as unknown as {
      testing: { settlementDecline(id: string): Promise<unknown> }
    }
    await testing.settlementDecline(refund.id)
    const credit = async () => (await (await main(test)).previewSwap('monthly')).credit.amount
    const whole = await credit()
    expect(whole).toBeGreaterThan(9900)
    const sale = (await newest(user)).id
    test.sandbox.braintree.notify('dispute_opened', sale)
    expect(await credit()).toBe(0)
    test.sandbox.braintree.notify('dispute_won', sale)
    expect(await credit()).toBe(whole)
  })
})

describe('a refund after a swap at Braintree (threat Q1)', () => {
  it('can return the part that a swap to another interval has not credited', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'yearly').create(CARD)
    await test.advance({ days: 73 })
    const invoice = await newest(user)
    await (await main(test)).swap('monthly')
    await expect(invoice.refund({ amount: money(2001, 'usd') })).rejects.toThrow(AmountTooLarge)
    const refund = await invoice.refund()
    expect(refund.amount).toEqual(money(2000, 'usd'))
    expect((await invoice.refund()).id).toBe(refund.id)
    expect(sumRefundedCents(test, user)).toBe(2000)
  })

  it('can return the part that a swap to a cheaper plan has not credited, during that period and later', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'pro').create(CARD)
    await test.advance({ days: 3 })
    const invoice = await newest(user)
    await (await main(test)).swap('monthly')
    const credit = Math.round((1500 * 28) / 31)
    const left = money(2500 - credit, 'usd')
    const tooMuch = { amount: money(2501 - credit, 'usd') }
    await expect(invoice.refund(tooMuch)).rejects.toThrow(AmountTooLarge)
    await test.advance({ months: 2 })
    await expect(invoice.refund(tooMuch)).rejects.toThrow(AmountTooLarge)
    expect((await invoice.refund()).amount).toEqual(left)
  })

  it('is refused if later swaps make the credited amount unclear, and returns the whole payment if nothing was credited', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'pro').create(CARD)
    await test.advance({ days: 25 })
    const credited = await newest(user)
    await (await main(test)).swap('monthly')
    await test.advance({ months: 3 })
    const plain = await newest(user)
    expect(plain.data.total).toBe(1000)
    await test.advance({ months: 1 })
    await (await main(test)).swap('pro')
    await test.advance({ days: 3 })
    await expect(credited.refund()).rejects.toThrow(AmountTooLarge)
    expect((await plain.refund()).amount).toEqual(money(1000, 'usd'))
  })

  it('is refused if the credit was given before the sale was settled', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'yearly').create(CARD)
    const [invoice] = await user.invoicesIncludingPending()
    await test.sandbox.clock.advance({ minutes: 1 })
    await (await main(test)).swap('quarterly')
    await expect(invoice?.refund()).rejects.toThrow(AmountTooLarge)
    expect(sumRefundedCents(test, user)).toBe(0)
  })
})
