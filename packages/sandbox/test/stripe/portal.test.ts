import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { formatDollars, openPage, readAlert, readRowAmount, submit } from './page-forms.ts'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

type FlowData = Stripe.BillingPortal.SessionCreateParams.FlowData
type Features = Stripe.BillingPortal.ConfigurationCreateParams['features']

const RETURN = 'https://shop.example/account'
const FEBRUARY = seconds('2026-02-28T10:00:00Z')

async function startPortal(options: { features?: Features; mode?: 'classic' | 'flexible' } = {}) {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const prices = await seedPrices(stripe)
  const { customer, method } = await seedCustomer(stripe)
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: prices.monthly.id }],
    ...(options.mode ? { billing_mode: { type: options.mode } } : {}),
  })
  const item = subscription.items.data[0]?.id ?? ''
  const configuration = options.features
    ? (await stripe.billingPortal.configurations.create({ features: options.features })).id
    : undefined
  const open = (flow_data?: FlowData) =>
    stripe.billingPortal.sessions.create({
      customer: customer.id,
      return_url: RETURN,
      ...(flow_data ? { flow_data } : {}),
      ...(configuration ? { configuration } : {}),
    })
  const now = () => stripe.subscriptions.retrieve(subscription.id)
  return { ...setup, ...prices, customer, method, subscription, item, open, now, configuration }
}

function fieldsOf(url: string, more: Readonly<Record<string, string>>) {
  return { token: new URL(url).searchParams.get('token') ?? '', ...more }
}

const REDIRECT = { type: 'redirect', redirect: { return_url: `${RETURN}?done` } } as const

describe("the first page of Stripe's customer portal", () => {
  it("shows the customer's data, and shows nothing if the URL lacks the session's token", async () => {
    const { open, subscription, customer, stripe } = await startPortal()
    const other = await stripe.customers.create({ email: 'bob@example.com' })
    const { url } = await open()
    const page = await openPage(url)
    expect(page.text).toContain(subscription.id)
    expect(page.text).toContain('Renews on February 28, 2026')
    expect(page.text).toContain('Visa •••• 4242')
    expect(page.text).toContain(String(customer.email))
    expect(page.text).not.toContain(String(other.email))
    expect(page.text).toContain('$10.00')
    expect((await openPage(url.replace(/token=\w+/, 'token=x'))).status).toBe(403)
    expect((await openPage(url.replace(/\?.*/, ''))).status).toBe(403)
  })

  it('shows no data of other customers', async () => {
    const { open, stripe, monthly, sandbox } = await startPortal()
    const bob = await stripe.customers.create({ email: 'bob@example.com' })
    const card = await stripe.paymentMethods.attach('pm_card_mastercard', { customer: bob.id })
    const his = await stripe.subscriptions.create({
      customer: bob.id,
      items: [{ price: monthly.id }],
      default_payment_method: card.id,
    })
    const { url } = await open()
    const cancel = await submit(url, fieldsOf(url, { action: 'cancel', subscription: his.id }))
    expect(cancel.status).toBe(400)
    expect(sandbox.stripe.subscription(his.id)).toMatchObject({ cancel_at: null })
    for (const action of ['remove-card', 'default-card']) {
      const taken = await submit(url, fieldsOf(url, { action, method: card.id }))
      expect(taken.status).toBe(400)
    }
    expect(sandbox.stripe.paymentMethod(card.id)).toMatchObject({ customer: bob.id })
  })

  it('offers only the features in its configuration', async () => {
    const { open, subscription, now } = await startPortal({
      features: { invoice_history: { enabled: true } },
    })
    const { url } = await open()
    const page = await openPage(url)
    expect(page.text).toContain('Invoices')
    for (const absent of ['>Cancel<', 'Update plan', 'Add a card', 'Update details']) {
      expect(page.text).not.toContain(absent)
    }
    const fields = fieldsOf(url, { action: 'cancel', subscription: subscription.id })
    expect(readAlert(await submit(url, fields))).toContain('does not offer')
    expect((await now()).cancel_at).toBeNull()
  })

  it('changes cards and details', async () => {
    const { open, sandbox, customer, method } = await startPortal()
    const { url } = await open()
    await submit(url, fieldsOf(url, { action: 'add-card', card: 'pm_card_mastercard' }))
    const settings = () =>
      sandbox.stripe.customer(customer.id)?.invoice_settings as { default_payment_method: string }
    const added = settings().default_payment_method
    expect(sandbox.stripe.paymentMethod(added)).toMatchObject({ card: { last4: '4444' } })
    await submit(url, fieldsOf(url, { action: 'default-card', method: method.id }))
    expect(settings().default_payment_method).toBe(method.id)
    await submit(url, fieldsOf(url, { action: 'remove-card', method: added }))
    expect(sandbox.stripe.paymentMethod(added)).toMatchObject({ customer: null })
    const details = { action: 'details', email: 'ada@new.example', name: 'Ada King', phone: '' }
    await submit(url, fieldsOf(url, details))
    expect(sandbox.stripe.customer(customer.id)).toMatchObject({
      email: 'ada@new.example',
      name: 'Ada King',
      phone: null,
    })
    const wrong = await submit(url, fieldsOf(url, { action: 'details', email: 'nobody' }))
    expect(readAlert(wrong)).toBe('Invalid email address: nobody')
  })
})

describe("a cancellation in Stripe's customer portal", () => {
  it.each([
    ['flexible', { cancel_at: FEBRUARY, cancel_at_period_end: false }],
    ['classic', { cancel_at: FEBRUARY, cancel_at_period_end: true }],
  ] as const)(
    "takes effect at the period end, with Stripe's fields: %s",
    async (mode, expected) => {
      const { open, subscription, now } = await startPortal({ mode })
      const { url } = await open()
      const chosen = { subscription: subscription.id }
      const view = await openPage(`${url}&view=subscription_cancel&subscription=${subscription.id}`)
      expect(view.text).toContain('until February 28, 2026')
      await submit(url, fieldsOf(url, { action: 'cancel', ...chosen }))
      expect(await now()).toMatchObject({
        status: 'active',
        ...expected,
        cancellation_details: { reason: 'cancellation_requested' },
      })
      expect((await openPage(url)).text).toContain('Ends on February 28, 2026')
      await submit(url, fieldsOf(url, { action: 'renew', ...chosen }))
      expect(await now()).toMatchObject({ cancel_at: null, cancel_at_period_end: false })
    },
  )

  it('takes effect immediately with the configured reason and proration', async () => {
    const { open, subscription, sandbox, now } = await startPortal({
      features: {
        subscription_cancel: {
          enabled: true,
          mode: 'immediately',
          proration_behavior: 'always_invoice',
          cancellation_reason: { enabled: true, options: ['too_expensive', 'unused'] },
        },
      },
    })
    await sandbox.clock.advance({ days: 14 })
    const session = await open({
      type: 'subscription_cancel',
      subscription_cancel: { subscription: subscription.id },
      after_completion: REDIRECT,
    })
    const page = await openPage(session.url)
    expect(page.text).toContain('too expensive')
    const answer = { action: 'cancel', feedback: 'unused', comment: 'Bye' }
    const done = await submit(session.url, fieldsOf(session.url, answer))
    expect(done.location).toBe(`${RETURN}?done`)
    expect(await now()).toMatchObject({
      status: 'canceled',
      cancellation_details: { feedback: 'unused', comment: 'Bye' },
    })
    // 14 of 28 days of ten dollars are credited.
    expect(sandbox.stripe.invoices(String(subscription.customer))[0]).toMatchObject({ total: -500 })
  })

  it('can be answered with a retention offer', async () => {
    const { open, stripe, subscription, now } = await startPortal()
    const coupon = await stripe.coupons.create({
      percent_off: 50,
      duration: 'forever',
      name: 'Stay',
    })
    const session = await open({
      type: 'subscription_cancel',
      subscription_cancel: {
        subscription: subscription.id,
        retention: { type: 'coupon_offer', coupon_offer: { coupon: coupon.id } },
      },
    })
    expect(session.flow?.subscription_cancel?.retention?.coupon_offer?.coupon).toBe(coupon.id)
    expect((await openPage(session.url)).text).toContain('get Stay: 50% off')
    await submit(session.url, fieldsOf(session.url, { action: 'keep' }))
    expect(await now()).toMatchObject({ cancel_at: null, discounts: [expect.any(String)] })
  })
})

describe("a plan change in Stripe's customer portal", () => {
  it.each([
    ['create_prorations', 0],
    ['always_invoice', 750],
    ['none', 0],
  ] as const)('costs the amount that the page shows: %s', async (proration, due) => {
    const setup = await startPortal()
    const { stripe, sandbox, product, better, customer, subscription, item } = setup
    const configuration = await stripe.billingPortal.configurations.create({
      features: {
        payment_method_update: { enabled: true },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price', 'quantity'],
          proration_behavior: proration,
          products: [
            { product: product.id, prices: [better.id], adjustable_quantity: { enabled: true } },
          ],
        },
      },
    })
    await sandbox.clock.advance({ days: 14 })
    const session = await stripe.billingPortal.sessions.create({
      customer: customer.id,
      configuration: configuration.id,
      flow_data: {
        type: 'subscription_update_confirm',
        subscription_update_confirm: {
          subscription: subscription.id,
          items: [{ id: item, price: better.id, quantity: 1 }],
        },
        after_completion: {
          type: 'hosted_confirmation',
          hosted_confirmation: { custom_message: 'Welcome to the better plan' },
        },
      },
    })
    expect(session.flow).toMatchObject({
      type: 'subscription_update_confirm',
      subscription_update_confirm: { items: [{ id: item, price: better.id, quantity: 1 }] },
    })
    const page = await openPage(session.url)
    // Half of the period at 25 instead of 10 dollars.
    expect(readRowAmount(page, 'Due today')).toBe(formatDollars(due))
    const next = proration === 'create_prorations' ? 2500 + 750 : 2500
    expect(readRowAmount(page, 'Next bill')).toBe(formatDollars(next))
    const before = sandbox.stripe.charges(customer.id).length
    const done = await submit(session.url, fieldsOf(session.url, { action: 'update' }))
    const told = await openPage(new URL(done.location ?? '', session.url).href)
    expect(told.text).toContain('Welcome to the better plan')
    const charged = sandbox.stripe.charges(customer.id)
    expect(charged.slice(0, charged.length - before).map(({ amount }) => amount)).toEqual(
      due === 0 ? [] : [due],
    )
    expect((await setup.now()).items.data[0]?.price.id).toBe(better.id)
    await sandbox.clock.advance({ days: 15 })
    expect(sandbox.stripe.paidInvoices(customer.id)[0]).toMatchObject({ total: next })
  })

  it('is offered for the configured plans, and accepts a promotion code', async () => {
    const { open, stripe, subscription, better, now } = await startPortal()
    const coupon = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
    await stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      code: 'TEN',
    })
    const { url } = await open({
      type: 'subscription_update',
      subscription_update: { subscription: subscription.id },
      after_completion: REDIRECT,
    })
    expect((await openPage(url)).text).toContain('$25.00 per month')
    const wrong = await openPage(`${url}&price=${better.id}&quantity=3&code=NONE`)
    expect(readAlert(wrong)).toBe('This code is invalid.')
    const confirm = await openPage(`${url}&price=${better.id}&quantity=3&code=ten`)
    expect(confirm.text).toContain('3 × $25.00 per month')
    const choice = { action: 'update', price: better.id, quantity: '3', code: 'ten' }
    const done = await submit(url, fieldsOf(url, choice))
    expect(done.location).toBe(`${RETURN}?done`)
    expect(await now()).toMatchObject({
      items: { data: [{ quantity: 3, price: { id: better.id } }] },
      discounts: [expect.any(String)],
    })
    expect((await openPage(url)).text).toContain('Subscriptions')
  })

  it('fails if the card is declined, and succeeds with another card', async () => {
    const { stripe, customer, subscription, item, better, now } = await startPortal()
    const made = await stripe.billingPortal.configurations.create({
      features: {
        payment_method_update: { enabled: true },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price'],
          proration_behavior: 'always_invoice',
          products: [{ product: String(better.product), prices: [better.id] }],
        },
      },
    })
    const bad = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', {
      customer: customer.id,
    })
    const use = (method: string) =>
      stripe.subscriptions.update(subscription.id, { default_payment_method: method })
    await use(bad.id)
    const { url } = await stripe.billingPortal.sessions.create({
      customer: customer.id,
      configuration: made.id,
      flow_data: {
        type: 'subscription_update_confirm',
        subscription_update_confirm: {
          subscription: subscription.id,
          items: [{ id: item, price: better.id }],
        },
      },
    })
    const declined = await submit(url, fieldsOf(url, { action: 'update' }))
    expect(declined.status).toBe(402)
    expect(readAlert(declined)).toContain('declined')
    expect((await now()).items.data[0]?.price.unit_amount).toBe(1000)
    const asks = await stripe.paymentMethods.attach('pm_card_threeDSecure2Required', {
      customer: customer.id,
    })
    await use(asks.id)
    const asked = await submit(url, fieldsOf(url, { action: 'update' }))
    expect(asked.text).toContain('Your bank asks you')
    await submit(url, fieldsOf(url, { action: 'update', challenge: 'complete' }))
    expect((await now()).items.data[0]?.price.unit_amount).toBe(2500)
  })
})

describe("a flow in Stripe's customer portal", () => {
  it('adds a card, if its type is payment_method_update, and continues to the first page', async () => {
    const { open, customer, sandbox } = await startPortal()
    const session = await open({ type: 'payment_method_update' })
    expect(session.flow).toMatchObject({
      type: 'payment_method_update',
      after_completion: { type: 'portal_homepage' },
    })
    const { url } = session
    const page = await openPage(url)
    expect(page.text).toContain('Add a card')
    expect(page.text).not.toContain('Subscriptions')
    const asked = await submit(
      url,
      fieldsOf(url, { action: 'add-card', card: 'pm_card_threeDSecure2Required' }),
    )
    expect(asked.text).toContain('Your bank asks you')
    const failed = await submit(
      url,
      fieldsOf(url, {
        action: 'add-card',
        card: 'pm_card_threeDSecure2Required',
        challenge: 'fail',
      }),
    )
    expect(readAlert(failed)).toContain('unable to authenticate')
    const declined = await submit(
      url,
      fieldsOf(url, { action: 'add-card', card: 'pm_card_chargeDeclined' }),
    )
    expect(readAlert(declined)).toBe('Your card was declined.')
    await submit(url, fieldsOf(url, { action: 'add-card', card: 'pm_card_amex' }))
    const settings = sandbox.stripe.customer(customer.id)?.invoice_settings as {
      default_payment_method: string
    }
    expect(sandbox.stripe.paymentMethod(settings.default_payment_method)).toMatchObject({
      card: { brand: 'amex' },
    })
    expect((await openPage(url)).text).toContain('Subscriptions')
  })

  it('allows only the action of its type', async () => {
    const { open, subscription, now } = await startPortal()
    const { url } = await open({ type: 'payment_method_update' })
    const fields = fieldsOf(url, { action: 'cancel', subscription: subscription.id })
    expect((await submit(url, fields)).status).toBe(400)
    expect((await now()).cancel_at).toBeNull()
  })

  it.each<[string, (id: string, item: string) => FlowData, string]>([
    [
      'the subscription does not exist',
      () => ({ type: 'subscription_cancel', subscription_cancel: { subscription: 'sub_x' } }),
      "No such subscription: 'sub_x'",
    ],
    [
      'its subject is missing',
      () => ({ type: 'subscription_update' }),
      'Missing required param: flow_data[subscription_update].',
    ],
    [
      'the redirect URL is missing',
      () => ({ type: 'payment_method_update', after_completion: { type: 'redirect' } }),
      'Missing required param: flow_data[after_completion][redirect].',
    ],
    [
      'it pauses a subscription',
      (subscription) => ({ type: 'subscription_pause', subscription_pause: { subscription } }),
      'The sandbox does not imitate `flow_data[subscription_pause]`.',
    ],
    [
      'the price does not exist',
      (subscription, id) => ({
        type: 'subscription_update_confirm',
        subscription_update_confirm: { subscription, items: [{ id, price: 'price_x' }] },
      }),
      "No such price: 'price_x'",
    ],
    [
      'the item is of another',
      (subscription) => ({
        type: 'subscription_update_confirm',
        subscription_update_confirm: { subscription, items: [{ id: 'si_x' }] },
      }),
      "No such subscription_item: 'si_x'",
    ],
  ])('is rejected if %s', async (_name, flow, message) => {
    const { open, subscription, item } = await startPortal()
    expect((await catchStripeError(open(flow(subscription.id, item)))).message).toBe(message)
  })

  it('is rejected if its feature is disabled or its action is already done', async () => {
    const off = await startPortal({ features: { invoice_history: { enabled: true } } })
    const { id } = off.subscription
    const cancel = {
      type: 'subscription_cancel',
      subscription_cancel: { subscription: id },
    } as const
    const update = {
      type: 'subscription_update',
      subscription_update: { subscription: id },
    } as const
    expect((await catchStripeError(off.open(cancel))).message).toBe(
      'This subscription cannot be canceled because the subscription cancel feature in the portal configuration is disabled.',
    )
    expect((await catchStripeError(off.open(update))).message).toBe(
      'This subscription cannot be updated because the subscription update feature in the portal configuration is disabled.',
    )
    const on = await startPortal()
    const own = on.subscription.id
    await on.stripe.subscriptions.update(own, { cancel_at_period_end: true })
    const again = on.open({
      type: 'subscription_cancel',
      subscription_cancel: { subscription: own },
    })
    expect((await catchStripeError(again)).message).toContain('already set to be cancel')
  })
})

describe("a configuration of Stripe's customer portal", () => {
  it('stores its values, and changes field by field', async () => {
    const { stripe, product, better } = await startPortal()
    const made = await stripe.billingPortal.configurations.create({
      name: 'Upgrade',
      business_profile: { headline: 'Hello' },
      features: {
        payment_method_update: { enabled: true },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price'],
          products: [{ product: product.id, prices: [better.id] }],
        },
      },
    })
    expect(made).toMatchObject({
      name: 'Upgrade',
      is_default: false,
      business_profile: { headline: 'Hello' },
      features: {
        customer_update: { enabled: false },
        subscription_cancel: { enabled: false },
        subscription_update: { enabled: true, products: [{ prices: [better.id] }] },
      },
    })
    const changed = await stripe.billingPortal.configurations.update(made.id, {
      active: false,
      features: { subscription_cancel: { enabled: true, mode: 'immediately' } },
    })
    expect(changed).toMatchObject({
      active: false,
      features: {
        subscription_cancel: { enabled: true, mode: 'immediately', proration_behavior: 'none' },
        subscription_update: { enabled: true },
      },
    })
    const { data } = await stripe.billingPortal.configurations.list({ active: true })
    expect(data.map(({ id }) => id)).not.toContain(made.id)
  })

  it.each<[string, Features, string]>([
    [
      'updates without payment method updates',
      { subscription_update: { enabled: true, default_allowed_updates: ['price'] } },
      'Cannot enable subscription updates while payment method update is disabled.',
    ],
    [
      'pauses',
      { subscription_pause: { enabled: true } },
      'The sandbox does not imitate `features[subscription_pause]`.',
    ],
    [
      'tax ids',
      { customer_update: { enabled: true, allowed_updates: ['tax_id'] } },
      'The sandbox does not imitate `features[customer_update][allowed_updates]`.',
    ],
  ])('rejects %s', async (_name, features, message) => {
    const { stripe } = await startPortal()
    const error = await catchStripeError(stripe.billingPortal.configurations.create({ features }))
    expect(error.message).toBe(message)
  })

  it('serves no sessions while it is inactive', async () => {
    const { open, stripe, configuration } = await startPortal({
      features: { invoice_history: { enabled: true } },
    })
    await stripe.billingPortal.configurations.update(configuration ?? '', { active: false })
    expect((await catchStripeError(open())).param).toBe('configuration')
  })
})
