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
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  sumChargedCents,
} from '../../../../test/support.ts'
import type { Subscription, SwapPreview } from '../../../index.ts'

const DIRECTIONS = {
  up: ['monthly', 'pro'],
  down: ['pro', 'monthly'],
  longer: ['monthly', 'yearly'],
  shorter: ['yearly', 'monthly'],
} as const

interface Combination extends Record<string, unknown> {
  /** Whether the swap happens without a trial (or after it), during a trial, or ends the trial. */
  readonly trial: 'none' | 'kept' | 'skipped'
  readonly coupon: 'none' | 'twice' | 'forever' | 'above the price' | 'code'
  readonly tax: Tax
  readonly quantity: 1 | 3
  /** Number of seats beside the main price, which stay after the swap. */
  readonly seats: 0 | 2
  readonly direction: keyof typeof DIRECTIONS
  readonly day: 'first' | 'middle' | 'last'
  readonly credit: Balance
  readonly prorate: boolean
  /**
   * How the subscription starts: with a whole period, with a short one until the anchor, or in the
   * past.
   */
  readonly begin: 'at once' | 'anchored' | 'backdated'
  /**
   * Whether the subscription is paused for an hour, which ends before the invoice is created.
   * Stripe only.
   */
  readonly paused: boolean
}

const TABLE = allCombinations<Combination>({
  trial: ['none', 'kept', 'skipped'],
  coupon: ['none', 'twice', 'forever', 'above the price'],
  tax: [0, 19.6, 'automatic', 'within'],
  quantity: [1, 3],
  seats: [0, 2],
  direction: ['up', 'down', 'longer', 'shorter'],
  day: ['first', 'middle', 'last'],
  credit: ['none', 'little', 'much', 'debt'],
  prorate: [true, false],
  begin: ['at once'],
  paused: [false, true],
})

/** Subscriptions at Stripe that start in another way. A backdated one has no trial. */
const BEGUN = allCombinations<Combination>({
  trial: ['none', 'kept', 'skipped'],
  coupon: ['none', 'twice', 'code'],
  tax: [0, 19.6],
  quantity: [3],
  seats: [0, 2],
  direction: ['up', 'down', 'longer', 'shorter'],
  day: ['first', 'middle', 'last'],
  credit: ['none'],
  prorate: [true, false],
  begin: ['anchored', 'backdated'],
  paused: [false],
}).filter(canBegin)

function canBegin({ begin, trial }: Combination): boolean {
  return begin !== 'backdated' || trial === 'none'
}

function rowsFor(given: ProviderCase): Combination[] {
  const usual = listPossibleRows(TABLE, given)
  const begun = given.provider === 'stripe' ? listPossibleRows(BEGUN, given) : []
  return RUNS_ALL_PREVIEWS ? [...usual, ...begun] : [...pairwise(usual), ...pairwise(begun)]
}

function listPossibleRows(
  table: readonly Combination[],
  { provider }: ProviderCase,
): Combination[] {
  const isSame = ({ direction }: Combination) => direction === 'up' || direction === 'down'
  return table.filter((row) =>
    provider === 'stripe'
      ? // Nothing is billed immediately during a pause.
        !row.paused || (isSame(row) && row.trial !== 'skipped')
      : isAtBraintree(row),
  )
}

/**
 * Braintree has no plan quantities, no automatic tax, no pauses, no debts, and credit only from a
 * plan that was paid.
 */
function isAtBraintree({ quantity, tax, paused, credit, trial }: Combination): boolean {
  const hasCredit = credit === 'none' || (credit !== 'debt' && trial === 'none')
  return quantity === 1 && typeof tax === 'number' && !paused && hasCredit
}

/** Changes of the other prices. The subscription has two seats unless the change adds them. */
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
  credit: ['none', 'little', 'much', 'debt'],
  prorate: [true, false],
  begin: ['at once'],
  paused: [false, true],
})

const BEGUN_ITEMS = allCombinations<ItemsCombination>({
  change: ['add', 'remove', 'more', 'fewer', 'replace'],
  invoiceNow: [false, true],
  trial: ['none', 'kept'],
  coupon: ['none', 'twice', 'code'],
  tax: [19.6],
  quantity: [1],
  seats: [0, 2],
  direction: ['up'],
  day: ['first', 'middle', 'last'],
  credit: ['none'],
  prorate: [true, false],
  begin: ['anchored', 'backdated'],
  paused: [false],
}).filter(canBegin)

function itemRowsFor(given: ProviderCase): ItemsCombination[] {
  const usual = possibleItemsIn(ITEMS_TABLE, given)
  const begun = given.provider === 'stripe' ? possibleItemsIn(BEGUN_ITEMS, given) : []
  return RUNS_ALL_PREVIEWS ? [...usual, ...begun] : [...pairwise(usual), ...pairwise(begun)]
}

function possibleItemsIn(
  table: readonly ItemsCombination[],
  { provider }: ProviderCase,
): ItemsCombination[] {
  return table.filter((row) => {
    const { seats, change, invoiceNow, paused } = row
    return (
      (change === 'add') === (seats === 0) &&
      // Only addPriceAndInvoice() bills immediately.
      (!invoiceNow || (change === 'add' && !paused)) &&
      (provider === 'stripe' || (isAtBraintree(row) && !invoiceNow))
    )
  })
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe.each(PROVIDERS)('a preview at $provider (threat N4)', (given) => {
  const rows = rowsFor(given)
  it.each(rows.map((row) => [nameOf(row), row] as const))(
    'shows exactly the amount that the swap charges: %s',
    async (_name, row) => {
      const test = await startPreviews(given, row, { settles: true })
      const subscription = await startAndAdvanceToSwap(test, given, row)
      const [, to] = DIRECTIONS[row.direction]
      const swapping = applySwapOptions(subscription, row)
      const wanted = row.seats === 0 ? to : [{ price: to }, { price: 'seat' }]

      const preview = await swapping.previewSwap(wanted)
      await expectCharged(test, given, preview, ({ prorationDate }) =>
        swapping.swap(wanted, { prorationDate }),
      )
    },
  )

  const items = itemRowsFor(given)
  it.each(items.map((row) => [`${row.change}: ${nameOf(row)}`, row] as const))(
    'shows exactly the amount that the change of prices charges: %s',
    async (_name, row) => {
      const test = await startPreviews(given, row, { settles: true })
      const subscription = applySwapOptions(await startAndAdvanceToSwap(test, given, row), row)
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

/** Expects that the change charges what the preview said, on the day that it said. */
async function expectCharged(
  test: FlowTest,
  given: ProviderCase,
  preview: SwapPreview,
  change: (preview: SwapPreview) => Promise<unknown>,
): Promise<void> {
  expect(sumOf(preview.lines), 'the lines add up').toBe(preview.total.amount)
  const before = sumChargedCents(test, test.user)
  await change(preview)
  if (preview.immediately) {
    expect(preview.date).toEqual(test.sandbox.clock.now())
  } else {
    expect(sumChargedCents(test, test.user) - before, 'nothing at once').toBe(0)
    await test.sandbox.clock.advanceTo(new Date(preview.date.getTime() - 1000))
    expect(sumChargedCents(test, test.user) - before, 'nothing before that day').toBe(0)
    await test.sandbox.clock.advanceTo(new Date(preview.date.getTime() + 2 * 3_600_000))
  }
  expect(sumChargedCents(test, test.user) - before, 'the total').toBe(preview.total.amount)
  await expectInvoice(test, given, preview)
}

function nameOf(row: Combination) {
  const { trial, coupon, tax, quantity, seats, direction, day, credit, prorate, begin, paused } =
    row
  return `${begin}${paused ? ' and paused' : ''}, ${direction}, ${day} day, trial ${trial}, coupon ${coupon}, tax ${tax}, × ${quantity}, seats ${seats}, credit ${credit}${prorate ? '' : ', not prorated'}`
}

/** Creates the subscription of this row, and advances to the day of the swap. */
async function startAndAdvanceToSwap(
  test: FlowTest,
  given: ProviderCase,
  row: Combination,
): Promise<Subscription> {
  const [from] = DIRECTIONS[row.direction]
  const { user, sandbox } = test
  const began = sandbox.clock.now()
  let builder = user.newSubscription('main', row.credit === 'none' ? from : firstPlan(given, row))
  if (row.begin === 'anchored') builder = builder.anchorOn(new Date(began.getTime() + 20.3 * DAY))
  if (row.begin === 'backdated') builder = builder.backdate(new Date(began.getTime() - 40.3 * DAY))
  if (row.coupon === 'code') builder = builder.withPromotionCode('HELLO')
  else if (row.coupon !== 'none') builder = builder.withCoupon(row.coupon.replaceAll(' ', '-'))
  if (row.quantity > 1) builder = builder.quantity(row.quantity)
  if (row.trial !== 'none') builder = builder.trialDays(9)
  if (row.seats > 0) builder = builder.price('seat', row.seats)
  let subscription = await builder.create(given.card)
  if (row.credit !== 'none' && given.provider === 'braintree') {
    subscription = await subscription.swap(
      row.seats > 0 ? [{ price: from }, { price: 'seat', quantity: row.seats }] : from,
    )
  } else if (row.credit !== 'none') {
    await changeBalance(test, row.credit)
  }
  const ends = (await subscription.periodEndsAt()) ?? began
  const length = ends.getTime() - began.getTime()
  const at = { first: 0, middle: Math.floor(length / 2 / DAY) * DAY, last: length - DAY / 2 }
  if (at[row.day] > 0) await sandbox.clock.advanceTo(new Date(began.getTime() + at[row.day]))
  if (!row.paused) return subscription
  return subscription.pause({ until: new Date(sandbox.clock.nowMs() + HOUR) })
}

/** At Braintree, credit comes from an earlier plan with another frequency that was paid. */
function firstPlan({ provider }: ProviderCase, { credit, direction }: Combination): string {
  if (provider === 'stripe') return DIRECTIONS[direction][0]
  return credit === 'little' ? 'quarterly' : 'large'
}

function applySwapOptions(
  subscription: Subscription,
  { trial, prorate }: Combination,
): Subscription {
  const way = trial === 'skipped' ? subscription.skipTrial() : subscription
  return prorate ? way : way.noProrate()
}
