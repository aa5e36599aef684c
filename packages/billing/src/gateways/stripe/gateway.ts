import type { StripeOptions } from '../../options.ts'
import type { Gateway } from '../gateway.ts'
import { translateErrors } from '../translate-errors.ts'
import { stripeCharges } from './charges.ts'
import { loadStripe, type StripeContext } from './client.ts'
import { stripeCustomers } from './customers.ts'
import { toBillingError } from './errors.ts'
import { stripeInvoices } from './invoices.ts'
import { stripeSubscriptions } from './subscriptions.ts'
import { stripeSwaps } from './swap.ts'
import { stripeWebhooks } from './webhooks.ts'

export async function stripeGateway(options: StripeOptions): Promise<Gateway> {
  const context: StripeContext = {
    stripe: await loadStripe(options),
    options,
    currency: (options.currency ?? 'usd').toLowerCase(),
  }
  const gateway: Gateway = {
    name: 'stripe',
    supportsQuantities: true,
    ...stripeCustomers(context),
    ...stripeSubscriptions(context),
    ...stripeSwaps(context),
    ...stripeCharges(context),
    ...stripeInvoices(context),
    ...stripeWebhooks(context),
    async check() {
      await context.stripe.subscriptions.list({ limit: 1 })
      return []
    },
  }
  return translateErrors(gateway, toBillingError)
}
