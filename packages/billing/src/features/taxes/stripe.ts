import type Stripe from 'stripe'
import type { BasisPoints } from '../../core/values/tax.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import { removeUpdateState } from '../../providers/stripe/held-change.ts'
import {
  buildTaxUpdateParams,
  type ConfiguredTax,
  createTaxRateFinder,
  resolveSubscriptionTax,
} from './stripe-chosen-tax.ts'

/**
 * Implements tax changes for Stripe: each in a single request, so that two kinds of tax never apply
 * at once.
 */
export function createStripeTaxes(
  context: StripeContext,
): Pick<Gateway, 'setTax'> & Pick<GatewayParts, 'automaticTax' | 'lineRates'> {
  const { stripe } = context
  const findTaxRates = createTaxRateFinder(context)

  async function set(id: string, said: ConfiguredTax): Promise<void> {
    const current = await retrieveSubscription(stripe, id)
    const isSaid = said.automatic || said.rates || said.percentage
    // The new tax stays, whether or not a pending change is ever paid.
    const metadata = isSaid ? removeUpdateState(current.metadata) : {}
    const params: Stripe.SubscriptionUpdateParams = {
      ...buildTaxUpdateParams(current, resolveSubscriptionTax(current, said)),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
    }
    if (Object.keys(params).length === 0) return
    await stripe.subscriptions.update(id, { ...params, proration_behavior: 'none' })
  }

  return {
    setTax: async (id: string, tax: BasisPoints) =>
      set(id, { percentage: await findTaxRates(tax) }),
    automaticTax: {
      set: (id, automatic) => set(id, { automatic }),
      followChoice: (id) => set(id, {}),
    },
    lineRates: { set: (id, rates) => set(id, { rates }) },
  }
}
