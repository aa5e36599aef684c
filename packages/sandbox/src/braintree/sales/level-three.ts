import type { TransactionRow } from '../state/rows/transactions.ts'
import { MAX_32_BIT_AMOUNT } from '../wire/money.ts'
import type { RequestFields } from '../wire/validation.ts'
import { readLineItems } from './line-items.ts'

// Braintree documents no error codes for the surcharge and the shipping tax.
const SHIPPING_CODES = { invalid: '915162', negative: '915163', 'too-large': '915164' }
const AMOUNTS = {
  tax_amount: ['taxAmount', { invalid: '81535', negative: '81534', 'too-large': '81536' }],
  discount_amount: [
    'discountAmount',
    { invalid: '915159', negative: '915160', 'too-large': '915161' },
  ],
  shipping_amount: ['shippingAmount', SHIPPING_CODES],
  surcharge_amount: ['surchargeAmount', SHIPPING_CODES],
  shipping_tax_amount: ['shippingTaxAmount', SHIPPING_CODES],
} as const

type LevelThree = Partial<
  Pick<
    TransactionRow,
    | 'taxAmount'
    | 'taxExempt'
    | 'purchaseOrderNumber'
    | 'discountAmount'
    | 'shippingAmount'
    | 'shippingTaxAmount'
    | 'surchargeAmount'
    | 'shipsFromPostalCode'
    | 'lineItems'
  >
>

/** Reads the level 2 and level 3 data of a sale or settlement, such as taxes and shipping costs. */
export function readLevelThree(fields: RequestFields, currency: string): LevelThree {
  const given: LevelThree = {}
  for (const [key, [name, codes]] of Object.entries(AMOUNTS)) {
    if (fields.isBlank(key)) continue
    given[name] = fields.amount(key, { codes, currency, largest: MAX_32_BIT_AMOUNT })
  }
  fields.checkLength('purchase_order_number', 12, '91537')
  const orderNumber = fields.text('purchase_order_number')
  if (orderNumber !== null) given.purchaseOrderNumber = orderNumber
  const taxExempt = fields.flag('tax_exempt')
  if (taxExempt !== undefined) given.taxExempt = taxExempt
  const postalCode = readPostalCode(fields)
  if (postalCode !== null) given.shipsFromPostalCode = postalCode
  const lineItems = readLineItems(fields, currency)
  if (lineItems !== null) given.lineItems = lineItems
  return given
}

function readPostalCode(fields: RequestFields): string | null {
  const code = fields.text('ships_from_postal_code')
  if (code === null) return null
  const attribute = 'ships_from_postal_code'
  if (!/^[A-Za-z0-9 -]*$/.test(code)) fields.addError(attribute, '915167')
  else if (code.replace(/[ -]/g, '').length > 9) fields.addError(attribute, '915165')
  return code
}
