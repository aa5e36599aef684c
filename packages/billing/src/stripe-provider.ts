import { assembleGateway, listCapabilities } from './assemble-features.ts'
import type { Gateway } from './providers/gateway.ts'
import {
  defineProvider,
  type GatewayDependencies,
  type Provider,
  type ProviderManifest,
} from './providers/provider.ts'
import { checkStripe, loadStripe, type StripeContext } from './providers/stripe/client.ts'
import { toBillingError } from './providers/stripe/errors.ts'
import {
  requireStripeSettings,
  type StripeOptions,
  type StripeSettings,
} from './providers/stripe/options.ts'
import { translateErrors } from './providers/translate-errors.ts'
import type { CapabilitiesOf } from './without.ts'

/** The properties of Stripe that are known without loading its SDK. */
export const STRIPE_MANIFEST = {
  name: 'stripe',
  webhookPath: '/stripe/webhook',
  can: listCapabilities('stripe'),
  statuses: {
    incomplete: 'awaits_first_payment',
    past_due: 'past_due',
    unpaid: 'unpaid',
    incomplete_expired: 'closed',
    paused: 'closed',
  },
  usageDigits: 15,
  usageEvents: ['v1.billing.meter.error_report_triggered', 'v1.billing.meter.no_meter_found'],
  events: [
    'charge.dispute.created',
    'charge.dispute.updated',
    'charge.dispute.closed',
    'charge.refunded',
    'checkout.session.completed',
    'checkout.session.async_payment_succeeded',
    'checkout.session.async_payment_failed',
    'checkout.session.expired',
    'credit_note.created',
    'customer.subscription.created',
    'customer.subscription.updated',
    'customer.subscription.deleted',
    'customer.subscription.paused',
    'customer.subscription.resumed',
    'customer.subscription.pending_update_applied',
    'customer.subscription.pending_update_expired',
    'customer.updated',
    'customer.deleted',
    'invoice.paid',
    'invoice.payment_succeeded',
    'invoice.payment_failed',
    'invoice.payment_action_required',
    'invoice.voided',
    'payment_method.attached',
    'payment_method.detached',
    'payment_method.updated',
    'payment_method.automatically_updated',
    'subscription_schedule.updated',
    'subscription_schedule.released',
    'subscription_schedule.canceled',
  ],
} as const satisfies ProviderManifest

export function stripeProvider(stripeOptions: StripeOptions): Provider {
  const options = requireStripeSettings(stripeOptions)
  return defineProvider({
    ...STRIPE_MANIFEST,
    ...(options.prices ? { prices: options.prices } : {}),
    connect: (tools = { logger: console }) => createStripeGateway(options, tools),
  })
}

/** Names of the capabilities that billing supports at Stripe. */
export type StripeParts = CapabilitiesOf<'stripe'>

async function createStripeGateway(
  options: StripeSettings,
  { logger, observe }: GatewayDependencies,
): Promise<Gateway<StripeParts>> {
  const context: StripeContext = {
    stripe: await loadStripe(options, observe),
    options,
    currency: (options.currency ?? 'usd').toLowerCase(),
    warn: (logger.warn ?? logger.error).bind(logger),
  }
  const gateway: Gateway<StripeParts> = {
    name: 'stripe',
    ...assembleGateway('stripe', context),
    check: () => checkStripe(context),
  }
  return translateErrors(gateway, toBillingError)
}
