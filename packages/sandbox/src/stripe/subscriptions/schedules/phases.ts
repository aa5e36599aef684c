import { addInvoiceItems } from '../../invoices/invoice-items.ts'
import type { PhaseRow, ScheduleRow, SubscriptionRow } from '../../state/rows.ts'
import { cancelSchedule, cancelSubscription, hasEnded } from '../../state/subscription-status.ts'
import type { UnitOfWork } from '../../state/unit-of-work.ts'
import { createScheduledSubscription } from '../subscription-create.ts'
import { applyPhase, toAddedItemsParam, toDiscountParam, toParams } from './enter-phase.ts'

const WEEK = 7 * 86_400

/** Moves a schedule to the present time: starts it, changes to its next phase, or ends it. */
export function advanceSchedule(work: UnitOfWork, schedule: ScheduleRow): void {
  work.edit('subscription_schedule', schedule)
  const phase = schedule.phases.find(
    (each) => each.start_date <= work.now && work.now < each.end_date,
  )
  announceEnd(work, schedule)
  if (!phase) finishSchedule(work, schedule)
  else if (schedule.status === 'not_started') startSchedule(work, schedule, phase)
  else if (schedule.current_phase?.start_date !== phase.start_date)
    enterPhase(work, schedule, phase)
  storeNextScheduleChange(work, schedule)
}

/** Stores when the next change of a schedule is due. */
export function storeNextScheduleChange(work: UnitOfWork, schedule: ScheduleRow): void {
  const { status, current_phase: current } = schedule
  schedule.$.nextAt = null
  if (status === 'not_started') schedule.$.nextAt = schedule.phases[0]?.start_date ?? null
  if (status !== 'active' || !current) return
  const end = endOf(schedule)
  const soon = end - WEEK
  // A schedule that ends within a week is not announced.
  if (soon < work.now) schedule.$.announcedEnd = end
  const announces = schedule.$.announcedEnd !== end
  schedule.$.nextAt = announces ? Math.min(soon, current.end_date) : current.end_date
}

function announceEnd(work: UnitOfWork, schedule: ScheduleRow): void {
  const end = endOf(schedule)
  if (schedule.status !== 'active' || schedule.$.announcedEnd === end) return
  if (end - WEEK > work.now) return
  schedule.$.announcedEnd = end
  work.emit('subscription_schedule.expiring', 'subscription_schedule', schedule)
}

function endOf({ phases }: ScheduleRow): number {
  return phases.at(-1)?.end_date ?? 0
}

function startSchedule(work: UnitOfWork, schedule: ScheduleRow, phase: PhaseRow): void {
  if (work.find('customer', schedule.customer)?.$.deleted !== false) {
    cancelSchedule(work, schedule)
    return
  }
  const wanted = phase.default_payment_method ?? schedule.default_settings.default_payment_method
  const method = work.find('payment_method', wanted ?? '')
  const subscription = createScheduledSubscription(work, {
    customer: schedule.customer,
    billing_mode: { type: schedule.billing_mode.type },
    currency: phase.currency,
    items: phase.items.map((item) => toParams(work, item, undefined)) as never,
    discounts: phase.discounts.map(toDiscountParam),
    default_tax_rates: [...phase.default_tax_rates],
    ...(phase.automatic_tax ? { automatic_tax: { enabled: phase.automatic_tax.enabled } } : {}),
    add_invoice_items: toAddedItemsParam(phase) as never,
    ...(phase.description === null ? {} : { description: phase.description }),
    ...(phase.trial_end === null ? {} : { trial_end: phase.trial_end }),
    // A payment method that was detached in the meantime is ignored.
    ...(method?.customer === schedule.customer ? { default_payment_method: method.id } : {}),
    metadata: phase.metadata ?? {},
  })
  work.edit('subscription', subscription).schedule = schedule.id
  schedule.subscription = subscription.id
  schedule.status = 'active'
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date }
}

/** Enters a phase and changes the subscription, with the phase's proration behavior. */
function enterPhase(work: UnitOfWork, schedule: ScheduleRow, phase: PhaseRow): void {
  schedule.current_phase = { start_date: phase.start_date, end_date: phase.end_date }
  const subscription = work.find('subscription', schedule.subscription ?? '')
  if (!subscription || hasEnded(subscription)) return
  addInvoiceItems(work, subscription, toAddedItemsParam(phase))
  applyPhase(work, schedule, subscription, phase)
}

function finishSchedule(work: UnitOfWork, schedule: ScheduleRow): void {
  const subscription = work.find('subscription', schedule.subscription ?? '')
  schedule.status = 'completed'
  schedule.completed_at = work.now
  schedule.current_phase = null
  if (schedule.end_behavior === 'cancel') {
    work.emit('subscription_schedule.completed', 'subscription_schedule', schedule)
    if (subscription && !hasEnded(subscription))
      cancelSubscription(work, subscription, 'cancellation_requested')
    return
  }
  releaseSchedule(work, schedule, subscription)
}

/** Releases a subscription from its schedule. The subscription continues with its present terms. */
export function releaseSchedule(
  work: UnitOfWork,
  schedule: ScheduleRow,
  subscription: SubscriptionRow | undefined,
): void {
  schedule.status = 'released'
  schedule.released_at = work.now
  schedule.completed_at = null
  schedule.released_subscription = subscription?.id ?? null
  schedule.subscription = null
  schedule.current_phase = null
  schedule.$.nextAt = null
  if (subscription) work.edit('subscription', subscription).schedule = null
  work.emit('subscription_schedule.released', 'subscription_schedule', schedule)
}
