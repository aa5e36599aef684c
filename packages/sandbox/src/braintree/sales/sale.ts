import { readAddress } from '../state/addresses.ts'
import { type BraintreeContext, findMerchantAccount, settingsOf } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import { saleKey } from '../state/tables.ts'
import { readCustomFields } from '../vault/custom-fields.ts'
import { verdictFor } from '../vault/processor.ts'
import { ErrorCollector, Refused } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { checkLength, type Fields, permitted, readAmount } from '../wire/validation.ts'
import { type Charge, charge, isAuthorized, snapshotOf } from './charging.ts'
import { readDescriptor } from './descriptor.ts'
import { readSaleSource, type SaleSource } from './sale-source.ts'

const PATH = ['transaction']
const KEYS = permitted(
  `amount api_request_key billing billing_address_id channel credit_card custom_fields customer
   customer_id descriptor device_data device_session_id discount_amount exchange_rate_quote_id
   external_vault foreign_retailer fraud_merchant_id industry installments line_items
   merchant_account_id options order_id payment_facilitator payment_method_nonce
   payment_method_token paypal_account processing_merchant_category_code product_sku
   purchase_order_number recurring risk_data sca_exemption service_fee_amount shared_billing_address_id
   shared_customer_id shared_payment_method_nonce shared_payment_method_token
   shared_shipping_address_id shipping shipping_address_id shipping_amount shipping_tax_amount
   ships_from_postal_code subscription_id tax_amount tax_exempt three_d_secure_authentication_id
   three_d_secure_pass_thru three_d_secure_token transaction_source transfer type`,
)
const AMOUNT_CODES = { invalid: '81503', negative: '81501', 'too-large': '81528' }
const TAX_CODES = { invalid: '81535', negative: '81534', 'too-large': '81536' }
const SOURCES = permitted(
  'estimated installment installment_first merchant moto recurring recurring_first unscheduled',
)
const RECURRING = permitted('recurring recurring_first')
const UNSUPPORTED = permitted(
  `billing_address_id discount_amount exchange_rate_quote_id external_vault foreign_retailer industry
   installments line_items payment_facilitator paypal_account processing_merchant_category_code
   product_sku sca_exemption service_fee_amount shared_billing_address_id shared_customer_id
   shared_payment_method_nonce shared_payment_method_token shared_shipping_address_id
   shipping_address_id shipping_amount shipping_tax_amount ships_from_postal_code
   three_d_secure_authentication_id three_d_secure_pass_thru three_d_secure_token transfer`,
)
const UNSUPPORTED_OPTIONS = permitted(
  'add_billing_address_to_payment_method hold_in_escrow store_shipping_address_in_vault three_d_secure',
)
const FAILED = new Set(['processor_declined', 'gateway_rejected', 'failed', 'voided'])

export function createSale(context: BraintreeContext, fields: Fields): TransactionRow {
  const errors = checkSale(fields)
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) errors.add(PATH, 'merchant_account_id', '91513')
  const currency = account?.currency ?? 'USD'
  const amount = readSaleAmount(fields, currency, errors)
  const details = readDetails(context, fields, currency, errors)
  const source = readSaleSource(context, fields, errors)
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
    details,
  }
  source.consume()
  const checked = fields.isBlank('api_request_key') && isDuplicate(context, request)
  const rejection = checked ? verdictFor('duplicate') : null
  const row = charge(context, { ...request, rejection })
  keepInVault(context, row, source, options)
  return row
}

/** What holds for every sale, also for the retried charge of a subscription. */
export function checkSale(fields: Fields): ErrorCollector {
  fields.permit(KEYS)
  refuseUnsupported(fields, 'transaction', UNSUPPORTED)
  refuseUnsupported(fields.object('options'), 'transaction[options]', UNSUPPORTED_OPTIONS)
  const errors = new ErrorCollector()
  checkType(fields, errors)
  return errors
}

function checkType(fields: Fields, errors: ErrorCollector): void {
  const type = fields.text('type')
  if (type === null) errors.add(PATH, 'type', '91524')
  // A credit without a sale needs a permission that new merchant accounts do not have.
  else if (type === 'credit') errors.add(PATH, 'base', '91546')
  else if (type !== 'sale') errors.add(PATH, 'type', '91523')
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

function readTax(fields: Fields, currency: string, errors: ErrorCollector): number | null {
  if (fields.isBlank('tax_amount')) return null
  const rules = { path: PATH, attribute: 'tax_amount', codes: TAX_CODES, currency }
  return readAmount(fields.value('tax_amount'), rules, errors)
}

function readDetails(
  context: BraintreeContext,
  fields: Fields,
  currency: string,
  errors: ErrorCollector,
): Partial<TransactionRow> {
  checkLength(fields, 'order_id', { path: PATH, longest: 255, code: '91501' }, errors)
  const poRule = { path: PATH, longest: 12, code: '91537' }
  checkLength(fields, 'purchase_order_number', poRule, errors)
  const source = fields.text('transaction_source')
  if (source !== null && !SOURCES.has(source)) errors.add(PATH, 'transaction_source', '915133')
  const taxAmount = readTax(fields, currency, errors)
  return {
    orderId: fields.text('order_id'),
    channel: fields.text('channel'),
    source,
    recurring: fields.flag('recurring') ?? (source !== null && RECURRING.has(source)),
    billing: readAddress(fields.object('billing'), [...PATH, 'billing'], errors),
    shipping: readAddress(fields.object('shipping'), [...PATH, 'shipping'], errors),
    taxAmount,
    taxExempt: fields.flag('tax_exempt') ?? false,
    purchaseOrderNumber: fields.text('purchase_order_number'),
    descriptor: readDescriptor(fields, PATH, errors) ?? { name: null, phone: null, url: null },
    customFields: readCustomFields(
      context,
      fields.object('custom_fields'),
      { path: PATH, invalid: '91526', tooLong: '81527' },
      errors,
    ),
  }
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
    (options.flag('store_in_vault_on_success') && isAuthorized(row))
  if (!wanted || source.token !== null) return
  const stored = source.keep()
  row.token = stored.token
  const { customers } = context.tables
  const customer = customers.get(stored.customerId)
  row.customer = customer ? snapshotOf(customer) : row.customer
  context.tables.transactions.set(row.id, row)
}
