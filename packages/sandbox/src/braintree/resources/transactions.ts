import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { onceForKey } from '../api/request-keys.ts'
import { searchIds, searchPage } from '../api/search.ts'
import { adjustAuthorization, updateDetails } from '../sales/changes.ts'
import { credit, declined, setStatus, submit } from '../sales/charging.ts'
import { cloneSale } from '../sales/clone.ts'
import { readDescriptor } from '../sales/descriptor.ts'
import { readLevelThree } from '../sales/level-three.ts'
import { checkOrderId } from '../sales/order-id.ts'
import { leftToSettle, requirePartial, settlePartially } from '../sales/partial-settlement.ts'
import { createSale, readSaleAmount } from '../sales/sale.ts'
import { declineSettlement, settle } from '../sales/settlement.ts'
import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import { lineItemXml } from '../state/line-item-xml.ts'
import type { TransactionRow, TransactionStatus } from '../state/rows/transactions.ts'
import { transactionXml } from '../state/transaction-xml.ts'
import { retryCharge } from '../subscriptions/retry-charge.ts'
import { ErrorCollector, NotFound, refuse } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { Fields, permitted } from '../wire/validation.ts'
import { XmlList } from '../wire/xml.ts'
import { TRANSACTION_SEARCH } from './transaction-search.ts'

const PATH = ['transaction']
const SUBMIT_KEYS = permitted(
  `amount api_request_key descriptor discount_amount final_capture industry line_items order_id
   purchase_order_number shipping shipping_address_id shipping_amount shipping_tax_amount
   ships_from_postal_code tax_amount tax_exempt`,
)
const SUBMIT_UNSUPPORTED = permitted('industry shipping shipping_address_id')
const REFUND_KEYS = permitted('amount api_request_key merchant_account_id order_id')
const VOID_KEYS = permitted('api_request_key')

function create({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('transaction')
  const charge = fields.isBlank('subscription_id') ? createSale : retryCharge
  const row = onceForKey(context, fields, 'create', () => charge(context, fields))
  if (hasFailed(row)) throw declined(context, row)
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
    Object.assign(row, readSubmitted(row, fields, row.authorizedAmount))
    submit(context, row)
    return row
  })
  return respond(context, submitted)
}

/** A part of what was authorized; more parts may follow, up to all of it. */
function submitForPartialSettlement({ context, params, body }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const fields = new Fields(body).object('transaction')
  fields.permit(SUBMIT_KEYS)
  const part = onceForKey(context, fields, `submit part of ${row.id}`, () => {
    requirePartial(row)
    const left = leftToSettle(context, row)
    const { amount, ...details } = readSubmitted({ ...row, amount: left }, fields, left)
    return settlePartially(context, row, { amount, details })
  })
  return respond(context, part, 201)
}

/** What a call says when it submits; the amount is the transaction's own unless told. */
function readSubmitted(
  row: TransactionRow,
  fields: Fields,
  most: number,
): Partial<TransactionRow> & { amount: number } {
  const errors = new ErrorCollector()
  const { currency } = row
  const amount = fields.isBlank('amount') ? row.amount : readSaleAmount(fields, currency, errors)
  if (amount > most) errors.add(PATH, 'amount', '91522')
  errors.throwIfAny()
  const descriptor = readDescriptor(fields, PATH, errors)
  checkOrderId(fields, row.instrument.kind, errors)
  refuseUnsupported(fields, 'transaction', SUBMIT_UNSUPPORTED)
  const levelThree = readLevelThree(fields, currency, errors)
  errors.throwIfAny()
  return {
    amount,
    orderId: fields.text('order_id') ?? row.orderId,
    descriptor: descriptor ?? row.descriptor,
    ...levelThree,
  }
}

function change(
  root: string,
  step: (context: BraintreeContext, row: TransactionRow, fields: Fields) => TransactionRow,
): (call: Call) => OperationResponse {
  return ({ context, params, body }) => {
    const row = requireTransaction(context, params.id)
    return respond(context, step(context, row, new Fields(body).object(root)))
  }
}

function clone({ context, params, body }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const made = cloneSale(context, row, new Fields(body).object('transaction_clone'))
  if (hasFailed(made)) throw declined(context, made)
  return respond(context, made, 201)
}

function lineItems({ context, params }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const items = (row.lineItems ?? []).map((item) => lineItemXml(item, row.currency))
  return { root: 'line_items', value: new XmlList('line_item', items) }
}

function voidTransaction({ context, params, body }: Call): OperationResponse {
  const row = requireTransaction(context, params.id)
  const fields = new Fields(body).object('transaction')
  fields.permit(VOID_KEYS)
  const voided = onceForKey(context, fields, `void ${row.id}`, () => {
    if (!isVoidable(row)) refuse(PATH, 'base', '91504')
    setStatus(context, row, 'voided')
    return row
  })
  return respond(context, voided)
}

function isVoidable({ status, instrument }: TransactionRow): boolean {
  if (status === 'settlement_pending') return instrument.kind !== 'credit_card'
  return status === 'authorized' || status === 'submitted_for_settlement'
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
  if (sale.status !== 'settled' && sale.status !== 'settling') refuse(PATH, 'base', '91506')
  const from = findMerchantAccount(context, sale.merchantAccountId)
  if (sale.status === 'settling' && from?.refundsSettling === false) refuse(PATH, 'base', '91574')
  const left = sale.amount - refundedOf(context, sale)
  if (left <= 0) refuse(PATH, 'base', '91512')
  const errors = new ErrorCollector()
  const amount = fields.isBlank('amount') ? left : readSaleAmount(fields, sale.currency, errors)
  if (amount > left) errors.add(PATH, 'amount', '91521')
  checkOrderId(fields, sale.instrument.kind, errors)
  const accountId = fields.text('merchant_account_id') ?? sale.merchantAccountId
  const account = findMerchantAccount(context, accountId)
  if (account?.currency !== sale.currency) errors.add(PATH, 'merchant_account_id', '91513')
  errors.throwIfAny()
  const { planId, subscriptionId, recurring, billingPeriodStart, billingPeriodEnd } = sale
  const row = credit(context, {
    amount,
    currency: sale.currency,
    merchantAccountId: account?.id ?? sale.merchantAccountId,
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
  'POST /:id/submit_for_partial_settlement': submitForPartialSettlement,
  'PUT /:id/update_details': change('transaction', updateDetails),
  'PUT /:id/adjust_authorization': change('transaction', adjustAuthorization),
  'POST /:id/clone': clone,
  'GET /:id/line_items': lineItems,
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
