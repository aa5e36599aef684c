import {
  type BraintreeContext,
  findMerchantAccount,
  readMerchantSettings,
} from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { PaymentInstrument, ThreeDSecureInfo } from '../state/rows/vault.ts'
import { buildDuplicateSaleKey } from '../state/tables.ts'
import { storeAddress } from '../vault/addresses.ts'
import {
  APPROVED_BY_PROCESSOR,
  decideSimulatedFailure,
  type ProcessorDecision,
} from '../vault/processor.ts'
import {
  checkPassThru,
  readAuthentication,
  SALE_AUTHENTICATION_ID_ERROR_CODES,
  SALE_PASS_THRU_ERROR_CODES,
} from '../vault/three-d-secure.ts'
import { formatAmount } from '../wire/money.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import {
  type ChargeRequest,
  chargePaymentMethod,
  createRefundTransaction,
  isApprovedTransaction,
  takeCustomerSnapshot,
} from './charging.ts'
import { readSaleDetails } from './sale-details.ts'
import { readSaleSource, type SaleSource } from './sale-source.ts'

const KEYS = parsePermittedKeys(
  `accept_partial_authorization amount api_request_key billing billing_address_id channel credit_card custom_fields customer
   customer_id descriptor device_data device_session_id discount_amount exchange_rate_quote_id
   external_vault foreign_retailer fraud_merchant_id industry installments line_items
   merchant_account_id options order_id payment_facilitator payment_method_nonce
   payment_method_token paypal_account processing_merchant_category_code product_sku
   purchase_order_number recurring risk_data sca_exemption service_fee_amount shared_billing_address_id
   shared_customer_id shared_payment_method_nonce shared_payment_method_token
   shared_shipping_address_id shipping shipping_address_id shipping_amount shipping_tax_amount
   ships_from_postal_code subscription_id tax_amount surcharge_amount tax_exempt three_d_secure_authentication_id
   three_d_secure_pass_thru three_d_secure_token transaction_source transfer type`,
)
const AMOUNT_CODES = {
  missing: '81502',
  invalid: '81503',
  negative: '81501',
  zero: '81531',
  'too-large': '81528',
}
const UNSUPPORTED = parsePermittedKeys(
  `exchange_rate_quote_id industry installments payment_facilitator service_fee_amount
   shared_billing_address_id shared_customer_id shared_payment_method_nonce
   shared_payment_method_token shared_shipping_address_id
   three_d_secure_token transfer`,
)
const UNSUPPORTED_OPTIONS = parsePermittedKeys('amex_rewards hold_in_escrow venmo')
const FAILED = new Set(['processor_declined', 'gateway_rejected', 'failed', 'voided'])

/**
 * Creates a sale. If the merchant has the permission, the call can also create a credit that
 * refunds no sale.
 */
export function createSale(context: BraintreeContext, fields: RequestFields): TransactionRow {
  checkSale(fields)
  const type = fields.text('type')
  // Credits without a sale require a permission that new merchant accounts do not have.
  if (type === 'credit' && !readMerchantSettings(context).credits) fields.addError('base', '91546')
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) fields.addError('merchant_account_id', '91513')
  const currency = account?.currency ?? 'USD'
  const amount = readSaleAmount(fields, currency)
  const details = readSaleDetails(context, fields, currency)
  const source = readSaleSource(context, fields)
  checkOrderId(fields, source?.instrument.kind)
  const card = source?.instrument.kind === 'credit_card' ? source.instrument.card : null
  checkPassThru(fields.object('three_d_secure_pass_thru'), card, SALE_PASS_THRU_ERROR_CODES)
  const threeDSecure = readAuthentication(fields, source, SALE_AUTHENTICATION_ID_ERROR_CODES)
  if (!source || !account || !fields.errors.isEmpty) throw fields.refusal()
  const options = fields.object('options')
  const request: ChargeRequest = {
    amount,
    currency,
    merchantAccountId: account.id,
    customer: source.customer,
    token: source.token,
    instrument: source.instrument,
    alwaysFailsWith: source.alwaysFailsWith,
    submitForSettlement: options.flag('submit_for_settlement') ?? false,
    details: { ...details, ...(threeDSecure ? { threeDSecure } : {}) },
  }
  source.consume()
  if (type === 'credit') return createRefundTransaction(context, request)
  const checked = fields.isBlank('api_request_key') && isDuplicate(context, request)
  const rejection = checked
    ? decideSimulatedFailure('duplicate')
    : (rejectUnauthenticated(fields, threeDSecure) ?? decidePartialAuthorization(request, fields))
  const row = chargePaymentMethod(context, { ...request, rejection })
  storeSaleMethod(context, row, source, options)
  return row
}

/**
 * Rejects a sale without the 3-D Secure authentication that the call or merchant requires. Results
 * of another 3-D Secure service count.
 */
function rejectUnauthenticated(
  fields: RequestFields,
  threeDSecure: ThreeDSecureInfo | undefined,
): ProcessorDecision | null {
  const isRequired = fields.object('options').object('three_d_secure').flag('required') ?? false
  const isThere = threeDSecure?.liabilityShifted || !fields.isBlank('three_d_secure_pass_thru')
  return isRequired && !isThere ? decideSimulatedFailure('three_d_secure') : null
}

/**
 * Returns the processor's decision for 1004.00, Braintree's test amount for a partial
 * authorization. `null` for other amounts, or if the call does not accept a partial authorization.
 */
function decidePartialAuthorization(
  { amount, currency }: ChargeRequest,
  fields: RequestFields,
): ProcessorDecision | null {
  const isWelcome = fields.flag('accept_partial_authorization') ?? false
  if (!isWelcome || formatAmount(amount, currency) !== '1004.00') return null
  return { ...APPROVED_BY_PROCESSOR, responseCode: '1004' }
}

/**
 * Validates the parameters that every sale has in common, including the manual retry of a
 * subscription's charge.
 */
export function checkSale(fields: RequestFields): void {
  fields.permit(KEYS)
  fields.refuseUnsupported(UNSUPPORTED)
  fields.object('options').refuseUnsupported(UNSUPPORTED_OPTIONS)
  const type = fields.text('type')
  if (type === null) fields.addError('type', '91524')
  else if (type !== 'sale' && type !== 'credit') fields.addError('type', '91523')
}

export function readSaleAmount(fields: RequestFields, currency: string): number {
  return fields.amount('amount', { codes: AMOUNT_CODES, currency })
}

/**
 * Validates the length of an order id. The limit is lower for PayPal, which uses the order id as
 * its invoice number.
 */
export function checkOrderId(
  fields: RequestFields,
  kind: PaymentInstrument['kind'] | undefined,
): void {
  fields.checkLength('order_id', kind === 'paypal_account' ? 127 : 255, '91501')
}

/** Whether an equal sale was approved shortly before, most likely by a double click. */
function isDuplicate(context: BraintreeContext, request: ChargeRequest): boolean {
  const window = readMerchantSettings(context).duplicateWindowSeconds * 1000
  if (window === 0) return false
  const { amount, currency, token, instrument } = request
  const orderId = request.details?.orderId ?? null
  const key = buildDuplicateSaleKey({
    type: 'sale',
    subscriptionId: null,
    amount,
    currency,
    token,
    instrument,
    orderId,
  })
  const since = context.clock.nowMs() - window
  const equal = context.tables.transactions.findBy('sale', key ?? '')
  return equal.some((row) => row.createdAt > since && !FAILED.has(row.status))
}

function storeSaleMethod(
  context: BraintreeContext,
  row: TransactionRow,
  source: SaleSource,
  options: RequestFields,
): void {
  const wanted =
    options.flag('store_in_vault') ||
    (options.flag('store_in_vault_on_success') && isApprovedTransaction(row))
  if (!wanted || source.token !== null || !source.keep) return
  const withAddress = options.flag('add_billing_address_to_payment_method') ?? false
  const stored = source.keep(withAddress ? (row.billing ?? null) : null)
  row.token = stored.token
  row.keptCard = true
  const { customers } = context.tables
  const customer = customers.get(stored.customerId)
  row.customer = customer ? takeCustomerSnapshot(customer) : row.customer
  if (options.flag('store_shipping_address_in_vault') && row.shipping) {
    storeAddress(context, stored.customerId, row.shipping)
  }
  context.tables.transactions.set(row.id, row)
}
