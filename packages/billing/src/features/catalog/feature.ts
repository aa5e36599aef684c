import { defineCapability } from '../define-feature.ts'
import { braintreeCatalog } from './braintree.ts'
import { stripeCatalog } from './stripe.ts'

/** Prices, coupons and promotion codes as defined at the provider. */
export const catalogCapability = defineCapability('catalog', {
  stripe: stripeCatalog,
  braintree: braintreeCatalog,
})
