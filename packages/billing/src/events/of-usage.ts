import type { StoredUsage } from '../storage/queues/usage.ts'
import type { Money } from '../values/money.ts'
import type { NewBillingEvent } from './billing-event.ts'
import type { About } from './of-invoice.ts'

/** Each time that a report is refused: somebody may have it sent again. */
export function usageRefused(usage: StoredUsage, reason: string, at: Date): NewBillingEvent {
  const { owner, provider, identifier, reference: id, meter, value } = usage
  return {
    type: 'usage.refused',
    ...{ owner, provider },
    subject: `${provider}:${identifier}:${at.toISOString()}`,
    data: { usage: { id, meter, value, at: usage.at.toISOString() }, reason },
  }
}

/** What was to be charged for usage, and was declined. */
export interface UnpaidUsage {
  readonly id: string
  readonly amount: Money
  /** Which attempt it was, counted from 1. */
  readonly attempt: number
  /** Null when it is not tried again by itself. */
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
