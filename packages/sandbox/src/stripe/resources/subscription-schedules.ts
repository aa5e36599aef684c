import type Stripe from 'stripe'
import { isInRange, type NumberFilter } from '../api/lists.ts'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { requireCustomer, requireOwnPaymentMethod } from '../payments/customer.ts'
import { createBlankRow } from '../state/blank.ts'
import { checkSubscriptionLimit } from '../state/clock-limits.ts'
import type { ScheduleRow } from '../state/rows.ts'
import { cancelSchedule, cancelSubscription } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { applyPhase, differsFromPhase } from '../subscriptions/schedules/enter-phase.ts'
import { type PhaseParams, readPhases } from '../subscriptions/schedules/params.ts'
import { createPhase } from '../subscriptions/schedules/phase-of.ts'
import {
  advanceSchedule,
  releaseSchedule,
  storeNextScheduleChange,
} from '../subscriptions/schedules/phases.ts'
import { readBillingMode } from '../subscriptions/subscription-params.ts'
import { buildAutomaticTaxSettings } from '../subscriptions/subscription-settings.ts'
import { listSubscriptionItems } from '../subscriptions/subscription-swap.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'

/**
 * Operations on subscription schedules, which plan changes, usually a swap at the end of the
 * period.
 */
export const subscriptionScheduleOperations: StripeOperations = {
  'SubscriptionSchedules.create': customOperation('subscription_schedule', (params, { work }) => {
    const schedule =
      params.from_subscription === undefined
        ? fromPhases(work, params)
        : fromSubscription(work, params)
    work.insert('subscription_schedule', schedule, 'subscription_schedule.created')
    storeNextScheduleChange(work, schedule)
    const start = schedule.phases[0]?.start_date ?? 0
    if (schedule.status === 'not_started' && start <= work.now) advanceSchedule(work, schedule)
    return schedule
  }),
  'SubscriptionSchedules.retrieve': retrieveOperation('subscription_schedule'),
  'SubscriptionSchedules.update': updateOperation(
    'subscription_schedule',
    ['end_behavior'],
    (schedule, params, { work }) => {
      checkLive(schedule)
      applyDefaults(work, schedule, params.default_settings)
      if (params.phases) replacePhases(work, schedule, params)
      storeNextScheduleChange(work, schedule)
    },
  ),
  'SubscriptionSchedules.cancel': changeOperation(
    'subscription_schedule',
    (schedule, _params, { work }) => {
      checkLive(schedule)
      const subscription = work.find('subscription', schedule.subscription ?? '')
      if (subscription) cancelSubscription(work, subscription, 'cancellation_requested')
      else cancelSchedule(work, schedule)
    },
  ),
  'SubscriptionSchedules.release': changeOperation(
    'subscription_schedule',
    (schedule, _params, { work }) => {
      checkLive(schedule)
      releaseSchedule(work, schedule, work.find('subscription', schedule.subscription ?? ''))
    },
  ),
  'SubscriptionSchedules.list': listOperation('subscription_schedule', {
    by: ['customer'],
    where: {
      scheduled: (row, scheduled) => (row.status === 'not_started') === scheduled,
      canceled_at: (row, range) => isWithin(row.canceled_at, range),
      completed_at: (row, range) => isWithin(row.completed_at, range),
      released_at: (row, range) => isWithin(row.released_at, range),
    },
  }),
}

function isWithin(at: number | null, range: NumberFilter): boolean {
  return at !== null && isInRange(at, range)
}

/**
 * Applies the default settings of a schedule. Only the payment method has an effect in the sandbox.
 */
function applyDefaults(
  work: UnitOfWork,
  schedule: ScheduleRow,
  settings: Stripe.SubscriptionScheduleUpdateParams.DefaultSettings | undefined,
): void {
  if (settings?.default_payment_method === undefined) return
  const default_payment_method = requireOwnPaymentMethod(
    work,
    requireCustomer(work, schedule.customer, 'customer'),
    settings.default_payment_method,
    'default_settings[default_payment_method]',
  )
  schedule.default_settings = { ...schedule.default_settings, default_payment_method }
}

function checkLive({ status }: ScheduleRow): void {
  if (status === 'active' || status === 'not_started') return
  throw createInvalidRequestFault(
    `You cannot update a subscription schedule that is in the \`${status}\` status. It must be in one of these statuses: \`not_started\`, \`active\`.`,
  )
}

function newSchedule(
  work: UnitOfWork,
  customer: string,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  return {
    ...createBlankRow('subscription_schedule'),
    id: work.newId('sub_sched_1'),
    billing_mode: readBillingMode(params),
    created: work.now,
    customer,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: buildAutomaticTaxSettings(false),
      billing_cycle_anchor: 'automatic',
      billing_thresholds: null,
      collection_method: 'charge_automatically',
      default_payment_method: null,
      description: null,
      invoice_settings: {
        account_tax_ids: null,
        custom_fields: null,
        days_until_due: null,
        description: null,
        footer: null,
        issuer: { type: 'self' },
      } as ScheduleRow['default_settings']['invoice_settings'],
      on_behalf_of: null,
      transfer_data: null,
    },
    end_behavior: params.end_behavior ?? 'release',
    metadata: mergeMetadata({}, params.metadata),
    pause_schedules: [],
    phases: [],
    status: 'not_started',
    test_clock: work.find('customer', customer)?.test_clock ?? null,
    $: { nextAt: null },
  }
}

/** Creates a schedule from a subscription, with its current period as the only phase. */
function fromSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  const others = Object.keys(params).filter((key) => !['from_subscription', 'expand'].includes(key))
  if (others.length > 0) {
    throw createInvalidRequestFault(
      'You cannot set other parameters when `from_subscription` is set; create it first, then update it.',
      others[0],
    )
  }
  const subscription = work.require(
    'subscription',
    params.from_subscription ?? '',
    'from_subscription',
  )
  if (subscription.schedule) {
    throw createInvalidRequestFault(
      `You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}`,
      'from_subscription',
    )
  }
  if (subscription.ended_at)
    throw createInvalidRequestFault(
      'You cannot migrate a subscription that has ended.',
      'from_subscription',
    )
  const { type } = subscription.billing_mode
  const schedule = newSchedule(work, subscription.customer, { billing_mode: { type } })
  const items = listSubscriptionItems(work, subscription)
  const start = Math.min(...items.map((item) => item.current_period_start))
  const end = Math.max(...items.map((item) => item.current_period_end))
  schedule.status = 'active'
  schedule.subscription = subscription.id
  schedule.current_phase = { start_date: start, end_date: end }
  schedule.phases = [createPhase(work, subscription, schedule.current_phase)]
  const { default_payment_method } = subscription
  schedule.default_settings = { ...schedule.default_settings, default_payment_method }
  work.edit('subscription', subscription).schedule = schedule.id
  return schedule
}

function fromPhases(
  work: UnitOfWork,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  if (params.customer === undefined) throw createMissingParamFault('customer')
  if (!params.phases || params.phases.length === 0) throw createMissingParamFault('phases')
  const customer = requireCustomer(work, params.customer, 'customer')
  checkSubscriptionLimit(work, customer.id)
  const schedule = newSchedule(work, customer.id, params)
  applyDefaults(work, schedule, params.default_settings as never)
  const start =
    params.start_date === 'now' || params.start_date === undefined ? work.now : params.start_date
  if (start < work.now)
    throw createInvalidRequestFault('The sandbox cannot start schedules in the past.', 'start_date')
  const { billing_mode } = schedule
  const phases = params.phases as PhaseParams[]
  schedule.phases = readPhases(work, { customer, billing_mode }, phases, start)
  return schedule
}

function replacePhases(
  work: UnitOfWork,
  schedule: ScheduleRow,
  { phases = [], proration_behavior: behavior }: Stripe.SubscriptionScheduleUpdateParams,
): void {
  if (phases.length === 0) throw createMissingParamFault('phases')
  const first = phases[0]?.start_date
  const started = schedule.current_phase?.start_date
  // Stripe requires it on the first phase, so that a running phase does not restart by accident.
  if (first === undefined && started !== undefined)
    throw createMissingParamFault('phases[0][start_date]')
  const start = first === undefined || first === 'now' ? (started ?? work.now) : first
  if (started !== undefined && start !== started && start > work.now) {
    throw createInvalidRequestFault(
      'The first phase must be the current one: pass its start_date.',
      'phases[0][start_date]',
    )
  }
  const customer = requireCustomer(work, schedule.customer, 'customer')
  const { billing_mode } = schedule
  schedule.phases = readPhases(work, { customer, billing_mode }, phases, start)
  if (schedule.status !== 'active') return
  const current = schedule.phases.find(
    (phase) => phase.start_date <= work.now && work.now < phase.end_date,
  )
  if (!current) throw createInvalidRequestFault('No phase covers the present.', 'phases')
  schedule.current_phase = { start_date: current.start_date, end_date: current.end_date }
  const subscription = work.find('subscription', schedule.subscription ?? '')
  if (subscription && differsFromPhase(work, subscription, current))
    applyPhase(work, schedule, subscription, current, behavior)
}
