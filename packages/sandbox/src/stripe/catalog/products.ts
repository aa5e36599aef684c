import type Stripe from 'stripe'
import type { ProductRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'
import { requireTaxCode } from './tax-codes.ts'

export function createProduct(
  work: UnitOfWork,
  params: Pick<Stripe.ProductCreateParams, 'name'> & Partial<Stripe.ProductCreateParams>,
): ProductRow {
  const id = params.id ?? work.newId('prod_', 14)
  if (work.find('product', id)) {
    throw invalidRequest('Product already exists.', 'id', 'resource_already_exists')
  }
  return work.insert('product', {
    ...nulls<Stripe.Product>('product'),
    id,
    object: 'product',
    active: params.active ?? true,
    created: work.sandboxNow,
    default_price: null,
    description: params.description ?? null,
    images: params.images ?? [],
    livemode: false,
    marketing_features: params.marketing_features ?? [],
    metadata: mergeMetadata({}, params.metadata),
    name: params.name,
    package_dimensions: params.package_dimensions ?? null,
    shippable: params.shippable ?? null,
    statement_descriptor: params.statement_descriptor ?? null,
    tax_code: params.tax_code === undefined ? null : requireTaxCode(params.tax_code),
    type: params.type ?? 'service',
    unit_label: params.unit_label ?? null,
    updated: work.sandboxNow,
    url: params.url ?? null,
  })
}
