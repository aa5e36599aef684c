import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { APPROVED_BY_PROCESSOR } from '../vault/processor.ts'
import { throwValidationError } from '../wire/errors.ts'
import { chargePaymentMethod, copyChargeFields, setTransactionStatus } from './charging.ts'

const PATH = ['transaction']

/**
 * Settles a part of an authorization as a separate sale that refers to the authorization. The
 * status of the authorization is `settlement_pending` from the first part on.
 */
export function settlePartially(
  context: BraintreeContext,
  row: TransactionRow,
  partialSale: { amount: number; details: Partial<TransactionRow> },
): TransactionRow {
  requirePartialSettlement(row)
  if (partialSale.amount > computeUnsettledAmount(context, row))
    throwValidationError(PATH, 'amount', '91522')
  const part = chargePaymentMethod(context, {
    ...copyChargeFields(row),
    amount: partialSale.amount,
    submitForSettlement: true,
    // The processor already approved the authorization.
    rejection: APPROVED_BY_PROCESSOR,
    details: {
      orderId: row.orderId,
      descriptor: row.descriptor,
      customFields: row.customFields,
      ...partialSale.details,
      authorizedTransactionId: row.id,
    },
  })
  row.partialSettlementIds = [...(row.partialSettlementIds ?? []), part.id]
  setTransactionStatus(context, row, 'settlement_pending')
  return part
}

export function requirePartialSettlement(row: TransactionRow): void {
  if (row.authorizedTransactionId) throwValidationError(PATH, 'base', '915103')
  const isBegun = row.status === 'settlement_pending' && row.partialSettlementIds !== undefined
  if (row.status !== 'authorized' && !isBegun) throwValidationError(PATH, 'base', '91507')
}

/**
 * Returns the part of the authorized amount that is not settled yet. The amounts of voided parts
 * count as unsettled.
 */
export function computeUnsettledAmount(context: BraintreeContext, row: TransactionRow): number {
  const parts = (row.partialSettlementIds ?? []).map((id) => context.tables.transactions.get(id))
  const taken = parts.map((part) => (part && part.status !== 'voided' ? part.amount : 0))
  return row.authorizedAmount - taken.reduce((sum, amount) => sum + amount, 0)
}
