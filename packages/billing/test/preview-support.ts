import { expect } from 'vitest'
import type { PreviewLine, UpcomingInvoice } from '../src/index.ts'
import type { StartBillingOptions } from '../src/testing/index.ts'
import { type FlowTest, type ProviderCase, start, stripeSdk } from './support.ts'

/** `npm run previews` lives through the whole tables; every other run takes every pair of values. */
export const IS_WHOLE = process.env.PREVIEWS === 'all'

export const PLANS = {
  monthly: { amount: 1000, months: 1 },
  pro: { amount: 2533, months: 1 },
  quarterly: { amount: 2711, months: 3 },
  yearly: { amount: 9999, months: 12 },
  large: { amount: 45_333, months: 24 },
} as const

/** A percentage of ours, Stripe's own by the address (19 %), or a rate of Stripe's that is within the price. */
export type Tax = 0 | 19.6 | 'automatic' | 'within'

/** Money of the customer from before that counts first; a debt is added to the next bill. */
export type Balance = 'none' | 'little' | 'much' | 'debt'

interface Taxed {
  readonly tax: Tax
}

/** A user who is taxed so, and what can be bought. Whoever is somewhere else by law is a customer already. */
export async function startPreviews(
  { provider }: ProviderCase,
  row: Taxed,
  { settles }: { readonly settles: boolean },
): Promise<FlowTest> {
  const rates: string[] = []
  const options = { plans: PLANS, ...taxOptions(row, rates), webhooks: false }
  const test = await start(provider, options)
  if (settles || row.tax === 'within') await settle(test, row, rates)
  await defineCoupons(test)
  defineSeats(test)
  return test
}

/** At Stripe. 19000 leaves no cents that are below its minimum. */
export async function changeBalance(
  { user }: FlowTest,
  balance: Exclude<Balance, 'none'>,
): Promise<void> {
  const usd = (amount: number) => ({ amount, currency: 'usd' })
  if (balance === 'debt') await user.debitBalance(usd(277))
  else await user.creditBalance(usd(balance === 'little' ? 177 : 19_000))
}

function taxOptions({ tax }: Taxed, rates: readonly string[]): StartBillingOptions {
  if (tax === 'automatic') return { tax }
  return tax === 'within' ? { tax: { rates: () => rates } } : { taxPercentage: () => tax }
}

/** Where the customer is, and the rate that is within prices. */
async function settle(test: FlowTest, { tax }: Taxed, rates: string[]): Promise<void> {
  if (tax === 'automatic') {
    await test.user.setTaxExempt('none')
    await test.user.updateCustomer({ address: { country: 'DE' } })
  } else if (tax === 'within') {
    const { taxRates } = await stripeSdk(test)
    const rate = { display_name: 'VAT', percentage: 21.5, inclusive: true }
    rates.push((await taxRates.create(rate)).id)
  }
}

/** A price at Stripe, an add-on at Braintree. `longer` is on a plan of the same rhythm, too. */
function defineSeats({ sandbox }: FlowTest): void {
  for (const [id, amount] of [
    ['seat', 517],
    ['support', 733],
  ] as const) {
    sandbox.stripe.seedPrice({ id, unitAmount: amount, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id, amount })
  }
}

async function defineCoupons(test: FlowTest): Promise<void> {
  const { braintree } = test.sandbox
  braintree.defineDiscount({ id: 'twice', amount: 300, numberOfBillingCycles: 2 })
  braintree.defineDiscount({ id: 'forever', amount: 333 })
  braintree.defineDiscount({ id: 'above-the-price', amount: 4000 })
  const { coupons, promotionCodes } = await stripeSdk(test)
  const repeating = { duration: 'repeating', duration_in_months: 2 } as const
  await coupons.create({ id: 'twice', amount_off: 300, currency: 'usd', ...repeating })
  await coupons.create({ id: 'forever', percent_off: 33.3, duration: 'forever' })
  const coupon = (await coupons.create({ id: 'code', percent_off: 17.5, duration: 'forever' })).id
  await promotionCodes.create({ code: 'HELLO', promotion: { type: 'coupon', coupon } })
  await coupons.create({
    id: 'above-the-price',
    amount_off: 9000,
    currency: 'usd',
    duration: 'forever',
  })
}

/** The invoice that came has the lines that were shown. */
export async function expectInvoice(
  { user }: FlowTest,
  { provider }: ProviderCase,
  preview: UpcomingInvoice,
): Promise<void> {
  const [invoice] = await user.invoicesIncludingPending()
  const of = (...kinds: PreviewLine['kind'][]) =>
    preview.lines.filter(({ kind }) => kinds.includes(kind))
  if (provider === 'stripe') {
    const { data } = invoice ?? {}
    expect(data?.lines.map(({ description, amount }) => [description, amount])).toEqual(
      of('item', 'proration').map(({ description, amount }) => [description, amount.amount]),
    )
    expect(of('discount').map(({ description, amount }) => [description, amount.amount])).toEqual(
      data?.discounts.map(({ name, amount }) => [expect.stringContaining(`(${name}`), -amount]),
    )
    const [added, within] = [false, true].map((inside) =>
      data?.taxes.filter(({ inclusive }) => inclusive === inside),
    )
    expect(added?.map(({ percentage, amount }) => [`Tax (${percentage} %)`, amount])).toEqual(
      of('tax').map(({ description, amount }) => [description, amount.amount]),
    )
    expect(preview.includedTax.amount).toBe(within?.reduce((sum, { amount }) => sum + amount, 0))
    expect((data?.amountDue ?? 0) - (data?.total ?? 0)).toBe(sumOf(of('balance')))
    expect(data?.date).toEqual(preview.date)
    return
  }
  // Braintree makes no transaction where credit pays all.
  if (preview.total.amount === 0) return
  expect(invoice?.rawTotal()).toEqual(preview.total)
  expect(invoice?.data.date.toISOString().slice(0, 10)).toBe(
    preview.date.toISOString().slice(0, 10),
  )
  const taxes = invoice?.data.taxes.reduce((sum, { amount }) => sum + amount, 0) ?? 0
  expect(preview.includedTax.amount).toBe(taxes)
}

export function sumOf(lines: readonly PreviewLine[]): number {
  return lines.reduce((sum, { amount }) => sum + amount.amount, 0)
}
