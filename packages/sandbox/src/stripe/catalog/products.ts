import type Stripe from 'stripe'
import { createBlankRow } from '../state/blank.ts'
import type { ProductRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { requireTaxCode } from './tax-codes.ts'

export function createProduct(
  work: UnitOfWork,
  params: Pick<Stripe.ProductCreateParams, 'name'> & Partial<Stripe.ProductCreateParams>,
): ProductRow {
  const id = params.id ?? work.newId('prod_', 14)
  if (work.find('product', id)) {
    throw createInvalidRequestFault('Product already exists.', 'id', 'resource_already_exists')
  }
  return work.insert('product', {
    ...createBlankRow('product'),
    id,
    active: true,
    created: work.sandboxNow,
    default_price: null,
    statement_descriptor: null,
    unit_label: null,
    ...pickSentFields(params, 'active', 'description', 'package_dimensions', 'shippable'),
    ...pickSentFields(params, 'statement_descriptor', 'unit_label', 'url'),
    images: params.images ?? [],
    marketing_features: params.marketing_features ?? [],
    metadata: mergeMetadata({}, params.metadata),
    name: params.name,
    tax_code: params.tax_code === undefined ? null : requireTaxCode(params.tax_code),
    type: params.type ?? 'service',
    updated: work.sandboxNow,
  })
}
