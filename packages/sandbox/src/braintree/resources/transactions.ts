import {
  type BraintreeApiCall,
  type BraintreeOperation,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { runOncePerRequestKey } from '../api/request-keys.ts'
import { searchOperations } from '../api/search.ts'
import { adjustAuthorization, updateDetails } from '../sales/changes.ts'
import {
  copyChargeFields,
  createDeclineError,
  createRefundTransaction,
  setTransactionStatus,
  submitTransactionForSettlement,
} from '../sales/charging.ts'
import { cloneSale } from '../sales/clone.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { readLevelThree } from '../sales/level-three.ts'
import { renderLineItemXml } from '../sales/line-items.ts'
import {
  computeUnsettledAmount,
  requirePartialSettlement,
  settlePartially,
} from '../sales/partial-settlement.ts'
import { checkOrderId, createSale, readSaleAmount } from '../sales/sale.ts'
import { declineSettlement, settleTransaction } from '../sales/settlement.ts'
import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { renderTransactionXml } from '../state/transaction-xml.ts'
import { retryCharge } from '../subscriptions/retry-charge.ts'
import { parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import { XmlList } from '../wire/xml.ts'
import { TRANSACTION_SEARCH } from './transaction-search.ts'

const SUBMIT_KEYS = parsePermittedKeys(
  `amount api_request_key descriptor discount_amount final_capture industry line_items order_id
   purchase_order_number shipping shipping_address_id shipping_amount shipping_tax_amount
   ships_from_postal_code tax_amount tax_exempt`,
)
const SUBMIT_UNSUPPORTED = parsePermittedKeys('industry shipping shipping_address_id')
const REFUND_KEYS = parsePermittedKeys('amount api_request_key merchant_account_id order_id')
const VOID_KEYS = parsePermittedKeys('api_request_key')

function create({ context, body }: BraintreeApiCall): OperationResponse {
  const fields = new RequestFields(body).object('transaction')
  const charge = fields.isBlank('subscription_id') ? createSale : retryCharge
  const row = runOncePerRequestKey(context, fields, 'create', () => charge(context, fields))
  if (hasFailed(row)) throw createDeclineError(row)
  return respond(row, 201)
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  return respond(requireRow(context.tables.transactions, params.id))
}

/**
 * Changes a transaction. Returns the new transaction if the change creates one, otherwise the
 * changed transaction.
 */
type TransactionChange = (
  context: BraintreeContext,
  row: TransactionRow,
  fields: RequestFields,
) => TransactionRow

function createChangeOperation(
  step: TransactionChange,
  status: 200 | 201 = 200,
  root = 'transaction',
): BraintreeOperation {
  return ({ context, params, body }) => {
    const row = requireRow(context.tables.transactions, params.id)
    const result = step(context, row, new RequestFields(body).object(root))
    if (hasFailed(result)) throw createDeclineError(result)
    return respond(result, status)
  }
}

const submitForSettlement: TransactionChange = (context, row, fields) => {
  fields.permit(SUBMIT_KEYS)
  return runOncePerRequestKey(context, fields, `submit ${row.id}`, () => {
    if (row.status !== 'authorized') fields.refuse('base', '91507')
    Object.assign(row, readSubmitted(row, fields, row.authorizedAmount))
    submitTransactionForSettlement(context, row)
    return row
  })
}

/** Settles a part of the authorized amount. Further parts may follow, up to the whole amount. */
const submitForPartialSettlement: TransactionChange = (context, row, fields) => {
  fields.permit(SUBMIT_KEYS)
  return runOncePerRequestKey(context, fields, `submit part of ${row.id}`, () => {
    requirePartialSettlement(row)
    const left = computeUnsettledAmount(context, row)
    const { amount, ...details } = readSubmitted({ ...row, amount: left }, fields, left)
    return settlePartially(context, row, { amount, details })
  })
}

/** Reads the params of a settlement. The amount defaults to the transaction's. */
function readSubmitted(
  row: TransactionRow,
  fields: RequestFields,
  maxAmount: number,
): Partial<TransactionRow> & { amount: number } {
  const { currency } = row
  const amount = fields.isBlank('amount') ? row.amount : readSaleAmount(fields, currency)
  if (amount > maxAmount) fields.addError('amount', '91522')
  fields.throwIfAny()
  const descriptor = readDescriptor(fields)
  checkOrderId(fields, row.instrument.kind)
  fields.refuseUnsupported(SUBMIT_UNSUPPORTED)
  const levelThree = readLevelThree(fields, currency)
  fields.throwIfAny()
  return {
    amount,
    orderId: fields.text('order_id') ?? row.orderId,
    descriptor: descriptor ?? row.descriptor,
    ...levelThree,
  }
}

function lineItems({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.transactions, params.id)
  const items = (row.lineItems ?? []).map((item) => renderLineItemXml(item, row.currency))
  return { root: 'line_items', value: new XmlList('line_item', items) }
}

const voidTransaction: TransactionChange = (context, row, fields) => {
  fields.permit(VOID_KEYS)
  return runOncePerRequestKey(context, fields, `void ${row.id}`, () => {
    if (!isVoidable(row)) fields.refuse('base', '91504')
    setTransactionStatus(context, row, 'voided')
    return row
  })
}

function isVoidable({ status, instrument }: TransactionRow): boolean {
  if (status === 'settlement_pending') return instrument.kind !== 'credit_card'
  return status === 'authorized' || status === 'submitted_for_settlement'
}

const refund: TransactionChange = (context, sale, fields) => {
  fields.permit(REFUND_KEYS)
  return runOncePerRequestKey(context, fields, `refund ${sale.id}`, () =>
    createRefund(context, sale, fields),
  )
}

function createRefund(
  context: BraintreeContext,
  sale: TransactionRow,
  fields: RequestFields,
): TransactionRow {
  if (sale.type === 'credit') fields.refuse('base', '91505')
  if (sale.status !== 'settled' && sale.status !== 'settling') fields.refuse('base', '91506')
  const from = findMerchantAccount(context, sale.merchantAccountId)
  if (sale.status === 'settling' && from?.refundsSettling === false) fields.refuse('base', '91574')
  const left = sale.amount - sumRefunds(context, sale)
  if (left <= 0) fields.refuse('base', '91512')
  const amount = fields.isBlank('amount') ? left : readSaleAmount(fields, sale.currency)
  if (amount > left) fields.addError('amount', '91521')
  checkOrderId(fields, sale.instrument.kind)
  const accountId = fields.text('merchant_account_id') ?? sale.merchantAccountId
  const account = findMerchantAccount(context, accountId)
  if (account?.currency !== sale.currency) fields.addError('merchant_account_id', '91513')
  fields.throwIfAny()
  const { planId, subscriptionId, recurring, billingPeriodStart, billingPeriodEnd } = sale
  const row = createRefundTransaction(context, {
    ...copyChargeFields(sale),
    amount,
    merchantAccountId: account?.id ?? sale.merchantAccountId,
    submitForSettlement: true,
    details: {
      orderId: fields.text('order_id') ?? sale.orderId,
      refundedTransactionId: sale.id,
      planId,
      subscriptionId,
      recurring,
      billingPeriodStart,
      billingPeriodEnd,
    },
  })
  sale.refundIds.push(row.id)
  sale.updatedAt = context.clock.nowMs()
  context.tables.transactions.set(sale.id, sale)
  return row
}

const NOT_REFUNDED = new Set(['voided', 'settlement_declined', 'processor_declined', 'failed'])

/** Returns the sum of a sale's refunds. */
function sumRefunds(context: BraintreeContext, sale: TransactionRow): number {
  let total = 0
  for (const id of sale.refundIds) {
    const row = context.tables.transactions.get(id)
    if (row && !NOT_REFUNDED.has(row.status)) total += row.amount
  }
  return total
}

const OPEN = parsePermittedKeys('submitted_for_settlement settling settlement_pending')

/**
 * Returns an operation that changes the settlement state, which Braintree offers in its sandbox
 * only.
 */
function createSettlementOperation(
  settleNow: (context: BraintreeContext, row: TransactionRow) => void,
): BraintreeOperation {
  return createChangeOperation((context, row, fields) => {
    if (!OPEN.has(row.status)) fields.refuse('base', '91575')
    settleNow(context, row)
    return row
  })
}

function hasFailed(row: TransactionRow): boolean {
  return ['processor_declined', 'gateway_rejected', 'failed'].includes(row.status)
}

function respond(row: TransactionRow, status: 200 | 201 = 200): OperationResponse {
  return { root: 'transaction', value: renderTransactionXml(row), status }
}

export const transactionOperations: BraintreeOperations = {
  'POST /': create,
  'GET /:id': find,
  'PUT /:id/submit_for_settlement': createChangeOperation(submitForSettlement),
  'POST /:id/submit_for_partial_settlement': createChangeOperation(submitForPartialSettlement, 201),
  'PUT /:id/update_details': createChangeOperation(updateDetails),
  'PUT /:id/adjust_authorization': createChangeOperation(adjustAuthorization),
  'POST /:id/clone': createChangeOperation(cloneSale, 201, 'transaction_clone'),
  'GET /:id/line_items': lineItems,
  'PUT /:id/void': createChangeOperation(voidTransaction),
  'POST /:id/refund': createChangeOperation(refund, 201),
  'PUT /:id/settle': createSettlementOperation(settleTransaction),
  'PUT /:id/settlement_pending': createSettlementOperation((context, row) =>
    setTransactionStatus(context, row, 'settlement_pending'),
  ),
  'PUT /:id/settlement_confirm': createSettlementOperation((context, row) =>
    setTransactionStatus(context, row, 'settlement_confirmed'),
  ),
  'PUT /:id/settlement_decline': createSettlementOperation(declineSettlement),
  ...searchOperations(TRANSACTION_SEARCH),
}
