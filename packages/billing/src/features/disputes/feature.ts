import { defineCapability } from '../define-feature.ts'
import { createBraintreeDisputes } from './braintree.ts'
import { createStripeDisputes } from './stripe.ts'
/** Disputes: charges that a customer asked their bank to return. */
export const disputesCapability = defineCapability('disputes', {
  stripe: createStripeDisputes,
  braintree: createBraintreeDisputes,
})
