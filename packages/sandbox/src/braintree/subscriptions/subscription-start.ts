import { type BraintreeContext, getCurrentDay } from '../state/context.ts'
import type { PlanRow, SubscriptionRow } from '../state/rows/subscriptions.ts'
import {
  addDaysTo,
  addMonthsTo,
  addMonthsToBillingDay,
  type CalendarDay,
  findNextBillingDay,
  parseDay,
  toBillingDayOfMonth,
} from '../wire/days.ts'
import type { RequestFields } from '../wire/validation.ts'

/** First billing date and billing day of a new subscription. */
export interface SubscriptionStart {
  readonly trial: Pick<SubscriptionRow, 'trialPeriod' | 'trialDuration' | 'trialDurationUnit'>
  readonly firstBillingDate: CalendarDay
  readonly billingDayOfMonth: number
  /**
   * Second billing date of the subscription. Set if the first cycle is shortened to reach the
   * billing day.
   */
  readonly secondBillingDate: CalendarDay | null
}

const NO_TRIAL = { trialPeriod: false, trialDuration: null, trialDurationUnit: null }

/**
 * Reads when a new subscription starts: on a first billing date, on a billing day, after a trial,
 * or immediately, as the call or the plan says.
 */
export function parseSubscriptionStart(
  context: BraintreeContext,
  fields: RequestFields,
  plan: PlanRow,
): SubscriptionStart {
  const now = getCurrentDay(context)
  const immediately = fields.object('options').flag('start_immediately') ?? false
  const hasDate = !fields.isBlank('first_billing_date')
  const hasDay = !fields.isBlank('billing_day_of_month')
  const asksTrial = fields.flag('trial_period') === true
  checkConflicts(fields, { immediately, hasDate, hasDay, asksTrial })

  if (hasDate) return startOnDate(readFirstDate(fields, now))
  const anchor = hasDay ? readBillingDay(fields) : plan.billingDayOfMonth
  if (immediately) return startNow(now, anchor, plan.billingFrequency)
  const wantsTrial = fields.flag('trial_period') ?? plan.trialPeriod
  if (wantsTrial && !hasDay) return startWithTrial(fields, plan, now)
  return anchor === null ? startOnDate(now) : startOnDate(findNextBillingDay(now, anchor), anchor)
}

function startOnDate(
  firstBillingDate: CalendarDay,
  anchor = toBillingDayOfMonth(firstBillingDate),
): SubscriptionStart {
  return { trial: NO_TRIAL, firstBillingDate, billingDayOfMonth: anchor, secondBillingDate: null }
}

/** Bills today and again on the next billing day, however soon that is. */
function startNow(
  now: CalendarDay,
  monthlyBillingDay: number | null,
  frequency: number,
): SubscriptionStart {
  if (monthlyBillingDay === null) return startOnDate(now)
  const next = findNextBillingDay(addDaysTo(now, 1), monthlyBillingDay)
  return {
    ...startOnDate(now, monthlyBillingDay),
    secondBillingDate: addMonthsToBillingDay(next, frequency - 1, monthlyBillingDay),
  }
}

function startWithTrial(fields: RequestFields, plan: PlanRow, now: CalendarDay): SubscriptionStart {
  const trialDuration = fields.has('trial_duration')
    ? fields.integer('trial_duration')
    : plan.trialDuration
  const unit = fields.has('trial_duration_unit')
    ? fields.text('trial_duration_unit')
    : plan.trialDurationUnit
  if (trialDuration === null) fields.addError('trial_duration', '81908')
  else if (!(trialDuration >= 0 && trialDuration <= 9999))
    fields.addError('trial_duration', '81907')
  if (unit !== 'day' && unit !== 'month') fields.addError('trial_duration_unit', '81909')
  if (!fields.errors.isEmpty || trialDuration === null || (unit !== 'day' && unit !== 'month')) {
    return startOnDate(now)
  }
  const ends = unit === 'day' ? addDaysTo(now, trialDuration) : addMonthsTo(now, trialDuration)
  return {
    ...startOnDate(ends),
    trial: { trialPeriod: true, trialDuration, trialDurationUnit: unit },
  }
}

function readFirstDate(fields: RequestFields, now: CalendarDay): CalendarDay {
  const day = parseDay(fields.value('first_billing_date'))
  if (day === null) fields.addError('first_billing_date', '91915')
  else if (day < now) fields.addError('first_billing_date', '91916')
  return day ?? now
}

function readBillingDay(fields: RequestFields): number {
  const day = fields.integer('billing_day_of_month') ?? Number.NaN
  if (Number.isNaN(day)) fields.addError('billing_day_of_month', '91913')
  else if (day !== 31 && (day < 1 || day > 28)) fields.addError('billing_day_of_month', '91914')
  else return day
  return 1
}

function checkConflicts(
  fields: RequestFields,
  requestedStart: {
    immediately: boolean
    hasDate: boolean
    hasDay: boolean
    asksTrial: boolean
  },
): void {
  const { immediately, hasDate, hasDay, asksTrial } = requestedStart
  const starts = [hasDate, hasDay, asksTrial].filter(Boolean).length
  if (starts > 1 || (immediately && (hasDate || asksTrial))) fields.addError('base', '91917')
}
