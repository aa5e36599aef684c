import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { createPrice } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { requireTaxCode } from '../catalog/tax-codes.ts'
import { render } from '../state/render.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

export const products: Operations = {
  'Products.create': op<Stripe.ProductCreateParams>((params, { work }) => {
    const product = createProduct(work, params)
    if (params.default_price_data) {
      const price = createPrice(work, { ...params.default_price_data, product: product.id })
      product.default_price = price.id
    }
    work.emit('product.created', 'product', product)
    return render('product', product, work.tables)
  }),

  'Products.retrieve': op((_params, call) =>
    render('product', call.work.require('product', idOf(call)), call.work.tables),
  ),

  'Products.update': op<Stripe.ProductUpdateParams>((params, call) => {
    const { work } = call
    const product = work.edit('product', work.require('product', idOf(call)))
    if (params.default_price !== undefined) {
      const price = work.require('price', params.default_price, 'default_price')
      if (price.product !== product.id) throw noSuch('price', price.id, 'default_price')
      product.default_price = price.id
    }
    if (params.active !== undefined) product.active = params.active
    if (params.name !== undefined) product.name = params.name
    if (params.description !== undefined) product.description = params.description || null
    if (params.images !== undefined) product.images = params.images || []
    if (params.marketing_features !== undefined) {
      product.marketing_features = params.marketing_features || []
    }
    if (params.shippable !== undefined) product.shippable = params.shippable
    if (params.statement_descriptor) product.statement_descriptor = params.statement_descriptor
    if (params.tax_code !== undefined) {
      product.tax_code = params.tax_code ? requireTaxCode(params.tax_code) : null
    }
    if (params.unit_label !== undefined) product.unit_label = params.unit_label || null
    if (params.url !== undefined) product.url = params.url || null
    product.metadata = mergeMetadata(product.metadata, params.metadata)
    product.updated = work.now
    return render('product', product, work.tables)
  }),

  'Products.del': op((_params, call) => {
    const { work } = call
    const product = work.require('product', idOf(call))
    if (work.findBy('price', 'product', product.id).length > 0) {
      throw invalidRequest(
        'This product cannot be deleted because it has one or more user-created prices.',
        'id',
      )
    }
    work.emit('product.deleted', 'product', product)
    work.remove('product', product)
    return { id: product.id, object: 'product', deleted: true }
  }),

  'Products.list': op<Stripe.ProductListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.product.newestFirst(),
      (row) =>
        (params.active === undefined || row.active === params.active) &&
        (params.ids === undefined || params.ids.includes(row.id)) &&
        (params.shippable === undefined || row.shippable === params.shippable) &&
        (params.url === undefined || row.url === params.url) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('product', row, work.tables))
  }),

  'Products.search': op<Stripe.ProductSearchParams>((params, { work, path }) =>
    searchPage(work.tables.product, params, path, {
      toWire: (row) => render('product', row, work.tables),
    }),
  ),
}
