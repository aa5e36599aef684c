import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreeWebhooks } from './braintree.ts'
import { createStripeWebhooks } from './stripe.ts'
import { createStripeEndpoints } from './stripe-endpoints.ts'
/** Receiving and handling webhooks of the provider. */
export const webhooksFeature = defineFeature({
  stripe: createStripeWebhooks,
  braintree: createBraintreeWebhooks,
})

/** Registering webhook endpoints at the provider by a program. */
export const webhookEndpointsCapability = defineCapability('webhookEndpoints', {
  stripe: createStripeEndpoints,
})
