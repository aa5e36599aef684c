import type { TransactionRow } from '../state/rows/transactions.ts'
import type { ErrorCollector } from '../wire/errors.ts'
import { LARGEST_32_BIT } from '../wire/money.ts'
import { checkLength, type Fields, readAmount } from '../wire/validation.ts'
import { readLineItems } from './line-items.ts'

const PATH = ['transaction']
const AMOUNTS = {
  tax_amount: ['taxAmount', { invalid: '81535', negative: '81534', 'too-large': '81536' }],
  discount_amount: [
    'discountAmount',
    { invalid: '915159', negative: '915160', 'too-large': '915161' },
  ],
  shipping_amount: [
    'shippingAmount',
    { invalid: '915162', negative: '915163', 'too-large': '915164' },
  ],
  surcharge_amount: [
    'surchargeAmount',
    { invalid: '915162', negative: '915163', 'too-large': '915164' },
  ],
  // Braintree publishes no codes of its own for these two.
  shipping_tax_amount: [
    'shippingTaxAmount',
    { invalid: '915162', negative: '915163', 'too-large': '915164' },
  ],
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

/** What a call says for level 2 and 3 processing, when it sells and when it submits. */
export function readLevelThree(
  fields: Fields,
  currency: string,
  errors: ErrorCollector,
): LevelThree {
  const given: LevelThree = {}
  for (const [key, [name, codes]] of Object.entries(AMOUNTS)) {
    if (fields.isBlank(key)) continue
    const rules = { path: PATH, attribute: key, codes, currency, largest: LARGEST_32_BIT }
    given[name] = readAmount(fields.value(key), rules, errors)
  }
  const order = { path: PATH, longest: 12, code: '91537' }
  checkLength(fields, 'purchase_order_number', order, errors)
  const orderNumber = fields.text('purchase_order_number')
  if (orderNumber !== null) given.purchaseOrderNumber = orderNumber
  const taxExempt = fields.flag('tax_exempt')
  if (taxExempt !== undefined) given.taxExempt = taxExempt
  const postalCode = readPostalCode(fields, errors)
  if (postalCode !== null) given.shipsFromPostalCode = postalCode
  const lineItems = readLineItems(fields, PATH, currency, errors)
  if (lineItems !== null) given.lineItems = lineItems
  return given
}

function readPostalCode(fields: Fields, errors: ErrorCollector): string | null {
  const code = fields.text('ships_from_postal_code')
  if (code === null) return null
  const attribute = 'ships_from_postal_code'
  if (!/^[A-Za-z0-9 -]*$/.test(code)) errors.add(PATH, attribute, '915167')
  else if (code.replace(/[ -]/g, '').length > 9) errors.add(PATH, attribute, '915165')
  return code
}
