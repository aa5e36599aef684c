import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { openPage, readAlert, submit } from './page-forms.ts'
import { catchStripeError, startStripeSandbox } from './support.ts'

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

describe('a bank debit in Stripe Checkout', () => {
  it('is processing for minutes and then succeeds', async () => {
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

  it('fails later, and the intent requires another payment method', async () => {
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
  ])('has its result within a second with the test account %s', async (name, status) => {
    const { sandbox, open, read } = await startShop()
    const { id } = await open()
    sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${name}_de` })
    await sandbox.clock.advance({ seconds: 1 })
    expect(await read(id)).toMatchObject({
      payment_status: status,
      payment_intent: { status: status === 'paid' ? 'succeeded' : 'requires_payment_method' },
    })
  })

  it('can be refunded only after it succeeded', async () => {
    const { sandbox, stripe, open, read } = await startShop()
    const { id } = await open()
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_successDelayed_de' })
    const intent = (await read(id)).payment_intent as Stripe.PaymentIntent
    const payment_intent = intent.id
    const charge = (intent.latest_charge as Stripe.Charge).id
    expect((await catchStripeError(stripe.refunds.create({ charge }))).message).toContain(
      'has not been paid',
    )
    await catchStripeError(stripe.refunds.create({ payment_intent }))
    await sandbox.clock.advance({ minutes: 4 })
    expect((await stripe.refunds.create({ payment_intent })).amount).toBe(1999)
  })

  it('is offered and accepted on the Checkout page', async () => {
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
    ['if only cards are allowed', { allowed_payment_method_types: ['card'] }],
    ['if it is excluded', { excluded_payment_method_types: ['sepa_debit'] }],
    ['with manual capture', { payment_intent_data: { capture_method: 'manual' } }],
  ])('is not accepted in this case: %s', async (_where, params) => {
    const { open, read } = await startShop()
    const session = await open(params)
    expect(session.payment_method_types).toEqual(['card'])
    expect((await openPage(session.url)).text).not.toContain('SEPA')
    const refused = await submit(session.url, { card: 'pm_sepaDebit_success_de' })
    expect(readAlert(refused)).toContain('bank debit')
    expect((await read(session.id)).status).toBe('open')
  })

  it('pays an invoice on its page', async () => {
    const { sandbox, stripe, open, read } = await startShop()
    const { id } = await open({ invoice_creation: { enabled: true } })
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_successDelayed_de' })
    const waiting = await read(id)
    expect(waiting).toMatchObject({ status: 'complete', payment_status: 'unpaid' })
    const invoice = () => stripe.invoices.retrieve(String(waiting.invoice))
    expect(await invoice()).toMatchObject({ status: 'open', amount_remaining: 1999 })
    await stripe.invoices.pay(String(waiting.invoice))
    expect((await stripe.charges.list()).data).toHaveLength(1)
    await sandbox.clock.advance({ minutes: 4 })
    expect(await invoice()).toMatchObject({ status: 'paid', amount_remaining: 0 })
    expect((await read(id)).payment_status).toBe('paid')
  })

  it('is saved if the session sets setup_future_usage', async () => {
    const { sandbox, stripe, open, customer } = await startShop()
    const { id } = await open({ payment_intent_data: { setup_future_usage: 'off_session' } })
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_success_de' })
    const { data } = await stripe.customers.listPaymentMethods(customer.id)
    expect(data).toMatchObject([{ type: 'sepa_debit', sepa_debit: { last4: '3000' } }])
  })

  it('accepts a US bank account if the session allows it, and no card if the session allows only bank accounts', async () => {
    const { sandbox, open, read } = await startShop()
    const session = await open({
      line_items: DOLLARS,
      allowed_payment_method_types: ['us_bank_account'],
    })
    expect(session.payment_method_types).toEqual(['us_bank_account'])
    const page = await openPage(session.url)
    expect(page.text).toContain('ACH')
    expect(page.text).not.toContain('4242')
    expect(readAlert(await submit(session.url, { card: 'pm_card_visa' }))).toContain('a card')
    await submit(session.url, { card: 'pm_usBankAccount_insufficientFunds' })
    await sandbox.clock.advance({ seconds: 1 })
    expect(await read(session.id)).toMatchObject({
      payment_status: 'unpaid',
      payment_intent: {
        latest_charge: {
          status: 'failed',
          payment_method_details: {
            type: 'us_bank_account',
            us_bank_account: { last4: '2227', routing_number: '110000000' },
          },
        },
      },
    })
  })

  it('is rejected for a test bank account that does not exist', async () => {
    const { sandbox, open } = await startShop()
    const { id } = await open()
    expect(() =>
      sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_rich_de' }),
    ).toThrow('No such PaymentMethod')
  })
})

const MONTHLY = {
  price_data: {
    currency: 'eur',
    unit_amount: 1000,
    recurring: { interval: 'month' },
    product_data: { name: 'Gold' },
  },
  quantity: 1,
} as const

describe('a Stripe subscription paid by bank debit', () => {
  async function subscribe(account: string) {
    const shop = await startShop()
    const { id } = await shop.open({ mode: 'subscription', line_items: [MONTHLY] })
    shop.sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${account}_de` })
    const session = await shop.stripe.checkout.sessions.retrieve(id)
    const subscription = () => shop.stripe.subscriptions.retrieve(String(session.subscription))
    const invoices = async () => (await shop.stripe.invoices.list()).data
    return { ...shop, session, subscription, invoices }
  }

  it('is active while the debit is processing, and its session reports the result', async () => {
    const { sandbox, stripe, session, subscription, invoices } = await subscribe('successDelayed')
    expect(session).toMatchObject({ status: 'complete', payment_status: 'unpaid' })
    expect(await subscription()).toMatchObject({
      status: 'active',
      default_payment_method: expect.stringMatching(/^pm_/),
    })
    expect(await invoices()).toMatchObject([{ status: 'open', attempt_count: 1 }])
    await sandbox.clock.advance({ minutes: 4 })
    expect(await invoices()).toMatchObject([{ status: 'paid' }])
    expect((await stripe.checkout.sessions.retrieve(session.id)).payment_status).toBe('paid')
    const types = sandbox.stripe.events().map(({ type }) => type)
    const order = [
      'checkout.session.completed',
      'invoice.paid',
      'checkout.session.async_payment_succeeded',
    ]
    expect(types.filter((type) => order.includes(String(type)))).toEqual(order)
  })

  it('is renewed by further bank debits', async () => {
    const { sandbox, subscription, invoices } = await subscribe('successDelayed')
    await sandbox.clock.advanceTo(new Date('2026-02-28T11:01:00Z'))
    expect((await invoices())[0]).toMatchObject({
      billing_reason: 'subscription_cycle',
      status: 'open',
    })
    expect((await subscription()).status).toBe('active')
    await sandbox.clock.advance({ minutes: 4 })
    expect((await invoices())[0]).toMatchObject({ status: 'paid' })
  })

  it.each([
    ['success', 'paid', 'active'],
    ['successDelayed', 'paid', 'active'],
    ['failedDelayed', 'open', 'past_due'],
  ])(
    "follows its customer's test clock, with the test account %s",
    async (account, invoiced, status) => {
      const { sandbox, stripe, open } = await startShop()
      const frozen_time = sandbox.clock.nowMs() / 1000
      const clock = await stripe.testHelpers.testClocks.create({ frozen_time })
      const { id: customer } = await stripe.customers.create({ test_clock: clock.id })
      const { id } = await open({ mode: 'subscription', line_items: [MONTHLY], customer })
      sandbox.stripe.completeCheckout(id, { paymentMethod: `pm_sepaDebit_${account}_de` })
      const states = async () => {
        const { data: invoices } = await stripe.invoices.list({ customer })
        const { data: subscriptions } = await stripe.subscriptions.list({ customer })
        return [...invoices, ...subscriptions].map((each) => each.status)
      }
      expect(await states()).toEqual(['open', 'active'])
      await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: frozen_time + 240 })
      await expect
        .poll(async () => (await stripe.testHelpers.testClocks.retrieve(clock.id)).status)
        .toBe('ready')
      expect(await states()).toEqual([invoiced, status])
      await sandbox.clock.advance({ minutes: 4 })
      expect(await states()).toEqual([invoiced, status])
      expect(sandbox.failedJobs()).toEqual([])
    },
  )

  it('becomes past due if the debit is returned, and recovers with another card', async () => {
    const { sandbox, stripe, session, subscription, invoices, customer } =
      await subscribe('failedDelayed')
    expect((await subscription()).status).toBe('active')
    await sandbox.clock.advance({ minutes: 4 })
    expect((await subscription()).status).toBe('past_due')
    expect((await stripe.checkout.sessions.retrieve(session.id)).payment_status).toBe('unpaid')
    expect(sandbox.stripe.events('invoice.payment_failed')).toHaveLength(1)
    expect(sandbox.stripe.events('checkout.session.async_payment_failed')).toHaveLength(1)
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
    const [invoice] = await invoices()
    await stripe.invoices.pay(invoice?.id ?? '', { payment_method: card.id })
    expect((await subscription()).status).toBe('active')
  })

  it('starts with a saved account', async () => {
    const { sandbox, stripe, customer } = await startShop()
    const { id, payment_method_types } = await stripe.checkout.sessions.create({
      mode: 'setup',
      currency: 'eur',
      customer: customer.id,
      success_url: 'https://shop.example/done',
    })
    expect(payment_method_types).toEqual(['card', 'sepa_debit'])
    sandbox.stripe.completeCheckout(id, { paymentMethod: 'pm_sepaDebit_success_de' })
    const { setup_intent: setup } = await stripe.checkout.sessions.retrieve(id, {
      expand: ['setup_intent'],
    })
    expect(setup).toMatchObject({ status: 'succeeded', payment_method_types: ['sepa_debit'] })
    const method = String((setup as Stripe.SetupIntent).payment_method)
    const { product } = await stripe.prices.create({
      product_data: { name: 'Gold' },
      currency: 'eur',
      unit_amount: 1,
      recurring: { interval: 'month' },
    })
    const made = await stripe.subscriptions.create({
      customer: customer.id,
      default_payment_method: method,
      items: [
        {
          price_data: {
            product: String(product),
            currency: 'eur',
            unit_amount: 700,
            recurring: { interval: 'month' },
          },
        },
      ],
    })
    expect(made.status).toBe('active')
    await sandbox.clock.advance({ seconds: 1 })
    expect((await stripe.invoices.list()).data).toMatchObject([{ status: 'paid', total: 700 }])
  })
})

describe('a test bank account in the API', () => {
  it('can be attached, and pays a subscription', async () => {
    const { sandbox, stripe, customer } = await startShop()
    const method = await stripe.paymentMethods.attach('pm_sepaDebit_success_de', {
      customer: customer.id,
    })
    expect(method).toMatchObject({ type: 'sepa_debit', customer: customer.id })
    const { id: price } = await stripe.prices.create({
      product_data: { name: 'Gold' },
      currency: 'eur',
      unit_amount: 700,
      recurring: { interval: 'month' },
    })
    const { id } = await stripe.subscriptions.create({
      customer: customer.id,
      default_payment_method: method.id,
      items: [{ price }],
    })
    await sandbox.clock.advance({ seconds: 1 })
    expect((await stripe.invoices.list()).data).toMatchObject([{ status: 'paid', total: 700 }])
    expect((await stripe.subscriptions.retrieve(id)).status).toBe('active')
  })

  it.each([
    ['pm_usBankAccount_success', 'usd', 'succeeded'],
    ['pm_usBankAccount_noAccount', 'usd', 'requires_payment_method'],
    ['pm_sepaDebit_success_de', 'eur', 'succeeded'],
  ])('decides the result of a confirmed payment: %s', async (payment_method, currency, status) => {
    const { sandbox, stripe, customer } = await startShop()
    const intent = await stripe.paymentIntents.create({
      customer: customer.id,
      amount: 900,
      currency,
      payment_method,
      confirm: true,
      return_url: 'https://shop.example/done',
    })
    expect(intent.status).toBe('processing')
    await sandbox.clock.advance({ seconds: 1 })
    expect((await stripe.paymentIntents.retrieve(intent.id)).status).toBe(status)
  })

  it.each([
    ['accountClosed', 'account_closed'],
    ['noAccount', 'no_account'],
    ['insufficientFunds', 'insufficient_funds'],
    ['debitNotAuthorized', 'debit_not_authorized'],
  ])('fails with the error code that its name suggests: %s', async (name, code) => {
    const { sandbox, stripe } = await startShop()
    const { id } = await stripe.paymentIntents.create({
      amount: 900,
      currency: 'usd',
      payment_method: `pm_usBankAccount_${name}`,
      confirm: true,
      return_url: 'https://shop.example/done',
    })
    await sandbox.clock.advance({ seconds: 1 })
    const failed = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] })
    expect(failed.last_payment_error).toMatchObject({
      code,
      type: 'invalid_request_error',
      doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}`,
      payment_method: { type: 'us_bank_account' },
    })
    expect(failed.latest_charge).toMatchObject({
      status: 'failed',
      failure_code: code,
      failure_message: failed.last_payment_error?.message,
    })
  })

  it('is listed in the types of the setup intent that it confirms', async () => {
    const { stripe, customer } = await startShop()
    const intent = await stripe.setupIntents.create({
      customer: customer.id,
      payment_method: 'pm_usBankAccount_success',
      confirm: true,
      return_url: 'https://shop.example/done',
    })
    expect(intent).toMatchObject({
      status: 'succeeded',
      payment_method_types: ['card', 'us_bank_account'],
    })
  })

  it.each([{ currency: 'usd' }, { currency: 'eur', capture_method: 'manual' as const }])(
    'is not debited if the request has the parameters %j',
    async (params) => {
      const { stripe } = await startShop()
      const confirmed = stripe.paymentIntents.create({
        amount: 900,
        payment_method: 'pm_sepaDebit_success_de',
        confirm: true,
        return_url: 'https://shop.example/done',
        ...params,
      })
      expect(await catchStripeError(confirmed)).toMatchObject({
        statusCode: 400,
        param: 'payment_method',
      })
      expect((await stripe.charges.list()).data).toEqual([])
    },
  )
})
