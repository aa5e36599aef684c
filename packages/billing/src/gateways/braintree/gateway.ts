import type { Gateway } from '../contract/gateway.ts'
import { translateErrors } from '../contract/translate-errors.ts'
import { braintreeAccountLists } from './account-lists.ts'
import { checkBraintree } from './check.ts'
import { braintreeForecasts } from './forecasts/forecasts.ts'
import { braintreeCharges } from './payments/charges.ts'
import { braintreeClientTokens } from './payments/client-tokens.ts'
import { braintreeCustomerDetails } from './payments/customer-details.ts'
import { braintreeCustomers } from './payments/customers.ts'
import { braintreeDisputes } from './payments/disputes.ts'
import { braintreeInvoices } from './payments/invoices.ts'
import { braintreePayments } from './payments/latest-payment.ts'
import { braintreePaymentMethods } from './payments/methods.ts'
import { braintreeRefunds } from './payments/refunds.ts'
import { braintreeUsage } from './payments/usage.ts'
import { loadBraintree } from './sdk/client.ts'
import { toBillingError } from './sdk/errors.ts'
import type { BraintreeSettings } from './sdk/options.ts'
import { braintreeDiscounts } from './subscriptions/discounts.ts'
import { creditedOf } from './subscriptions/paid/credited.ts'
import { braintreeSubscriptions } from './subscriptions/subscriptions.ts'
import { braintreeSwaps } from './subscriptions/swap.ts'
import { braintreeTerms } from './subscriptions/terms.ts'
import { braintreeWebhooks } from './webhooks.ts'

/** What Braintree can do beyond what every provider can. `can` of its provider says the same. */
export type BraintreeParts =
  | 'replacements'
  | 'items'
  | 'forecasts'
  | 'customerDetails'
  | 'refunds'
  | 'payments'
  | 'paymentMethods'
  | 'clientTokens'
  | 'disputes'
  | 'usage'
  | 'lists'

export async function createBraintreeGateway(
  options: BraintreeSettings,
): Promise<Gateway<BraintreeParts>> {
  const context = await loadBraintree(options)
  const gateway: Gateway<BraintreeParts> = {
    name: 'braintree',
    ...braintreeCustomers(context),
    ...braintreeCustomerDetails(context),
    ...braintreeSubscriptions(context),
    ...braintreeDiscounts(context),
    ...braintreeTerms(context),
    ...braintreeSwaps(context),
    ...braintreeForecasts(context),
    ...braintreeCharges(context),
    ...braintreeInvoices(context),
    ...braintreeRefunds(context, (sale) => creditedOf(context, sale)),
    ...braintreePayments(context),
    ...braintreePaymentMethods(context),
    ...braintreeClientTokens(context),
    ...braintreeDisputes(context),
    ...braintreeUsage(context),
    ...braintreeWebhooks(context),
    ...braintreeAccountLists(context),
    check: () => checkBraintree(context),
  }
  return translateErrors(gateway, toBillingError)
}
