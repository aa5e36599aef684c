import { describe, expect, it } from 'vitest'
import type { PreviewLine, Subscription, SwapPreview } from '../src/index.ts'
import type { StartBillingOptions } from '../src/testing/index.ts'
import { allCombinations, pairwise } from './combinations.ts'
import {
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  stripeSdk,
  takenFrom,
} from './support.ts'

/** `npm run previews` lives through the whole table; every other run takes every pair of values. */
const IS_WHOLE = process.env.PREVIEWS === 'all'

const PLANS = {
  monthly: { amount: 1000, months: 1 },
  pro: { amount: 2533, months: 1 },
  quarterly: { amount: 2711, months: 3 },
  yearly: { amount: 9999, months: 12 },
  large: { amount: 45_333, months: 24 },
} as const

const DIRECTIONS = {
  up: ['monthly', 'pro'],
  down: ['pro', 'monthly'],
  longer: ['monthly', 'yearly'],
  shorter: ['yearly', 'monthly'],
} as const

interface Combination extends Record<string, unknown> {
  /** Swapped after it is over or without one, within it, or ended by the swap. */
  readonly trial: 'none' | 'kept' | 'skipped'
  readonly coupon: 'none' | 'twice' | 'forever' | 'above the price'
  /** A percentage of ours, Stripe's own by the address (19 %), or a rate of Stripe's that is within the price. */
  readonly tax: 0 | 19.6 | 'automatic' | 'within'
  readonly quantity: 1 | 3
  /** Beside the main price, which it keeps. */
  readonly seats: 0 | 2
  readonly direction: keyof typeof DIRECTIONS
  readonly day: 'first' | 'middle' | 'last'
  /** Money of the customer from before that counts first. */
  readonly credit: 'none' | 'little' | 'much'
  readonly prorate: boolean
}

const TABLE = allCombinations<Combination>({
  trial: ['none', 'kept', 'skipped'],
  coupon: ['none', 'twice', 'forever', 'above the price'],
  tax: [0, 19.6, 'automatic', 'within'],
  quantity: [1, 3],
  seats: [0, 2],
  direction: ['up', 'down', 'longer', 'shorter'],
  day: ['first', 'middle', 'last'],
  credit: ['none', 'little', 'much'],
  prorate: [true, false],
})

function rowsFor({ provider }: ProviderCase): Combination[] {
  const possible = TABLE.filter(({ quantity, trial, credit, seats, direction, tax }) =>
    provider === 'stripe'
      ? // A seat is paid by the month, and stays so.
        seats === 0 || direction === 'up' || direction === 'down'
      : // Braintree has no quantities of a plan, no taxes of its own, and no credit without a plan that was paid for.
        quantity === 1 && typeof tax === 'number' && (credit === 'none' || trial === 'none'),
  )
  return IS_WHOLE ? possible : pairwise(possible)
}

/** Changes of the prices beside the main one, which has two seats beside it unless they are added. */
const CHANGES = {
  add: { add: 'seat', quantity: 3 },
  remove: { remove: 'seat' },
  more: { quantity: 7, price: 'seat' },
  fewer: { quantity: 1, price: 'seat' },
  replace: { replace: 'seat', by: 'support' },
} as const

interface ItemsCombination extends Combination {
  readonly change: keyof typeof CHANGES
  readonly invoiceNow: boolean
}

const ITEMS_TABLE = allCombinations<ItemsCombination>({
  change: ['add', 'remove', 'more', 'fewer', 'replace'],
  invoiceNow: [false, true],
  trial: ['none', 'kept'],
  coupon: ['none', 'twice', 'forever', 'above the price'],
  tax: [0, 19.6, 'automatic', 'within'],
  quantity: [1, 3],
  seats: [0, 2],
  direction: ['up', 'longer'],
  day: ['first', 'middle', 'last'],
  credit: ['none', 'little', 'much'],
  prorate: [true, false],
})

function itemRowsFor({ provider }: ProviderCase): ItemsCombination[] {
  const possible = ITEMS_TABLE.filter(
    ({ quantity, trial, credit, seats, change, invoiceNow, tax }) =>
      (change === 'add') === (seats === 0) &&
      // Only adding has a method that bills at once.
      (!invoiceNow || change === 'add') &&
      (provider === 'stripe' ||
        (quantity === 1 &&
          !invoiceNow &&
          typeof tax === 'number' &&
          (credit === 'none' || trial === 'none'))),
  )
  return IS_WHOLE ? possible : pairwise(possible)
}

const chosen = process.env.TEST_DATABASE === 'sqlite' || IS_WHOLE
const DAY = 86_400_000

describe.each(PROVIDERS)('threat N4 a preview at $provider is what is charged', (given) => {
  const rows = rowsFor(given).filter((_row, at) => chosen || at % 9 === 0)
  it.each(rows.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
    const rates: string[] = []
    const test = await start(given.provider, {
      plans: PLANS,
      ...taxOptions(row, rates),
      webhooks: false,
    })
    await settle(test, row, rates)
    const subscription = await liveTo(test, given, row)
    const [, to] = DIRECTIONS[row.direction]
    const swapping = wayOf(subscription, row)
    const wanted = row.seats === 0 ? to : [{ price: to }, { price: 'seat' }]

    const preview = await swapping.previewSwap(wanted)
    await expectCharged(test, given, preview, ({ prorationDate }) =>
      swapping.swap(wanted, { prorationDate }),
    )
  })

  const items = itemRowsFor(given).filter((_row, at) => chosen || at % 9 === 0)
  it.each(items.map((row) => [`${row.change}: ${nameOf(row)}`, row] as const))(
    '%s',
    async (_name, row) => {
      const rates: string[] = []
      const options = { plans: PLANS, ...taxOptions(row, rates), webhooks: false }
      const test = await start(given.provider, options)
      await settle(test, row, rates)
      const subscription = wayOf(await liveTo(test, given, row), row)
      const { invoiceNow } = row
      const preview = await subscription.preview(CHANGES[row.change], { invoiceNow })
      await expectCharged(test, given, preview, ({ prorationDate }) =>
        make(subscription, row, { prorationDate }),
      )
    },
  )
})

function make(
  subscription: Subscription,
  { change, invoiceNow }: ItemsCombination,
  options: { readonly prorationDate: Date },
): Promise<Subscription> {
  if (change === 'add') {
    return invoiceNow
      ? subscription.addPriceAndInvoice('seat', 3, options)
      : subscription.addPrice('seat', 3, options)
  }
  if (change === 'remove') return subscription.removePrice('seat', options)
  if (change === 'replace') return subscription.swapItem('seat', 'support', options)
  return subscription.updateQuantity(CHANGES[change].quantity, 'seat', options)
}

/** What comes of it is what was shown, on the day that was shown. */
async function expectCharged(
  test: FlowTest,
  given: ProviderCase,
  preview: SwapPreview,
  change: (preview: SwapPreview) => Promise<unknown>,
): Promise<void> {
  expect(sumOf(preview.lines), 'the lines add up').toBe(preview.total.amount)
  const before = takenFrom(test, test.user)
  await change(preview)
  if (preview.immediately) {
    expect(preview.date).toEqual(test.sandbox.clock.now())
  } else {
    expect(takenFrom(test, test.user) - before, 'nothing at once').toBe(0)
    await test.sandbox.clock.advanceTo(new Date(preview.date.getTime() - 1000))
    expect(takenFrom(test, test.user) - before, 'nothing before that day').toBe(0)
    await test.sandbox.clock.advanceTo(new Date(preview.date.getTime() + 2 * 3_600_000))
  }
  expect(takenFrom(test, test.user) - before, 'the total').toBe(preview.total.amount)
  await expectInvoice(test, given, preview)
}

function nameOf(row: Combination) {
  const { trial, coupon, tax, quantity, seats, direction, day, credit, prorate } = row
  return `${direction}, ${day} day, trial ${trial}, coupon ${coupon}, tax ${tax}, × ${quantity}, seats ${seats}, credit ${credit}${prorate ? '' : ', not prorated'}`
}

function taxOptions({ tax }: Combination, rates: readonly string[]): StartBillingOptions {
  if (tax === 'automatic') return { tax }
  return tax === 'within' ? { tax: { rates: () => rates } } : { taxPercentage: () => tax }
}

/** Where the customer is, and the rate that is within prices. */
async function settle(test: FlowTest, { tax }: Combination, rates: string[]): Promise<void> {
  if (tax === 'automatic') {
    await test.user.setTaxExempt('none')
    await test.user.updateCustomer({ address: { country: 'DE' } })
  } else if (tax === 'within') {
    const { taxRates } = await stripeSdk(test)
    const rate = { display_name: 'VAT', percentage: 21.5, inclusive: true }
    rates.push((await taxRates.create(rate)).id)
  }
}

/** A subscription as the row has it, on the day of the swap. */
async function liveTo(
  test: FlowTest,
  given: ProviderCase,
  row: Combination,
): Promise<Subscription> {
  await defineCoupons(test)
  defineSeats(test)
  const [from] = DIRECTIONS[row.direction]
  const { user, sandbox } = test
  const began = sandbox.clock.now()
  let builder = user.newSubscription('main', row.credit === 'none' ? from : firstPlan(given, row))
  if (row.coupon !== 'none') builder = builder.withCoupon(row.coupon.replaceAll(' ', '-'))
  if (row.quantity > 1) builder = builder.quantity(row.quantity)
  if (row.trial !== 'none') builder = builder.trialDays(9)
  if (row.seats > 0) builder = builder.price('seat', row.seats)
  let subscription = await builder.create(given.card)
  if (row.credit !== 'none' && given.provider === 'braintree') {
    subscription = await subscription.swap(
      row.seats > 0 ? [{ price: from }, { price: 'seat', quantity: row.seats }] : from,
    )
  } else if (row.credit !== 'none') {
    const stripe = await stripeSdk(test)
    await stripe.customers.createBalanceTransaction(user.providerId ?? '', {
      // Not 20000: that leaves 8 cents of one row, which Stripe puts on the balance instead of charging them.
      amount: row.credit === 'little' ? -177 : -19_000,
      currency: 'usd',
    })
  }
  const ends = (await subscription.periodEndsAt()) ?? began
  const length = ends.getTime() - began.getTime()
  const at = { first: 0, middle: Math.floor(length / 2 / DAY) * DAY, last: length - DAY / 2 }
  if (at[row.day] > 0) await sandbox.clock.advanceTo(new Date(began.getTime() + at[row.day]))
  return subscription
}

/** At Braintree credit comes from a plan of another frequency that was paid for before. */
function firstPlan({ provider }: ProviderCase, { credit, direction }: Combination): string {
  if (provider === 'stripe') return DIRECTIONS[direction][0]
  return credit === 'little' ? 'quarterly' : 'large'
}

function wayOf(subscription: Subscription, { trial, prorate }: Combination): Subscription {
  const way = trial === 'skipped' ? subscription.skipTrial() : subscription
  return prorate ? way : way.noProrate()
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
  const { coupons } = await stripeSdk(test)
  const repeating = { duration: 'repeating', duration_in_months: 2 } as const
  await coupons.create({ id: 'twice', amount_off: 300, currency: 'usd', ...repeating })
  await coupons.create({ id: 'forever', percent_off: 33.3, duration: 'forever' })
  await coupons.create({
    id: 'above-the-price',
    amount_off: 9000,
    currency: 'usd',
    duration: 'forever',
  })
}

/** The invoice that came has the lines that were shown. */
async function expectInvoice(
  { user }: FlowTest,
  { provider }: ProviderCase,
  preview: SwapPreview,
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

function sumOf(lines: readonly PreviewLine[]): number {
  return lines.reduce((sum, { amount }) => sum + amount.amount, 0)
}
