import { capability } from '../define-feature.ts'
import { braintreeCatalog } from './braintree.ts'
import { stripeCatalog } from './stripe.ts'

/** Prices and coupons as the provider has them. */
export const catalog = capability('catalog', {
  stripe: stripeCatalog,
  braintree: braintreeCatalog,
})
