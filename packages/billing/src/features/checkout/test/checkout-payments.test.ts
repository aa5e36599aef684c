import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { extractPdfText } from '../../../../test/read-pdf.ts'
import {
  type FlowTest,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from '../../../../test/support.ts'
import {
  type AnyBillingEvent,
  CheckoutNotFound,
  type EventListeners,
  InvalidArgument,
  money,
} from '../../../index.ts'

const ORDER = { successPath: '/orders/7', metadata: { order: '7' } }
const POSTER = money(1999, 'eur')

async function pay({ user, sandbox }: FlowTest, options = {}) {
  const { id } = await user.checkoutCharge(POSTER, 'Poster', { ...ORDER, ...options })
  sandbox.stripe.completeCheckout(id)
  return user.completeCheckout(id)
}

describe('a payment made on a hosted page', () => {
  it('is included in the result of the page and in the checkout.completed event', async () => {
    const emitted: AnyBillingEvent[] = []
    const on: EventListeners = { 'checkout.completed': (event) => void emitted.push(event) }
    const test = await start('stripe', { on })
    const result = await pay(test)
    const stripe = await stripeSdk(test)
    const { amount_received } = await stripe.paymentIntents.retrieve(result.payment ?? '')
    expect([amount_received, result.invoice]).toEqual([1999, null])
    await test.settle()
    expect(emitted).toMatchObject([
      { data: { checkout: { id: result.id, payment: result.payment } } },
    ])
  })

  it('can be refunded by its own id, by the page’s id, or by passing the page’s result', async () => {
    const test = await start('stripe')
    const { user } = test
    const { payment, id } = await pay(test)
    await user.refund(payment ?? '', { amount: money(100, 'eur') })
    await user.refund(id, { amount: money(200, 'eur') })
    const { status } = await user.refund(await user.completeCheckout(id))
    expect([status, sumRefundedCents(test, user)]).toEqual(['succeeded', 1999])
  })

  it('cannot be refunded by another user, or before it was made', async () => {
    const test = await start('stripe')
    const { id } = await pay(test)
    const eve = await test.createUser({ email: 'eve@example.com' })
    await eve.updateCard('pm_card_visa')
    await expect(eve.refund(id)).rejects.toMatchObject({ code: 'charge_not_found' })
    const open = await test.user.checkoutCharge(POSTER, 'Another', ORDER)
    for (const none of [open.id, 'cs_test_none', 'cs_', `cs_${'x'.repeat(101)}`]) {
      await expect(test.user.refund(none)).rejects.toMatchObject({ code: 'charge_not_found' })
    }
    expect(sumRefundedCents(test, test.user)).toBe(0)
  })

  it('can be refunded by the page’s id if the page started a subscription', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const { id } = await user.checkout('monthly', { successPath: '/done' })
    sandbox.stripe.completeCheckout(id)
    const { invoice, payment } = await user.completeCheckout(id)
    expect([await user.findInvoice(invoice ?? ''), payment]).toMatchObject([{ id: invoice }, null])
    await user.refund(id)
    expect(sumRefundedCents(test, user)).toBe(1000)
  })

  it.each(LOSSES)('is refunded once when a response is lost (kind of failure: %s)', async (how) => {
    const test = await start('stripe', { webhooks: false })
    const { user } = test
    const { id } = await pay(test)
    for (let after = 0; after < 6; after++) {
      const other = await createImpatientBilling(test).user(user.id)
      loseResponse(test, 'stripe', { after, how })
      await other.refund(id).catch(() => null)
      test.sandbox.trouble.clear()
    }
    await user.refund(id)
    expect(sumRefundedCents(test, user)).toBe(1999)
    expect(test.sandbox.stripe.charges(user.providerId ?? '')).toHaveLength(1)
  })
})

describe('an invoice of a payment on a hosted page', () => {
  it('is created if requested, is listed, has a PDF, and is reported by the `invoice.paid` event', async () => {
    const emitted: AnyBillingEvent[] = []
    const on: EventListeners = { 'invoice.paid': (event) => void emitted.push(event) }
    const test = await start('stripe', { on })
    const { user } = test
    const { invoice: id, payment } = await pay(test, { invoice: true })
    const [invoice, ...others] = await user.invoices()
    expect(others).toEqual([])
    expect([invoice?.id, invoice?.rawTotal(), invoice?.paid]).toEqual([id, POSTER, true])
    const pdf = await user.downloadInvoice(id ?? '', { vendor: 'Shop', product: 'Posters' })
    expect(extractPdfText(new Uint8Array(await pdf.arrayBuffer()))).toContain('Poster')
    await test.settle()
    expect(emitted).toMatchObject([{ data: { invoice: { id, total: POSTER } } }])
    await user.refund(payment ?? '')
    expect((await user.findInvoice(id ?? ''))?.id).toBe(id)
    expect(sumRefundedCents(test, user)).toBe(1999)
  })

  it('requires a new page: an open page for the same payment without an invoice is not reused', async () => {
    const test = await start('stripe')
    const { user } = test
    const plain = await user.checkoutCharge(POSTER, 'Poster', ORDER)
    const same = await user.checkoutCharge(POSTER, 'Poster', { ...ORDER, invoice: false })
    const other = await user.checkoutCharge(POSTER, 'Poster', { ...ORDER, invoice: true })
    expect([same.id === plain.id, other.id === plain.id]).toEqual([true, false])
  })

  it.each(['subscription', 'setup'] as const)(
    'cannot be requested for a hosted page in mode %s',
    async (mode) => {
      const { user } = await start('stripe')
      const items = mode === 'setup' ? [] : 'monthly'
      const refused = user.checkout(items, { mode, successPath: '/done', invoice: true })
      await expect(refused).rejects.toThrow(InvalidArgument)
    },
  )
})

describe('findCheckout()', () => {
  it('finds a hosted page only for its owner, who can also expire it', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const page = await user.checkoutCharge(POSTER, 'Poster', ORDER)
    const eve = await test.createUser({ email: 'eve@example.com' })
    await eve.updateCard('pm_card_visa')
    expect(await eve.findCheckout(page.id)).toBeNull()
    for (const none of ['', 'cs_test_none', '../customers/cus_1', 'x'.repeat(400)]) {
      expect(await user.findCheckout(none)).toBeNull()
    }
    const found = await user.findCheckout(page.id)
    expect(found).toMatchObject({ id: page.id, status: 'open', url: page.url })
    await found?.expire()
    expect(found).toMatchObject({ status: 'expired', url: null })
    expect(() => sandbox.stripe.completeCheckout(page.id)).toThrow('expired')
    expect(await user.findCheckout(page.id)).toMatchObject({ status: 'expired', url: null })
  })

  it('returns a completed hosted page with its subscription and without a URL', async () => {
    const test = await start('stripe', { webhooks: false })
    const { user, sandbox } = test
    const page = await user.checkout('monthly', { successPath: '/done' })
    sandbox.stripe.completeCheckout(page.id)
    await page.expire()
    expect(page).toMatchObject({ status: 'complete', url: null })
    expect(await user.subscribed('default')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('returns null for a user who never was a customer', async () => {
    const { user } = await start('stripe')
    expect(await user.findCheckout('cs_test_1')).toBeNull()
    await expect(user.completeCheckout('cs_test_1')).rejects.toThrow(CheckoutNotFound)
  })
})

describe('a hosted page that does not require a card', () => {
  it('starts a subscription to a free plan without a card', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const stripe = await stripeSdk(test)
    const product = (await stripe.products.create({ name: 'Free' })).id
    const free = await stripe.prices.create({
      product,
      currency: 'usd',
      unit_amount: 0,
      recurring: { interval: 'month' },
    })
    const page = await user
      .newSubscription('main', free.id)
      .withoutCard()
      .checkout({ successPath: '/done' })
    expect(await stripe.checkout.sessions.retrieve(page.id)).toMatchObject({
      payment_method_collection: 'if_required',
    })
    sandbox.stripe.completeCheckout(page.id)
    const { subscription } = await user.completeCheckout(page.id)
    expect([subscription?.valid(), sumChargedCents(test, user)]).toEqual([true, 0])
  })

  it('asks for a card if a payment is due now', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const { id } = await user.checkout('monthly', { successPath: '/done', withoutCard: true })
    sandbox.stripe.completeCheckout(id)
    expect((await user.completeCheckout(id)).subscription?.valid()).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is refused with an anchor date, because no card could be charged on that date', async () => {
    const { user } = await start('stripe')
    const anchorOn = new Date('2026-02-01T00:00:00Z')
    const refused = user.checkout('monthly', {
      successPath: '/done',
      withoutCard: true,
      anchorOn,
      prorate: false,
    })
    await expect(refused).rejects.toThrow(InvalidArgument)
  })
})
