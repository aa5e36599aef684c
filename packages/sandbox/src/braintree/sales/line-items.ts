import type { LineItem } from '../state/rows/transactions.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { LARGEST_32_BIT, parseAmount } from '../wire/money.ts'
import { checkLength, Fields, isObject, permitted } from '../wire/validation.ts'

const MOST_ITEMS = 249
const KEYS = permitted(
  `commodity_code description discount_amount image_url kind name product_code quantity tax_amount
   total_amount unit_amount unit_of_measure unit_tax_amount upc_code upc_type url`,
)
/** Longest text and its code. */
const LENGTHS = {
  name: [35, '95823'],
  description: [127, '95803'],
  product_code: [12, '95809'],
  commodity_code: [12, '95801'],
  unit_of_measure: [12, '95821'],
  upc_code: [17, '95831'],
} as const
const UPC_TYPES = permitted('UPC-A UPC-B UPC-C UPC-D UPC-E UPC-2 UPC-5')

/** Amounts that may be left out: the codes of a wrong format, too large, negative. */
const OPTIONAL_AMOUNTS = {
  unit_tax_amount: { invalid: '95824', 'too-large': '95825', negative: '95826' },
  discount_amount: { invalid: '95804', 'too-large': '95805', negative: '95806' },
  tax_amount: { invalid: '95827', 'too-large': '95828', negative: '95829' },
} as const

/** What a sale is made of, for level 3 processing; null when the call does not say. */
export function readLineItems(
  fields: Fields,
  parent: ErrorPath,
  currency: string,
  errors: ErrorCollector,
): LineItem[] | null {
  const given = fields.value('line_items')
  if (given === undefined || given === null) return null
  if (!Array.isArray(given)) {
    errors.add(parent, 'line_items', '915158')
    return null
  }
  if (given.length > MOST_ITEMS) {
    errors.add(parent, 'line_items', '915157')
    return null
  }
  return given.map((item, at) => {
    const path = [...parent, 'line_items', `index_${at}`]
    return readLineItem(new Fields(isObject(item) ? item : {}), path, currency, errors)
  })
}

function readLineItem(
  item: Fields,
  path: ErrorPath,
  currency: string,
  errors: ErrorCollector,
): LineItem {
  item.permit(KEYS)
  for (const [key, [longest, code]] of Object.entries(LENGTHS)) {
    checkLength(item, key, { path, longest, code }, errors)
  }
  if (item.isBlank('name')) errors.add(path, 'name', '95822')
  const kind = item.text('kind')
  if (kind === null) errors.add(path, 'kind', '95808')
  else if (kind !== 'debit' && kind !== 'credit') errors.add(path, 'kind', '95807')
  checkUpc(item, path, errors)
  const optional = (key: keyof typeof OPTIONAL_AMOUNTS) =>
    readOptionalAmount(item, key, { path, currency }, errors)
  return {
    name: item.text('name') ?? '',
    kind: kind === 'credit' ? 'credit' : 'debit',
    description: item.text('description'),
    quantity: readQuantity(item, path, errors),
    unitAmount: readUnitAmount(item, path, errors),
    totalAmount: readTotal(item, path, currency, errors),
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

function checkUpc(item: Fields, path: ErrorPath, errors: ErrorCollector): void {
  const type = item.text('upc_type')
  if (type !== null && !UPC_TYPES.has(type)) errors.add(path, 'upc_type', '95833')
  if (type !== null && item.isBlank('upc_code')) errors.add(path, 'upc_code', '95830')
  if (type === null && !item.isBlank('upc_code')) errors.add(path, 'upc_type', '95832')
}

/** Up to four decimals, kept as they were written. */
const DECIMAL = /^\d+(?:\.\d{1,4})?$/

function readQuantity(item: Fields, path: ErrorPath, errors: ErrorCollector): string {
  const text = item.text('quantity')
  if (text === null) errors.add(path, 'quantity', '95811')
  else if (!DECIMAL.test(text)) errors.add(path, 'quantity', '95810')
  else if (Number(text) > LARGEST_32_BIT) errors.add(path, 'quantity', '95812')
  return text ?? ''
}

function readUnitAmount(item: Fields, path: ErrorPath, errors: ErrorCollector): string {
  const text = item.text('unit_amount')
  if (text === null) errors.add(path, 'unit_amount', '95818')
  else if (/^-/.test(text) || Number(text) === 0) errors.add(path, 'unit_amount', '95820')
  else if (!DECIMAL.test(text)) errors.add(path, 'unit_amount', '95817')
  else if (Number(text) * 100 > LARGEST_32_BIT) errors.add(path, 'unit_amount', '95819')
  return text ?? ''
}

function readTotal(
  item: Fields,
  path: ErrorPath,
  currency: string,
  errors: ErrorCollector,
): number {
  if (item.isBlank('total_amount')) {
    errors.add(path, 'total_amount', '95814')
    return 0
  }
  const amount = parseAmount(item.value('total_amount'), currency)
  if (amount === 'invalid') errors.add(path, 'total_amount', '95813')
  else if (amount === 'negative' || amount === 0) errors.add(path, 'total_amount', '95816')
  else if (amount === 'too-large' || amount > LARGEST_32_BIT) {
    errors.add(path, 'total_amount', '95815')
  }
  return typeof amount === 'number' ? amount : 0
}

function readOptionalAmount(
  item: Fields,
  key: keyof typeof OPTIONAL_AMOUNTS,
  { path, currency }: { path: ErrorPath; currency: string },
  errors: ErrorCollector,
): number | null {
  if (item.isBlank(key)) return null
  const codes = OPTIONAL_AMOUNTS[key]
  const amount = parseAmount(item.value(key), currency)
  if (typeof amount !== 'number') errors.add(path, key, codes[amount])
  else if (amount > LARGEST_32_BIT) errors.add(path, key, codes['too-large'])
  return typeof amount === 'number' ? amount : null
}
