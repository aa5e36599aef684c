import { describe, expect, it } from 'vitest'
import { start } from '../../../../test/support.ts'
import type { Subscription } from '../../../index.ts'
import type { BillingTest } from '../../../testing/index.ts'
import {
  addDays,
  addMonths,
  computeChargesAfterCredit,
  computeRemainingValue,
  countDaysFrom,
  withTax,
} from './swap-value.ts'

const CARD = 'fake-valid-visa-nonce'
const PLANS = {
  monthly: { amount: 1000, months: 1 },
  quarterly: { amount: 2711, months: 3 },
  halfyearly: { amount: 5299, months: 6 },
  yearly: { amount: 9999, months: 12 },
} as const
type PlanId = keyof typeof PLANS
const IDS = Object.keys(PLANS) as PlanId[]

/** A plan that is bought first to create credit, worth more than four periods of any other plan. */
const LARGE = { amount: 45_333, months: 24 }

/** 3.00 off for three periods. */
const COUPON = { id: 'THREE', amount: 300, cycles: 3 }

interface Situation {
  readonly begin: string
  /** The day of the old plan's current period on which the swap happens. */
  readonly day: (daysInPeriod: number) => number
  readonly tax?: number
  readonly coupon?: true
  /** Number of periods that credit from an earlier swap has paid before this swap. */
  readonly creditFor?: number
}

const middle = (days: number) => Math.floor(days / 2)

const SITUATIONS: Readonly<Record<string, Situation>> = {
  'on the first day': { begin: '2026-01-15', day: () => 0 },
  'in mid-period': { begin: '2026-01-15', day: middle },
  'on the last day': { begin: '2026-01-15', day: (days) => days - 1 },
  'in a leap year': { begin: '2028-02-10', day: (days) => Math.min(days - 3, 19) },
  'with a half-used credit': { begin: '2026-01-15', day: middle, creditFor: 2 },
  'with tax': { begin: '2026-01-15', day: middle, tax: 1960 },
  'with a coupon': { begin: '2026-01-15', day: middle, coupon: true },
}

/** The database dialect does not matter here, so other databases run only a few rows. */
const isFew = process.env.TEST_DATABASE !== 'sqlite'
const rows = Object.keys(SITUATIONS).flatMap((when) =>
  IDS.flatMap((from) => IDS.filter((to) => to !== from).map((to) => [from, to, when] as const)),
)
const chosen = isFew ? rows.filter((_row, index) => index % 23 === 0) : rows

describe('a swap to another billing frequency at Braintree', () => {
  it.each(chosen)(
    'credits the unused value to the cent: from the plan %s to %s, %s',
    async (from, to, when) => {
      const situation = SITUATIONS[when] as Situation
      const { tax = 0, begin } = situation
      const test = await start('braintree', {
        now: new Date(`${begin}T10:00:00Z`),
        prices: { ...PLANS, large: LARGE },
        taxPercentage: () => tax / 100,
        webhooks: false,
      })
      const { amount, numberOfBillingCycles } = { ...COUPON, numberOfBillingCycles: COUPON.cycles }
      test.sandbox.braintree.defineDiscount({ id: COUPON.id, amount, numberOfBillingCycles })
      const old = await startOn(test, from, situation)

      // The current period of the old plan, and the day of the swap.
      const { months } = PLANS[from]
      const periodStart = addMonths(begin, months * (situation.creditFor ?? 0))
      const today = addDays(
        periodStart,
        situation.day(countDaysFrom(periodStart, addMonths(periodStart, months))),
      )
      await test.sandbox.clock.advanceTo(new Date(`${today}T10:00:00Z`))

      const off = situation.coupon ? COUPON.amount : 0
      const price = (id: PlanId) => withTax(PLANS[id].amount, tax)
      const waiting = situation.creditFor ? LARGE.amount - 3 * price(from) : 0
      const unused = computeRemainingValue(
        { start: periodStart, months, worth: price(from) - off },
        today,
      )
      const credit = unused + waiting

      const paidBefore = charged(test)
      const oldId = old.providerId
      const preview = await old.previewSwap(to)
      const made = await old.swap(to)
      expect(preview.credit.amount).toBe(credit)
      expect(readPlanCredit(test, made)).toBe(credit)
      expect(test.sandbox.braintree.subscription(oldId)?.status).toBe('Canceled')
      expect((await test.user.subscription('main')).providerId).toBe(made.providerId)

      // The cost of as many periods as the credit pays for, and one more.
      const cycles: number[] = []
      do {
        cycles.push(price(to) - (cycles.length < COUPON.cycles - 1 ? off : 0))
      } while (sum(cycles) - (cycles.at(-1) ?? 0) <= credit)
      for (let cycle = 1; cycle < cycles.length; cycle++) {
        // Braintree bills a subscription that began on the 29th or later on the last day of a
        // shorter month.
        const due = addDays(addMonths(today, PLANS[to].months * cycle), 3)
        await test.sandbox.clock.advanceTo(new Date(`${due}T10:00:00Z`))
      }
      const expected = computeChargesAfterCredit(cycles, credit).filter((each) => each > 0)
      expect(charged(test).slice(paidBefore.length)).toEqual(expected)
      expect(preview.total.amount).toBe(Math.max(0, (cycles[0] ?? 0) - credit))
      expect(sum(cycles) - sum(expected)).toBe(credit)
    },
  )
})

describe('the expected amount, which this test computes independently,', () => {
  // Calculated by hand: price × remaining days ÷ days of the period.
  it.each([
    ['2026-01-15', 1, 1000, '2026-01-15', 1000], // 31 of 31
    ['2026-01-15', 1, 1000, '2026-01-30', 516], // 16 of 31: 516.13
    ['2026-01-15', 1, 1000, '2026-02-14', 32], // 1 of 31: 32.26
    ['2026-01-15', 3, 2711, '2026-03-01', 1356], // 45 of 90: 1355.5, half a cent up
    ['2026-01-15', 6, 5299, '2026-07-14', 29], // 1 of 181: 29.28
    ['2026-01-15', 12, 9999, '2026-07-16', 5013], // 183 of 365: 5013.20
    ['2028-02-10', 1, 1000, '2028-02-29', 345], // 10 of 29: 344.83
    ['2028-02-10', 12, 9999, '2028-02-29', 9480], // 347 of 366: 9479.93
    ['2027-02-10', 12, 9999, '2027-03-01', 9479], // 346 of 365: 9478.50, half a cent up
    ['2026-01-31', 1, 1000, '2026-02-14', 500], // 14 of 28, to the last day of February
  ])(
    'is correct for the unused value of a period (start: %s, months: %i, price: %i cents): on %s it is %i cents',
    (begin, months, worth, today, expected) => {
      expect(computeRemainingValue({ start: begin, months, worth }, today)).toBe(expected)
    },
  )

  it.each([
    [1000, 1960, 1196],
    [9999, 1960, 11_959], // 1959.80
    [5299, 1960, 6338], // 1038.60
    [2711, 1960, 3242], // 531.36
  ])(
    'is correct for a price with tax: %i cents with a tax of %i hundredths of a percent cost %i cents',
    (price, tax, expected) => {
      expect(withTax(price, tax)).toBe(expected)
    },
  )

  it('uses up credit before anything is charged', () => {
    expect(computeChargesAfterCredit([1000, 1000, 1000, 1000], 2500)).toEqual([0, 0, 500, 1000])
    expect(computeChargesAfterCredit([700, 1000], 0)).toEqual([700, 1000])
  })
})

async function startOn(
  test: BillingTest,
  plan: PlanId,
  situation: Situation,
): Promise<Subscription> {
  if (situation.creditFor) {
    const large = await test.user.newSubscription('main', 'large').create(CARD)
    return large.swap(plan)
  }
  const builder = test.user.newSubscription('main', plan)
  return (situation.coupon ? builder.withCoupon(COUPON.id) : builder).create(CARD)
}

/** Returns the `plan-credit` discount of the new subscription, in cents. */
function readPlanCredit({ sandbox }: BillingTest, { providerId }: Subscription): number {
  const { discounts = [] } = sandbox.braintree.subscription(providerId) ?? {}
  return sum(
    discounts
      .filter((discount) => discount.id === 'plan-credit')
      .map(({ amount, numberOfBillingCycles }) => amount * (numberOfBillingCycles ?? 0)),
  )
}

/** Amounts that were charged to the card, oldest first, in cents. */
function charged({ sandbox, user }: BillingTest): number[] {
  return sandbox.braintree
    .transactions(user.providerId ?? '')
    .filter(({ type }) => type === 'sale')
    .sort((a, b) => a.createdAt - b.createdAt)
    .map(({ amount }) => amount)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
