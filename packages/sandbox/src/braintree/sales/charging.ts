import { copyJson } from '../../core/store/copy-json.ts'
import { type BraintreeContext, createUnusedId } from '../state/context.ts'
import type { TransactionRow, TransactionStatus } from '../state/rows/transactions.ts'
import type { CustomerSnapshot, PaymentInstrument } from '../state/rows/vault.ts'
import { renderTransactionXml } from '../state/transaction-xml.ts'
import {
  APPROVED_BY_PROCESSOR,
  decideByTestAmount,
  decideSimulatedFailure,
  describeProcessorDecision,
  type ProcessorDecision,
} from '../vault/processor.ts'
import { ValidationRefused } from '../wire/errors.ts'
import { getProcessorResponseType } from '../wire/processor-responses.ts'

export interface ChargeRequest {
  readonly amount: number
  readonly currency: string
  readonly merchantAccountId: string
  readonly customer: CustomerSnapshot | null
  readonly token: string | null
  readonly instrument: PaymentInstrument
  readonly alwaysFailsWith: string | null
  readonly submitForSettlement: boolean
  /**
   * Decision about the charge that is known without asking the processor: the rejection of a
   * duplicate, or an authorization that was granted earlier.
   */
  readonly rejection?: ProcessorDecision | null
  readonly details?: Partial<TransactionRow>
}

/**
 * Returns the fields that a new transaction takes over from the transaction it is derived from,
 * such as the currency and the payment method.
 */
export function copyChargeFields(
  row: TransactionRow,
): Omit<ChargeRequest, 'amount' | 'submitForSettlement'> {
  const { currency, merchantAccountId, customer, token, instrument } = row
  return { currency, merchantAccountId, customer, token, instrument, alwaysFailsWith: null }
}

/**
 * Asks the processor for a charge and stores the transaction, whether it is approved or declined.
 */
export function chargePaymentMethod(
  context: BraintreeContext,
  request: ChargeRequest,
): TransactionRow {
  const verdict = request.rejection ?? decide(context, request)
  const row = newTransaction(context, 'sale', request)
  row.responseCode = verdict.responseCode
  row.gatewayRejectionReason = verdict.gatewayRejectionReason
  setTransactionStatus(context, row, verdict.status)
  if (isApprovedTransaction(row) && request.submitForSettlement)
    submitTransactionForSettlement(context, row)
  return row
}

/**
 * Creates a refund. For cards the processor is asked first, with the same test amounts as for
 * sales: a hard decline rejects the refund; after a soft decline the refund is submitted
 * nevertheless.
 */
export function createRefundTransaction(
  context: BraintreeContext,
  request: ChargeRequest,
): TransactionRow {
  const row = newTransaction(context, 'credit', request)
  const asked = request.instrument.kind === 'credit_card'
  const verdict = asked ? decideByTestAmount(request) : APPROVED_BY_PROCESSOR
  const soft = verdict.responseCode.startsWith('2') && isSoftDecline(verdict.responseCode)
  row.responseCode = soft ? '1005' : verdict.responseCode
  row.authorizationDecline = soft ? verdict.responseCode : null
  row.gatewayRejectionReason = verdict.gatewayRejectionReason
  if (soft || verdict.status === 'authorized') submitTransactionForSettlement(context, row)
  else setTransactionStatus(context, row, verdict.status)
  return row
}

function isSoftDecline(code: string): boolean {
  return getProcessorResponseType(code) === 'soft_declined'
}

/** Decides about a charge: first by simulated declines, then by the card, then by the amount. */
function decide(context: BraintreeContext, request: ChargeRequest): ProcessorDecision {
  const demanded = request.customer?.id && context.trouble.takeDecline(request.customer.id)
  if (demanded) return decideSimulatedFailure(demanded)
  if (request.alwaysFailsWith) return decideSimulatedFailure(request.alwaysFailsWith)
  const verdict = decideByTestAmount(request)
  return verdict.status === 'authorized' ? APPROVED_BY_PROCESSOR : verdict
}

/** Whether the processor approved the transaction. */
export function isApprovedTransaction({ status }: TransactionRow): boolean {
  return ['authorized', 'submitted_for_settlement', 'settling'].includes(status)
}

/**
 * Submits a transaction for settlement. Card payments wait for the nightly batch; PayPal payments
 * start to settle immediately.
 */
export function submitTransactionForSettlement(
  context: BraintreeContext,
  row: TransactionRow,
): void {
  setTransactionStatus(context, row, 'submitted_for_settlement')
  if (row.instrument.kind !== 'credit_card') setTransactionStatus(context, row, 'settling')
}

export function setTransactionStatus(
  context: BraintreeContext,
  row: TransactionRow,
  status: TransactionStatus,
): void {
  const now = context.clock.nowMs()
  row.status = status
  row.updatedAt = now
  row.statusHistory.push({ timestamp: now, status, amount: row.amount })
  context.tables.transactions.set(row.id, row)
}

/**
 * Returns the error response for a declined charge: status 422 with the transaction beside the
 * errors.
 */
export function createDeclineError(row: TransactionRow): ValidationRefused {
  const { gatewayRejectionReason, responseCode } = row
  const status = row.status as ProcessorDecision['status']
  return new ValidationRefused({
    message: describeProcessorDecision({ status, responseCode, gatewayRejectionReason }),
    extras: { transaction: renderTransactionXml(row) },
  })
}

function newTransaction(
  context: BraintreeContext,
  type: TransactionRow['type'],
  request: ChargeRequest,
): TransactionRow {
  const now = context.clock.nowMs()
  const { transactions } = context.tables
  return {
    id: createUnusedId(context, 8, (id) => transactions.has(id)),
    type,
    status: 'authorized',
    amount: request.amount,
    authorizedAmount: request.amount,
    currency: request.currency,
    merchantAccountId: request.merchantAccountId,
    orderId: null,
    taxAmount: null,
    taxExempt: false,
    purchaseOrderNumber: null,
    channel: null,
    source: null,
    recurring: false,
    customer: request.customer && takeCustomerSnapshot(request.customer),
    token: request.token,
    instrument: copyJson(request.instrument),
    customFields: {},
    responseCode: '',
    gatewayRejectionReason: null,
    planId: null,
    subscriptionId: null,
    billingPeriodStart: null,
    billingPeriodEnd: null,
    addOns: [],
    discounts: [],
    descriptor: { name: null, phone: null, url: null },
    refundIds: [],
    refundedTransactionId: null,
    statusHistory: [],
    createdAt: now,
    updatedAt: now,
    ...request.details,
  }
}

export function takeCustomerSnapshot(customer: CustomerSnapshot): CustomerSnapshot {
  const { id, firstName, lastName, company, email, phone, fax, website } = customer
  const internationalPhone = customer.internationalPhone ?? null
  return { id, firstName, lastName, company, email, phone, fax, website, internationalPhone }
}
