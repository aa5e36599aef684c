import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer, requireOwnMethod } from '../payments/customer.ts'
import { checkRoomForSubscription } from '../state/clock-limits.ts'
import { render } from '../state/render.ts'
import type { ScheduleRow } from '../state/rows.ts'
import { cancelSchedule, cancelSubscription } from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { applyPhase, differs } from '../subscriptions/schedules/enter-phase.ts'
import { type PhaseParams, readPhases } from '../subscriptions/schedules/params.ts'
import { phaseOf } from '../subscriptions/schedules/phase-of.ts'
import { advanceSchedule, planSchedule, release } from '../subscriptions/schedules/phases.ts'
import { readBillingMode } from '../subscriptions/subscription-params.ts'
import { itemsOf } from '../subscriptions/subscription-swap.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

/** Planned changes: most of all a swap at the end of the period. */
export const subscriptionSchedules: Operations = {
  'SubscriptionSchedules.create': op<Stripe.SubscriptionScheduleCreateParams>(
    (params, { work }) => {
      const schedule =
        params.from_subscription === undefined
          ? fromPhases(work, params)
          : fromSubscription(work, params)
      work.insert('subscription_schedule', schedule, 'subscription_schedule.created')
      if (schedule.status === 'not_started') {
        planSchedule(work, schedule)
        if ((schedule.phases[0]?.start_date ?? 0) <= work.now) advanceSchedule(work, schedule)
      } else planSchedule(work, schedule)
      return render('subscription_schedule', schedule, work.tables)
    },
  ),
  'SubscriptionSchedules.retrieve': op((_params, call) =>
    render(
      'subscription_schedule',
      call.work.require('subscription_schedule', idOf(call)),
      call.work.tables,
    ),
  ),
  'SubscriptionSchedules.update': op<Stripe.SubscriptionScheduleUpdateParams>((params, call) => {
    const { work } = call
    const schedule = work.edit('subscription_schedule', requireLive(work, idOf(call)))
    if (params.end_behavior) schedule.end_behavior = params.end_behavior
    schedule.metadata = mergeMetadata(schedule.metadata, params.metadata)
    applyDefaults(work, schedule, params.default_settings)
    if (params.phases) replacePhases(work, schedule, params)
    planSchedule(work, schedule)
    return render('subscription_schedule', schedule, work.tables)
  }),
  'SubscriptionSchedules.cancel': op<Stripe.SubscriptionScheduleCancelParams>((_params, call) => {
    const { work } = call
    const schedule = work.edit('subscription_schedule', requireLive(work, idOf(call)))
    const subscription = work.find('subscription', schedule.subscription ?? '')
    if (subscription) cancelSubscription(work, subscription, 'cancellation_requested')
    else cancelSchedule(work, schedule)
    return render('subscription_schedule', schedule, work.tables)
  }),
  'SubscriptionSchedules.release': op<Stripe.SubscriptionScheduleReleaseParams>((_params, call) => {
    const { work } = call
    const schedule = work.edit('subscription_schedule', requireLive(work, idOf(call)))
    release(work, schedule, work.find('subscription', schedule.subscription ?? ''))
    return render('subscription_schedule', schedule, work.tables)
  }),
  'SubscriptionSchedules.list': op<Stripe.SubscriptionScheduleListParams>(
    (params, { work, path }) => {
      const rows = filterRows(
        work.tables.subscription_schedule.newestFirst(),
        (row) =>
          (params.customer === undefined || row.customer === params.customer) &&
          (params.scheduled === undefined || (row.status === 'not_started') === params.scheduled) &&
          inRange(row.created, params.created as Range | undefined) &&
          DATES.every((date) => isWithin(row[date], params[date])),
      )
      return listPage(rows, params, path, (row) =>
        render('subscription_schedule', row, work.tables),
      )
    },
  ),
}

const DATES = ['canceled_at', 'completed_at', 'released_at'] as const

function isWithin(at: number | null, range: unknown): boolean {
  return range === undefined || (at !== null && inRange(at, range as Range))
}

/** Of what is set for all phases, the card alone does something here. */
function applyDefaults(
  work: UnitOfWork,
  schedule: ScheduleRow,
  settings: Stripe.SubscriptionScheduleUpdateParams.DefaultSettings | undefined,
): void {
  if (settings?.default_payment_method === undefined) return
  const default_payment_method = requireOwnMethod(
    work,
    requireCustomer(work, schedule.customer, 'customer'),
    settings.default_payment_method,
    'default_settings[default_payment_method]',
  )
  schedule.default_settings = { ...schedule.default_settings, default_payment_method }
}

function requireLive(work: UnitOfWork, id: string): ScheduleRow {
  const schedule = work.require('subscription_schedule', id)
  if (schedule.status === 'active' || schedule.status === 'not_started') return schedule
  throw invalidRequest(
    `You cannot update a subscription schedule that is in the \`${schedule.status}\` status. It must be in one of these statuses: \`not_started\`, \`active\`.`,
  )
}

function newSchedule(
  work: UnitOfWork,
  customer: string,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  return {
    ...nulls<Stripe.SubscriptionSchedule>('subscription_schedule'),
    id: work.newId('sub_sched_1'),
    object: 'subscription_schedule',
    billing_mode: readBillingMode(params),
    created: work.now,
    customer,
    default_settings: {
      application_fee_percent: null,
      automatic_tax: { disabled_reason: null, enabled: false, liability: null },
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
    livemode: false,
    metadata: mergeMetadata({}, params.metadata),
    pause_schedules: [],
    phases: [],
    status: 'not_started',
    test_clock: work.find('customer', customer)?.test_clock ?? null,
    $: { nextAt: null },
  }
}

/** One phase: the current period of the subscription as it is. */
function fromSubscription(
  work: UnitOfWork,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  const others = Object.keys(params).filter((key) => !['from_subscription', 'expand'].includes(key))
  if (others.length > 0) {
    throw invalidRequest(
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
    throw invalidRequest(
      `You cannot migrate a subscription that is already attached to a schedule: ${subscription.schedule}`,
      'from_subscription',
    )
  }
  if (subscription.ended_at)
    throw invalidRequest('You cannot migrate a subscription that has ended.', 'from_subscription')
  const { type } = subscription.billing_mode
  const schedule = newSchedule(work, subscription.customer, { billing_mode: { type } })
  const items = itemsOf(work, subscription)
  const start = Math.min(...items.map((item) => item.current_period_start))
  const end = Math.max(...items.map((item) => item.current_period_end))
  schedule.status = 'active'
  schedule.subscription = subscription.id
  schedule.current_phase = { start_date: start, end_date: end }
  schedule.phases = [phaseOf(work, subscription, schedule.current_phase)]
  const { default_payment_method } = subscription
  schedule.default_settings = { ...schedule.default_settings, default_payment_method }
  work.edit('subscription', subscription).schedule = schedule.id
  return schedule
}

function fromPhases(
  work: UnitOfWork,
  params: Stripe.SubscriptionScheduleCreateParams,
): ScheduleRow {
  if (params.customer === undefined) throw missingParam('customer')
  if (!params.phases || params.phases.length === 0) throw missingParam('phases')
  const customer = requireCustomer(work, params.customer, 'customer')
  checkRoomForSubscription(work, customer.id)
  const schedule = newSchedule(work, customer.id, params)
  applyDefaults(work, schedule, params.default_settings as never)
  const start =
    params.start_date === 'now' || params.start_date === undefined ? work.now : params.start_date
  if (start < work.now)
    throw invalidRequest('The sandbox starts schedules now or later.', 'start_date')
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
  if (phases.length === 0) throw missingParam('phases')
  const first = phases[0]?.start_date
  const started = schedule.current_phase?.start_date
  // "Must be set on the first phase", says the reference: what is running must not begin anew by accident.
  if (first === undefined && started !== undefined) throw missingParam('phases[0][start_date]')
  const start = first === undefined || first === 'now' ? (started ?? work.now) : first
  if (started !== undefined && start !== started && start > work.now) {
    throw invalidRequest(
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
  if (!current) throw invalidRequest('No phase covers the present.', 'phases')
  schedule.current_phase = { start_date: current.start_date, end_date: current.end_date }
  const subscription = work.find('subscription', schedule.subscription ?? '')
  if (subscription && differs(work, subscription, current))
    applyPhase(work, schedule, subscription, current, behavior)
}
