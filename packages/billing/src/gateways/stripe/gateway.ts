import type { StripeSettings } from '../../options.ts'
import type { Gateway } from '../contract/gateway.ts'
import { translateErrors } from '../contract/translate-errors.ts'
import { checkStripe } from './check.ts'
import { stripeCharges } from './payments/charges.ts'
import { stripeCustomers } from './payments/customers.ts'
import { stripeInvoices } from './payments/invoices.ts'
import { stripeSingleInvoices } from './payments/single-invoices.ts'
import { loadStripe, type StripeContext } from './sdk/client.ts'
import { toBillingError } from './sdk/errors.ts'
import { stripeStanding } from './subscriptions/discounts.ts'
import { stripeSubscriptions } from './subscriptions/subscriptions.ts'
import { stripeSwaps } from './subscriptions/swap.ts'
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
