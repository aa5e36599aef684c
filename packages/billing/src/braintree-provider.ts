import { assembleGateway, listCapabilities } from './assemble-features.ts'
import { checkBraintree, loadBraintree } from './providers/braintree/client.ts'
import { toBillingError } from './providers/braintree/errors.ts'
import {
  type BraintreeOptions,
  type BraintreeSettings,
  requireBraintreeSettings,
} from './providers/braintree/options.ts'
import type { Gateway } from './providers/gateway.ts'
import {
  defineProvider,
  type GatewayDependencies,
  type Provider,
  type ProviderManifest,
} from './providers/provider.ts'
import { translateErrors } from './providers/translate-errors.ts'
import type { CapabilitiesOf } from './without.ts'

/** The properties of Braintree that are known without loading its SDK. */
export const BRAINTREE_MANIFEST = {
  name: 'braintree',
  webhookPath: '/braintree/webhook',
  challenges: true,
  can: listCapabilities('braintree'),
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
} as const satisfies ProviderManifest

export function braintreeProvider(braintreeOptions: BraintreeOptions): Provider {
  const options = requireBraintreeSettings(braintreeOptions)
  return defineProvider({
    ...BRAINTREE_MANIFEST,
    ...(options.prices ? { prices: options.prices } : {}),
    connect: (tools) => createBraintreeGateway(options, tools),
  })
}

/** Names of the capabilities that billing supports at Braintree. */
export type BraintreeParts = CapabilitiesOf<'braintree'>

async function createBraintreeGateway(
  options: BraintreeSettings,
  tools?: GatewayDependencies,
): Promise<Gateway<BraintreeParts>> {
  const context = await loadBraintree(options, tools?.observe)
  const gateway: Gateway<BraintreeParts> = {
    name: 'braintree',
    ...assembleGateway('braintree', context),
    check: () => checkBraintree(context),
  }
  return translateErrors(gateway, toBillingError)
}
