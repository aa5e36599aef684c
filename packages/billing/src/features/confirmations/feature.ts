import { defineCapability } from '../define-feature.ts'
import { createStripeConfirmations } from './stripe.ts'
/** Payments that the customer has to authenticate with their bank (3-D Secure). */
export const confirmationsCapability = defineCapability('confirmations', {
  stripe: createStripeConfirmations,
})
