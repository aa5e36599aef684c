import type { StripeOperations } from '../api/operation.ts'
import {
  customOperation,
  listOperation,
  removeOperation,
  retrieveOperation,
  searchOperation,
  updateOperation,
} from '../api/resource.ts'
import { createPrice } from '../catalog/prices.ts'
import { createProduct } from '../catalog/products.ts'
import { requireTaxCode } from '../catalog/tax-codes.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'

export const productOperations: StripeOperations = {
  'Products.create': customOperation('product', (params, { work }) => {
    const product = createProduct(work, params)
    if (params.default_price_data) {
      const price = createPrice(work, { ...params.default_price_data, product: product.id })
      product.default_price = price.id
    }
    work.emit('product.created', 'product', product)
    return product
  }),
  'Products.retrieve': retrieveOperation('product'),

  'Products.update': updateOperation(
    'product',
    ['active', 'description', 'name', 'shippable', 'statement_descriptor', 'unit_label', 'url'],
    (product, params, { work }) => {
      if (params.default_price !== undefined) {
        const price = work.require('price', params.default_price, 'default_price')
        if (price.product !== product.id)
          throw createNoSuchObjectFault('price', price.id, 'default_price')
        product.default_price = price.id
      }
      if (params.images !== undefined) product.images = params.images || []
      if (params.marketing_features !== undefined) {
        product.marketing_features = params.marketing_features || []
      }
      if (params.tax_code !== undefined) {
        product.tax_code = params.tax_code ? requireTaxCode(params.tax_code) : null
      }
      product.updated = work.now
    },
  ),
  'Products.del': removeOperation('product', (product, { work }) => {
    if (work.findBy('price', 'product', product.id).length > 0) {
      throw createInvalidRequestFault(
        'This product cannot be deleted because it has one or more user-created prices.',
        'id',
      )
    }
    work.emit('product.deleted', 'product', product)
    work.remove('product', product)
  }),
  'Products.list': listOperation('product', { where: { ids: (row, ids) => ids.includes(row.id) } }),
  'Products.search': searchOperation('product'),
}
