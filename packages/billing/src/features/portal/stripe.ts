import type Stripe from 'stripe'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { findPageLocale } from '../../providers/stripe/page-locale.ts'
import type { PortalFlow, PortalPages } from './contract.ts'

type FlowData = Stripe.BillingPortal.SessionCreateParams.FlowData

export function createStripePortal({ stripe }: StripeContext): { readonly portal: PortalPages } {
  return {
    portal: {
      async open({ customerId, returnUrl, flow, locale }) {
        const { url } = await stripe.billingPortal.sessions.create({
          customer: customerId,
          return_url: returnUrl,
          ...(flow === null ? {} : { flow_data: flowData(flow) }),
          ...(locale === null ? {} : { locale: findPageLocale(locale) }),
        })
        return { url }
      },
    },
  }
}

function flowData(flow: NonNullable<PortalFlow>): FlowData {
  if (flow.kind === 'payment_method') return { type: 'payment_method_update' }
  const { subscriptionId: subscription } = flow
  return flow.kind === 'cancel'
    ? { type: 'subscription_cancel', subscription_cancel: { subscription } }
    : { type: 'subscription_update', subscription_update: { subscription } }
}
