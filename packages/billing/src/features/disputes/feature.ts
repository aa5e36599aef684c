import { defineCapability } from '../define-feature.ts'
import { braintreeDisputes } from './braintree.ts'
import { stripeDisputes } from './stripe.ts'
/** Disputes: charges that a customer asked their bank to return. */
export const disputesCapability = defineCapability('disputes', {
  stripe: stripeDisputes,
  braintree: braintreeDisputes,
})
