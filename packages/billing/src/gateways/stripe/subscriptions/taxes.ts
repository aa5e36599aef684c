import type Stripe from 'stripe'
import type { BasisPoints } from '../../../values/tax.ts'
import type { Gateway } from '../../contract/gateway.ts'
import type { GatewayParts } from '../../contract/parts.ts'
import type { StripeContext } from '../sdk/client.ts'
import { type SaidTax, taxParams, taxTarget } from './chosen-tax.ts'
import { forget } from './held/remembered.ts'
import { retrieve } from './retrieve.ts'
import { taxRates } from './tax-rates.ts'

/** Another tax for bills to come: all of it in one call, so that no two ways of taxing are there at once. */
export function stripeTaxes(
  context: StripeContext,
): Pick<Gateway, 'setTax'> & Pick<GatewayParts, 'automaticTax' | 'lineRates'> {
  const { stripe } = context
  const findTaxRates = taxRates(context)

  async function set(id: string, said: SaidTax): Promise<void> {
    const current = await retrieve(stripe, id)
    const isSaid = said.automatic || said.rates || said.percentage
    // What is said now holds, whether or not a change that waits is ever paid.
    const metadata = isSaid ? forget(current.metadata) : {}
    const params: Stripe.SubscriptionUpdateParams = {
      ...taxParams(current, taxTarget(current, said)),
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
