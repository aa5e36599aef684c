import { defineProvider, type Provider, type ProviderFacts } from '../contract/provider.ts'
import { createStripeGateway } from './gateway.ts'
import { requireSettings, type StripeOptions } from './sdk/options.ts'

/** Stripe, as far as it is known without its SDK. */
export const STRIPE = {
  name: 'stripe',
  webhookPath: '/stripe/webhook',
  can: [
    'quantities',
    'confirmations',
    'items',
    'endDates',
    'trials',
    'checkout',
    'portal',
    'customerDetails',
    'refunds',
    'creditNotes',
    'balance',
    'promotionCodes',
    'paymentMethods',
    'setups',
    'disputes',
    'webhookEndpoints',
    'taxIds',
    'taxExemptions',
    'automaticTax',
    'lineRates',
  ],
  statuses: {
    incomplete: 'awaits_first_payment',
    past_due: 'past_due',
    unpaid: 'unpaid',
    incomplete_expired: 'closed',
    paused: 'closed',
  },
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
  ],
} as const satisfies ProviderFacts

export function stripeProvider(given: StripeOptions): Provider {
  const options = requireSettings(given)
  return defineProvider({
    ...STRIPE,
    ...(options.plans ? { plans: options.plans } : {}),
    connect: () => createStripeGateway(options),
  })
}
