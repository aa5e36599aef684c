import type { NewBillingEvent } from '../../core/events/billing-event.ts'
import type { Money } from '../../core/values/money.ts'
import type { EventOrigin } from '../invoices/events.ts'
import type { StoredUsage } from './usage-rows.ts'

/**
 * Builds the event `usage.refused`. A report that is retried and refused again causes another
 * event.
 */
export function buildUsageRefusedEvent(
  usage: StoredUsage,
  reason: string,
  at: Date,
): NewBillingEvent {
  const { owner, provider, identifier, reference: id, meter, value } = usage
  return {
    type: 'usage.refused',
    ...{ owner, provider },
    subject: `${provider}:${identifier}:${at.toISOString()}`,
    data: { usage: { id, meter, value, at: usage.at.toISOString() }, reason },
  }
}

/** Data of a declined charge for usage. */
export interface UnpaidUsage {
  readonly id: string
  readonly amount: Money
  /** Number of the attempt to charge the usage, counted from 1. */
  readonly attempt: number
  /**
   * When the usage is charged again automatically. `null` if there is no further automatic attempt.
   */
  readonly nextAttemptAt: Date | null
  readonly at: Date
}

export function buildUsageUnpaidEvent(
  { owner, provider }: EventOrigin,
  unpaid: UnpaidUsage,
): NewBillingEvent {
  const { id, amount, attempt, nextAttemptAt, at } = unpaid
  const invoice = { id, number: null, date: at.toISOString(), total: amount, amountDue: amount }
  return {
    type: 'invoice.payment_failed',
    ...{ owner, provider },
    subject: `${provider}:usage:${id}:${attempt}`,
    data: {
      invoice,
      attempt,
      nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
      awaitsCustomer: false,
    },
  }
}
