import { readAddress } from '../state/addresses.ts'
import { type BraintreeContext, settingsOf } from '../state/context.ts'
import type { TransactionRow } from '../state/rows/transactions.ts'
import type { Address } from '../state/rows/vault.ts'
import { readCustomFields } from '../vault/custom-fields.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { checkLength, Fields, permitted } from '../wire/validation.ts'
import { readDescriptor } from './descriptor.ts'
import { checkExternalVault } from './external-vault.ts'
import { readLevelThree } from './level-three.ts'
import { readPayPalSale } from './paypal-details.ts'
import { checkSmallPrint } from './small-print.ts'

const PATH = ['transaction']
const SOURCES = permitted(
  'estimated installment installment_first merchant moto recurring recurring_first unscheduled',
)
const RECURRING = permitted('recurring recurring_first')
const SHIPPING_METHODS = permitted(
  `same_day next_day priority ground electronic ship_to_store pickup_in_store
   pick_up_in_store express standard locker other`,
)

/** What a call says of the sale beside its amount and whom it charges. */
export function readSaleDetails(
  context: BraintreeContext,
  fields: Fields,
  currency: string,
  errors: ErrorCollector,
): Partial<TransactionRow> {
  checkLength(fields, 'channel', { path: PATH, longest: 255, code: '91550' }, errors)
  const source = fields.text('transaction_source')
  if (source !== null && !SOURCES.has(source)) errors.add(PATH, 'transaction_source', '915133')
  checkExternalVault(fields.object('external_vault'), errors)
  checkSmallPrint(fields, errors)
  const skipsFraudCheck = fields.object('options').flag('skip_advanced_fraud_checking') ?? false
  return {
    orderId: fields.text('order_id'),
    channel: fields.text('channel'),
    source,
    recurring: fields.flag('recurring') ?? (source !== null && RECURRING.has(source)),
    ...readLevelThree(fields, currency, errors),
    ...readAddresses(context, fields, errors),
    ...readPayPalSale(fields),
    accountType: readAccountType(fields, currency, errors),
    ...(fields.flag('foreign_retailer') ? { foreignRetailer: true } : {}),
    ...(settingsOf(context).fraudProtection && !skipsFraudCheck ? { hasRiskData: true } : {}),
    descriptor: readDescriptor(fields, PATH, errors) ?? { name: null, phone: null, url: null },
    customFields: readCustomFields(
      context,
      fields.object('custom_fields'),
      { path: PATH, invalid: '91526', tooLong: '81527' },
      errors,
    ),
  }
}

/** Written out, or one of the customer's by its id. */
function readAddresses(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): Pick<TransactionRow, 'billing' | 'shipping' | 'shippingMethod'> {
  const { shipping_method: method, ...written } = fields.object('shipping').values
  const shippingMethod = new Fields({ method }).text('method')
  if (shippingMethod !== null && !SHIPPING_METHODS.has(shippingMethod)) {
    errors.add([...PATH, 'shipping'], 'shipping_method', '915203')
  }
  const billing = readAddress(fields.object('billing'), [...PATH, 'billing'], errors)
  const shipping = readAddress(new Fields(written), [...PATH, 'shipping'], errors)
  checkPhone(billing, 'billing', '915206', errors)
  checkPhone(shipping, 'shipping', '915204', errors)
  return {
    billing: keptAddress(context, fields, 'billing_address_id', errors) ?? billing,
    shipping: keptAddress(context, fields, 'shipping_address_id', errors) ?? shipping,
    shippingMethod,
  }
}

function checkPhone(
  address: Address | null,
  name: string,
  code: string,
  errors: ErrorCollector,
): void {
  if (/^[\d\s()+.x-]*$/.test(address?.phoneNumber ?? '')) return
  errors.add([...PATH, name], 'phone_number', code)
}

function keptAddress(
  context: BraintreeContext,
  fields: Fields,
  key: 'billing_address_id' | 'shipping_address_id',
  errors: ErrorCollector,
): Address | null {
  const id = fields.text(key)
  if (id === null) return null
  const row = context.tables.addresses.get(id)
  const token = fields.text('payment_method_token')
  const owner =
    fields.text('customer_id') ?? context.tables.paymentMethods.get(token ?? '')?.customerId
  if (row && row.customerId === owner) return row
  errors.add(PATH, key, key === 'billing_address_id' ? '91702' : '91581')
  return null
}

/** Which side of a card that is both, as in Brazil. */
function readAccountType(
  fields: Fields,
  currency: string,
  errors: ErrorCollector,
): 'credit' | 'debit' | null {
  const options = fields.object('options')
  const type = options.object('credit_card').text('account_type')
  if (type === null) return null
  const path = [...PATH, 'options', 'credit_card']
  if (type !== 'credit' && type !== 'debit') errors.add(path, 'account_type', '915184')
  else if (currency !== 'BRL') errors.add(path, 'account_type', '915185')
  else if (type === 'debit' && !options.flag('submit_for_settlement'))
    errors.add(path, 'account_type', '915186')
  return type === 'debit' ? 'debit' : 'credit'
}
