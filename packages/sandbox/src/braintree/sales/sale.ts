import { type BraintreeContext, findMerchantAccount, settingsOf } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { ThreeDSecureInfo } from '../state/rows/vault.ts'
import { saleKey } from '../state/tables.ts'
import { keepAddress } from '../vault/addresses.ts'
import { APPROVED, type Verdict, verdictFor } from '../vault/processor.ts'
import {
  checkPassThru,
  readAuthentication,
  SALE_CODES,
  SALE_ID_CODES,
} from '../vault/three-d-secure.ts'
import { ErrorCollector, Refused } from '../wire/errors.ts'
import { formatAmount } from '../wire/money.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { type Fields, permitted, readAmount } from '../wire/validation.ts'
import { type Charge, charge, credit, snapshotOf, wentThrough } from './charging.ts'
import { checkOrderId } from './order-id.ts'
import { readSaleDetails } from './sale-details.ts'
import { readSaleSource, type SaleSource } from './sale-source.ts'

const PATH = ['transaction']
const KEYS = permitted(
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
const PASS_THRU = { path: [...PATH, 'three_d_secure_pass_thru'], codes: SALE_CODES }
const AUTHENTICATION = { path: PATH, codes: SALE_ID_CODES }
const AMOUNT_CODES = { invalid: '81503', negative: '81501', 'too-large': '81528' }
const UNSUPPORTED = permitted(
  `exchange_rate_quote_id industry installments payment_facilitator service_fee_amount
   shared_billing_address_id shared_customer_id shared_payment_method_nonce
   shared_payment_method_token shared_shipping_address_id
   three_d_secure_token transfer`,
)
const UNSUPPORTED_OPTIONS = permitted('amex_rewards hold_in_escrow venmo')
const FAILED = new Set(['processor_declined', 'gateway_rejected', 'failed', 'voided'])

/** A sale, or with the merchant's permission a credit: money that is sent without one. */
export function createSale(context: BraintreeContext, fields: Fields): TransactionRow {
  const errors = checkSale(fields)
  const type = fields.text('type')
  // A credit without a sale needs a permission that new merchant accounts do not have.
  if (type === 'credit' && !settingsOf(context).credits) errors.add(PATH, 'base', '91546')
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) errors.add(PATH, 'merchant_account_id', '91513')
  const currency = account?.currency ?? 'USD'
  const amount = readSaleAmount(fields, currency, errors)
  const details = readSaleDetails(context, fields, currency, errors)
  const source = readSaleSource(context, fields, errors)
  checkOrderId(fields, source?.instrument.kind, errors)
  const card = source?.instrument.kind === 'credit_card' ? source.instrument.card : null
  checkPassThru(fields.object('three_d_secure_pass_thru'), card, PASS_THRU, errors)
  const threeDSecure = readAuthentication(fields, source, AUTHENTICATION, errors)
  if (!source || !account || !errors.isEmpty) throw new Refused({ errors })
  const options = fields.object('options')
  const request: Charge = {
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
  if (type === 'credit') return credit(context, request)
  const checked = fields.isBlank('api_request_key') && isDuplicate(context, request)
  const rejection = checked
    ? verdictFor('duplicate')
    : (missingAuthentication(fields, threeDSecure) ?? partialVerdict(request, fields))
  const row = charge(context, { ...request, rejection })
  keepInVault(context, row, source, options)
  return row
}

/** Whoever requires 3-D Secure is not to be charged without it; what another service found out counts. */
function missingAuthentication(
  fields: Fields,
  threeDSecure: ThreeDSecureInfo | undefined,
): Verdict | null {
  const isRequired = fields.object('options').object('three_d_secure').flag('required') ?? false
  const isThere = threeDSecure?.liabilityShifted || !fields.isBlank('three_d_secure_pass_thru')
  return isRequired && !isThere ? verdictFor('three_d_secure') : null
}

/** 1004.00, where less than all is welcome: Braintree's test amount for it. */
function partialVerdict({ amount, currency }: Charge, fields: Fields): Verdict | null {
  const isWelcome = fields.flag('accept_partial_authorization') ?? false
  if (!isWelcome || formatAmount(amount, currency) !== '1004.00') return null
  return { ...APPROVED, responseCode: '1004' }
}

/** What holds for every sale, also for the retried charge of a subscription. */
export function checkSale(fields: Fields): ErrorCollector {
  fields.permit(KEYS)
  refuseUnsupported(fields, 'transaction', UNSUPPORTED)
  refuseUnsupported(fields.object('options'), 'transaction[options]', UNSUPPORTED_OPTIONS)
  const errors = new ErrorCollector()
  const type = fields.text('type')
  if (type === null) errors.add(PATH, 'type', '91524')
  else if (type !== 'sale' && type !== 'credit') errors.add(PATH, 'type', '91523')
  return errors
}

export function readSaleAmount(fields: Fields, currency: string, errors: ErrorCollector): number {
  if (fields.isBlank('amount')) {
    errors.add(PATH, 'amount', '81502')
    return 0
  }
  const rules = { path: PATH, attribute: 'amount', codes: AMOUNT_CODES, currency }
  const before = errors.message
  const amount = readAmount(fields.value('amount'), rules, errors)
  if (amount === 0 && errors.message === before) errors.add(PATH, 'amount', '81531')
  return amount
}

/** An equal sale that went through a moment ago: most likely a second click. */
function isDuplicate(context: BraintreeContext, request: Charge): boolean {
  const window = settingsOf(context).duplicateWindowSeconds * 1000
  if (window === 0) return false
  const { amount, currency, token, instrument } = request
  const orderId = request.details?.orderId ?? null
  const key = saleKey({
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

function keepInVault(
  context: BraintreeContext,
  row: TransactionRow,
  source: SaleSource,
  options: Fields,
): void {
  const wanted =
    options.flag('store_in_vault') ||
    (options.flag('store_in_vault_on_success') && wentThrough(row))
  if (!wanted || source.token !== null || !source.keep) return
  const withAddress = options.flag('add_billing_address_to_payment_method') ?? false
  const stored = source.keep(withAddress ? (row.billing ?? null) : null)
  row.token = stored.token
  row.keptCard = true
  const { customers } = context.tables
  const customer = customers.get(stored.customerId)
  row.customer = customer ? snapshotOf(customer) : row.customer
  if (options.flag('store_shipping_address_in_vault') && row.shipping) {
    keepAddress(context, stored.customerId, row.shipping)
  }
  context.tables.transactions.set(row.id, row)
}
