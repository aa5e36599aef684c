import type Stripe from 'stripe'
import { checkSoldIn } from '../catalog/currency-options.ts'
import { createPrice } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { requireTaxRates } from '../catalog/tax-rates.ts'
import { isMeteredPriceRow } from '../catalog/tiers.ts'
import type { CheckoutItem, PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { checkActive, checkQuantity } from '../subscriptions/subscription-items.ts'
import {
  createBelowOneFault,
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireCurrency } from '../wire/money.ts'
import type { CheckoutMode, CheckoutParams } from './checkout-rules.ts'

type LineItem = Stripe.Checkout.SessionCreateParams.LineItem
type PriceData = NonNullable<LineItem['price_data']>

/** Reads the line items of a new checkout session, and creates prices for `price_data`. */
export function parseCheckoutItems(
  work: UnitOfWork,
  params: CheckoutParams,
  mode: CheckoutMode,
): CheckoutItem[] {
  if (mode === 'setup') return []
  if (!params.line_items || params.line_items.length === 0)
    throw createMissingParamFault('line_items')
  const read = params.line_items.map((item, at) => readItem(work, item, `line_items[${at}]`))
  const prices = read.map(({ price }) => price)
  checkRecurring(prices, mode)
  checkCounts(prices, mode)
  checkCurrencies(prices, params.currency)
  return read.map(({ item }) => item)
}

function readItem(work: UnitOfWork, item: LineItem, path: string) {
  const price = readPrice(work, item, path)
  checkQuantity(item.quantity, path, price)
  const quantity = isMeteredPriceRow(price) ? null : readQuantity(item.quantity, path)
  const { adjustable_quantity: adjustable, tax_rates: rates } = item
  const row: CheckoutItem = { price: price.id, quantity }
  if (rates) row.taxRates = requireTaxRates(work, rates, `${path}[tax_rates]`)
  if (adjustable?.enabled && quantity === null) {
    throw createInvalidRequestFault(
      'The quantity of a metered price cannot be adjusted.',
      `${path}[adjustable_quantity]`,
    )
  }
  if (adjustable?.enabled && quantity !== null) {
    const { minimum = 0, maximum = 99 } = adjustable
    if (quantity < minimum || quantity > maximum) {
      throw createInvalidRequestFault(
        `The quantity must be between ${minimum} and ${maximum}, as \`adjustable_quantity\` says.`,
        `${path}[quantity]`,
      )
    }
    row.adjustable = { minimum, maximum }
  }
  if (item.metadata) row.metadata = mergeMetadata({}, item.metadata)
  return { item: row, price }
}

function readQuantity(quantity: number | undefined, path: string): number {
  if (quantity === undefined) throw createMissingParamFault(`${path}[quantity]`)
  if (quantity >= 1) return quantity
  throw createBelowOneFault(`${path}[quantity]`)
}

function readPrice(work: UnitOfWork, item: LineItem, path: string): PriceRow {
  if (item.price !== undefined && item.price_data !== undefined) {
    throw createMutuallyExclusiveFault('price, price_data', path)
  }
  if (item.price_data) return makePrice(work, item.price_data, `${path}[price_data]`)
  if (item.price === undefined) throw createMissingParamFault(`${path}[price]`)
  const price = work.require('price', item.price, `${path}[price]`)
  checkActive(work, price, path)
  return price
}

function makePrice(work: UnitOfWork, data: PriceData, path: string): PriceRow {
  const { product, product_data: described, ...rest } = data
  if (product !== undefined && described !== undefined)
    throw createMutuallyExclusiveFault('product, product_data', path)
  if (product === undefined && described === undefined)
    throw createMissingParamFault(`${path}[product]`)
  const id = product ?? makeProduct(work, described, `${path}[product_data]`)
  return createPrice(work, {
    ...(rest as Partial<Stripe.PriceCreateParams>),
    currency: data.currency,
    product: id,
  })
}

function makeProduct(work: UnitOfWork, data: PriceData['product_data'], path: string): string {
  if (!data?.name) throw createMissingParamFault(`${path}[name]`)
  const product = createProduct(work, {
    name: data.name,
    ...pickSentFields(data, 'description', 'images', 'metadata', 'tax_code', 'unit_label'),
  })
  work.emit('product.created', 'product', product)
  return product.id
}

function checkRecurring(prices: readonly PriceRow[], mode: CheckoutMode): void {
  const recurring = prices.some((price) => price.recurring)
  if (mode === 'subscription' && !recurring) {
    throw createInvalidRequestFault(
      'You must provide at least one recurring price in `subscription` mode when using prices.',
      'line_items',
    )
  }
  if (mode === 'payment' && recurring) {
    throw createInvalidRequestFault(
      'You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.',
      'mode',
    )
  }
}

function checkCounts(prices: readonly PriceRow[], mode: CheckoutMode): void {
  if (mode === 'payment' && prices.length > 100) throw createTooManyFault('100 line items')
  if (mode !== 'subscription') return
  const recurring = prices.filter((price) => price.recurring).length
  if (recurring > 20) throw createTooManyFault('20 line items with recurring prices')
  if (prices.length - recurring > 20) throw createTooManyFault('20 line items with one-time prices')
}

function checkCurrencies(prices: readonly PriceRow[], requestedCurrency: string | undefined): void {
  const expected =
    requestedCurrency === undefined ? prices[0]?.currency : requireCurrency(requestedCurrency)
  if (expected === undefined) return
  for (const price of prices) checkSoldIn(price, expected, 'line_items')
}

function createTooManyFault(what: string) {
  return createInvalidRequestFault(`A Checkout Session can have at most ${what}.`, 'line_items')
}
