import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { renderTransactionXml } from '../state/transaction-xml.ts'
import { decideByTestAmount } from '../vault/processor.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { readDescriptor } from './descriptor.ts'
import { checkOrderId, readSaleAmount } from './sale.ts'

const DETAILS = parsePermittedKeys('amount descriptor order_id')
const AMOUNT = parsePermittedKeys('amount')

/** Changes the amount, order id or descriptor of a sale that is not settled yet. */
export function updateDetails(
  context: BraintreeContext,
  row: TransactionRow,
  fields: RequestFields,
): TransactionRow {
  fields.permit(DETAILS)
  const account = findMerchantAccount(context, row.merchantAccountId)
  if (account?.updatesDetails === false) fields.addError('base', '915130')
  else if (row.status !== 'submitted_for_settlement') fields.addError('base', '915129')
  fields.throwIfAny()
  const amount = fields.isBlank('amount') ? row.amount : readSaleAmount(fields, row.currency)
  if (amount > row.authorizedAmount) fields.addError('amount', '91522')
  checkOrderId(fields, row.instrument.kind)
  const descriptor = readDescriptor(fields)
  fields.throwIfAny()
  row.amount = amount
  row.orderId = fields.text('order_id') ?? row.orderId
  row.descriptor = descriptor ?? row.descriptor
  return save(context, row)
}

/**
 * Raises or lowers the authorized amount of a transaction. Rejected if the merchant account does
 * not support it.
 */
export function adjustAuthorization(
  context: BraintreeContext,
  row: TransactionRow,
  fields: RequestFields,
): TransactionRow {
  fields.permit(AMOUNT)
  const account = findMerchantAccount(context, row.merchantAccountId)
  const extras = { transaction: renderTransactionXml(row) }
  if (!account?.adjustsAuthorizations) fields.refuse('base', '915222', extras)
  if (row.status !== 'authorized') fields.refuse('base', '915218', extras)
  if (row.recurring) fields.refuse('base', '915219', extras)
  const amount = readSaleAmount(fields, row.currency)
  if (!fields.errors.isEmpty) throw fields.refusal(extras)
  if (amount === row.amount) {
    fields.at('authorization_adjustment').refuse('base', '95606', extras)
  }
  const { responseCode, status } = decideByTestAmount({ ...row, amount })
  const timestamp = context.clock.nowMs()
  const adjustment = { timestamp, amount: amount - row.amount, responseCode }
  row.adjustments = [...(row.adjustments ?? []), adjustment]
  if (status === 'authorized') {
    row.amount = amount
    row.authorizedAmount = amount
  }
  return save(context, row)
}

function save(context: BraintreeContext, row: TransactionRow): TransactionRow {
  row.updatedAt = context.clock.nowMs()
  context.tables.transactions.set(row.id, row)
  return row
}
