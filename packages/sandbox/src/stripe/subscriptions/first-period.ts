import { daysInMonth } from '@tollgate/http'
import type Stripe from 'stripe'
import type { PriceRow, SubscriptionItemRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMutuallyExclusiveFault } from '../wire/errors.ts'
import {
  addIntervals,
  type BillingPeriod,
  type BillingRecurrence,
  findPeriodAt,
} from '../wire/periods.ts'
import { findBilledPeriodEnd, findWholePeriod } from './proration.ts'
import type { BilledTimeRange } from './subscription-invoice.ts'
import { readTrialEnd } from './subscription-params.ts'

type Params = Stripe.SubscriptionCreateParams
type AnchorConfig = NonNullable<Params['billing_cycle_anchor_config']>

/** The start of a new subscription, and the anchor of its billing periods. */
export interface SubscriptionStart {
  /**
   * Start of the subscription in Unix seconds. It is in the past if the subscription is backdated.
   */
  readonly began: number
  readonly trialEnd: number | null
  readonly anchor: number
}

export function readStart(
  work: UnitOfWork,
  params: Params,
  prices: readonly PriceRow[],
): SubscriptionStart {
  const trialEnd = readTrialEnd(work, params, prices)
  const began = readBackdate(work, params, trialEnd)
  return { began, trialEnd, anchor: readAnchor(work, params, trialEnd, prices) }
}

function readBackdate(work: UnitOfWork, params: Params, trialEnd: number | null): number {
  const { backdate_start_date: at } = params
  if (at === undefined) return work.now
  if (at > work.now) {
    throw createInvalidRequestFault(
      '`backdate_start_date` must be in the past.',
      'backdate_start_date',
    )
  }
  if (trialEnd !== null) {
    throw createInvalidRequestFault(
      'The sandbox does not imitate `backdate_start_date` together with a trial.',
      'backdate_start_date',
    )
  }
  return at
}

function readAnchor(
  work: UnitOfWork,
  params: Params,
  trialEnd: number | null,
  prices: readonly PriceRow[],
): number {
  const { billing_cycle_anchor: anchor, billing_cycle_anchor_config: config } = params
  const from = trialEnd ?? work.now
  if (config) {
    if (anchor !== undefined) {
      throw createMutuallyExclusiveFault(
        'billing_cycle_anchor, billing_cycle_anchor_config',
        'billing_cycle_anchor_config',
      )
    }
    return computeAnchor(config, from, prices)
  }
  if (anchor === undefined) return from
  if (anchor <= work.now) {
    throw createInvalidRequestFault(
      'billing_cycle_anchor must be in the future.',
      'billing_cycle_anchor',
    )
  }
  if (anchor < from) {
    throw createInvalidRequestFault(
      'billing_cycle_anchor cannot be before trial_end.',
      'billing_cycle_anchor',
    )
  }
  for (const { recurring } of prices) {
    const natural = recurring ? addIntervals(from, recurring, 1) : anchor
    if (anchor <= natural) continue
    throw createInvalidRequestFault(
      `billing_cycle_anchor cannot be later than next natural billing date (${natural}) for plan`,
      'billing_cycle_anchor',
    )
  }
  return anchor
}

const LIMITS = [
  ['day_of_month', 1, 31],
  ['month', 1, 12],
  ['hour', 0, 23],
  ['minute', 0, 59],
  ['second', 0, 59],
] as const

/**
 * Returns the anchor for a day of the month. If the first possible month is too short for this day,
 * the anchor moves ahead by whole billing intervals to a longer month. The periods before it then
 * end on the last day of their month.
 */
function computeAnchor(config: AnchorConfig, from: number, prices: readonly PriceRow[]): number {
  for (const [name, least, most] of LIMITS) {
    const value = config[name]
    if (value === undefined || (value >= least && value <= most)) continue
    const path = `billing_cycle_anchor_config[${name}]`
    throw createInvalidRequestFault(`\`${name}\` must be between ${least} and ${most}.`, path)
  }
  const step = monthsOf(prices)
  const base = new Date(from * 1000)
  for (let month = 0; month <= 12; month++) {
    const first = findConfiguredDay(config, base, month)
    const isMonth = config.month === undefined || first.getUTCMonth() === config.month - 1
    if (!isMonth || first.getTime() <= base.getTime()) continue
    for (let later = month; later < month + 48; later += step) {
      const anchor = findConfiguredDay(config, base, later)
      if (anchor.getUTCDate() === config.day_of_month) return anchor.getTime() / 1000
    }
    return first.getTime() / 1000
  }
  throw new TypeError('Every day comes within a year')
}

/** Returns the configured day some months later, or the last day of a shorter month. */
function findConfiguredDay(config: AnchorConfig, base: Date, months: number): Date {
  const { day_of_month: day, hour, minute, second } = config
  const year = base.getUTCFullYear()
  const month = base.getUTCMonth() + months
  return new Date(
    Date.UTC(
      year,
      month,
      Math.min(day, daysInMonth(year, month)),
      hour ?? base.getUTCHours(),
      minute ?? base.getUTCMinutes(),
      second ?? base.getUTCSeconds(),
    ),
  )
}

function monthsOf(prices: readonly PriceRow[]): number {
  const recurrences = prices.flatMap(({ recurring }) => recurring ?? [])
  if (!recurrences.every(({ interval }) => interval === 'month' || interval === 'year')) {
    throw createInvalidRequestFault(
      '`billing_cycle_anchor_config` is only for prices by the month or year.',
      'billing_cycle_anchor_config',
    )
  }
  const [first] = recurrences
  return first ? first.interval_count * (first.interval === 'year' ? 12 : 1) : 1
}

/** Renders the field `billing_cycle_anchor_config` of a subscription. */
export function renderAnchorConfig(
  config: Params['billing_cycle_anchor_config'],
): SubscriptionRow['billing_cycle_anchor_config'] {
  if (!config) return null
  const { day_of_month, hour = null, minute = null, month = null, second = null } = config
  return { day_of_month, hour, minute, month, second }
}

/**
 * Returns the first period of a new subscription's item. It lasts until the end of the trial, or
 * until the anchor if that is later.
 */
export function computeFirstPeriod(
  work: UnitOfWork,
  price: PriceRow,
  start: SubscriptionStart,
): BillingPeriod {
  const { began, trialEnd, anchor } = start
  if (trialEnd !== null) return { start: work.now, end: trialEnd }
  if (!price.recurring) throw new TypeError('A subscription item needs a recurring price')
  // The anchor may be several periods away; the first period ends at the next boundary.
  const whole = findPeriodAt(anchor, price.recurring, work.now)
  return { start: Math.max(whole.start, began), end: whole.end }
}

/** Maximum number of lines on an invoice. */
const MAX_LINES = 250

/**
 * Returns a function that tells which periods of an item the first invoice bills: every period
 * since the subscription's start, including the current one. Without proration, only a whole period
 * that starts now.
 */
export function createFirstBilledTimesFinder(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  { prorates }: { readonly prorates: boolean },
): (item: SubscriptionItemRow) => readonly BilledTimeRange[] {
  return (item) => {
    const { recurring } = work.require('price', item.price)
    if (!recurring) throw new TypeError('A subscription item needs a recurring price')
    const { current_period_start: start, current_period_end: end } = item
    const whole = findWholePeriod(work, subscription, item)
    if (!prorates) return whole.start === work.now ? [{ start, end, whole }] : []
    const current = { start, end: findBilledPeriodEnd(subscription, item), whole }
    const { start_date: began, billing_mode: mode, billing_cycle_anchor: anchor } = subscription
    if (began >= start) return [current]
    if (mode.type === 'classic')
      return combinePastPeriods(subscription, current, recurring, work.now)
    return [...splitPastPeriods(anchor, recurring, began, start), current]
  }
}

/** Splits the time since the subscription's start into past periods. */
function splitPastPeriods(
  anchor: number,
  recurrence: BillingRecurrence,
  began: number,
  until: number,
): BilledTimeRange[] {
  const times: BilledTimeRange[] = []
  for (let at = began; at < until; ) {
    const whole = findPeriodAt(anchor, recurrence, at)
    times.push({ start: at, end: whole.end, whole })
    if (times.length >= MAX_LINES) {
      throw createInvalidRequestFault(
        `An invoice has at most ${MAX_LINES} lines: the subscription began too long ago.`,
        'backdate_start_date',
      )
    }
    at = whole.end
  }
  return times
}

/**
 * Returns the time since the subscription's start as a single line, as in classic billing mode. Its
 * amount is a share of the price of a whole period that begins at the subscription's start.
 */
function combinePastPeriods(
  { start_date: began }: SubscriptionRow,
  current: BilledTimeRange,
  recurrence: BillingRecurrence,
  now: number,
): BilledTimeRange[] {
  const whole = { start: began, end: addIntervals(began, recurrence, 1) }
  if (current.whole.start < now) return [{ start: began, end: current.end, whole }]
  return [{ start: began, end: now, whole }, current]
}
