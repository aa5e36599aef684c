import { capability } from '../define-feature.ts'
import { stripeConfirmations } from './stripe.ts'
/** Payments that the customer has to confirm at their bank. */
export const confirmations = capability('confirmations', {
  stripe: stripeConfirmations,
})
