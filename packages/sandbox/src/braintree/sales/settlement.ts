import { type BraintreeContext, readMerchantSettings } from '../state/context.ts'
import { notifyTransaction } from '../state/notifications.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { decideSettlement } from '../vault/processor.ts'
import { setTransactionStatus } from './charging.ts'

const HOUR = 3_600_000
const SETTLING_AFTER = 6 * HOUR
const SETTLED_AFTER = 12 * HOUR
const PAYPAL_SETTLED_AFTER = HOUR
const CARD_AUTHORIZATION_LIFETIME = 7 * 24 * HOUR
const PAYPAL_AUTHORIZATION_LIFETIME = 29 * 24 * HOUR

/**
 * Returns when the transaction's status changes next, through settlement or because its
 * authorization expires, in epoch milliseconds. `null` if it will not change.
 */
export function findSettlementDueAt(row: TransactionRow): number | null {
  const since = row.statusHistory.at(-1)?.timestamp ?? row.updatedAt
  const isCard = row.instrument.kind === 'credit_card'
  switch (row.status) {
    case 'authorized':
      return since + (isCard ? CARD_AUTHORIZATION_LIFETIME : PAYPAL_AUTHORIZATION_LIFETIME)
    case 'submitted_for_settlement':
      return since + SETTLING_AFTER
    case 'settling':
      return since + (isCard ? SETTLED_AFTER - SETTLING_AFTER : PAYPAL_SETTLED_AFTER)
    default:
      return null
  }
}

/**
 * Gives a transaction its next status, once that is due: an authorization expires, a submitted sale
 * begins to settle, and a settling sale is settled, declined or pending, depending on its amount.
 */
export function settleIfDue(context: BraintreeContext, row: TransactionRow): void {
  if (row.status === 'authorized') setTransactionStatus(context, row, 'authorization_expired')
  else if (row.status === 'submitted_for_settlement') setTransactionStatus(context, row, 'settling')
  else settleByAmount(context, row)
}

function settleByAmount(context: BraintreeContext, row: TransactionRow): void {
  const { status, responseCode } = decideSettlement(row)
  if (status === 'settled') settleTransaction(context, row)
  else if (status === 'settlement_declined')
    declineSettlement(context, row, responseCode ?? undefined)
  else {
    row.responseCode = responseCode ?? row.responseCode
    setTransactionStatus(context, row, status)
  }
}

export function settleTransaction(context: BraintreeContext, row: TransactionRow): void {
  setTransactionStatus(context, row, 'settled')
  if (readMerchantSettings(context).notifySettlement)
    notifyTransaction(context, 'transaction_settled', row)
}

export function declineSettlement(
  context: BraintreeContext,
  row: TransactionRow,
  responseCode = '4001',
): void {
  row.responseCode = responseCode
  setTransactionStatus(context, row, 'settlement_declined')
  if (readMerchantSettings(context).notifySettlement) {
    notifyTransaction(context, 'transaction_settlement_declined', row)
  }
}
