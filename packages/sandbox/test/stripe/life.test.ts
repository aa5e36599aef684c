import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { seconds, seedPrices, startStripeSandbox } from './support.ts'

/** A move of the clock, and all expected effects. */
interface Step {
  readonly name: string
  readonly to: string
  readonly before?: (world: World) => Promise<void> | void
  readonly status: string
  /** Expected newest invoice: status, total, amount paid, attempts, next attempt. */
  readonly invoice: readonly [string, number, number, number, string | null]
  readonly events: readonly string[]
}
interface World {
  readonly stripe: Stripe
  readonly customer: string
  readonly decline: () => void
}

const RENEWED = ['invoice.created', 'customer.subscription.updated']
const PAID = [
  'payment_intent.created',
  'invoice.finalized',
  'charge.succeeded',
  'payment_intent.succeeded',
  'invoice_payment.paid',
  'invoice.paid',
  'invoice.payment_succeeded',
]
const ATTEMPT_FAILED = ['charge.failed', 'payment_intent.payment_failed', 'invoice.payment_failed']

// The trial ends on 31 January, which sets the billing day: 28 in February, 30 in April …
const BILLING_DAYS = [
  '2026-01-31',
  '2026-02-28',
  '2026-03-31',
  '2026-04-30',
  '2026-05-31',
  '2026-06-30',
  '2026-07-31',
  '2026-08-31',
  '2026-09-30',
  '2026-10-31',
  '2026-11-30',
  '2026-12-31',
]

const renewals: Step[] = BILLING_DAYS.map((day, at) => ({
  name: at === 0 ? 'the trial ends' : `renewal ${at}`,
  to: `${day}T11:00:00Z`,
  status: 'active',
  invoice: ['paid', 1190, 1190, 1, null],
  events: [...RENEWED, ...PAID],
}))

const LIFE: readonly Step[] = [
  {
    name: 'three days before the trial ends',
    to: '2026-01-28T10:00:00Z',
    status: 'trialing',
    invoice: ['paid', 0, 0, 0, null],
    events: ['customer.subscription.trial_will_end'],
  },
  ...renewals,
  {
    name: 'the thirteenth is drafted',
    to: '2027-01-31T10:00:00Z',
    before: (world) => world.decline(),
    status: 'active',
    invoice: ['draft', 1190, 0, 0, '2027-01-31T11:00:00Z'],
    events: RENEWED,
  },
  {
    name: 'its card fails',
    to: '2027-01-31T11:00:00Z',
    status: 'past_due',
    invoice: ['open', 1190, 0, 1, '2027-02-03T11:00:00Z'],
    events: [
      'payment_intent.created',
      'invoice.finalized',
      ...ATTEMPT_FAILED,
      'customer.updated',
      'customer.subscription.updated',
    ],
  },
  {
    name: 'first retry',
    to: '2027-02-03T11:00:00Z',
    status: 'past_due',
    invoice: ['open', 1190, 0, 2, '2027-02-08T11:00:00Z'],
    events: ATTEMPT_FAILED,
  },
  {
    name: 'second retry',
    to: '2027-02-08T11:00:00Z',
    status: 'past_due',
    invoice: ['open', 1190, 0, 3, '2027-02-15T11:00:00Z'],
    events: ATTEMPT_FAILED,
  },
  {
    name: 'last retry, and cancelled',
    to: '2027-02-15T11:00:00Z',
    status: 'canceled',
    invoice: ['open', 1190, 0, 4, null],
    events: [...ATTEMPT_FAILED, 'customer.subscription.deleted', 'invoice.updated'],
  },
  {
    name: 'nothing more',
    to: '2027-12-31T00:00:00Z',
    status: 'canceled',
    invoice: ['open', 1190, 0, 4, null],
    events: [],
  },
]

it('the Stripe sandbox moves a subscription through a trial, renewals, a failing card, retries and the cancellation', async () => {
  const { sandbox, stripe } = await startStripeSandbox({ now: new Date('2026-01-21T10:00:00Z') })
  const { monthly } = await seedPrices(stripe)
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 19,
    inclusive: false,
  })
  const customer = await stripe.customers.create({
    payment_method: 'pm_card_visa',
    email: 'ada@example.com',
  })
  const [method] = (await stripe.customers.listPaymentMethods(customer.id)).data
  await stripe.customers.update(customer.id, {
    invoice_settings: { default_payment_method: method?.id ?? '' },
  })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    default_tax_rates: [rate.id],
    trial_end: seconds('2026-01-31T10:00:00Z'),
  })
  expect(subscription.status).toBe('trialing')
  expect(subscription.trial_end).toBe(seconds('2026-01-31T10:00:00Z'))
  const world: World = {
    stripe,
    customer: customer.id,
    decline: () => {
      for (let i = 0; i < 4; i++)
        sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
    },
  }
  for (const step of LIFE) {
    const known = new Set(sandbox.stripe.events().map((event) => event.id))
    await step.before?.(world)
    await sandbox.clock.advanceTo(new Date(step.to))
    const events = sandbox.stripe.events().filter((event) => !known.has(event.id))
    expect(
      events.map((event) => event.type),
      step.name,
    ).toEqual(step.events)
    const now = await stripe.subscriptions.retrieve(subscription.id, { expand: ['latest_invoice'] })
    expect(now.status, step.name).toBe(step.status)
    const invoice = now.latest_invoice as Stripe.Invoice
    const next = invoice.next_payment_attempt
    expect(
      [
        invoice.status,
        invoice.total,
        invoice.amount_paid,
        invoice.attempt_count,
        next === null ? null : new Date(next * 1000).toISOString().replace('.000', ''),
      ],
      step.name,
    ).toEqual(step.invoice)
  }
  const all = await stripe.invoices.list({ customer: customer.id, limit: 100 })
  expect(all.data).toHaveLength(14)
  expect(
    all.data.filter((invoice) => invoice.status === 'paid' && invoice.total === 1190),
  ).toHaveLength(12)
  const cancelled = await stripe.subscriptions.retrieve(subscription.id)
  expect(cancelled.cancellation_details?.reason).toBe('payment_failed')
  expect(cancelled.ended_at).toBe(seconds('2027-02-15T11:00:00Z'))
  const periods = all.data.map((invoice) => invoice.lines.data[0]?.period.start ?? 0).reverse()
  expect(periods.slice(1, 5).map((at) => new Date(at * 1000).toISOString().slice(0, 10))).toEqual(
    BILLING_DAYS.slice(0, 4),
  )
})
