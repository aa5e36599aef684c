import type { BraintreeSettings } from '../../options.ts'
import type { Gateway } from '../gateway.ts'
import { translateErrors } from '../translate-errors.ts'
import { braintreeCharges } from './charges.ts'
import { checkBraintree } from './check.ts'
import { loadBraintree } from './client.ts'
import { braintreeCustomers } from './customers.ts'
import { braintreeStanding } from './discounts.ts'
import { toBillingError } from './errors.ts'
import { braintreeInvoices } from './invoices.ts'
import { braintreeSubscriptions } from './subscriptions.ts'
import { braintreeSwaps } from './swap.ts'
import { braintreeWebhooks } from './webhooks.ts'

export async function braintreeGateway(options: BraintreeSettings): Promise<Gateway> {
  const context = await loadBraintree(options)
  const gateway: Gateway = {
    name: 'braintree',
    supportsQuantities: false,
    ...braintreeCustomers(context),
    ...braintreeSubscriptions(context),
    ...braintreeStanding(context),
    ...braintreeSwaps(context),
    ...braintreeCharges(context),
    ...braintreeInvoices(context),
    ...braintreeWebhooks(context),
    check: () => checkBraintree(context),
  }
  return translateErrors(gateway, toBillingError)
}
