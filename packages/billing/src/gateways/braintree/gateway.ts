import type { BraintreeSettings } from '../../options.ts'
import type { Gateway } from '../contract/gateway.ts'
import { translateErrors } from '../contract/translate-errors.ts'
import { checkBraintree } from './check.ts'
import { braintreeCharges } from './payments/charges.ts'
import { braintreeCustomers } from './payments/customers.ts'
import { braintreeInvoices } from './payments/invoices.ts'
import { loadBraintree } from './sdk/client.ts'
import { toBillingError } from './sdk/errors.ts'
import { braintreeStanding } from './subscriptions/discounts.ts'
import { braintreeSubscriptions } from './subscriptions/subscriptions.ts'
import { braintreeSwaps } from './subscriptions/swap.ts'
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
