import { describe, expect, it } from 'vitest'
import {
  ACACIA,
  BASIL,
  CLOVER,
  DAHLIA,
  PINNED,
  startVersions,
  type UntypedResponse,
} from './old-versions.ts'
import { seconds, seedCustomer, seedPrices } from './support.ts'

/** Creates a customer with a card, prices, and a paid subscription. */
async function startSubscribed() {
  const setup = await startVersions()
  const { customer } = await seedCustomer(setup.stripe)
  const prices = await seedPrices(setup.stripe)
  const subscription = await setup.stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: prices.monthly.id }],
  })
  return { ...setup, ...prices, customer, subscription }
}

const unknown = (param: string) => ({
  status: 400,
  body: { error: { code: 'parameter_unknown', param } },
})

describe('Stripe API versions before 2026-04-22.dahlia', () => {
  it('meter-value-digits: accept usage with more than 15 digits', async () => {
    const { call, send, stripe } = await startVersions()
    const { customer } = await seedCustomer(stripe)
    await stripe.billing.meters.create({
      display_name: 'Calls',
      event_name: 'calls',
      default_aggregation: { formula: 'sum' },
    })
    const form = {
      event_name: 'calls',
      'payload[stripe_customer_id]': customer.id,
      'payload[value]': '123456789.1234567',
    }
    await call(CLOVER, '/billing/meter_events', form)
    expect(await send(DAHLIA, '/billing/meter_events', form)).toMatchObject({
      status: 400,
      body: { error: { code: 'meter_event_value_too_many_digits' } },
    })
  })
})

describe('Stripe API versions before endive', () => {
  it('anchor-as-object: accept billing_cycle_anchor as a keyword such as `now`, and as a timestamp in an invoice preview', async () => {
    const { sandbox, send, call, subscription } = await startSubscribed()
    await sandbox.clock.advance({ days: 10 })
    const path = `/subscriptions/${subscription.id}`
    const now = Math.floor(sandbox.clock.nowMs() / 1000)
    const preview = {
      subscription: subscription.id,
      'subscription_details[billing_cycle_anchor]': 'now',
    }
    const upcoming = await call(DAHLIA, '/invoices/create_preview', preview)
    expect((await send(PINNED, '/invoices/create_preview', preview)).status).toBe(400)
    expect((await send(PINNED, path, { billing_cycle_anchor: 'now' })).status).toBe(400)
    const moved = await call(DAHLIA, path, { billing_cycle_anchor: 'now' })
    expect(moved.billing_cycle_anchor).toBe(now)
    const invoice = await call(DAHLIA, `/invoices/${String(moved.latest_invoice)}`)
    expect(upcoming.total).toBe(invoice.total)
    const later = { ...preview, 'subscription_details[billing_cycle_anchor]': String(now + 86_400) }
    expect((await send(DAHLIA, '/invoices/create_preview', later)).status).toBe(200)
  })

  it('payment-method-types-param: accept payment_method_types', async () => {
    const { send, call } = await startVersions()
    const form = { amount: '500', currency: 'usd', 'payment_method_types[]': 'card' }
    expect(await call(DAHLIA, '/payment_intents', form)).toMatchObject({
      payment_method_types: ['card'],
      automatic_payment_methods: null,
    })
    expect(
      await call(DAHLIA, '/setup_intents', { 'payment_method_types[]': 'card' }),
    ).toMatchObject({
      payment_method_types: ['card'],
    })
    expect(await send(PINNED, '/payment_intents', form)).toMatchObject(
      unknown('payment_method_types'),
    )
  })
})

describe('Stripe API versions before dahlia', () => {
  it('checkout-ui-modes: accept and return the old values of ui_mode', async () => {
    const { send, call } = await startVersions()
    const form = {
      mode: 'setup',
      currency: 'usd',
      success_url: 'https://shop.example/done',
      ui_mode: 'hosted',
    }
    const session = await call(CLOVER, '/checkout/sessions', form)
    expect(session.ui_mode).toBe('hosted')
    expect(await call(DAHLIA, `/checkout/sessions/${session.id}`)).toMatchObject({
      ui_mode: 'hosted_page',
    })
    expect((await send(DAHLIA, '/checkout/sessions', form)).status).toBe(400)
    const embedded = await send(CLOVER, '/checkout/sessions', { ...form, ui_mode: 'embedded' })
    expect(embedded.body.error).toMatchObject({ message: expect.stringContaining('hosted') })
  })
})

describe('Stripe API versions before clover', () => {
  it('discount-coupon: return the whole coupon of a discount', async () => {
    const { stripe, call, subscription } = await startSubscribed()
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'forever' })
    await stripe.subscriptions.update(subscription.id, { discounts: [{ coupon: coupon.id }] })
    const path = `/subscriptions/${subscription.id}?expand[]=discounts`
    const old = await call(BASIL, path)
    expect(old.discounts).toMatchObject([
      { object: 'discount', coupon: { object: 'coupon', id: coupon.id, percent_off: 25 } },
    ])
    expect(old).not.toHaveProperty('discounts[0].source')
    const now = await call(CLOVER, path)
    expect(now.discounts).toMatchObject([{ source: { type: 'coupon', coupon: coupon.id } }])
    expect(now).not.toHaveProperty('discounts[0].coupon')
    const deeper = await call(BASIL, `${path}.coupon.applies_to`)
    expect(deeper.discounts).toMatchObject([{ coupon: { id: coupon.id } }])
  })

  it('promotion-code-coupon: accept a coupon, and return the whole coupon', async () => {
    const { stripe, send, call } = await startVersions()
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'once' })
    const form = { coupon: coupon.id, code: 'QUARTER' }
    expect(await send(CLOVER, '/promotion_codes', form)).toMatchObject(unknown('coupon'))
    const code = await call(BASIL, '/promotion_codes', form)
    expect(code).toMatchObject({ code: 'QUARTER', coupon: { object: 'coupon', id: coupon.id } })
    expect(code).not.toHaveProperty('promotion')
    const now = await call(CLOVER, `/promotion_codes/${code.id}`)
    expect(now).toMatchObject({ promotion: { type: 'coupon', coupon: coupon.id } })
    expect(now).not.toHaveProperty('coupon')
    const listed = await call(BASIL, `/promotion_codes?coupon=${coupon.id}`)
    expect(listed).toMatchObject({ data: [{ id: code.id, coupon: { id: coupon.id } }] })
  })

  it('classic-by-default: bill in classic mode by default', async () => {
    const { call, customer, monthly } = await startSubscribed()
    const form = { customer: customer.id, 'items[0][price]': monthly.id }
    const classic = { billing_mode: { type: 'classic' } }
    const flexible = { billing_mode: { type: 'flexible' } }
    expect(await call(BASIL, '/subscriptions', form)).toMatchObject(classic)
    expect(await call(CLOVER, '/subscriptions', form)).toMatchObject(flexible)
    const asked = { ...form, 'billing_mode[type]': 'flexible' }
    expect(await call(BASIL, '/subscriptions', asked)).toMatchObject(flexible)
    const schedule = {
      customer: customer.id,
      start_date: 'now',
      'phases[0][items][0][price]': monthly.id,
      'phases[0][duration][interval]': 'month',
    }
    expect(await call(BASIL, '/subscription_schedules', schedule)).toMatchObject(classic)
    expect(await call(CLOVER, '/subscription_schedules', schedule)).toMatchObject(flexible)
  })

  it('classic-by-default: bill in classic mode by default in Checkout', async () => {
    const { sandbox, call, customer, monthly } = await startSubscribed()
    const form = {
      mode: 'subscription',
      customer: customer.id,
      success_url: 'https://shop.example/done',
      'line_items[0][price]': monthly.id,
      'line_items[0][quantity]': '1',
    }
    for (const [version, type] of [
      [BASIL, 'classic'],
      [CLOVER, 'flexible'],
    ] as const) {
      const session = await call(version, '/checkout/sessions', form)
      sandbox.stripe.completeCheckout(session.id)
      const { subscription } = await call(version, `/checkout/sessions/${session.id}`)
      expect(sandbox.stripe.subscription(String(subscription))).toMatchObject({
        billing_mode: { type },
      })
    }
  })

  it('intent-transfer-data: return transfer_data as null', async () => {
    const { call } = await startVersions()
    const intent = await call(PINNED, '/payment_intents', { amount: '500', currency: 'usd' })
    expect(await call('2025-11-17.clover', `/payment_intents/${intent.id}`)).toHaveProperty(
      'transfer_data',
      null,
    )
    expect(await call('2025-12-15.clover', `/payment_intents/${intent.id}`)).not.toHaveProperty(
      'transfer_data',
    )
  })

  it("phase-iterations: accept the length of a schedule's phase as a number of the price's intervals", async () => {
    const { send, call, customer, monthly } = await startSubscribed()
    const form = {
      customer: customer.id,
      start_date: 'now',
      'phases[0][items][0][price]': monthly.id,
      'phases[0][iterations]': '3',
    }
    expect(await call(BASIL, '/subscription_schedules', form)).toMatchObject({
      phases: [{ end_date: seconds('2026-04-30T10:00:00Z') }],
    })
    expect(await send(CLOVER, '/subscription_schedules', form)).toMatchObject(
      unknown('phases[0][iterations]'),
    )
  })
})

describe('Stripe API versions before basil', () => {
  it('subscription-periods: return the period on the subscription instead of its items', async () => {
    const { call, subscription } = await startSubscribed()
    const period = {
      current_period_start: seconds('2026-01-31T10:00:00Z'),
      current_period_end: seconds('2026-02-28T10:00:00Z'),
    }
    const old = await call(ACACIA, `/subscriptions/${subscription.id}`)
    expect(old).toMatchObject(period)
    expect(old).not.toHaveProperty('items.data[0].current_period_end')
    const now = await call(BASIL, `/subscriptions/${subscription.id}`)
    expect(now).toMatchObject({ items: { data: [period] } })
    expect(now).not.toHaveProperty('current_period_end')
    const listed = await call(ACACIA, '/subscriptions')
    expect(listed).toMatchObject({ data: [period] })
  })

  it('invoice-parent: return the subscription on the invoice', async () => {
    const { call, stripe, subscription } = await startSubscribed()
    await stripe.subscriptions.update(subscription.id, { metadata: { team: '7' } })
    const path = `/invoices/${String(subscription.latest_invoice)}`
    const old = await call(ACACIA, path)
    expect(old).toMatchObject({
      subscription: subscription.id,
      subscription_details: { metadata: {} },
      quote: null,
    })
    expect(old).not.toHaveProperty('parent')
    const now = await call(BASIL, path)
    expect(now).toMatchObject({
      parent: { subscription_details: { subscription: subscription.id } },
    })
    expect(now).not.toHaveProperty('subscription')
    const expanded = await call(ACACIA, `${path}?expand[]=subscription.default_payment_method`)
    expect(expanded).toMatchObject({
      subscription: { object: 'subscription', current_period_end: seconds('2026-02-28T10:00:00Z') },
    })
    const alone = await stripe.invoices.create({ customer: String(subscription.customer) })
    expect(await call(ACACIA, `/invoices/${alone.id}`)).toMatchObject({
      subscription: null,
      subscription_details: null,
    })
  })

  it('invoice-payments: link invoice, payment and charge to each other', async () => {
    const { call, send, subscription } = await startSubscribed()
    const path = `/subscriptions/${subscription.id}`
    const deep = '?expand[]=latest_invoice.payment_intent&expand[]=latest_invoice.charge'
    const old = await call(ACACIA, path + deep)
    const invoice = String(subscription.latest_invoice)
    expect(old.latest_invoice).toMatchObject({
      id: invoice,
      paid: true,
      paid_out_of_band: false,
      payment_intent: { object: 'payment_intent', status: 'succeeded', invoice },
      charge: { object: 'charge', paid: true, invoice },
      application_fee_amount: null,
      transfer_data: null,
    })
    expect(await send(BASIL, path + deep)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('latest_invoice.payment_intent') } },
    })
    const [intent] = (await call(ACACIA, '/payment_intents?expand[]=data.invoice')).data as object[]
    expect(intent).toMatchObject({ invoice: { id: invoice, subscription: subscription.id } })
    const [charge] = (await call(BASIL, '/charges')).data as object[]
    expect(charge).not.toHaveProperty('invoice')
  })

  it('invoice-payments: return in paid_out_of_band whether an invoice was paid outside of Stripe', async () => {
    const { call, stripe, customer } = await startSubscribed()
    await stripe.invoiceItems.create({ customer: customer.id, amount: 700, currency: 'usd' })
    const draft = await stripe.invoices.create({
      customer: customer.id,
      pending_invoice_items_behavior: 'include',
    })
    await stripe.invoices.finalizeInvoice(draft.id)
    expect(await call(ACACIA, `/invoices/${draft.id}`)).toMatchObject({ paid: false, charge: null })
    await stripe.invoices.pay(draft.id, { paid_out_of_band: true })
    expect(await call(ACACIA, `/invoices/${draft.id}`)).toMatchObject({
      paid: true,
      paid_out_of_band: true,
    })
  })

  it("invoice-taxes: return an invoice's tax sums and amounts before tax", async () => {
    const { call, stripe, customer, monthly } = await startSubscribed()
    const rate = await stripe.taxRates.create({
      display_name: 'VAT',
      percentage: 25,
      inclusive: true,
    })
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: monthly.id, quantity: 3, tax_rates: [rate.id] }],
    })
    const path = `/invoices/${String(subscription.latest_invoice)}`
    const tax = { amount: 600, inclusive: true, tax_rate: rate.id, taxable_amount: 2400 }
    const old = await call(ACACIA, path)
    expect(old).toMatchObject({
      total: 3000,
      tax: 600,
      total_tax_amounts: [{ ...tax, taxability_reason: null }],
      lines: {
        data: [
          {
            tax_amounts: [tax],
            tax_rates: [{ object: 'tax_rate', id: rate.id }],
            amount_excluding_tax: 2400,
            unit_amount_excluding_tax: '800',
          },
        ],
      },
    })
    expect(old).not.toHaveProperty('total_taxes')
    expect(old).not.toHaveProperty('lines.data[0].taxes')
    expect(await call(BASIL, path)).toMatchObject({
      total_taxes: [{ amount: 600, tax_behavior: 'inclusive' }],
    })
    const expanded = await call(ACACIA, `${path}?expand[]=total_tax_amounts.tax_rate`)
    expect(expanded).toMatchObject({ total_tax_amounts: [{ tax_rate: { object: 'tax_rate' } }] })
    const plain = await call(ACACIA, '/invoices?limit=2')
    expect((plain.data as object[])[1]).toMatchObject({ tax: null, total_tax_amounts: [] })
  })

  it('line-details: return the source and price of an invoice line', async () => {
    const { sandbox, call, stripe, subscription, monthly, better } = await startSubscribed()
    const item = subscription.items.data[0]?.id ?? ''
    const path = `/invoices/${String(subscription.latest_invoice)}`
    const old = await call(ACACIA, path)
    expect(old).toMatchObject({
      lines: {
        data: [
          {
            type: 'subscription',
            price: { object: 'price', id: monthly.id },
            plan: { object: 'plan', id: monthly.id, interval: 'month' },
            proration: false,
            subscription_item: item,
            subscription: subscription.id,
          },
        ],
      },
    })
    expect(old).not.toHaveProperty('lines.data[0].parent')
    expect(old).not.toHaveProperty('lines.data[0].invoice_item')
    await sandbox.clock.advance({ days: 10 })
    await stripe.subscriptions.update(subscription.id, {
      items: [{ id: item, price: better.id }],
      proration_behavior: 'always_invoice',
    })
    const { data } = await call(ACACIA, '/invoices?limit=1')
    expect((data as object[])[0]).toMatchObject({
      lines: { data: [{ type: 'invoiceitem', proration: true, subscription_item: item }, {}] },
    })
    const items = await call(ACACIA, '/invoiceitems')
    expect(items).toMatchObject({
      data: [{ subscription: subscription.id, plan: { object: 'plan' } }, {}],
    })
    expect(items).not.toHaveProperty('data[0].parent')
  })

  it('line-details: create invoice items from a price or an amount per unit', async () => {
    const { send, call, stripe, customer, product } = await startSubscribed()
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 300,
    })
    const form = { customer: customer.id, price: price.id, quantity: '2' }
    expect(await call(ACACIA, '/invoiceitems', form)).toMatchObject({
      amount: 600,
      price: { id: price.id },
      plan: null,
      unit_amount: 300,
      unit_amount_decimal: '300',
    })
    expect(await send(BASIL, '/invoiceitems', form)).toMatchObject(unknown('price'))
    const loose = { customer: customer.id, currency: 'usd', unit_amount: '250', quantity: '2' }
    expect(await call(ACACIA, '/invoiceitems', loose)).toMatchObject({ amount: 500 })
  })

  it('single-discounts: accept one coupon or code, and return one discount', async () => {
    const { send, call, stripe, customer, subscription, monthly } = await startSubscribed()
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    const code = await stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      code: 'HALF',
    })
    const path = `/subscriptions/${subscription.id}`
    expect(await send(BASIL, path, { coupon: coupon.id })).toMatchObject(unknown('coupon'))
    expect(await call(ACACIA, path)).toMatchObject({ discount: null })
    const half = { object: 'discount', coupon: { id: coupon.id, percent_off: 50 } }
    const reduced = await call(ACACIA, path, { coupon: coupon.id })
    expect(reduced).toMatchObject({ discount: half, discounts: [expect.stringMatching(/^di_/)] })
    expect(await call(ACACIA, path, { coupon: '' })).toMatchObject({
      discount: null,
      discounts: [],
    })
    const made = await call(ACACIA, '/subscriptions', {
      customer: customer.id,
      'items[0][price]': monthly.id,
      promotion_code: code.id,
      'expand[]': 'latest_invoice',
    })
    expect(made).toMatchObject({
      discount: { ...half, promotion_code: code.id },
      latest_invoice: { total: 500, discount: half },
    })
  })

  it('single-discounts: accept one discount in a phase of a schedule', async () => {
    const { call, stripe, customer, monthly } = await startSubscribed()
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    const form = {
      customer: customer.id,
      start_date: 'now',
      'phases[0][items][0][price]': monthly.id,
      'phases[0][iterations]': '1',
    }
    const bare = await call(ACACIA, '/subscription_schedules', form)
    expect(bare).toMatchObject({ phases: [{ coupon: null }] })
    const schedule = await call(ACACIA, '/subscription_schedules', {
      ...form,
      'phases[0][coupon]': coupon.id,
    })
    expect(schedule).toMatchObject({ phases: [{ coupon: coupon.id }] })
    const now = await call(BASIL, `/subscription_schedules/${schedule.id}`)
    expect(now).not.toHaveProperty('phases[0].coupon')
  })

  it('usage-records: return aggregate_usage of prices and plans as null', async () => {
    const { call, monthly, subscription } = await startSubscribed()
    expect(await call(ACACIA, `/prices/${monthly.id}`)).toHaveProperty(
      'recurring.aggregate_usage',
      null,
    )
    expect(await call(ACACIA, `/subscriptions/${subscription.id}`)).toHaveProperty(
      'items.data[0].plan.aggregate_usage',
      null,
    )
    expect(await call(BASIL, `/prices/${monthly.id}`)).not.toHaveProperty(
      'recurring.aggregate_usage',
    )
  })

  it('checkout-shipping: return the shipping address on the session', async () => {
    const { call } = await startVersions()
    const form = { mode: 'setup', currency: 'usd', success_url: 'https://shop.example/done' }
    const session = await call(ACACIA, '/checkout/sessions', form)
    expect(session).toHaveProperty('shipping_details', null)
    expect(await call(BASIL, `/checkout/sessions/${session.id}`)).not.toHaveProperty(
      'shipping_details',
    )
  })

  it('upcoming-invoices: return the next invoice at its own URL', async () => {
    const { send, call, subscription, better } = await startSubscribed()
    const item = subscription.items.data[0]?.id ?? ''
    const query = `?subscription=${subscription.id}`
    const plain = await call(ACACIA, `/invoices/upcoming${query}`)
    expect(plain).toMatchObject({ total: 1000, subscription: subscription.id })
    const swapped = `${query}&subscription_items[0][id]=${item}&subscription_items[0][price]=${better.id}&subscription_proration_behavior=none`
    expect(await call(ACACIA, `/invoices/upcoming${swapped}`)).toMatchObject({ total: 2500 })
    expect((await send(BASIL, `/invoices/upcoming${query}`)).status).toBe(400)
  })

  it('credit-note-refund: return one refund of a credit note', async () => {
    const { stripe, call, send, subscription } = await startSubscribed()
    const invoice = await stripe.invoices.retrieve(String(subscription.latest_invoice), {
      expand: ['payments'],
    })
    const paid = invoice.payments?.data[0]?.payment.payment_intent
    const refund = await stripe.refunds.create({ payment_intent: String(paid), amount: 300 })
    const form = { invoice: invoice.id, amount: '300', refund: refund.id }
    expect(await send(BASIL, '/credit_notes', form)).toMatchObject(unknown('refund'))
    const note = await call(ACACIA, '/credit_notes', form)
    expect(note).toMatchObject({ refund: refund.id, total: 300 })
    expect(note).not.toHaveProperty('refunds')
    const whole = await call(ACACIA, `/credit_notes/${note.id}?expand[]=refund`)
    expect(whole.refund).toMatchObject({ object: 'refund', amount: 300 })
    expect(await call(BASIL, `/credit_notes/${note.id}`)).toMatchObject({
      refunds: [{ refund: refund.id, amount_refunded: 300 }],
    })
  })

  it('upcoming-invoices: return all lines of the next invoice at another URL, page by page', async () => {
    const { send, call, stripe, customer, subscription } = await startSubscribed()
    for (let cents = 1; cents <= 13; cents++) {
      await stripe.invoiceItems.create({ customer: customer.id, amount: cents, currency: 'usd' })
    }
    const query = `?subscription=${subscription.id}`
    const upcoming = await call(ACACIA, `/invoices/upcoming${query}`)
    const lines = upcoming.lines as { data: UntypedResponse[]; has_more: boolean }
    expect([lines.data.length, lines.has_more]).toEqual([10, true])
    const read = async (more: string) =>
      (await call(ACACIA, `/invoices/upcoming/lines${query}${more}`)) as unknown as typeof lines
    const rest = await read(`&starting_after=${lines.data[9]?.id}`)
    expect([rest.data.length, rest.has_more]).toEqual([4, false])
    const all = await read('&limit=100')
    expect(all.data.map(({ id }) => id)).toEqual([...lines.data, ...rest.data].map(({ id }) => id))
    const sum = all.data.reduce((total, line) => total + Number(line.amount), 0)
    expect([sum, upcoming.total]).toEqual([1091, 1091])
    expect(all.data[0]).toHaveProperty('proration')
    expect((await send(BASIL, `/invoices/upcoming/lines${query}`)).status).toBe(400)
  })

  it('list-totals: return the total count of a list on request', async () => {
    const { send, call, stripe, customer } = await startSubscribed()
    for (let at = 0; at < 4; at++) await stripe.customers.create({ email: 'x@example.com' })
    const list = '/customers?limit=2&expand[]=total_count'
    expect(await call(ACACIA, list)).toMatchObject({ total_count: 5, has_more: true })
    const some = await call(ACACIA, `${list}&email=x@example.com&expand[]=data.default_source`)
    expect(some).toMatchObject({ total_count: 4, data: [{}, {}] })
    const own = `/invoices?customer=${customer.id}&expand[]=total_count`
    expect(await call(ACACIA, own)).toMatchObject({ total_count: 1 })
    expect(await call(ACACIA, '/customers')).not.toHaveProperty('total_count')
    expect((await send(BASIL, list)).status).toBe(400)
    expect((await send(ACACIA, '/customers?expand[]=data.total_count')).status).toBe(400)
  })

  it("customer-coupon: apply a customer's coupon to every purchase without its own discount", async () => {
    const { sandbox, send, call, stripe, customer, subscription, monthly } = await startSubscribed()
    const half = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
    const tenth = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
    const path = `/customers/${customer.id}`
    expect(await send(BASIL, path, { coupon: half.id })).toMatchObject(unknown('coupon'))
    expect(await call(ACACIA, path, { coupon: half.id })).toMatchObject({
      discount: { coupon: { id: half.id }, customer: customer.id, subscription: null },
    })
    const other = await call(ACACIA, '/subscriptions', {
      customer: customer.id,
      'items[0][price]': monthly.id,
      coupon: tenth.id,
      'expand[]': 'latest_invoice',
    })
    expect(other.latest_invoice).toMatchObject({ total: 900 })
    const preview = await stripe.invoices.createPreview({ subscription: subscription.id })
    expect(preview.total).toBe(500)
    await sandbox.clock.advance({ months: 1, hours: 1 })
    const totals = async (id: string) =>
      (await stripe.invoices.list({ subscription: id })).data.map(({ total }) => total)
    expect(await totals(subscription.id)).toEqual([500, 1000])
    expect(await totals(other.id)).toEqual([900, 900])
    expect(await call(ACACIA, path, { coupon: '' })).toMatchObject({ discount: null })
    const told = sandbox.stripe.events().map(({ type }) => type)
    expect(told.filter((type) => String(type).startsWith('customer.discount'))).toEqual([
      'customer.discount.created',
      'customer.discount.created',
      'customer.discount.deleted',
    ])
    await sandbox.clock.advance({ months: 1, days: 4 })
    expect((await totals(subscription.id))[0]).toBe(1000)
  })

  it("customer-coupon: apply a customer's coupon of duration once to a single invoice, and return its promotion code and end", async () => {
    const { sandbox, call, stripe, monthly } = await startSubscribed()
    const once = await stripe.coupons.create({ amount_off: 300, currency: 'usd', duration: 'once' })
    const code = await stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: once.id },
    })
    const made = await call(ACACIA, '/customers', {
      promotion_code: code.id,
      payment_method: 'pm_card_visa',
      'invoice_settings[default_payment_method]': 'pm_card_visa',
    })
    expect(made).toMatchObject({ discount: { promotion_code: code.id } })
    const items = [{ price: monthly.id }]
    const { id } = await stripe.subscriptions.create({ customer: made.id, items })
    await sandbox.clock.advance({ months: 1, hours: 1 })
    const totals = (await stripe.invoices.list({ subscription: id })).data
    expect(totals.map(({ total }) => total)).toEqual([1000, 700])
    expect(await call(ACACIA, `/customers/${made.id}`)).toMatchObject({ discount: null })

    const months = await stripe.coupons.create({
      percent_off: 20,
      duration: 'repeating',
      duration_in_months: 2,
    })
    await call(ACACIA, `/customers/${made.id}`, { coupon: months.id })
    // Redeemed on 28 February: it ends on 28 April, two days before that renewal.
    await sandbox.clock.advance({ months: 3, hours: 1 })
    const later = (await stripe.invoices.list({ subscription: id, limit: 3 })).data
    expect(later.map(({ total }) => total)).toEqual([1000, 800, 1000])
    expect(await call(ACACIA, `/customers/${made.id}`)).toMatchObject({ discount: null })

    await call(ACACIA, `/customers/${made.id}`, { coupon: months.id })
    expect(await stripe.customers.deleteDiscount(made.id)).toMatchObject({ deleted: true })
    expect(await call(ACACIA, `/customers/${made.id}`)).toMatchObject({ discount: null })
  })
})

describe('Stripe API versions from before versions had names', () => {
  it('marketing-features: return the features of products', async () => {
    const { call, send } = await startVersions()
    const form = { name: 'Gold', 'features[0][name]': 'Faster' }
    expect((await send('2024-04-10', '/products', form)).status).toBe(400)
    const product = await call('2023-10-16', '/products', form)
    expect(product.features).toEqual([{ name: 'Faster' }])
    expect(product).not.toHaveProperty('marketing_features')
    const changed = await call('2023-10-16', `/products/${product.id}`, {
      'features[0][name]': 'Further',
    })
    expect(changed.features).toEqual([{ name: 'Further' }])
    expect(await call('2024-04-10', `/products/${product.id}`)).toMatchObject({
      marketing_features: [{ name: 'Further' }],
    })
  })

  it('intent-charges: return the charges of a payment and the refunds of a charge', async () => {
    const { stripe, call } = await startVersions()
    const intent = await stripe.paymentIntents.create({
      amount: 700,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      allowed_payment_method_types: ['card'],
      confirm: true,
    })
    await stripe.refunds.create({ payment_intent: intent.id, amount: 200 })
    expect(await call('2022-08-01', `/payment_intents/${intent.id}`)).toMatchObject({
      charges: {
        object: 'list',
        total_count: 1,
        data: [{ id: intent.latest_charge, invoice: null, refunds: { data: [{ amount: 200 }] } }],
      },
    })
    const since = await call('2022-11-15', `/payment_intents/${intent.id}`)
    expect(since).not.toHaveProperty('charges')
    const charge = await call('2022-11-15', `/charges/${String(intent.latest_charge)}`)
    expect(charge).not.toHaveProperty('refunds')
  })

  it('card-by-default: use cards if no types are given, and need no return URL', async () => {
    const { call, send } = await startVersions()
    const form = {
      amount: '500',
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: 'true',
    }
    expect(await call('2022-11-15', '/payment_intents', form)).toMatchObject({
      status: 'succeeded',
      payment_method_types: ['card'],
      automatic_payment_methods: null,
    })
    expect(await send('2023-08-16', '/payment_intents', form)).toMatchObject({
      status: 400,
      body: { error: { param: 'return_url' } },
    })
    const asked = { ...form, 'automatic_payment_methods[enabled]': 'true' }
    expect((await send('2022-11-15', '/payment_intents', asked)).status).toBe(400)
    expect(await call('2022-11-15', '/setup_intents', { usage: 'off_session' })).toMatchObject({
      payment_method_types: ['card'],
    })
  })
})
