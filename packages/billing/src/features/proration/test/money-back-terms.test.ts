import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  PROVIDERS,
  settleCharge,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import { AmountTooLarge, type BillableUser, type Invoice, money } from '../../../index.ts'
import { openDispute } from '../../disputes/test/dispute.ts'

const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const
const main = ({ user }: Pick<FlowTest, 'user'>) => user.subscription('main')

async function newest(user: BillableUser): Promise<Invoice> {
  const [invoice] = await user.invoicesIncludingPending()
  if (!invoice) throw new Error('There is no invoice')
  return invoice
}

/** Refunds half of the newest invoice as soon as it can be refunded. */
async function refundHalf(test: FlowTest): Promise<number> {
  const invoice = await newest(test.user)
  await settleCharge(test, test.user.provider, invoice.id)
  const half = Math.floor(invoice.data.total / 2)
  await invoice.refund({ amount: money(half, 'usd') })
  return half
}

async function previewSwapCredit(test: FlowTest, to = 'monthly'): Promise<number> {
  return (await (await main(test)).previewSwap(to)).credit.amount
}

/** Reads the customer's unused credit at the provider. */
async function readUnusedCredit(test: FlowTest): Promise<number> {
  const { user, sandbox } = test
  const customer = user.providerId ?? ''
  if (user.provider === 'stripe') {
    const { invoiceItems } = await stripeSdk(test)
    const { data } = await invoiceItems.list({ customer, pending: true, limit: 100 })
    return (await user.balance()).amount - data.reduce((sum, { amount }) => sum + amount, 0)
  }
  const live = sandbox.braintree.subscriptions(customer).filter((it) => it.status === 'Active')
  return live.reduce((sum, { balance }) => sum - balance, 0)
}

describe.each(PROVIDERS)('a refund of half a yearly payment at $provider (threat Q1)', (given) => {
  const { provider, card } = given

  it('is half of the price after the discount', async () => {
    const test = await start(provider, { coupon: true })
    await test.user.newSubscription('main', 'yearly').withCoupon('SPRING').create(card)
    expect(sumChargedCents(test, test.user)).toBe(9700)
    expect(await previewSwapCredit(test)).toBe(9700)
    expect(await refundHalf(test)).toBe(4850)
    expect(await previewSwapCredit(test)).toBe(4850)
  })

  it('includes half of the tax, and a later swap credits the other half', async () => {
    const test = await start(provider, { taxPercentage: () => 19 })
    await test.user.newSubscription('main', 'yearly').create(card)
    expect(await refundHalf(test)).toBe(5950)
    await (await main(test)).swapAndInvoice('monthly')
    // The first month costs 11.90.
    const kept = 11_900 - 5950 - 1190
    expect(await readUnusedCredit(test)).toBeLessThanOrEqual(kept)
    expect(await readUnusedCredit(test)).toBeGreaterThanOrEqual(kept - 2)
    expect(sumChargedCents(test, test.user)).toBe(11_900)
  })

  it('is half of each price if the subscription has several prices', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    const seat = { id: 'seat', unitAmount: 4000, interval: 'year', product: 'Extras' } as const
    sandbox.stripe.seedPrice(seat)
    sandbox.braintree.defineAddOn({ id: 'seat', amount: 4000 })
    await user.newSubscription('main', 'yearly').price('seat').create(card)
    expect(await refundHalf(test)).toBe(7000)
    const preview = await (await main(test)).previewSwap([{ price: 'monthly' }])
    expect(preview.credit.amount).toBe(7000)
    await (await main(test)).swap([{ price: 'monthly' }])
    expect(await readUnusedCredit(test)).toBe(7000 - 1000)
  })

  it('is not credited again by cancel(), resume() or cancelNow()', async () => {
    const test = await start(provider)
    await test.user.newSubscription('main', 'yearly').create(card)
    await refundHalf(test)
    await (await main(test)).cancel()
    expect(await previewSwapCredit(test)).toBe(5000)
    await (await main(test)).resume()
    expect([await readUnusedCredit(test), await previewSwapCredit(test)]).toEqual([0, 5000])
    await (await main(test)).cancelNow()
    expect([await readUnusedCredit(test), sumChargedCents(test, test.user)]).toEqual([0, 10_000])
  })

  it('leaves the other half, which either a refund or a swap can return, but only once', async () => {
    const test = await start(provider)
    await test.user.newSubscription('main', 'yearly').create(card)
    await refundHalf(test)
    const invoice = await newest(test.user)
    const swapped = (await main(test)).swap('monthly')
    const refunded = invoice.refund({ amount: money(5000, 'usd') })
    const [swap, refund] = await Promise.allSettled([swapped, refunded])
    expect(swap.status).toBe('fulfilled')
    const back = sumRefundedCents(test, test.user)
    // The first month was paid by the credit or by the card.
    const credited =
      (await readUnusedCredit(test)) + 1000 - (sumChargedCents(test, test.user) - 10_000)
    expect(back + credited).toBe(10_000)
    if (refund.status === 'rejected') expect(refund.reason).toBeInstanceOf(AmountTooLarge)
    expect(back).toBe(refund.status === 'fulfilled' ? 10_000 : 5000)
  })

  it('reduces the credit for its own period, and for no other period', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    await refundHalf(test)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user)).toBe(2000)
    const whole = await previewSwapCredit(test, 'yearly')
    expect(whole).toBeGreaterThanOrEqual(990)
    expect(await refundHalf(test)).toBe(500)
    expect(await previewSwapCredit(test, 'yearly')).toBe(Math.floor(whole / 2))
  })
})

describe.each(PROVIDERS)('a period at $provider that was paid with credit (threat Q1)', (given) => {
  it('is not credited by a swap if the bank took back the payment that the credit came from', async () => {
    const test = await start(given.provider)
    const { user } = test
    await user.newSubscription('main', 'yearly').create(given.card)
    await (await main(test)).swapAndInvoice('pro')
    await test.advance({ days: 31, hours: 2 })
    const before = await readUnusedCredit(test)
    expect([sumChargedCents(test, user), before]).toEqual([10_000, 10_000 - 2 * 2500])
    openDispute(test, user)
    await test.settle()
    await (await main(test)).swapAndInvoice('monthly')
    // The credit pays the cheaper plan, and does not grow.
    const used = before - (await readUnusedCredit(test))
    expect(used).toBeGreaterThan(990)
    expect(used).toBeLessThanOrEqual(1000)
    expect(sumChargedCents(test, user)).toBe(10_000)
  })
})

describe('a sale at Braintree that was voided before it was settled (threat Q1)', () => {
  it('is not credited by a swap', async () => {
    const test = await start('braintree')
    await test.user.newSubscription('main', 'yearly').create(CARDS.braintree)
    expect((await (await newest(test.user)).refund()).status).toBe('voided')
    await (await main(test)).swap('monthly')
    expect([sumChargedCents(test, test.user), await readUnusedCredit(test)]).toEqual([1000, 0])
  })
})

describe('a credit note for an unpaid invoice (threat Q1)', () => {
  /** A month whose charge is declined, with a credit note over 4.00. */
  async function noted() {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(CARDS.stripe)
    sandbox.trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
    await test.advance({ months: 1, hours: 2 })
    const { id } = await (await newest(user)).creditNote({
      to: 'balance',
      amount: money(400, 'usd'),
    })
    return { test, user, note: id }
  }

  it('does not count as a payment', async () => {
    const { test } = await noted()
    await (await main(test)).payNow()
    expect(sumChargedCents(test, test.user)).toBe(1600)
    const credit = await previewSwapCredit(test, 'yearly')
    expect(credit).toBeGreaterThan(590)
    expect(credit).toBeLessThanOrEqual(600)
  })

  it('has no effect once it is void', async () => {
    const { test, note } = await noted()
    await (await stripeSdk(test)).creditNotes.voidCreditNote(note)
    await (await main(test)).payNow()
    expect(sumChargedCents(test, test.user)).toBe(2000)
    expect(await previewSwapCredit(test, 'yearly')).toBeGreaterThan(990)
  })
})

describe.each([
  ['bought by bank transfer', false, 10_000],
  ['a gift', true, 4000],
] as const)(
  'credit that was %s, and paid for a part of a yearly period (threat Q1),',
  (_, gift, paid) => {
    it(`counts as ${paid / 100} of 100 paid when a swap credits the year`, async () => {
      const test = await start('stripe')
      const { user } = test
      await user.creditBalance(money(6000, 'usd'), 'Paid by bank transfer', { gift })
      await user.newSubscription('main', 'yearly').create(CARDS.stripe)
      expect(sumChargedCents(test, user)).toBe(4000)
      expect(await previewSwapCredit(test)).toBe(paid)
    })
  },
)

describe.each(PROVIDERS)(
  'the number of requests to $provider for a change of a subscription',
  ({ provider, card }) => {
    /** Makes a change, and counts its requests to the provider. */
    async function countCalls(test: FlowTest, change: () => Promise<unknown>): Promise<number> {
      const { trouble } = test.sandbox
      trouble.failNext(100, { slowMs: 0 }, provider)
      await change()
      const left = trouble.pending().calls.length
      trouble.clear()
      return 100 - left
    }

    it('is the same for changes without credit, whether or not money was refunded', async () => {
      const test = await start(provider, { webhooks: false })
      const { sandbox, user } = test
      const seat = { id: 'seat', unitAmount: 700, interval: 'month', product: 'Extras' } as const
      sandbox.stripe.seedPrice(seat)
      sandbox.braintree.defineAddOn({ id: 'seat', amount: 700 })
      await user.newSubscription('main', 'monthly').price('seat').create(card)
      const calls = await countCalls(test, async () => (await main(test)).updateQuantity(2, 'seat'))
      await refundHalf(test)
      const after = await countCalls(test, async () => (await main(test)).updateQuantity(3, 'seat'))
      expect(calls).toBeGreaterThan(0)
      // Braintree lists only the ids of a sale's refunds, and each one is read.
      expect(after - calls).toBe(provider === 'stripe' ? 0 : 1)
    })
  },
)
