import { describe, expect, it } from 'vitest'
import { allCombinations, pairwise } from '../../../../test/combinations.ts'
import {
  type Balance,
  changeBalance,
  expectInvoice,
  RUNS_ALL_PREVIEWS,
  startPreviews,
  sumOf,
  type Tax,
} from '../../../../test/preview-support.ts'
import {
  countProviderCustomers,
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import type { Subscription, SubscriptionBuilder, UpcomingInvoice } from '../../../index.ts'

interface Bought extends Record<string, unknown> {
  readonly plan: 'monthly' | 'quarterly' | 'yearly'
  readonly trial: boolean
  readonly coupon: 'none' | 'once' | 'twice' | 'forever' | 'above the price' | 'code'
  readonly tax: Tax
  readonly quantity: 1 | 3
  /** Number of seats billed beside the plan; monthly at Stripe, whatever the plan's interval. */
  readonly seats: 0 | 2
}

interface NewRow extends Bought {
  /**
   * The customer: none yet, an existing one, or one with credit or debt. `item` has an invoice item
   * waiting for the next invoice.
   */
  readonly customer: 'there' | 'item' | Balance
}

interface RenewalRow extends Bought {
  /** Event before the renewal: nothing, a renewal, or a swap from a cheaper plan within the period. */
  readonly before: 'nothing' | 'a renewal' | 'a swap'
  readonly credit: Balance
}

const BOUGHT = {
  plan: ['monthly', 'quarterly', 'yearly'],
  trial: [false, true],
  coupon: ['none', 'once', 'twice', 'forever', 'above the price', 'code'],
  tax: [0, 19.6, 'automatic', 'within'],
  quantity: [1, 3],
  seats: [0, 2],
} as const

const NEW_TABLE = allCombinations<NewRow>({
  ...BOUGHT,
  customer: ['none', 'there', 'little', 'much', 'debt', 'item'],
})

const RENEWAL_TABLE = allCombinations<RenewalRow>({
  ...BOUGHT,
  before: ['nothing', 'a renewal', 'a swap'],
  credit: ['none', 'little', 'much', 'debt'],
})

/**
 * Whether the provider supports the row. Braintree has no quantities of a plan, no promotion codes,
 * no automatic taxes, and no customer balance.
 */
function isPossible({ provider }: ProviderCase, { quantity, tax, coupon }: Bought): boolean {
  return provider === 'stripe' || (quantity === 1 && typeof tax === 'number' && coupon !== 'code')
}

function newRowsFor(given: ProviderCase): NewRow[] {
  const possible = NEW_TABLE.filter(
    (row) =>
      isPossible(given, row) &&
      (given.provider === 'stripe' || row.customer === 'none' || row.customer === 'there'),
  )
  return RUNS_ALL_PREVIEWS ? possible : pairwise(possible)
}

function renewalRowsFor(given: ProviderCase): RenewalRow[] {
  const possible = RENEWAL_TABLE.filter(
    (row) =>
      isPossible(given, row) &&
      // At Braintree, credit comes from a paid, more expensive plan with another interval.
      (given.provider === 'stripe' ||
        row.credit === 'none' ||
        (row.credit !== 'debt' && !row.trial && row.before !== 'a swap')),
  )
  return RUNS_ALL_PREVIEWS ? possible : pairwise(possible)
}

describe.each(PROVIDERS)('a previewed invoice at $provider (threat N4)', (given) => {
  it.each(newRowsFor(given).map((row) => [nameOf(row), row] as const))(
    'equals the charges of a new subscription: %s',
    async (_name, row) => {
      const test = await begin(given, row, { settles: row.customer !== 'none' })
      const { user, sandbox } = test
      await makeCustomer(test, given, row)
      const place = row.tax === 'automatic' ? { address: { country: 'DE' } } : {}
      const customers = countProviderCustomers(test, given.provider)
      const builder = await wanted(test, row, row.plan)
      const { now, next } = await builder.preview(place)
      expect(countProviderCustomers(test, given.provider)).toBe(customers)
      expect(now.date).toEqual(sandbox.clock.now())
      expect(sumOf(now.lines)).toBe(now.total.amount)

      const before = sumChargedCents(test, user)
      await builder.create(given.card, place)
      expect(sumChargedCents(test, user) - before, 'charged at once').toBe(now.total.amount)
      await expectInvoice(test, given, now)
      expect(next).not.toBeNull()
      if (next) await expectCharged(test, given, next)
    },
  )

  it.each(renewalRowsFor(given).map((row) => [nameOf(row), row] as const))(
    'equals the charge of a renewal: %s',
    async (_name, row) => {
      const test = await begin(given, row, { settles: true })
      const subscription = await advanceTowardsRenewal(test, given, row)
      const upcoming = await subscription.upcomingInvoice()
      expect(await test.user.upcomingInvoice('main')).toEqual(upcoming)
      expect(upcoming).not.toBeNull()
      if (upcoming) await expectCharged(test, given, upcoming)
    },
  )
})

function nameOf(row: NewRow | RenewalRow): string {
  const { plan, trial, coupon, tax, quantity, seats, ...more } = row
  return `${plan}${trial ? ', trial' : ''}, coupon ${coupon}, tax ${tax}, × ${quantity}, seats ${seats}, ${Object.values(more).join(', credit ')}`
}

async function begin(
  given: ProviderCase,
  row: Bought,
  { settles }: { readonly settles: boolean },
): Promise<FlowTest> {
  const test = await startPreviews(given, row, { settles })
  test.sandbox.braintree.defineDiscount({ id: 'once', amount: 250, numberOfBillingCycles: 1 })
  const { coupons, promotionCodes } = await stripeSdk(test)
  await coupons.create({ id: 'once', amount_off: 250, currency: 'usd', duration: 'once' })
  await promotionCodes.create({
    code: 'GREETINGS',
    promotion: { type: 'coupon', coupon: 'twice' },
    restrictions: { minimum_amount: 500, minimum_amount_currency: 'usd' },
  })
  return test
}

/** Creates the customer of the row, with a card and what waits for the next invoice. */
async function makeCustomer(test: FlowTest, given: ProviderCase, row: NewRow): Promise<void> {
  const { user } = test
  if (row.customer === 'none') return
  await user.updateCard(given.card)
  if (row.customer === 'there') return
  const stripe = await stripeSdk(test)
  const customer = user.providerId ?? ''
  if (row.customer === 'item') {
    await stripe.invoiceItems.create({ customer, amount: 777, currency: 'usd' })
    return
  }
  await changeBalance(test, row.customer)
}

async function wanted({ user }: FlowTest, row: Bought, plan: string): Promise<SubscriptionBuilder> {
  let builder = user.newSubscription('main', plan)
  if (row.coupon === 'code') builder = builder.withPromotionCode('greetings')
  else if (row.coupon !== 'none') builder = builder.withCoupon(row.coupon.replaceAll(' ', '-'))
  if (row.quantity > 1) builder = builder.quantity(row.quantity)
  if (row.trial) builder = builder.trialDays(9)
  if (row.seats > 0) builder = builder.price('seat', row.seats)
  return builder
}

/**
 * Creates the subscription of the row, and advances the clock to some days before its next invoice.
 */
async function advanceTowardsRenewal(
  test: FlowTest,
  given: ProviderCase,
  row: RenewalRow,
): Promise<Subscription> {
  const { sandbox } = test
  const isCredited = row.credit !== 'none' && given.provider === 'braintree'
  const first = isCredited ? (row.credit === 'little' ? 'pro' : 'large') : row.plan
  const cheaper = row.before === 'a swap' ? 'cheap' : first
  sandbox.stripe.seedPrice({ id: 'cheap', unitAmount: 611, interval: 'month', product: 'Gold' })
  sandbox.braintree.definePlan({ id: 'cheap', price: 611, billingFrequency: 1 })
  let subscription = await (await wanted(test, row, cheaper)).create(given.card)
  if (isCredited) {
    subscription = await subscription.swap(
      row.seats > 0 ? [{ price: row.plan }, { price: 'seat' }] : row.plan,
    )
  } else if (row.credit !== 'none') {
    await changeBalance(test, row.credit)
  }
  if (row.before === 'a renewal') {
    const ends = await subscription.periodEndsAt()
    await sandbox.clock.advanceTo(new Date((ends?.getTime() ?? 0) + 2 * 3_600_000))
  }
  await sandbox.clock.advance({ days: 5 })
  if (row.before !== 'a swap') return subscription
  return subscription.swap(
    row.seats > 0 ? [{ price: 'monthly' }, { price: 'seat', quantity: row.seats }] : 'monthly',
  )
}

/** Expects no charge before the previewed date, and exactly the previewed one then. */
async function expectCharged(
  test: FlowTest,
  given: ProviderCase,
  upcoming: UpcomingInvoice,
): Promise<void> {
  const { sandbox, user } = test
  expect(sumOf(upcoming.lines), 'the lines add up').toBe(upcoming.total.amount)
  const before = sumChargedCents(test, user)
  await sandbox.clock.advanceTo(new Date(upcoming.date.getTime() - 1000))
  expect(sumChargedCents(test, user) - before, 'nothing before that day').toBe(0)
  await sandbox.clock.advanceTo(new Date(upcoming.date.getTime() + 2 * 3_600_000))
  expect(sumChargedCents(test, user) - before, 'the total').toBe(upcoming.total.amount)
  await expectInvoice(test, given, upcoming)
}
