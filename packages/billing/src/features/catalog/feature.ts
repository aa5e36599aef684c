import { defineCapability } from '../define-feature.ts'
import { createBraintreeCatalog } from './braintree.ts'
import { createStripeCatalog } from './stripe.ts'

/** Prices, coupons and promotion codes as defined at the provider. */
export const catalogCapability = defineCapability('catalog', {
  stripe: createStripeCatalog,
  braintree: createBraintreeCatalog,
})
