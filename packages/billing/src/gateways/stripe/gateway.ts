import type { StripeSettings } from '../../options.ts'
import type { Gateway } from '../gateway.ts'
import { translateErrors } from '../translate-errors.ts'
import { stripeCharges } from './charges.ts'
import { checkStripe } from './check.ts'
import { loadStripe, type StripeContext } from './client.ts'
import { stripeCustomers } from './customers.ts'
import { stripeStanding } from './discounts.ts'
import { toBillingError } from './errors.ts'
import { stripeInvoices } from './invoices.ts'
import { stripeSingleInvoices } from './single-invoices.ts'
import { stripeSubscriptions } from './subscriptions.ts'
import { stripeSwaps } from './swap.ts'
import { stripeWebhooks } from './webhooks.ts'

export async function stripeGateway(options: StripeSettings): Promise<Gateway> {
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
    ...stripeStanding(context),
    ...stripeSwaps(context),
    ...stripeCharges(context),
    ...stripeInvoices(context),
    ...stripeSingleInvoices(context),
    ...stripeWebhooks(context),
    check: () => checkStripe(context),
  }
  return translateErrors(gateway, toBillingError)
}
