import { expect } from 'vitest'
import type { PreviewLine, UpcomingInvoice } from '../src/index.ts'
import type { StartBillingOptions } from '../src/testing/index.ts'
import { type FlowTest, type ProviderCase, start, stripeSdk } from './support.ts'

/** `npm run previews` tests the whole tables; other runs test every pair of values. */
export const RUNS_ALL_PREVIEWS = process.env.PREVIEWS === 'all'

export const PLANS = {
  monthly: { amount: 1000, months: 1 },
  pro: { amount: 2533, months: 1 },
  quarterly: { amount: 2711, months: 3 },
  yearly: { amount: 9999, months: 12 },
  large: { amount: 45_333, months: 24 },
} as const

/** Our own percentage, Stripe's automatic tax (19 %), or an inclusive tax rate at Stripe. */
export type Tax = 0 | 19.6 | 'automatic' | 'within'

/** The customer's balance, which is used first. A debt is added to the next invoice. */
export type Balance = 'none' | 'little' | 'much' | 'debt'

interface TaxCase {
  readonly tax: Tax
}

/**
 * Starts a test with a user taxed in this way, and prices and coupons. If the tax depends on the
 * address, the user already has a customer.
 */
export async function startPreviews(
  { provider }: ProviderCase,
  row: TaxCase,
  { settles }: { readonly settles: boolean },
): Promise<FlowTest> {
  const rates: string[] = []
  const options = { prices: PLANS, ...taxOptions(row, rates), webhooks: false }
  const test = await start(provider, options)
  if (settles || row.tax === 'within') await prepareTax(test, row, rates)
  await defineCoupons(test)
  defineSeats(test)
  return test
}

/** Changes the balance at Stripe. 19000 avoids a remainder below Stripe's minimum charge. */
export async function changeBalance(
  { user }: FlowTest,
  balance: Exclude<Balance, 'none'>,
): Promise<void> {
  const usd = (amount: number) => ({ amount, currency: 'usd' })
  if (balance === 'debt') await user.debitBalance(usd(277))
  else await user.creditBalance(usd(balance === 'little' ? 177 : 19_000))
}

function taxOptions({ tax }: TaxCase, rates: readonly string[]): StartBillingOptions {
  if (tax === 'automatic') return { tax }
  return tax === 'within' ? { tax: { rates: () => rates } } : { taxPercentage: () => tax }
}

/** Sets the customer's address, or creates the inclusive tax rate. */
async function prepareTax(test: FlowTest, { tax }: TaxCase, rates: string[]): Promise<void> {
  if (tax === 'automatic') {
    await test.user.setTaxExempt('none')
    await test.user.updateCustomer({ address: { country: 'DE' } })
  } else if (tax === 'within') {
    const { taxRates } = await stripeSdk(test)
    const rate = { display_name: 'VAT', percentage: 21.5, inclusive: true }
    rates.push((await taxRates.create(rate)).id)
  }
}

/** Prices at Stripe, add-ons at Braintree. */
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

/** Expects the invoice to have the lines of the preview. */
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
  // Braintree creates no transaction if credit pays everything.
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
