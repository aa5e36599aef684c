import { defineCapability, defineFeature } from '../define-feature.ts'
import { braintreeWebhooks } from './braintree.ts'
import { stripeWebhooks } from './stripe.ts'
import { stripeEndpoints } from './stripe-endpoints.ts'
/** Receiving and handling webhooks of the provider. */
export const webhooksFeature = defineFeature({
  stripe: stripeWebhooks,
  braintree: braintreeWebhooks,
})

/** Registering webhook endpoints at the provider by a program. */
export const webhookEndpointsCapability = defineCapability('webhookEndpoints', {
  stripe: stripeEndpoints,
})
