import type { NewBillingEvent } from '../../core/events/billing-event.ts'
import type { Money } from '../../core/values/money.ts'
import type { About } from '../invoices/events.ts'
import type { StoredUsage } from './usage-rows.ts'

/** Builds the event for each refusal of a report, which may be retried and refused again. */
export function usageRefused(usage: StoredUsage, reason: string, at: Date): NewBillingEvent {
  const { owner, provider, identifier, reference: id, meter, value } = usage
  return {
    type: 'usage.refused',
    ...{ owner, provider },
    subject: `${provider}:${identifier}:${at.toISOString()}`,
    data: { usage: { id, meter, value, at: usage.at.toISOString() }, reason },
  }
}

/** A declined charge for usage. */
export interface UnpaidUsage {
  readonly id: string
  readonly amount: Money
  /** Number of the attempt, counted from 1. */
  readonly attempt: number
  /** When it is charged again. `null` if there is no further automatic attempt. */
  readonly nextAttemptAt: Date | null
  readonly at: Date
}

export function usageUnpaid({ owner, provider }: About, unpaid: UnpaidUsage): NewBillingEvent {
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
