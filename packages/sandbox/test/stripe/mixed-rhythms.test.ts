import Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import { refusal, seconds, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

const MONTH_END = seconds('2026-02-01T00:00:00Z')
const YEAR_END = seconds('2027-01-01T00:00:00Z')

/** Prices of 31.00 a month and 100.00 a year, from 1 January: a day of the month is a dollar. */
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

describe('the end of a subscription with a yearly and a monthly price', () => {
  it.each([
    ['cancel_at_period_end', { cancel_at_period_end: true }, MONTH_END],
    ['min_period_end', { cancel_at: 'min_period_end' }, MONTH_END],
    ['max_period_end', { cancel_at: 'max_period_end' }, YEAR_END],
  ] as const)('by %s', async (_name, params, end) => {
    const { stripe, begin, yearly, monthly } = await setUp()
    const running = await begin([yearly, monthly])
    expect((await stripe.subscriptions.update(running.id, params)).cancel_at).toBe(end)
    expect((await begin([yearly, monthly], params)).cancel_at).toBe(end)
  })

  it('at the end of the period follows what is earliest, a date stays', async () => {
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

it('had the shortest period of its items, in versions where it had one period', async () => {
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
