import { type BraintreeContext, today } from '../state/context.ts'
import { notify } from '../state/notifications.ts'
import { methodXml } from '../state/payment-method-xml.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { subscriptionXml } from '../state/subscription-xml.ts'
import { transactionXml } from '../state/transaction-xml.ts'
import { addDaysTo } from '../wire/days.ts'
import { formatAmount } from '../wire/money.ts'
import { XmlDay, type XmlObject } from '../wire/xml.ts'

/**
 * Sends a notification that nothing here would cause. Without an id the subject is that of
 * `check`; otherwise it is the subscription, transaction or payment method of that id, or for a
 * `dispute_…` kind a dispute of the transaction.
 */
export function notifyOnDemand(context: BraintreeContext, kind: string, id?: string): void {
  const subject = id === undefined ? { check: true } : findSubject(context, kind, id)
  if (!subject) throw new RangeError(`There is no subscription, transaction or method ${id}`)
  notify(context, kind, () => subject)
}

function findSubject(context: BraintreeContext, kind: string, id: string): XmlObject | null {
  const { subscriptions, transactions, paymentMethods } = context.tables
  const transaction = transactions.get(id)
  if (transaction) {
    return kind.startsWith('dispute_')
      ? { dispute: disputeXml(context, kind, transaction) }
      : { transaction: transactionXml(context, transaction) }
  }
  const subscription = subscriptions.get(id)
  if (subscription) return { subscription: subscriptionXml(context, subscription) }
  const method = paymentMethods.get(id)
  return method ? { [method.instrument.kind]: methodXml(context, method) } : null
}

function disputeXml(context: BraintreeContext, kind: string, row: TransactionRow): XmlObject {
  const amount = formatAmount(row.amount, row.currency)
  const status = kind.replace('dispute_', '').replace('opened', 'open')
  return {
    id: `dispute_${row.id}`,
    amount,
    amount_disputed: amount,
    amount_won: formatAmount(status === 'won' ? row.amount : 0, row.currency),
    currency_iso_code: row.currency,
    kind: 'chargeback',
    reason: 'fraud',
    status,
    received_date: new XmlDay(today(context)),
    reply_by_date: new XmlDay(addDaysTo(today(context), 10)),
    date_opened: new XmlDay(today(context)),
    transaction: { id: row.id, amount },
  }
}
