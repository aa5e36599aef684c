import { expect, it } from 'vitest'
import { catchStripeError, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

it('the Stripe sandbox returns every recurring price as a plan, and every plan as a price', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { monthly, better, yearly, product } = await seedPrices(stripe)
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 5,
  })
  const plan = await stripe.plans.create({
    id: 'gold',
    amount: 1500,
    currency: 'eur',
    interval: 'month',
    interval_count: 3,
    product: { name: 'Quarterly gold' },
    trial_period_days: 7,
    metadata: { tier: 'gold' },
  })
  // The price is complete from the start: no second event reports a change.
  expect(sandbox.stripe.events('price.created').at(-1)).toMatchObject({
    data: { object: { metadata: { tier: 'gold' } } },
  })
  expect(sandbox.stripe.events('price.updated')).toEqual([])
  expect(plan).toMatchObject({ amount: 1500, interval: 'month', interval_count: 3 })
  expect((await stripe.plans.list()).data.map((each) => each.id)).toEqual([
    'gold',
    yearly.id,
    better.id,
    monthly.id,
  ])
  expect(await stripe.prices.retrieve('gold', { expand: ['product'] })).toMatchObject({
    unit_amount: 1500,
    recurring: { interval: 'month', interval_count: 3, trial_period_days: 7 },
    product: { name: 'Quarterly gold' },
  })
  expect((await catchStripeError(stripe.plans.retrieve(once.id))).message).toBe(
    `No such plan: '${once.id}'`,
  )
  await stripe.prices.update('gold', { active: false })
  expect((await stripe.plans.retrieve('gold')).active).toBe(false)
  await stripe.plans.update('gold', { nickname: 'Four a year', trial_period_days: 0 })
  expect(await stripe.prices.retrieve('gold')).toMatchObject({
    nickname: 'Four a year',
    recurring: { trial_period_days: 0 },
  })
})

it('the Stripe sandbox keeps a deleted plan for existing subscriptions only', async () => {
  const { sandbox, stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const items = [{ price: monthly.id }]
  const subscription = await stripe.subscriptions.create({ customer: customer.id, items })
  expect(await stripe.plans.del(monthly.id)).toEqual({
    id: monthly.id,
    object: 'plan',
    deleted: true,
  })
  for (const call of [
    () => stripe.plans.retrieve(monthly.id),
    () => stripe.plans.del(monthly.id),
    () => stripe.prices.retrieve(monthly.id),
    () => stripe.prices.update(monthly.id, { active: true }),
    () => stripe.subscriptions.create({ customer: customer.id, items }),
    () =>
      stripe.plans.create({
        id: monthly.id,
        currency: 'usd',
        interval: 'day',
        amount: 1,
        product: 'x',
      }),
  ])
    expect([400, 404]).toContain((await catchStripeError(call())).statusCode)
  expect((await stripe.prices.list()).data.map((each) => each.id)).not.toContain(monthly.id)
  await sandbox.clock.advance({ months: 1, hours: 2 })
  const renewed = await stripe.invoices.list({ subscription: subscription.id })
  expect(renewed.data.map((invoice) => [invoice.status, invoice.total])).toEqual([
    ['paid', 1000],
    ['paid', 1000],
  ])
  expect(sandbox.stripe.events('plan.deleted')).toHaveLength(1)
  expect(sandbox.stripe.events('price.deleted')).toHaveLength(1)
})

it('the Stripe sandbox rejects plans with missing, contradictory or invalid parameters', async () => {
  const { stripe } = await startStripeSandbox()
  const { product } = await seedPrices(stripe)
  const base = { currency: 'usd', interval: 'month', product: product.id } as const
  for (const [params, param] of [
    [base, 'amount'],
    [{ ...base, amount: 1, amount_decimal: '1.5' as never }, 'amount'],
    [{ ...base, amount: 1, usage_type: 'metered' as const }, undefined],
    [{ ...base, billing_scheme: 'tiered' as const, amount: 1 }, 'amount'],
    [{ ...base, amount: 1, tiers_mode: 'volume' as const }, 'tiers_mode'],
    [{ ...base, amount: 1, product: 'prod_x' }, 'product'],
    [{ currency: 'usd', interval: 'month' as const, amount: 1 }, 'product'],
  ] as const)
    expect((await catchStripeError(stripe.plans.create(params))).param).toBe(param)
})
