import type { LineItem } from '../state/rows/transactions.ts'
import { formatAmount, MAX_32_BIT_AMOUNT } from '../wire/money.ts'
import { isObject, parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import { toSnakeCaseKeys, type XmlObject } from '../wire/xml.ts'

const MAX_ITEMS = 249
const KEYS = parsePermittedKeys(
  `commodity_code description discount_amount image_url kind name product_code quantity tax_amount
   total_amount unit_amount unit_of_measure unit_tax_amount upc_code upc_type url`,
)
/** Maximum length and error code of each text. */
const LENGTHS = {
  name: [35, '95823'],
  description: [127, '95803'],
  product_code: [12, '95809'],
  commodity_code: [12, '95801'],
  unit_of_measure: [12, '95821'],
  upc_code: [17, '95831'],
} as const
const UPC_TYPES = parsePermittedKeys('UPC-A UPC-B UPC-C UPC-D UPC-E UPC-2 UPC-5')

/** Error codes of optional amounts: invalid format, too large, negative. */
const OPTIONAL_AMOUNTS = {
  unit_tax_amount: { invalid: '95824', 'too-large': '95825', negative: '95826' },
  discount_amount: { invalid: '95804', 'too-large': '95805', negative: '95806' },
  tax_amount: { invalid: '95827', 'too-large': '95828', negative: '95829' },
} as const

const TOTAL_CODES = {
  missing: '95814',
  invalid: '95813',
  negative: '95816',
  zero: '95816',
  'too-large': '95815',
}

/**
 * Reads the line items of a sale, which are part of level 3 processing. Returns `null` if none were
 * sent.
 */
export function readLineItems(fields: RequestFields, currency: string): LineItem[] | null {
  const given = fields.value('line_items')
  if (given === undefined || given === null) return null
  if (!Array.isArray(given)) {
    fields.addError('line_items', '915158')
    return null
  }
  if (given.length > MAX_ITEMS) {
    fields.addError('line_items', '915157')
    return null
  }
  return given.map((item, at) => {
    const path = [...fields.path, 'line_items', `index_${at}`]
    return readLineItem(
      new RequestFields(isObject(item) ? item : {}, path, fields.errors),
      currency,
    )
  })
}

function readLineItem(item: RequestFields, currency: string): LineItem {
  item.permit(KEYS)
  for (const [key, [longest, code]] of Object.entries(LENGTHS)) {
    item.checkLength(key, longest, code)
  }
  if (item.isBlank('name')) item.addError('name', '95822')
  const kind = item.text('kind')
  if (kind === null) item.addError('kind', '95808')
  else if (kind !== 'debit' && kind !== 'credit') item.addError('kind', '95807')
  checkUpc(item)
  const largest = MAX_32_BIT_AMOUNT
  const optional = (key: keyof typeof OPTIONAL_AMOUNTS) =>
    item.isBlank(key) ? null : item.amount(key, { codes: OPTIONAL_AMOUNTS[key], currency, largest })
  return {
    name: item.text('name') ?? '',
    kind: kind === 'credit' ? 'credit' : 'debit',
    description: item.text('description'),
    quantity: readQuantity(item),
    unitAmount: readUnitAmount(item),
    totalAmount: item.amount('total_amount', { codes: TOTAL_CODES, currency, largest }),
    unitTaxAmount: optional('unit_tax_amount'),
    discountAmount: optional('discount_amount'),
    taxAmount: optional('tax_amount'),
    unitOfMeasure: item.text('unit_of_measure'),
    productCode: item.text('product_code'),
    commodityCode: item.text('commodity_code'),
    url: item.text('url'),
    imageUrl: item.text('image_url'),
    upcCode: item.text('upc_code'),
    upcType: item.text('upc_type'),
  }
}

function checkUpc(item: RequestFields): void {
  const type = item.text('upc_type')
  if (type !== null && !UPC_TYPES.has(type)) item.addError('upc_type', '95833')
  if (type !== null && item.isBlank('upc_code')) item.addError('upc_code', '95830')
  if (type === null && !item.isBlank('upc_code')) item.addError('upc_type', '95832')
}

/** Up to four decimals, stored as they were sent. */
const DECIMAL = /^\d+(?:\.\d{1,4})?$/

function readQuantity(item: RequestFields): string {
  const text = item.text('quantity')
  if (text === null) item.addError('quantity', '95811')
  else if (!DECIMAL.test(text)) item.addError('quantity', '95810')
  else if (Number(text) > MAX_32_BIT_AMOUNT) item.addError('quantity', '95812')
  return text ?? ''
}

function readUnitAmount(item: RequestFields): string {
  const text = item.text('unit_amount')
  if (text === null) item.addError('unit_amount', '95818')
  else if (/^-/.test(text) || Number(text) === 0) item.addError('unit_amount', '95820')
  else if (!DECIMAL.test(text)) item.addError('unit_amount', '95817')
  else if (Number(text) * 100 > MAX_32_BIT_AMOUNT) item.addError('unit_amount', '95819')
  return text ?? ''
}

export function renderLineItemXml(item: LineItem, currency: string): XmlObject {
  const money = (minor: number | null) => (minor === null ? null : formatAmount(minor, currency))
  return {
    ...toSnakeCaseKeys(item),
    total_amount: money(item.totalAmount),
    unit_tax_amount: money(item.unitTaxAmount),
    discount_amount: money(item.discountAmount),
    tax_amount: money(item.taxAmount),
  }
}
