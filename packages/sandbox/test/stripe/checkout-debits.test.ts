import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { alertOf, openPage, submit } from './page-forms.ts'
import { refusal, startStripeSandbox } from './support.ts'

const POSTER = {
  price_data: { currency: 'eur', unit_amount: 1999, product_data: { name: 'Poster' } },
  quantity: 1,
}

async function startShop() {
  const setup = await startStripeSandbox()
  const customer = await setup.stripe.customers.create({ email: 'ada@example.com' })
  const open = (params: Partial<Stripe.Checkout.SessionCreateParams> = {}) =>
    setup.stripe.checkout.sessions.create({
      mode: 'payment',
      customer: customer.id,
      success_url: 'https://shop.example/done',
      line_items: [POSTER],
      ...params,
    })
  const read = (id: string) =>
    setup.stripe.checkout.sessions.retrieve(id, { expand: ['payment_intent.latest_charge'] })
  const told = () =>
    setup.sandbox.stripe
      .events()
      .map(({ type }) => String(type))
      .filter((type) => /^(checkout|payment_intent|charge)\./.test(type))
  return { ...setup, customer, open, read, told }
}

describe('a bank debit on a checkout page', () => {
  it('is on its way for minutes, and then there', async () => {
    const { sandbox, stripe, open, read, told, customer } = await startShop()
    const { id, payment_method_types } = await open()
    expect(payment_method_types).toEqual(['card', 'sepa_debit'])
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_successDelayed_de' })
    expect(await read(id)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
      payment_intent: {
        status: 'processing',
        amount_received: 0,
        latest_charge: {
          status: 'pending',
          paid: false,
          payment_method_details: { type: 'sepa_debit', sepa_debit: { last4: '3003' } },
        },
      },
    })
    expect(told()).toEqual([
      'payment_intent.created',
      'charge.pending',
      'payment_intent.processing',
      'checkout.session.completed',
    ])
    await sandbox.clock.advance({ minutes: 2 })
    expect((await read(id)).payment_status).toBe('unpaid')
    await sandbox.clock.advance({ minutes: 2 })
    expect(await read(id)).toMatchObject({
      payment_status: 'paid',
      payment_intent: {
        status: 'succeeded',
        amount_received: 1999,
        latest_charge: { status: 'succeeded', paid: true },
      },
    })
    expect(told().slice(4)).toEqual([
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.async_payment_succeeded',
    ])
    expect((await stripe.balanceTransactions.list()).data).toHaveLength(1)
    expect((await stripe.customers.listPaymentMethods(customer.id)).data).toEqual([])
    await sandbox.clock.advance({ days: 3 })
    expect(told()).toHaveLength(7)
  })

  it('fails later, and the intent wants another method', async () => {
    const { sandbox, stripe, open, read, told } = await startShop()
    const { id } = await open()
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_failedDelayed_de' })
    await sandbox.clock.advance({ minutes: 4 })
    expect(await read(id)).toMatchObject({
      status: 'complete',
      payment_status: 'unpaid',
      payment_intent: {
        status: 'requires_payment_method',
        last_payment_error: { code: 'payment_intent_payment_attempt_failed' },
        latest_charge: { status: 'failed', paid: false },
      },
    })
    expect(told().slice(4)).toEqual([
      'charge.failed',
      'payment_intent.payment_failed',
      'checkout.session.async_payment_failed',
    ])
    expect((await stripe.balanceTransactions.list()).data).toEqual([])
  })

  it.each([
    ['success', 'paid'],
    ['failed', 'unpaid'],
  ])('is decided at the next moment: %s', async (name, status) => {
    const { sandbox, open, read } = await startShop()
    const { id } = await open()
    sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${name}_de` })
    await sandbox.clock.advance({ seconds: 1 })
    expect(await read(id)).toMatchObject({
      payment_status: status,
      payment_intent: { status: status === 'paid' ? 'succeeded' : 'requires_payment_method' },
    })
  })

  it('can go back only when it is there', async () => {
    const { sandbox, stripe, open, read } = await startShop()
    const { id } = await open()
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_successDelayed_de' })
    const intent = (await read(id)).payment_intent as Stripe.PaymentIntent
    const payment_intent = intent.id
    const charge = (intent.latest_charge as Stripe.Charge).id
    expect((await refusal(stripe.refunds.create({ charge }))).message).toContain(
      'has not been paid',
    )
    await refusal(stripe.refunds.create({ payment_intent }))
    await sandbox.clock.advance({ minutes: 4 })
    expect((await stripe.refunds.create({ payment_intent })).amount).toBe(1999)
  })

  it('is offered by the page, which it pays', async () => {
    const { open, read } = await startShop()
    const session = await open()
    expect((await openPage(session.url)).text).toContain('SEPA')
    const done = await submit(session.url, { card: 'pm_sepaDebit_successDelayed_de' })
    expect(done.location).toBe('https://shop.example/done')
    expect((await read(session.id)).payment_status).toBe('unpaid')
  })

  const DOLLARS = [{ ...POSTER, price_data: { ...POSTER.price_data, currency: 'usd' } }]
  it.each<[string, Partial<Stripe.Checkout.SessionCreateParams>]>([
    ['in dollars', { line_items: DOLLARS }],
    ['where only cards are allowed', { allowed_payment_method_types: ['card'] }],
    ['where it is excluded', { excluded_payment_method_types: ['sepa_debit'] }],
    ['where an invoice is made', { invoice_creation: { enabled: true } }],
    ['that is kept', { payment_intent_data: { setup_future_usage: 'off_session' } }],
    ['that is captured later', { payment_intent_data: { capture_method: 'manual' } }],
  ])('is not taken %s', async (_where, params) => {
    const { open, read } = await startShop()
    const session = await open(params)
    expect(session.payment_method_types).toEqual(['card'])
    expect((await openPage(session.url)).text).not.toContain('SEPA')
    const refused = await submit(session.url, { card: 'pm_sepaDebit_success_de' })
    expect(alertOf(refused)).toContain('bank debit')
    expect((await read(session.id)).status).toBe('open')
  })

  it('is not known by another name', async () => {
    const { sandbox, open } = await startShop()
    const { id } = await open()
    expect(() =>
      sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_rich_de' }),
    ).toThrow('No such PaymentMethod')
  })
})
