import type { StripeOperations } from '../api/operation.ts'
import {
  customOperation,
  listOperation,
  retrieveOperation,
  searchOperation,
  updateOperation,
} from '../api/resource.ts'
import { readCurrencyOptions } from '../catalog/currency-options.ts'
import { claimLookupKey, createPrice, readAggregateUsageParam } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'

export const priceOperations: StripeOperations = {
  'Prices.create': customOperation('price', (params, { work, removedParams }) => {
    if (params.product !== undefined && params.product_data !== undefined) {
      throw createMutuallyExclusiveFault('product, product_data')
    }
    let product = params.product
    if (params.product_data) {
      const created = createProduct(work, params.product_data)
      work.emit('product.created', 'product', created)
      product = created.id
    }
    if (product === undefined) throw createMissingParamFault('product')
    return createPrice(work, { ...params, product, ...readAggregateUsageParam(removedParams) })
  }),

  'Prices.retrieve': retrieveOperation('price'),
  'Prices.update': updateOperation('price', ['active', 'nickname'], (price, params, { work }) => {
    const { currency_options: options, lookup_key: key, tax_behavior: behavior } = params
    if (behavior !== undefined) {
      if (price.tax_behavior !== 'unspecified' && price.tax_behavior !== behavior) {
        throw createInvalidRequestFault(
          'Tax behavior cannot be changed once it has been specified.',
          'tax_behavior',
        )
      }
      price.tax_behavior = behavior
    }
    if (key !== undefined) {
      claimLookupKey(work, key, params.transfer_lookup_key ?? false, price.id)
      price.lookup_key = key
    }
    if (options === undefined) return
    const { currency: own, billing_scheme: scheme } = price
    const currencyOptions = options
      ? readCurrencyOptions({ own, tiered: scheme === 'tiered' }, options, price.$?.currencyOptions)
      : {}
    price.$ = { ...price.$, currencyOptions }
  }),
  'Prices.list': listOperation('price', {
    where: { lookup_keys: (row, keys) => keys.includes(row.lookup_key ?? '') },
  }),
  'Prices.search': searchOperation('price'),
}
