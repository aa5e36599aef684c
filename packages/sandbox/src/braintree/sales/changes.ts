import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { transactionXml } from '../state/transaction-xml.ts'
import { verdictForAmount } from '../vault/processor.ts'
import { ErrorCollector, type ErrorPath, Refused } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'
import { readDescriptor } from './descriptor.ts'
import { checkOrderId } from './order-id.ts'
import { readSaleAmount } from './sale.ts'

const PATH = ['transaction']
const DETAILS = permitted('amount descriptor order_id')
const AMOUNT = permitted('amount')

/** The amount, order and descriptor of a sale that waits for its settlement. */
export function updateDetails(
  context: BraintreeContext,
  row: TransactionRow,
  fields: Fields,
): TransactionRow {
  fields.permit(DETAILS)
  const account = findMerchantAccount(context, row.merchantAccountId)
  const errors = new ErrorCollector()
  if (account?.updatesDetails === false) errors.add(PATH, 'base', '915130')
  else if (row.status !== 'submitted_for_settlement') errors.add(PATH, 'base', '915129')
  errors.throwIfAny()
  const amount = fields.isBlank('amount')
    ? row.amount
    : readSaleAmount(fields, row.currency, errors)
  if (amount > row.authorizedAmount) errors.add(PATH, 'amount', '91522')
  checkOrderId(fields, row.instrument.kind, errors)
  const descriptor = readDescriptor(fields, PATH, errors)
  errors.throwIfAny()
  row.amount = amount
  row.orderId = fields.text('order_id') ?? row.orderId
  row.descriptor = descriptor ?? row.descriptor
  return save(context, row)
}

/** More or less than was authorized, where the processor can do it. */
export function adjustAuthorization(
  context: BraintreeContext,
  row: TransactionRow,
  fields: Fields,
): TransactionRow {
  fields.permit(AMOUNT)
  const account = findMerchantAccount(context, row.merchantAccountId)
  const refuseWith = (path: ErrorPath, attribute: string, code: string): never => {
    const errors = new ErrorCollector()
    errors.add(path, attribute, code)
    throw new Refused({ errors, extras: { transaction: transactionXml(context, row) } })
  }
  if (!account?.adjustsAuthorizations) return refuseWith(PATH, 'base', '915222')
  if (row.status !== 'authorized') return refuseWith(PATH, 'base', '915218')
  if (row.recurring) return refuseWith(PATH, 'base', '915219')
  const errors = new ErrorCollector()
  const amount = readSaleAmount(fields, row.currency, errors)
  if (!errors.isEmpty) {
    throw new Refused({ errors, extras: { transaction: transactionXml(context, row) } })
  }
  if (amount === row.amount) return refuseWith(['authorization_adjustment'], 'base', '95606')
  const { responseCode, status } = verdictForAmount({ ...row, amount })
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
