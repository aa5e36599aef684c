import { addDaysTo } from '../wire/days.ts'
import { formatAmount } from '../wire/money.ts'
import { XmlDay, type XmlObject } from '../wire/xml.ts'
import type { DisputeState, TransactionRow } from './rows/transactions.ts'

/** A transaction has at most one dispute, so the dispute's id is derived from the transaction's. */
const PREFIX = 'dispute_'

export function parseTransactionId(disputeId: string): string | null {
  return disputeId.startsWith(PREFIX) ? disputeId.slice(PREFIX.length) : null
}

export function renderDisputeXml(
  row: TransactionRow,
  { status, kind, openedAt }: DisputeState,
): XmlObject {
  const amount = formatAmount(row.amount, row.currency)
  const opened = new Date(openedAt).toISOString().slice(0, 10)
  return {
    id: `${PREFIX}${row.id}`,
    amount,
    amount_disputed: amount,
    amount_won: formatAmount(status === 'won' ? row.amount : 0, row.currency),
    currency_iso_code: row.currency,
    kind,
    reason: kind === 'retrieval' ? 'retrieval' : 'fraud',
    status,
    received_date: new XmlDay(opened),
    reply_by_date: new XmlDay(addDaysTo(opened, 10)),
    date_opened: new XmlDay(opened),
    ...(status === 'won' ? { date_won: new XmlDay(opened) } : {}),
    transaction: { id: row.id, amount },
  }
}
