import { describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { submit } from './page-forms.ts'
import { startReceiver } from './receiver.ts'
import { START, seconds } from './support.ts'

type Params = Readonly<Record<string, unknown>>
type Wire = { readonly id: string; readonly [field: string]: unknown }
interface Resource {
  create(params: Params): Promise<Wire>
  retrieve(id: string, params?: Params): Promise<Wire>
  update(id: string, params: Params): Promise<Wire>
  list(params?: Params): Promise<{ data: Wire[] }>
}

/**
 * The calls of an SDK that the test uses. Importing the older packages' types would replace those
 * of the pinned version, because they all declare the module `stripe`.
 */
interface Sdk {
  readonly customers: Resource
  readonly products: Resource
  readonly prices: Resource
  readonly coupons: Resource
  readonly promotionCodes: Resource
  readonly subscriptions: Resource
  readonly invoices: Resource
  readonly paymentIntents: Resource
  readonly webhookEndpoints: Resource
  readonly checkout: { readonly sessions: Resource }
  readonly billingPortal: { readonly sessions: Resource }
  readonly paymentMethods: { attach(id: string, params: Params): Promise<Wire> }
  readonly webhooks: {
    constructEvent(
      body: string,
      signature: string,
      secret: string,
    ): { type: string; api_version: string; data: { object: Wire } }
  }
}

interface Expected {
  readonly name: string
  readonly version: string
  /** Name of the hosted page's UI mode. */
  readonly hosted: string
  readonly mode: 'classic' | 'flexible'
  /** Parameters of a promotion code. */
  readonly promotion: (coupon: string) => Params
  /** How a promotion code refers to its coupon. */
  readonly promoted: (coupon: string) => Params
  /** How a discount refers to its coupon. */
  readonly discount: (coupon: string) => Params
}

const source = (coupon: string) => ({ source: { type: 'coupon', coupon } })
const promotion = (coupon: string) => ({ promotion: { type: 'coupon', coupon } })

const SDKS: readonly Expected[] = [
  {
    name: 'stripe-18',
    version: '2025-08-27.basil',
    hosted: 'hosted',
    mode: 'classic',
    promotion: (coupon) => ({ coupon }),
    promoted: (coupon) => ({ coupon: { id: coupon } }),
    discount: (coupon) => ({ coupon: { id: coupon, object: 'coupon' } }),
  },
  {
    name: 'stripe-20',
    version: '2026-02-25.clover',
    hosted: 'hosted',
    mode: 'flexible',
    promotion,
    promoted: promotion,
    discount: source,
  },
  {
    name: 'stripe-22',
    version: '2026-08-26.dahlia',
    hosted: 'hosted_page',
    mode: 'flexible',
    promotion,
    promoted: promotion,
    discount: source,
  },
]

async function loadSdk(name: string, { apiKey, config }: Sandbox<{ stripe: true }>['stripe']) {
  const loaded = (await import(name)) as { default: new (key: string, config: object) => Sdk }
  return new loaded.default(apiKey, { ...config, maxNetworkRetries: 0 })
}

describe.each(SDKS)('the SDK $name', (sdk) => {
  it('bills a customer, from adding a card to verifying the webhook', async () => {
    const sandbox = await startSandbox({ stripe: true, now: START })
    try {
      const stripe = await loadSdk(sdk.name, sandbox.stripe)
      const receiver = await startReceiver()
      const endpoint = await stripe.webhookEndpoints.create({
        url: receiver.url,
        enabled_events: ['invoice.paid', 'promotion_code.created'],
        api_version: sdk.version,
      })

      const customer = await stripe.customers.create({ email: 'ada@example.com' })
      const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
      await stripe.customers.update(customer.id, {
        invoice_settings: { default_payment_method: card.id },
      })
      const product = await stripe.products.create({ name: 'Gold' })
      const price = await stripe.prices.create({
        product: product.id,
        currency: 'usd',
        unit_amount: 1000,
        recurring: { interval: 'month' },
      })
      const coupon = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
      const code = await stripe.promotionCodes.create({ ...sdk.promotion(coupon.id), code: 'OFF' })
      const subscription = await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: price.id }],
        discounts: [{ promotion_code: code.id }],
        expand: ['latest_invoice.payments', 'discounts'],
      })
      expect(subscription).toMatchObject({
        status: 'active',
        billing_mode: { type: sdk.mode },
        discounts: [sdk.discount(coupon.id)],
        items: { data: [{ current_period_end: seconds('2026-02-28T10:00:00Z') }] },
        latest_invoice: { status: 'paid', total: 800, payments: { data: [{ status: 'paid' }] } },
      })

      await sandbox.clock.advance({ months: 1, hours: 2 })
      const invoices = await stripe.invoices.list({ customer: customer.id })
      expect(invoices.data).toMatchObject([
        { status: 'paid', parent: { subscription_details: { subscription: subscription.id } } },
        { status: 'paid' },
      ])
      const moved = await stripe.subscriptions.update(subscription.id, {
        billing_cycle_anchor: 'now',
        proration_behavior: 'none',
      })
      expect(moved.billing_cycle_anchor).toBe(Math.floor(sandbox.clock.nowMs() / 1000))

      const session = await stripe.checkout.sessions.create({
        mode: 'payment',
        ui_mode: sdk.hosted,
        payment_method_types: ['card'],
        success_url: 'https://shop.example/done',
        line_items: [
          { price_data: { currency: 'usd', unit_amount: 500, product: product.id }, quantity: 1 },
        ],
      })
      expect(session).toMatchObject({ ui_mode: sdk.hosted, payment_method_types: ['card'] })
      const intent = await stripe.paymentIntents.create({
        amount: 700,
        currency: 'usd',
        customer: customer.id,
        payment_method: card.id,
        payment_method_types: ['card'],
        confirm: true,
      })
      expect(intent.status).toBe('succeeded')

      await sandbox.outbox.flush()
      const events = receiver.received.map(({ body, signature }) =>
        stripe.webhooks.constructEvent(body, signature, String(endpoint.secret)),
      )
      expect(events.map(({ type }) => type)).toEqual([
        'promotion_code.created',
        ...Array.from({ length: 3 }, () => 'invoice.paid'),
      ])
      expect(events.every((event) => event.api_version === sdk.version)).toBe(true)
      expect(events[0]?.data.object).toMatchObject(
        sdk.version.endsWith('basil') ? sdk.discount(coupon.id) : sdk.promotion(coupon.id),
      )
    } finally {
      await sandbox.close()
    }
  })

  it('sells through Checkout, and cancels in the portal', async () => {
    const sandbox = await startSandbox({ stripe: true, now: START })
    try {
      const stripe = await loadSdk(sdk.name, sandbox.stripe)
      const coupon = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
      await stripe.promotionCodes.create({ ...sdk.promotion(coupon.id), code: 'OFF' })
      const session = await stripe.checkout.sessions.create({
        mode: 'subscription',
        ui_mode: sdk.hosted,
        success_url: 'https://shop.example/done',
        allow_promotion_codes: true,
        line_items: [
          {
            price_data: {
              currency: 'usd',
              unit_amount: 1000,
              recurring: { interval: 'month' },
              product_data: { name: 'Gold' },
            },
            quantity: 2,
          },
        ],
      })
      expect(session).toMatchObject({ ui_mode: sdk.hosted, amount_total: 2000 })
      sandbox.stripe.completeCheckout(session.id, { email: 'a@example.com', promotionCode: 'off' })
      const done = await stripe.checkout.sessions.retrieve(session.id, {
        expand: ['subscription.discounts', 'discounts.promotion_code'],
      })
      expect(done).toMatchObject({
        status: 'complete',
        amount_total: 1600,
        discounts: [{ promotion_code: { code: 'OFF', ...sdk.promoted(coupon.id) } }],
        subscription: {
          status: 'active',
          billing_mode: { type: sdk.mode },
          discounts: [sdk.discount(coupon.id)],
        },
      })
      const { id } = done.subscription as Wire
      const portal = await stripe.billingPortal.sessions.create({
        customer: done.customer,
        flow_data: { type: 'subscription_cancel', subscription_cancel: { subscription: id } },
      })
      const url = String(portal.url)
      await submit(url, { token: new URL(url).searchParams.get('token') ?? '', action: 'cancel' })
      expect(await stripe.subscriptions.retrieve(id)).toMatchObject({
        cancel_at: seconds('2026-02-28T10:00:00Z'),
        cancel_at_period_end: sdk.mode === 'classic',
      })
    } finally {
      await sandbox.close()
    }
  })
})
