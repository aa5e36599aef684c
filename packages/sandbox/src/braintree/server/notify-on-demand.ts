import type { BraintreeContext } from '../state/context.ts'
import { renderDisputeXml } from '../state/dispute-xml.ts'
import { sendNotification } from '../state/notifications.ts'
import { renderMethodXml } from '../state/payment-method-xml.ts'
import type { DisputeState, TransactionRow } from '../state/rows/transactions.ts'
import { renderSubscriptionXml } from '../state/subscription-xml.ts'
import { renderTransactionXml } from '../state/transaction-xml.ts'
import type { XmlObject } from '../wire/xml.ts'

/**
 * Sends a notification without its usual cause. Without an id the notification is a `check`.
 * Otherwise its subject is the subscription, transaction or payment method with this id, or the
 * transaction's dispute for a `dispute_…` kind.
 */
export function notifyOnDemand(context: BraintreeContext, kind: string, id?: string): void {
  const subject = id === undefined ? { check: true } : findSubject(context, kind, id)
  if (!subject)
    throw new RangeError(`There is no subscription, transaction or payment method ${id}`)
  sendNotification(context, kind, () => subject)
}

function findSubject(context: BraintreeContext, kind: string, id: string): XmlObject | null {
  const { subscriptions, transactions, paymentMethods } = context.tables
  const transaction = transactions.get(id)
  if (transaction) {
    return kind.startsWith('dispute_')
      ? { dispute: dispute(context, kind, transaction) }
      : { transaction: renderTransactionXml(transaction) }
  }
  const subscription = subscriptions.get(id)
  if (subscription) return { subscription: renderSubscriptionXml(context, subscription) }
  const method = paymentMethods.get(id)
  return method ? { [method.instrument.kind]: renderMethodXml(context, method) } : null
}

/**
 * Opens the dispute of a transaction or changes its status to the one in the notification's kind,
 * and stores it.
 */
function dispute(
  { tables, clock }: BraintreeContext,
  kind: string,
  row: TransactionRow,
): XmlObject {
  const status = kind.replace('dispute_', '').replace('opened', 'open')
  const before = row.dispute ?? { kind: 'chargeback', openedAt: clock.nowMs() }
  const now: DisputeState = { ...before, status }
  row.dispute = now
  tables.transactions.set(row.id, row)
  return renderDisputeXml(row, now)
}
