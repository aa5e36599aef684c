import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { onceForKey } from '../api/request-keys.ts'
import { searchIds, searchPage } from '../api/search.ts'
import { credit, declined, isAuthorized, setStatus } from '../sales/charging.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { createSale, readSaleAmount } from '../sales/sale.ts'
import { declineSettlement, settle } from '../sales/settlement.ts'
import type { BraintreeContext } from '../state/context.ts'
import type { TransactionRow, TransactionStatus } from '../state/rows/transactions.ts'
import { transactionXml } from '../state/transaction-xml.ts'
import { retryCharge } from '../subscriptions/retry-charge.ts'
import { ErrorCollector, NotFound, refuse } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { Fields, permitted } from '../wire/validation.ts'
import { TRANSACTION_SEARCH } from './transaction-search.ts'

const PATH = ['transaction']
const SUBMIT_KEYS = permitted(
  `amount api_request_key descriptor discount_amount final_capture industry line_items order_id
   purchase_order_number shipping shipping_address_id shipping_amount shipping_tax_amount
   ships_from_postal_code tax_amount tax_exempt`,
)
const SUBMIT_UNSUPPORTED = permitted(
  `discount_amount final_capture industry line_items shipping shipping_address_id shipping_amount
   shipping_tax_amount ships_from_postal_code tax_amount`,
)
const REFUND_KEYS = permitted('amount api_request_key merchant_account_id order_id')
const VOID_KEYS = permitted('api_request_key')

function create({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('transaction')
  const charge = fields.isBlank('subscription_id') ? createSale : retryCharge
  const row = onceForKey(context, fields, 'create', () => charge(context, fields))
  if (row.type === 'sale' && hasFailed(row)) throw declined(context, row)
  return respond(context, row, 201)
}

function find({ context, params }: Call): OperationResponse {
  return respond(context, requireTransaction(context, params.id))
}

function submitForSettlement({ context, params, body }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const fields = new Fields(body).object('transaction')
  fields.permit(SUBMIT_KEYS)
  const submitted = onceForKey(context, fields, `submit ${row.id}`, () => {
    if (row.status !== 'authorized') refuse(PATH, 'base', '91507')
    const errors = new ErrorCollector()
    const amount = fields.isBlank('amount')
      ? row.amount
      : readSaleAmount(fields, row.currency, errors)
    if (amount > row.authorizedAmount) errors.add(PATH, 'amount', '91522')
    errors.throwIfAny()
    const descriptor = readDescriptor(fields, PATH, errors)
    refuseUnsupported(fields, 'transaction', SUBMIT_UNSUPPORTED)
    errors.throwIfAny()
    row.amount = amount
    row.orderId = fields.text('order_id') ?? row.orderId
    row.descriptor = descriptor ?? row.descriptor
    row.purchaseOrderNumber = fields.text('purchase_order_number') ?? row.purchaseOrderNumber
    row.taxExempt = fields.flag('tax_exempt') ?? row.taxExempt
    setStatus(context, row, 'submitted_for_settlement')
    return row
  })
  return respond(context, submitted)
}

function voidTransaction({ context, params, body }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const fields = new Fields(body).object('transaction')
  fields.permit(VOID_KEYS)
  const voided = onceForKey(context, fields, `void ${row.id}`, () => {
    const isPending = row.status === 'settlement_pending' && row.instrument.kind !== 'credit_card'
    if (!isAuthorized(row) && !isPending) refuse(PATH, 'base', '91504')
    setStatus(context, row, 'voided')
    return row
  })
  return respond(context, voided)
}

function refund({ context, params, body }: Call): OperationResponse {
  const sale = requireTransaction(context, params.id)
  const fields = new Fields(body).object('transaction')
  fields.permit(REFUND_KEYS)
  const row = onceForKey(context, fields, `refund ${sale.id}`, () =>
    createRefund(context, sale, fields),
  )
  if (hasFailed(row)) throw declined(context, row)
  return respond(context, row, 201)
}

function createRefund(
  context: BraintreeContext,
  sale: TransactionRow,
  fields: Fields,
): TransactionRow {
  if (sale.type === 'credit') refuse(PATH, 'base', '91505')
  const isSettling = sale.status === 'settling'
  if (isSettling && sale.instrument.kind === 'paypal_account') refuse(PATH, 'base', '91574')
  if (sale.status !== 'settled' && !isSettling) refuse(PATH, 'base', '91506')
  const left = sale.amount - refundedOf(context, sale)
  if (left <= 0) refuse(PATH, 'base', '91512')
  const errors = new ErrorCollector()
  const amount = fields.isBlank('amount') ? left : readSaleAmount(fields, sale.currency, errors)
  if (amount > left) errors.add(PATH, 'amount', '91521')
  errors.throwIfAny()
  const { planId, subscriptionId, recurring, billingPeriodStart, billingPeriodEnd } = sale
  const row = credit(context, {
    amount,
    currency: sale.currency,
    merchantAccountId: sale.merchantAccountId,
    customer: sale.customer,
    token: sale.token,
    instrument: sale.instrument,
    alwaysFailsWith: null,
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

const GAVE_NOTHING = new Set(['voided', 'settlement_declined', 'processor_declined', 'failed'])

/** What was given back so far. */
function refundedOf(context: BraintreeContext, sale: TransactionRow): number {
  let total = 0
  for (const id of sale.refundIds) {
    const row = context.tables.transactions.get(id)
    if (row && !GAVE_NOTHING.has(row.status)) total += row.amount
  }
  return total
}

type Settle = (context: BraintreeContext, row: TransactionRow) => void

/** Settlement on demand, which Braintree offers in its sandbox only. */
function simulate(
  from: readonly TransactionStatus[],
  step: Settle,
): (call: Call) => OperationResponse {
  return ({ context, params }) => {
    const row = requireTransaction(context, params.id)
    if (!from.includes(row.status)) refuse(PATH, 'base', '91575')
    step(context, row)
    return respond(context, row)
  }
}

const OPEN: readonly TransactionStatus[] = [
  'submitted_for_settlement',
  'settling',
  'settlement_pending',
]

function hasFailed(row: TransactionRow): boolean {
  return ['processor_declined', 'gateway_rejected', 'failed'].includes(row.status)
}

function requireTransaction(context: BraintreeContext, id: string | undefined): TransactionRow {
  const row = context.tables.transactions.get(id ?? '')
  if (!row) throw new NotFound('No such transaction')
  return row
}

function respond(
  context: BraintreeContext,
  row: TransactionRow,
  status: 200 | 201 = 200,
): OperationResponse {
  return { root: 'transaction', value: transactionXml(context, row), status }
}

export const transactions: Operations = {
  'POST /': create,
  'GET /:id': find,
  'PUT /:id/submit_for_settlement': submitForSettlement,
  'PUT /:id/void': voidTransaction,
  'POST /:id/refund': refund,
  'PUT /:id/settle': simulate(OPEN, settle),
  'PUT /:id/settlement_pending': simulate(OPEN, (context, row) =>
    setStatus(context, row, 'settlement_pending'),
  ),
  'PUT /:id/settlement_confirm': simulate(OPEN, (context, row) =>
    setStatus(context, row, 'settlement_confirmed'),
  ),
  'PUT /:id/settlement_decline': simulate(OPEN, (context, row) => declineSettlement(context, row)),
  'POST /advanced_search_ids': (call) => searchIds(call, TRANSACTION_SEARCH),
  'POST /advanced_search': (call) => searchPage(call, TRANSACTION_SEARCH),
}
