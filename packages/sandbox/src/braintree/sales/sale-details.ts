import { readAddress } from '../state/addresses.ts'
import { type BraintreeContext, readMerchantSettings } from '../state/context.ts'
import type { PayPalSale, TransactionRow } from '../state/rows/transactions.ts'
import type { BillingAddress } from '../state/rows/vault.ts'
import { readCustomFields } from '../vault/custom-fields.ts'
import { parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import { readDescriptor } from './descriptor.ts'
import { readLevelThree } from './level-three.ts'

const SOURCES = parsePermittedKeys(
  'estimated installment installment_first merchant moto recurring recurring_first unscheduled',
)
const RECURRING = parsePermittedKeys('recurring recurring_first')
const SHIPPING_METHODS = parsePermittedKeys(
  `same_day next_day priority ground electronic ship_to_store pickup_in_store
   pick_up_in_store express standard locker other`,
)

/** Reads the parameters of a sale, except its amount and payment method. */
export function readSaleDetails(
  context: BraintreeContext,
  fields: RequestFields,
  currency: string,
): Partial<TransactionRow> {
  fields.checkLength('channel', 255, '91550')
  const source = fields.text('transaction_source')
  fields.check('transaction_source', (each) => SOURCES.has(each), '915133')
  checkExternalVault(fields.object('external_vault'))
  checkHiddenParams(fields)
  const skipsFraudCheck = fields.object('options').flag('skip_advanced_fraud_checking') ?? false
  return {
    orderId: fields.text('order_id'),
    channel: fields.text('channel'),
    source,
    recurring: fields.flag('recurring') ?? (source !== null && RECURRING.has(source)),
    ...readLevelThree(fields, currency),
    ...readAddresses(context, fields),
    ...readPayPalSale(fields),
    accountType: readAccountType(fields, currency),
    ...(fields.flag('foreign_retailer') ? { foreignRetailer: true } : {}),
    ...(readMerchantSettings(context).fraudProtection && !skipsFraudCheck
      ? { hasRiskData: true }
      : {}),
    descriptor: readDescriptor(fields) ?? { name: null, phone: null, url: null },
    customFields: readCustomFields(context, fields, { invalid: '91526', tooLong: '81527' }),
  }
}

/** Reads the billing and shipping address, given in full or as the id of a customer's address. */
function readAddresses(
  context: BraintreeContext,
  fields: RequestFields,
): Pick<TransactionRow, 'billing' | 'shipping' | 'shippingMethod'> {
  const [billing, shipping] = [fields.object('billing'), fields.object('shipping')]
  shipping.check('shipping_method', (method) => SHIPPING_METHODS.has(method), '915203')
  const { shipping_method: _, ...parts } = shipping.values
  const writtenBilling = readAddress(billing)
  const writtenShipping = readAddress(new RequestFields(parts, shipping.path, shipping.errors))
  billing.check('phone_number', isPhone, '915206')
  shipping.check('phone_number', isPhone, '915204')
  return {
    billing: storedAddress(context, fields, 'billing_address_id') ?? writtenBilling,
    shipping: storedAddress(context, fields, 'shipping_address_id') ?? writtenShipping,
    shippingMethod: shipping.text('shipping_method'),
  }
}

function isPhone(text: string): boolean {
  return /^[\d\s()+.x-]*$/.test(text)
}

function storedAddress(
  context: BraintreeContext,
  fields: RequestFields,
  key: 'billing_address_id' | 'shipping_address_id',
): BillingAddress | null {
  const id = fields.text(key)
  if (id === null) return null
  const row = context.tables.addresses.get(id)
  const token = fields.text('payment_method_token')
  const owner =
    fields.text('customer_id') ?? context.tables.paymentMethods.get(token ?? '')?.customerId
  if (row && row.customerId === owner) return row
  fields.addError(key, key === 'billing_address_id' ? '91702' : '91581')
  return null
}

/** Reads whether a combined card, as in Brazil, is charged as credit or debit. */
function readAccountType(fields: RequestFields, currency: string): 'credit' | 'debit' | null {
  const options = fields.object('options')
  const card = options.object('credit_card')
  const type = card.text('account_type')
  if (type === null) return null
  if (type !== 'credit' && type !== 'debit') card.addError('account_type', '915184')
  else if (currency !== 'BRL') card.addError('account_type', '915185')
  else if (type === 'debit' && !options.flag('submit_for_settlement'))
    card.addError('account_type', '915186')
  return type === 'debit' ? 'debit' : 'credit'
}

const VAULT_KEYS = parsePermittedKeys('status previous_network_transaction_id')

/** Validates the data about a card in another vault. It does not affect the sale. */
function checkExternalVault(vaultFields: RequestFields): void {
  vaultFields.permit(VAULT_KEYS)
  const status = vaultFields.text('status')
  const hasPrevious = !vaultFields.isBlank('previous_network_transaction_id')
  if (status !== null && status !== 'will_vault' && status !== 'vaulted') {
    vaultFields.addError('status', '915175')
  } else if (hasPrevious && status !== 'vaulted') {
    vaultFields.addError('status', '915177')
  }
}

const RISK_KEYS = parsePermittedKeys(
  'customer_browser customer_device_id customer_ip customer_location_zip customer_tenure',
)
const EXEMPTIONS = parsePermittedKeys(
  'low_value secure_corporate trusted_beneficiary transaction_risk_analysis',
)
/** Maximum length and error code of each text. */
const RISK_LENGTHS = {
  customer_device_id: [128, '94702'],
  customer_location_zip: [9, '94705'],
  customer_tenure: [20, '94706'],
} as const

/** Validates params that appear in no response. */
function checkHiddenParams(fields: RequestFields): void {
  fields.check('product_sku', (text) => /^[A-Za-z0-9]+$/.test(text), '915202')
  fields.check('processing_merchant_category_code', (text) => /^\d{4}$/.test(text), '915265')
  fields.check('sca_exemption', (text) => EXEMPTIONS.has(text), '915213')
  checkRiskData(fields.object('risk_data'))
}

function checkRiskData(riskFields: RequestFields): void {
  riskFields.permit(RISK_KEYS)
  for (const [key, [longest, code]] of Object.entries(RISK_LENGTHS)) {
    riskFields.checkLength(key, longest, code)
  }
  riskFields.check('customer_location_zip', (zip) => /^[A-Za-z0-9 -]*$/.test(zip), '94703')
}

const PAYPAL_ACCOUNT_KEYS = parsePermittedKeys(
  'custom_field email payee_email payee_id payer_id payment_id paypal_data token',
)
const PAYPAL_OPTION_KEYS = parsePermittedKeys(
  `custom_field description payee_email payee_id recipient_email recipient_phone shipping
   supplementary_data`,
)

/** Reads the payee and the texts for PayPal, which a call may send in one of three places. */
function readPayPalSale(fields: RequestFields): { paypal?: PayPalSale } {
  const account = fields.object('paypal_account')
  account.permit(PAYPAL_ACCOUNT_KEYS)
  const options = fields.object('options')
  const paypal = options.object('paypal')
  paypal.permit(PAYPAL_OPTION_KEYS)
  const first = (key: string) => paypal.text(key) ?? options.text(key) ?? account.text(key)
  const said: PayPalSale = {
    payeeId: first('payee_id'),
    payeeEmail: first('payee_email'),
    customField: paypal.text('custom_field') ?? account.text('custom_field'),
    description: paypal.text('description'),
  }
  return Object.values(said).some((part) => part !== null) ? { paypal: said } : {}
}
