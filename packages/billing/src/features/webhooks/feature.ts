import { capability, feature } from '../define-feature.ts'
import { braintreeWebhooks } from './braintree.ts'
import { stripeWebhooks } from './stripe.ts'
import { stripeEndpoints } from './stripe-endpoints.ts'
/** Receiving and handling events of the provider. */
export const webhooks = feature({
  stripe: stripeWebhooks,
  braintree: braintreeWebhooks,
})

/** Webhook endpoints that a program can register. */
export const webhookEndpoints = capability('webhookEndpoints', {
  stripe: stripeEndpoints,
})
