import type { AnyBillingEvent, BillingEventType } from '../events/billing-event.ts'
import type { MailFacts } from '../mail/render-mail.ts'
import type { NoticeKind } from '../words/words.ts'

/** The events that mail is made of, each with its kind. */
export const KINDS: Readonly<Partial<Record<BillingEventType, NoticeKind>>> = {
  'invoice.paid': 'receipt',
  'invoice.payment_failed': 'payment_failed',
  'invoice.action_required': 'action_required',
  'trial.ending': 'trial_ending',
  'card.expiring': 'card_expiring',
  'refund.created': 'refunded',
}

/**
 * What the mail is about, once for each kind, or null where there is nothing to write of. `asksToConfirm`: whether there is
 * mail for what waits for the customer.
 */
export function subjectOf(event: AnyBillingEvent, asksToConfirm: boolean): string | null {
  switch (event.type) {
    case 'invoice.paid':
      // A trial begins with an invoice over nothing.
      return event.data.invoice.total.amount === 0 ? null : event.data.invoice.id
    case 'invoice.payment_failed':
      // They are asked to confirm it, not to change their card.
      if (event.data.awaitsCustomer && asksToConfirm) return null
      return `${event.data.invoice.id}:${event.data.attempt ?? 0}`
    case 'invoice.action_required':
      // Somebody who missed it is asked again when the bank is; their own attempts do not count.
      return `${event.data.invoice.id}:${event.data.attempt ?? 0}`
    case 'refund.created':
      return event.data.refund.id
    default:
      return event.id
  }
}

/** What the event says, in the words of mail. */
export function factsOf(event: AnyBillingEvent): Omit<MailFacts, 'vendor' | 'product'> {
  switch (event.type) {
    case 'invoice.paid': {
      const { number, total, date } = event.data.invoice
      return { number, amount: total, date: new Date(date) }
    }
    case 'invoice.payment_failed': {
      const { invoice, nextAttemptAt } = event.data
      const date = nextAttemptAt === null ? null : new Date(nextAttemptAt)
      return { number: invoice.number, amount: invoice.amountDue, date }
    }
    case 'invoice.action_required': {
      const { invoice, url } = event.data
      return { number: invoice.number, amount: invoice.amountDue, url }
    }
    case 'trial.ending': {
      const { subscription, endsAt } = event.data
      return { date: new Date(endsAt), isBilledAfterwards: subscription !== null }
    }
    case 'card.expiring': {
      const { brand, lastFour, expires } = event.data
      return { card: [brand, lastFour].filter(Boolean).join(' '), month: expires }
    }
    case 'refund.created':
      return { amount: event.data.refund.amount }
    default:
      return {}
  }
}
