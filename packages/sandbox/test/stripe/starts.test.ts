import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { seconds, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

const FEBRUARY = seconds('2026-02-01T00:00:00Z')
type Params = Omit<Stripe.SubscriptionCreateParams, 'customer' | 'items'>

/** Starts on 15 January at midnight, in a month of 31 days. */
async function setUp(now = '2026-01-15T00:00:00Z') {
  const setup = await startStripeSandbox({ now: new Date(now) })
  const { stripe, sandbox } = setup
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const subscribe = (params: Params, items = [{ price: prices.monthly.id }]) =>
    stripe.subscriptions.create({ customer: customer.id, items, ...params })
  const invoices = async () => {
    const { data } = await stripe.invoices.list({ customer: customer.id, limit: 100 })
    return data.reverse()
  }
  const totals = async () => (await invoices()).map(({ total }) => total)
  const to = (at: string) => sandbox.clock.advanceTo(new Date(at))
  return { ...setup, ...prices, customer, subscribe, invoices, totals, to }
}

/** Share of a price for a number of days of a period. */
const share = (amount: number, days: number, of: number) => Math.round((amount * days) / of)

describe('a Stripe billing_cycle_anchor in the future', () => {
  it('bills the days before it as a share of the period, with quantities, prices, discount and tax', async () => {
    const { stripe, subscribe, monthly, better, invoices, to } = await setUp()
    const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'forever' })
    const tax = { display_name: 'VAT', percentage: 19.6, inclusive: false }
    const rate = await stripe.taxRates.create(tax)
    const items = [{ price: monthly.id, quantity: 3 }, { price: better.id }]
    const made = await subscribe(
      {
        billing_cycle_anchor: FEBRUARY,
        discounts: [{ coupon: coupon.id }],
        default_tax_rates: [rate.id],
      },
      items,
    )
    expect([made.status, made.billing_cycle_anchor]).toEqual(['active', FEBRUARY])
    await to('2026-02-01T02:00:00Z')
    const expected = [17, 31].map((days) => {
      const lines = [3000, 2500].map((amount) => share(amount, days, 31))
      const net = lines.map((line) => line - Math.round(line * 0.25))
      return net.reduce((sum, line) => sum + line + Math.round(line * 0.196), 0)
    })
    const [first, second] = await invoices()
    expect([first?.total, second?.total]).toEqual(expected)
    expect(
      first?.lines.data.map(({ description, parent, period }) => [
        description,
        parent?.subscription_item_details?.proration,
        period,
      ]),
    ).toEqual([
      [
        'Remaining time on 3 × Gold after 15 Jan 2026',
        true,
        { start: made.created, end: FEBRUARY },
      ],
      ['Remaining time on Gold after 15 Jan 2026', true, { start: made.created, end: FEBRUARY }],
    ])
    expect(
      second?.lines.data.map((line) => line.parent?.subscription_item_details?.proration),
    ).toEqual([false, false])
  })

  it('applies a coupon with `duration: once` to the invoice of the shortened first period only', async () => {
    const { stripe, subscribe, totals, to } = await setUp()
    const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'once' })
    await subscribe({ billing_cycle_anchor: FEBRUARY, discounts: [{ coupon: coupon.id }] })
    await to('2026-02-01T02:00:00Z')
    const short = share(1000, 17, 31)
    expect(await totals()).toEqual([short - Math.round(short / 2), 1000])
  })

  it('makes the days before it free, without an invoice, if proration is disabled', async () => {
    const { subscribe, totals, to } = await setUp()
    const made = await subscribe({
      billing_cycle_anchor: FEBRUARY,
      proration_behavior: 'none',
    })
    expect([made.status, made.latest_invoice, await totals()]).toEqual(['active', null, []])
    await to('2026-02-01T02:00:00Z')
    expect(await totals()).toEqual([1000])
  })

  it('bills a prorated share after a trial, and then whole periods', async () => {
    const { subscribe, totals, to, stripe, customer, monthly } = await setUp()
    const trial = { trial_period_days: 7, billing_cycle_anchor: FEBRUARY }
    const { id } = await subscribe(trial)
    const next = await stripe.invoices.createPreview({ subscription: id })
    await to('2026-01-22T02:00:00Z')
    expect(await totals()).toEqual([0, share(1000, 10, 31)])
    expect(next.total).toBe(share(1000, 10, 31))
    await to('2026-03-01T02:00:00Z')
    expect((await totals()).slice(2)).toEqual([1000, 1000])
    const early = { trial_period_days: 60, billing_cycle_anchor: FEBRUARY + 86_400 * 40 }
    const items = [{ price: monthly.id }]
    const asked = stripe.subscriptions.create({ customer: customer.id, items, ...early })
    await expect(asked).rejects.toMatchObject({ param: 'billing_cycle_anchor' })
  })

  it('is kept by a swap within the shortened first period', async () => {
    const { stripe, subscribe, better, totals, to } = await setUp()
    const made = await subscribe({ billing_cycle_anchor: FEBRUARY })
    await to('2026-01-25T00:00:00Z')
    const items = [{ id: made.items.data[0]?.id ?? '', price: better.id }]
    await stripe.subscriptions.update(made.id, { items })
    await to('2026-02-01T02:00:00Z')
    const difference = share(2500, 7, 31) - share(1000, 7, 31)
    const all = await totals()
    expect(all[0]).toBe(share(1000, 17, 31))
    // The credit is computed from the paid amount, and is rounded once more.
    expect(Math.abs((all[1] ?? 0) - 2500 - difference)).toBeLessThanOrEqual(1)
  })

  it('is previewed exactly as it is billed', async () => {
    const { stripe, subscribe, customer, monthly, totals } = await setUp()
    const preview = await stripe.invoices.createPreview({
      customer: customer.id,
      subscription_details: {
        items: [{ price: monthly.id, quantity: 2 }],
        billing_cycle_anchor: { type: 'timestamp', timestamp: FEBRUARY },
      },
    })
    const items = [{ price: monthly.id, quantity: 2 }]
    await subscribe({ billing_cycle_anchor: FEBRUARY }, items)
    expect([preview.total]).toEqual(await totals())
  })
})

describe('a Stripe billing_cycle_anchor in the future, in Checkout,', () => {
  async function open(more: Stripe.Checkout.SessionCreateParams) {
    const setup = await setUp()
    const { stripe, monthly, customer } = setup
    const amount = await stripe.coupons.create({ amount_off: 100, currency: 'usd' })
    const { subscription_data: data, ...others } = more
    const create = (discounts: { coupon: string }[] = []) =>
      stripe.checkout.sessions.create({
        mode: 'subscription',
        customer: customer.id,
        line_items: [{ price: monthly.id, quantity: 1 }],
        success_url: 'https://app.example.com/done',
        subscription_data: { billing_cycle_anchor: FEBRUARY, ...data },
        ...(discounts.length > 0 ? { discounts } : {}),
        ...others,
      })
    return { ...setup, amount: amount.id, create }
  }

  it('charges a share of the period, or the whole period if the customer pays after the anchor has passed', async () => {
    const { create, sandbox, to, totals } = await open({})
    const first = await create()
    expect(first.amount_total).toBe(share(1000, 17, 31))
    const late = await create()
    sandbox.stripe.completeCheckout(first.id)
    await to('2026-01-31T23:00:00Z')
    const last = await create()
    await to('2026-02-01T09:00:00Z')
    expect(() => sandbox.stripe.completeCheckout(late.id)).toThrow('expired')
    sandbox.stripe.completeCheckout(last.id)
    expect(await totals()).toEqual([share(1000, 17, 31), 1000, 1000])
  })

  it('makes the days before it free without proration, and rejects a fixed discount on a prorated share', async () => {
    const free = await open({ subscription_data: { proration_behavior: 'none' } })
    const session = await free.create([{ coupon: free.amount }])
    expect(session.amount_total).toBe(0)
    free.sandbox.stripe.completeCheckout(session.id)
    const { payment_status: paid } = await free.stripe.checkout.sessions.retrieve(session.id)
    expect([paid, await free.totals()]).toEqual(['no_payment_required', []])
    const prorated = await open({})
    await expect(prorated.create([{ coupon: prorated.amount }])).rejects.toThrow('fixed amount')
    const trial = await open({ subscription_data: { trial_period_days: 3 } })
    await expect(trial.create()).rejects.toThrow('trial')
  })
})

describe("Stripe's billing_cycle_anchor_config", () => {
  const month = { interval: 'month', interval_count: 1 } as const
  it.each([
    [
      '2026-01-15T10:20:30Z',
      { day_of_month: 1 },
      month,
      '2026-02-01T10:20:30Z',
      '2026-02-01T10:20:30Z',
    ],
    [
      '2026-01-15T10:20:30Z',
      { day_of_month: 20, hour: 0, minute: 0, second: 0 },
      month,
      '2026-01-20T00:00:00Z',
      '2026-01-20T00:00:00Z',
    ],
    [
      '2026-01-15T10:20:30Z',
      { day_of_month: 15, hour: 9 },
      month,
      '2026-02-15T09:20:30Z',
      '2026-02-15T09:20:30Z',
    ],
    [
      '2026-02-10T00:00:00Z',
      { day_of_month: 31 },
      month,
      '2026-03-31T00:00:00Z',
      '2026-02-28T00:00:00Z',
    ],
    // Every two months from February: August is the first of them with 31 days.
    [
      '2026-02-10T00:00:00Z',
      { day_of_month: 31 },
      { interval: 'month', interval_count: 2 },
      '2026-08-31T00:00:00Z',
      '2026-02-28T00:00:00Z',
    ],
    [
      '2026-02-10T00:00:00Z',
      { day_of_month: 1, month: 7 },
      { interval: 'year', interval_count: 1 },
      '2026-07-01T00:00:00Z',
      '2026-07-01T00:00:00Z',
    ],
  ] as const)(
    'sets the first billing date for a start at %s with the config %j and the interval %j',
    async (now, config, recurring, anchor, end) => {
      const { stripe, subscribe, product } = await setUp(now)
      const price = await stripe.prices.create({
        product: product.id,
        currency: 'usd',
        unit_amount: 1000,
        recurring: { ...recurring },
      })
      const made = await subscribe({ billing_cycle_anchor_config: config }, [{ price: price.id }])
      const shown = { hour: null, minute: null, month: null, second: null, ...config }
      expect(made.billing_cycle_anchor_config).toEqual(shown)
      expect(new Date(made.billing_cycle_anchor * 1000)).toEqual(new Date(anchor))
      expect(made.items.data[0]?.current_period_end).toBe(seconds(end))
    },
  )

  it('rejects invalid days, values that do not fit the interval, and a second anchor', async () => {
    const { stripe, subscribe, product } = await setUp()
    const weekly = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 1000,
      recurring: { interval: 'week' },
    })
    const config = { day_of_month: 1 }
    await expect(subscribe({ billing_cycle_anchor_config: { day_of_month: 32 } })).rejects.toThrow()
    await expect(
      subscribe({ billing_cycle_anchor_config: config }, [{ price: weekly.id }]),
    ).rejects.toThrow('by the month or year')
    await expect(
      subscribe({ billing_cycle_anchor_config: config, billing_cycle_anchor: FEBRUARY }),
    ).rejects.toThrow('only specify one')
  })
})

describe("Stripe's backdate_start_date", () => {
  it('bills all past periods, and then the present one', async () => {
    const { subscribe, invoices } = await setUp()
    const made = await subscribe({ backdate_start_date: seconds('2025-12-01T00:00:00Z') })
    expect([made.start_date, made.created]).toEqual([
      seconds('2025-12-01T00:00:00Z'),
      made.billing_cycle_anchor,
    ])
    const [first] = await invoices()
    // 15 November to 15 December has 30 days.
    const amounts = [share(1000, 14, 30), 1000, 1000]
    expect(first?.lines.data.map(({ amount }) => amount)).toEqual(amounts)
    expect(made.items.data[0]?.current_period_start).toBe(made.created)
  })

  it('bills the past in one line in classic mode, in proportion to the length of the first period', async () => {
    const { subscribe, invoices } = await setUp()
    await subscribe({
      billing_mode: { type: 'classic' },
      backdate_start_date: seconds('2025-12-01T00:00:00Z'),
    })
    const [first] = await invoices()
    const amounts = [share(1000, 45, 31), 1000]
    expect(first?.lines.data.map(({ amount }) => amount)).toEqual(amounts)
  })

  it('can be combined with an anchor, and with no charge for the past', async () => {
    const { subscribe, totals, invoices } = await setUp()
    const began = seconds('2025-12-01T00:00:00Z')
    await subscribe({ backdate_start_date: began, billing_cycle_anchor: FEBRUARY })
    expect(await totals()).toEqual([2000])
    const free = await subscribe({ backdate_start_date: began, proration_behavior: 'none' })
    expect([free.start_date, (await totals())[1]]).toEqual([began, 1000])
    const both = { billing_cycle_anchor: FEBRUARY, proration_behavior: 'none' } as const
    await subscribe({ backdate_start_date: began, ...both })
    expect(await invoices()).toHaveLength(2)
  })

  it.each([
    [2, [750, 750, 1000]],
    [3, [750, 750, 750]],
  ])(
    'lets the duration of a coupon (%s months) begin at the start date in the past',
    async (months, nets) => {
      const { stripe, subscribe, totals } = await setUp('2026-03-01T00:00:00Z')
      const coupon = await stripe.coupons.create({
        percent_off: 25,
        duration: 'repeating',
        duration_in_months: months,
      })
      const made = await subscribe({
        backdate_start_date: seconds('2026-01-01T00:00:00Z'),
        discounts: [{ coupon: coupon.id }],
      })
      expect(await totals()).toEqual([nets.reduce((sum, net) => sum + net, 0)])
      expect(made.discounts).toHaveLength(months - 2)
    },
  )

  it('rejects a future date, and a trial', async () => {
    const { subscribe } = await setUp()
    const late = subscribe({ backdate_start_date: FEBRUARY })
    await expect(late).rejects.toMatchObject({ param: 'backdate_start_date' })
    const began = { backdate_start_date: seconds('2025-12-01T00:00:00Z') }
    await expect(subscribe({ ...began, trial_period_days: 3 })).rejects.toThrow('does not imitate')
  })
})

describe('a Stripe subscription without a card', () => {
  it.each([
    ['cancel', 'canceled', 1],
    ['pause', 'paused', 1],
    ['create_invoice', 'past_due', 2],
  ] as const)(
    'gets the right status when its trial ends: missing_payment_method %s leads to %s',
    async (missing, status, count) => {
      const { stripe, sandbox, monthly } = await setUp()
      const customer = await stripe.customers.create({ email: 'grace@example.com' })
      const { id, status: before } = await stripe.subscriptions.create({
        customer: customer.id,
        items: [{ price: monthly.id }],
        trial_period_days: 7,
        trial_settings: { end_behavior: { missing_payment_method: missing } },
      })
      expect(before).toBe('trialing')
      await sandbox.clock.advance({ days: 8 })
      expect((await stripe.subscriptions.retrieve(id)).status).toBe(status)
      const { data } = await stripe.invoices.list({ customer: customer.id })
      expect(data).toHaveLength(count)
    },
  )

  it('is created if it is free, and is rejected otherwise', async () => {
    const { stripe, monthly, product } = await setUp()
    const { id: customer } = await stripe.customers.create({ email: 'grace@example.com' })
    const free = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 0,
      recurring: { interval: 'month' },
    })
    const made = await stripe.subscriptions.create({ customer, items: [{ price: free.id }] })
    expect(made.status).toBe('active')
    const asked = stripe.subscriptions.create({ customer, items: [{ price: monthly.id }] })
    await expect(asked).rejects.toMatchObject({ code: 'resource_missing' })
  })
})
