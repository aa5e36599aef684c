import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

const MONTH_END = seconds('2026-02-01T00:00:00Z')
const YEAR_END = seconds('2027-01-01T00:00:00Z')

/**
 * Creates prices of 31.00 a month and 100.00 a year, from 1 January: a day of the month costs a
 * dollar.
 */
async function setUp() {
  const setup = await startStripeSandbox({ now: new Date('2026-01-01T00:00:00Z') })
  const { stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const { product, yearly, better } = await seedPrices(stripe)
  const monthly = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 3100,
    recurring: { interval: 'month' },
  })
  const begin = (prices: readonly Stripe.Price[], params = {}) =>
    stripe.subscriptions.create({
      customer: customer.id,
      items: prices.map(({ id }) => ({ price: id })),
      ...params,
    })
  return { ...setup, customer, monthly, better, yearly, begin }
}

const endsOf = ({ items }: Stripe.Subscription) =>
  items.data.map(({ current_period_end }) => current_period_end)

const itemWith = ({ items }: Stripe.Subscription, price: Stripe.Price) =>
  items.data.find((item) => item.price.id === price.id)?.id ?? ''

describe('the end of a Stripe subscription with a yearly and a monthly price', () => {
  it.each([
    ['cancel_at_period_end', { cancel_at_period_end: true }, MONTH_END],
    ['min_period_end', { cancel_at: 'min_period_end' }, MONTH_END],
    ['max_period_end', { cancel_at: 'max_period_end' }, YEAR_END],
  ] as const)(
    'is the end of the shortest or of the longest period, depending on the cancellation: %s',
    async (_name, params, end) => {
      const { stripe, begin, yearly, monthly } = await setUp()
      const running = await begin([yearly, monthly])
      expect((await stripe.subscriptions.update(running.id, params)).cancel_at).toBe(end)
      expect((await begin([yearly, monthly], params)).cancel_at).toBe(end)
    },
  )

  it('follows the period ends of its prices after a cancellation with `cancel_at_period_end`, but stays unchanged after a cancellation with `cancel_at`', async () => {
    const { stripe, begin, yearly, monthly } = await setUp()
    const without = async (params: Stripe.SubscriptionUpdateParams) => {
      const made = await begin([yearly, monthly])
      await stripe.subscriptions.update(made.id, params)
      const { cancel_at } = await stripe.subscriptions.update(made.id, {
        items: [{ id: itemWith(made, monthly), deleted: true }],
      })
      return cancel_at
    }
    expect(await without({ cancel_at_period_end: true })).toBe(YEAR_END)
    expect(await without({ cancel_at: 'min_period_end' })).toBe(MONTH_END)
  })
})

describe('a Stripe subscription item that replaces an item with another interval', () => {
  it.each(['classic', 'flexible'] as const)(
    'starts a new period immediately in %s mode',
    async (type) => {
      const { sandbox, stripe, begin, yearly, monthly } = await setUp()
      const made = await begin([monthly], { billing_mode: { type } })
      await sandbox.clock.advanceTo(new Date('2026-01-11T00:00:00Z'))
      const now = seconds('2026-01-11T00:00:00Z')
      const changed = await stripe.subscriptions.update(made.id, {
        items: [{ price: yearly.id }, { id: itemWith(made, monthly), deleted: true }],
        expand: ['latest_invoice'],
      })
      expect([changed.billing_cycle_anchor, endsOf(changed)]).toEqual([
        now,
        [seconds('2027-01-11T00:00:00Z')],
      ])
      // 21 of 31 days are credited.
      expect((changed.latest_invoice as Stripe.Invoice).amount_paid).toBe(10_000 - 2100)
    },
  )

  it("keeps the other items' periods if one item of the old interval remains", async () => {
    const { sandbox, stripe, begin, yearly, monthly, better } = await setUp()
    const made = await begin([monthly, better])
    await sandbox.clock.advanceTo(new Date('2026-01-11T00:00:00Z'))
    const changed = await stripe.subscriptions.update(made.id, {
      items: [{ price: yearly.id }, { id: itemWith(made, monthly), deleted: true }],
    })
    expect(changed.billing_cycle_anchor).toBe(made.billing_cycle_anchor)
    expect(endsOf(changed).sort()).toEqual([MONTH_END, YEAR_END])
  })
})

describe("different intervals in Stripe's classic billing mode", () => {
  const classic = { billing_mode: { type: 'classic' } } as const
  const refused = {
    statusCode: 400,
    param: 'items',
    message: expect.stringContaining('all prices on a subscription must use the same'),
  }

  it('are rejected in every call, and nothing changes', async () => {
    const { stripe, begin, yearly, monthly, better } = await setUp()
    expect(await catchStripeError(begin([monthly, yearly], classic))).toMatchObject(refused)
    const made = await begin([monthly, better], classic)
    for (const items of [
      [{ price: yearly.id }],
      [{ id: itemWith(made, monthly), price: yearly.id }],
      [{ price: yearly.id }, { id: itemWith(made, monthly), deleted: true }],
    ]) {
      expect(await catchStripeError(stripe.subscriptions.update(made.id, { items }))).toMatchObject(
        refused,
      )
    }
    const { items } = await stripe.subscriptions.retrieve(made.id)
    expect(items.data.map(({ price }) => price.id).sort()).toEqual([monthly.id, better.id].sort())
    const both = [
      { id: itemWith(made, monthly), price: yearly.id },
      { id: itemWith(made, better), deleted: true },
    ]
    expect(endsOf(await stripe.subscriptions.update(made.id, { items: both }))).toEqual([YEAR_END])
  })

  it('are rejected within a phase of a schedule, but allowed between phases', async () => {
    const { stripe, begin, customer, yearly, monthly } = await setUp()
    const mixed = { items: [{ price: monthly.id }, { price: yearly.id }] }
    const alone = { items: [{ price: monthly.id }], end_date: MONTH_END }
    const create = (phase: object, type: 'classic' | 'flexible') =>
      stripe.subscriptionSchedules.create({
        customer: customer.id,
        start_date: 'now',
        billing_mode: { type },
        phases: [alone, phase as never],
      })
    const inPhase = { ...refused, param: 'phases[1][items]' }
    expect(await catchStripeError(create(mixed, 'classic'))).toMatchObject(inPhase)
    expect((await create(mixed, 'flexible')).phases).toHaveLength(2)
    expect((await create({ items: [{ price: yearly.id }] }, 'classic')).phases).toHaveLength(2)
    const made = await begin([monthly], classic)
    const { id } = await stripe.subscriptionSchedules.create({ from_subscription: made.id })
    const phases = [{ ...alone, start_date: made.start_date }, mixed] as never
    const update = stripe.subscriptionSchedules.update(id, { phases })
    expect(await catchStripeError(update)).toMatchObject(inPhase)
  })
})

it("API versions in which a subscription has only one period show the shortest of the items' periods", async () => {
  const { sandbox, begin, yearly, monthly } = await setUp()
  const made = await begin([yearly, monthly])
  await sandbox.clock.advanceTo(new Date('2026-02-01T02:00:00Z'))
  const old = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    apiVersion: '2024-06-20' as never,
  })
  expect(await old.subscriptions.retrieve(made.id)).toMatchObject({
    current_period_start: MONTH_END,
    current_period_end: seconds('2026-03-01T00:00:00Z'),
  })
})
