import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

const RENEWAL = '2026-02-01T00:00:00Z'
const BEHAVIORS = [
  ['void', 'void'],
  ['keep_as_draft', 'draft'],
  ['mark_uncollectible', 'uncollectible'],
] as const
type Behavior = (typeof BEHAVIORS)[number][0]

/** Creates a subscription of 10.00 a month from 1 January, paused if a behavior is given. */
async function setUp(behavior?: Behavior, upcomingInvoiceDays: number | null = null) {
  const setup = await startStripeSandbox({
    now: new Date('2026-01-01T00:00:00Z'),
    stripe: upcomingInvoiceDays === null ? {} : { upcomingInvoiceDays },
  })
  const { sandbox, stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: prices.monthly.id }],
  })
  const pause = (how: Behavior, more = {}) =>
    stripe.subscriptions.update(id, { pause_collection: { behavior: how, ...more } })
  if (behavior) await pause(behavior)
  const item = (await stripe.subscriptions.retrieve(id)).items.data[0]?.id ?? ''
  const newest = async () =>
    (await stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] }))
      .latest_invoice as Stripe.Invoice
  const taken = () =>
    sandbox.stripe.charges(customer.id).reduce((sum, charge) => sum + Number(charge.amount), 0)
  const balance = async () =>
    ((await stripe.customers.retrieve(customer.id)) as Stripe.Customer).balance
  const give = (amount: number) =>
    stripe.customers.createBalanceTransaction(customer.id, { amount: -amount, currency: 'usd' })
  const told = (type: string) => sandbox.stripe.events(type).length
  return { ...setup, ...prices, customer, id, item, pause, newest, taken, balance, give, told }
}

type Setup = Awaited<ReturnType<typeof setUp>>

/** Every way to create an invoice for a running subscription. */
const BILLED: readonly (readonly [name: string, (setup: Setup) => Promise<unknown>])[] = [
  ['a renewal', ({ sandbox }) => sandbox.clock.advanceTo(new Date(RENEWAL))],
  [
    'a change of interval',
    ({ stripe, id, item, yearly }) =>
      stripe.subscriptions.update(id, { items: [{ id: item, price: yearly.id }] }),
  ],
  [
    'an immediate proration',
    ({ stripe, id, item, better }) =>
      stripe.subscriptions.update(id, {
        items: [{ id: item, price: better.id }],
        proration_behavior: 'always_invoice',
      }),
  ],
  [
    'another billing day',
    async ({ sandbox, stripe, id }) => {
      await sandbox.clock.advance({ days: 20 })
      const now = { type: 'now' } as const
      await stripe.subscriptions.update(id, {
        billing_cycle_anchor: now,
        proration_behavior: 'none',
      })
    },
  ],
  [
    'an immediate cancellation with pending items',
    async ({ stripe, id, customer }) => {
      const pending = { customer: customer.id, amount: 700, currency: 'usd', subscription: id }
      await stripe.invoiceItems.create(pending)
      await stripe.subscriptions.cancel(id, { invoice_now: true })
    },
  ],
  [
    'the end of the last period with pending items',
    async ({ sandbox, stripe, id, customer }) => {
      await stripe.subscriptions.update(id, { cancel_at_period_end: true })
      const pending = { customer: customer.id, amount: 700, currency: 'usd', subscription: id }
      await stripe.invoiceItems.create(pending)
      await sandbox.clock.advanceTo(new Date(RENEWAL))
    },
  ],
]

describe.each(BEHAVIORS)('while Stripe does not collect payments (%s)', (behavior, status) => {
  it.each(BILLED)(
    'the invoice of %s is not collected, from its creation on',
    async (_name, bill) => {
      const setup = await setUp(behavior)
      const { sandbox, newest, taken } = setup
      await bill(setup)
      const made = await newest()
      expect(made).toMatchObject({ status, auto_advance: false, amount_paid: 0 })
      const created = sandbox.stripe.events('invoice.created')
      expect(created.filter((event) => JSON.stringify(event).includes(made.id))).toHaveLength(1)
      await sandbox.clock.advance({ days: 2 })
      expect([await newest(), taken()]).toMatchObject([{ id: made.id, status }, 1000])
    },
  )

  it('an invoice stays uncollected if collection resumes while it is a draft', async () => {
    const { sandbox, pause, newest, taken } = await setUp()
    await pause(behavior, { resumes_at: seconds('2026-02-01T00:30:00Z') })
    await sandbox.clock.advanceTo(new Date('2026-02-01T06:00:00Z'))
    expect([(await newest()).status, taken()]).toEqual([status, 1000])
    await sandbox.clock.advanceTo(new Date('2026-03-01T06:00:00Z'))
    expect([(await newest()).status, taken()]).toEqual(['paid', 2000])
  })

  it('an invoice that was a draft before the pause is collected', async () => {
    const { sandbox, pause, newest, taken } = await setUp()
    await sandbox.clock.advanceTo(new Date('2026-02-01T00:30:00Z'))
    expect((await newest()).status).toBe('draft')
    await pause(behavior)
    await sandbox.clock.advanceTo(new Date('2026-02-01T06:00:00Z'))
    expect([(await newest()).status, taken()]).toEqual(['paid', 2000])
  })

  it('invoice.upcoming is not sent for an invoice that is not collected', async () => {
    const { sandbox, pause, told } = await setUp(undefined, 7)
    await pause(behavior, { resumes_at: seconds('2026-02-20T00:00:00Z') })
    await sandbox.clock.advanceTo(new Date('2026-02-02T00:00:00Z'))
    expect(told('invoice.upcoming')).toBe(0)
    await sandbox.clock.advanceTo(new Date('2026-02-28T00:00:00Z'))
    expect(told('invoice.upcoming')).toBe(1)
  })
})

it("the Stripe sandbox voids an invoice of paused collection without using the customer's credit", async () => {
  const { sandbox, newest, balance, give, taken } = await setUp('void')
  await give(5000)
  await sandbox.clock.advanceTo(new Date('2026-02-01T06:00:00Z'))
  expect([(await newest()).status, await balance(), taken()]).toEqual(['void', -5000, 1000])
  await sandbox.clock.advanceTo(new Date('2026-03-01T06:00:00Z'))
  expect([(await newest()).status, await balance()]).toEqual(['void', -5000])
})

it('the Stripe sandbox charges nothing when a paused subscription resumes while collection is paused', async () => {
  const { stripe, id, newest, taken } = await setUp('void')
  await stripe.subscriptions.pause(id)
  const { status } = await stripe.subscriptions.resume(id, { proration_behavior: 'none' })
  expect([status, (await newest()).status, taken()]).toEqual(['active', 'void', 1000])
})

it('the Stripe sandbox rejects pausing a subscription in classic mode', async () => {
  const { stripe, customer, monthly } = await setUp()
  const { id } = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    billing_mode: { type: 'classic' },
  })
  expect(await catchStripeError(stripe.subscriptions.pause(id))).toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('flexible'),
  })
  await stripe.subscriptions.migrate(id, { billing_mode: { type: 'flexible' } })
  expect((await stripe.subscriptions.pause(id)).status).toBe('paused')
})
