import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { readCurrencyOptions } from '../catalog/currency-options.ts'
import { claimLookupKey, createPrice, legacyUsage } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { render } from '../state/render.ts'
import type { PriceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

export const prices: Operations = {
  'Prices.create': op<Stripe.PriceCreateParams>((params, { work, gone }) => {
    if (params.product !== undefined && params.product_data !== undefined) {
      throw invalidRequest('You may only specify one of these parameters: product, product_data.')
    }
    let product = params.product
    if (params.product_data) {
      const created = createProduct(work, params.product_data)
      work.emit('product.created', 'product', created)
      product = created.id
    }
    if (product === undefined) throw missingParam('product')
    const price = createPrice(work, { ...params, product, ...legacyUsage(gone) })
    return render('price', price, work.tables)
  }),

  'Prices.retrieve': op((_params, call) =>
    render('price', requirePrice(call.work, idOf(call)), call.work.tables),
  ),

  'Prices.update': op<Stripe.PriceUpdateParams>((params, call) => {
    const { work } = call
    const price = work.edit('price', requirePrice(work, idOf(call)))
    if (params.active !== undefined) price.active = params.active
    if (params.nickname !== undefined) price.nickname = params.nickname
    if (params.tax_behavior !== undefined) {
      if (price.tax_behavior !== 'unspecified' && price.tax_behavior !== params.tax_behavior) {
        throw invalidRequest(
          'Tax behavior cannot be changed once it has been specified.',
          'tax_behavior',
        )
      }
      price.tax_behavior = params.tax_behavior
    }
    if (params.lookup_key !== undefined) {
      claimLookupKey(work, params.lookup_key, params.transfer_lookup_key ?? false, price.id)
      price.lookup_key = params.lookup_key
    }
    const options = params.currency_options
    if (options === '' || options === null) price.$ = { ...price.$, currencyOptions: {} }
    else if (options !== undefined) {
      const merged = readCurrencyOptions(
        { own: price.currency, tiered: price.billing_scheme === 'tiered' },
        options,
        price.$?.currencyOptions,
      )
      price.$ = { ...price.$, currencyOptions: merged }
    }
    price.metadata = mergeMetadata(price.metadata, params.metadata)
    return render('price', price, work.tables)
  }),

  'Prices.list': op<Stripe.PriceListParams>((params, { work, path }) => {
    const { recurring } = params
    const rows = filterRows(
      work.tables.price.newestFirst(),
      (row) =>
        !row.$?.deleted &&
        (params.active === undefined || row.active === params.active) &&
        (params.currency === undefined || row.currency === params.currency) &&
        (params.product === undefined || row.product === params.product) &&
        (params.type === undefined || row.type === params.type) &&
        (params.lookup_keys === undefined || params.lookup_keys.includes(row.lookup_key ?? '')) &&
        (recurring?.interval === undefined || row.recurring?.interval === recurring.interval) &&
        (recurring?.meter === undefined || row.recurring?.meter === recurring.meter) &&
        (recurring?.usage_type === undefined ||
          row.recurring?.usage_type === recurring.usage_type) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('price', row, work.tables))
  }),

  'Prices.search': op<Stripe.PriceSearchParams>((params, { work, path }) =>
    searchPage(work.tables.price, params, path, {
      keep: (row) => !row.$?.deleted,
      toWire: (row) => render('price', row, work.tables),
    }),
  ),
}

/** Deleting the plan deletes the price. */
function requirePrice(work: UnitOfWork, id: string): PriceRow {
  const price = work.require('price', id)
  if (price.$?.deleted) throw noSuch('price', id)
  return price
}
