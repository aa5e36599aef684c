import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, seedCustomer, seedPrices, startStripeSandbox } from './support.ts'

/**
 * Creates a price of 10.00 a month, a price `better` of 25.00, and a code with a minimum of 20.00.
 */
async function setUp() {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const { customer } = await seedCustomer(stripe)
  const prices = await seedPrices(stripe)
  const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
  const { id: promotion_code } = await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: coupon.id },
    restrictions: { minimum_amount: 2000, minimum_amount_currency: 'usd' },
  })
  const begin = (price: string, params: Partial<Stripe.SubscriptionCreateParams> = {}) =>
    stripe.subscriptions.create({ customer: customer.id, items: [{ price }], ...params })
  return { ...setup, ...prices, begin, discounts: [{ promotion_code }] }
}

const tooLittle = { statusCode: 400, message: expect.stringContaining('below its minimum') }

it("the Stripe sandbox compares a promotion code's minimum amount with the subscription as it is after the change", async () => {
  const { stripe, begin, monthly, better, discounts } = await setUp()
  expect(await catchStripeError(begin(monthly.id, { discounts }))).toMatchObject(tooLittle)
  const { id, items } = await begin(monthly.id)
  const item = items.data[0]?.id ?? ''
  const update = (changed: Stripe.SubscriptionUpdateParams.Item[]) =>
    stripe.subscriptions.update(id, { items: changed, discounts })
  expect(await catchStripeError(update([]))).toMatchObject(tooLittle)
  expect((await update([{ id: item, price: better.id }])).discounts).toHaveLength(1)
  expect(await catchStripeError(update([{ id: item, price: monthly.id }]))).toMatchObject(tooLittle)
  expect((await update([{ id: item, price: monthly.id, quantity: 2 }])).discounts).toHaveLength(1)
  const gone = [{ id: item, deleted: true }, { price: better.id }]
  expect((await update(gone)).discounts).toHaveLength(1)
})

it("the Stripe sandbox compares the minimum amount of an item's promotion code with that item", async () => {
  const { stripe, begin, monthly, better, discounts } = await setUp()
  const items = [{ price: better.id }, { price: monthly.id, discounts }]
  expect(await catchStripeError(begin('', { items }))).toMatchObject(tooLittle)
  const made = await begin(monthly.id)
  const item = { id: made.items.data[0]?.id ?? '', discounts }
  const update = (changed: object) =>
    stripe.subscriptions.update(made.id, { items: [{ ...item, ...changed }] })
  expect(await catchStripeError(update({}))).toMatchObject(tooLittle)
  expect((await update({ quantity: 2 })).items.data[0]?.discounts).toHaveLength(1)
})

it('the Stripe sandbox accepts minimum amounts of a promotion code in other currencies, and returns them only when expanded', async () => {
  const { stripe } = await startStripeSandbox()
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const euros = await stripe.prices.create({
    currency: 'eur',
    unit_amount: 1000,
    recurring: { interval: 'month' },
    product: monthly.product as string,
  })
  const coupon = await stripe.coupons.create({ percent_off: 50, duration: 'forever' })
  const make = (currency_options: Record<string, { minimum_amount: number }>) =>
    stripe.promotionCodes.create({
      promotion: { type: 'coupon', coupon: coupon.id },
      restrictions: { minimum_amount: 500, minimum_amount_currency: 'usd', currency_options },
    })
  expect(await catchStripeError(make({ usd: { minimum_amount: 1 } }))).toMatchObject({
    statusCode: 400,
  })
  const { id, restrictions } = await make({ eur: { minimum_amount: 1001 } })
  expect(restrictions.currency_options).toBeUndefined()
  const begin = () =>
    stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: euros.id }],
      discounts: [{ promotion_code: id }],
    })
  expect(await catchStripeError(begin())).toMatchObject(tooLittle)
  await stripe.promotionCodes.update(id, {
    restrictions: { currency_options: { eur: { minimum_amount: 1000 } } },
  })
  const shown = await stripe.promotionCodes.retrieve(id, {
    expand: ['restrictions.currency_options'],
  })
  expect(shown.restrictions.currency_options).toEqual({
    usd: { minimum_amount: 500 },
    eur: { minimum_amount: 1000 },
  })
  expect((await begin()).discounts).toHaveLength(1)
})
