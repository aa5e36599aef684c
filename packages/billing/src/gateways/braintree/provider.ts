import { defineProvider, type Provider, type ProviderFacts } from '../contract/provider.ts'
import { createBraintreeGateway } from './gateway.ts'
import { type BraintreeOptions, requireSettings } from './sdk/options.ts'

/** Braintree, as far as it is known without its SDK. */
export const BRAINTREE = {
  name: 'braintree',
  webhookPath: '/braintree/webhook',
  challenges: true,
  can: [
    'replacements',
    'items',
    'forecasts',
    'customerDetails',
    'refunds',
    'payments',
    'paymentMethods',
    'clientTokens',
    'disputes',
    'usage',
    'lists',
  ],
  usageCountedBy: 'us',
  statuses: { 'Past Due': 'past_due', Pending: 'begins_later' },
  events: [
    'dispute_accepted',
    'dispute_auto_accepted',
    'dispute_disputed',
    'dispute_expired',
    'dispute_lost',
    'dispute_opened',
    'dispute_under_review',
    'dispute_won',
    'payment_method_revoked_by_customer',
    'subscription_billing_skipped',
    'subscription_canceled',
    'subscription_charged_successfully',
    'subscription_charged_unsuccessfully',
    'subscription_expired',
    'subscription_trial_ended',
    'subscription_went_active',
    'subscription_went_past_due',
  ],
} as const satisfies ProviderFacts

export function braintreeProvider(given: BraintreeOptions): Provider {
  const options = requireSettings(given)
  return defineProvider({
    ...BRAINTREE,
    ...(options.plans ? { plans: options.plans } : {}),
    connect: () => createBraintreeGateway(options),
  })
}
