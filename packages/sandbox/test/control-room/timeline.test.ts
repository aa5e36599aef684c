import { describe, expect, it } from 'vitest'
import { startForTest, subscribeAda, subscribeGrace } from './support.ts'

interface Step {
  readonly at: string
  readonly title: string
  readonly amount: { readonly text: string; readonly minor: number } | null
  readonly notes: readonly string[]
}
interface CustomerData {
  readonly coming: {
    readonly steps: readonly Step[]
    readonly paid: ReadonlyArray<{ readonly text: string }>
    readonly subscriptions: ReadonlyArray<{ readonly status: string }>
  }
  readonly past: readonly Step[]
}

const brief = ({ at, title, amount }: Step) => `${at.slice(0, 16)} ${title} ${amount?.text ?? ''}`

describe.each(['stripe', 'braintree'] as const)("the control room's forecast at %s", (provider) => {
  it('predicts the later charges to the cent', async () => {
    const watched = await startForTest()
    const { customer } =
      provider === 'stripe' ? await subscribeAda(watched, 10) : await subscribeGrace(watched)
    const path = `/customers/${provider}/${customer}.json`
    const told = await watched.read<CustomerData>(`${path}?months=6`)
    expect(told.coming.steps.length).toBeGreaterThan(6)
    await watched.sandbox.clock.advance({ months: 6, days: 1 })
    const { past } = await watched.read<CustomerData>(path)
    const happened = past.map(brief)
    const paid = told.coming.steps.filter(({ title }) => /paid|submitted/.test(title)).map(brief)
    expect(paid.length).toBeGreaterThanOrEqual(5)
    expect(happened).toEqual(expect.arrayContaining(paid))
  })

  it('includes simulated declines, their retries and the cancellation', async () => {
    const watched = await startForTest()
    const { customer } =
      provider === 'stripe' ? await subscribeAda(watched) : await subscribeGrace(watched)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let i = 0; i < 9; i++) watched.sandbox.trouble.declineNextCharge(customer, code)
    const path = `/customers/${provider}/${customer}.json?months=3`
    const { coming } = await watched.read<CustomerData>(path)
    const titles = coming.steps.map(({ title }) => title)
    expect(titles.filter((title) => /failed|declined/.test(title)).length).toBeGreaterThan(1)
    expect(coming.subscriptions).toMatchObject([
      { status: provider === 'stripe' ? 'canceled' : 'Canceled' },
    ])
    await watched.sandbox.clock.advance({ months: 3, days: 1 })
    const { past } = await watched.read<CustomerData>(path)
    expect(past.map(brief)).toEqual(expect.arrayContaining(coming.steps.map(brief)))
  })
})

it("the control room's forecast agrees with Stripe's invoice preview about the next invoice", async () => {
  const watched = await startForTest()
  const { customer, subscription } = await subscribeAda(watched)
  await watched.stripe.invoiceItems.create({ customer, amount: 333, currency: 'usd' })
  const preview = await watched.stripe.invoices.createPreview({ subscription })
  const { coming } = await watched.read<CustomerData>(`/customers/stripe/${customer}.json`)
  const paid = coming.steps.find(({ title }) => title === 'Invoice paid')
  expect(paid?.amount?.minor).toBe(preview.amount_due)
  expect(preview.amount_due).toBe(1333)
})

it("the control room's timeline names a step after its most important event, and describes the change of the subscription", async () => {
  const watched = await startForTest()
  const { customer, subscription } = await subscribeAda(watched)
  await watched.stripe.subscriptions.update(subscription, { cancel_at_period_end: true })
  watched.sandbox.stripe.seedPrice({ id: 'more', unitAmount: 2500, interval: 'month' })
  const { past } = await watched.read<CustomerData>(`/customers/stripe/${customer}.json`)
  expect(past.map(({ title }) => title)).toEqual([
    'Cancellation scheduled',
    'Subscription started',
    'Payment method added',
    'Customer created',
  ])
  expect(past[1]?.amount?.text).toBe('$10.00')
})

it("the control room's timeline reads past steps from the invoices if the events have expired", async () => {
  const watched = await startForTest()
  const { customer } = await subscribeAda(watched)
  await watched.sandbox.clock.advance({ months: 8 })
  const { past } = await watched.read<CustomerData>(`/customers/stripe/${customer}.json`)
  expect(past.filter(({ title }) => title === 'Invoice paid')).toHaveLength(8)
  expect(past.at(-1)).toMatchObject({ title: 'Customer created', at: '2026-01-31T10:00:00.000Z' })
})

it("the control room's timeline shows a PayPal payment when it is submitted and when it is settled", async () => {
  const watched = await startForTest()
  const { customer } = await subscribeGrace(watched, 'fake-paypal-billing-agreement-nonce')
  await watched.sandbox.clock.advance({ hours: 2 })
  const path = `/customers/braintree/${customer}.json`
  const { coming, past } = await watched.read<CustomerData>(path)
  expect(past.map(brief).filter((step) => step.includes('Payment '))).toEqual([
    '2026-01-31T11:00 Payment settled $7.00',
    '2026-01-31T10:00 Payment submitted for settlement $7.00',
    '2026-01-31T10:00 Payment method added ',
  ])
  expect(coming.paid[0]?.text).toMatch(/^\$/)
})
