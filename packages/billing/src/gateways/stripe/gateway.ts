import type { Gateway } from '../contract/gateway.ts'
import type { ProviderTools } from '../contract/provider.ts'
import { translateErrors } from '../contract/translate-errors.ts'
import { stripeAccountLists } from './account-lists.ts'
import { checkStripe } from './check.ts'
import { stripeEndpoints } from './endpoints.ts'
import { stripeForecasts } from './forecasts/forecasts.ts'
import { stripeCheckout } from './pages/checkout.ts'
import { stripePortal } from './pages/portal.ts'
import { stripeSetups } from './pages/setups.ts'
import { stripeBalance } from './payments/balance.ts'
import { stripeCharges } from './payments/charges.ts'
import { stripeCreditNotes } from './payments/credit-notes.ts'
import { stripeCustomerDetails } from './payments/customer-details.ts'
import { stripeCustomers } from './payments/customers.ts'
import { stripeDisputes } from './payments/disputes.ts'
import { stripeInvoices } from './payments/invoices.ts'
import { stripePaymentMethods } from './payments/methods.ts'
import { stripePayments } from './payments/payments.ts'
import { stripeRefunds } from './payments/refunds.ts'
import { stripeSingleInvoices } from './payments/single-invoices.ts'
import { stripeTaxIds } from './payments/tax-ids.ts'
import { stripeInvoiceActions } from './payments/void-invoice.ts'
import { loadStripe, type StripeContext } from './sdk/client.ts'
import { toBillingError } from './sdk/errors.ts'
import type { StripeSettings } from './sdk/options.ts'
import { stripePromotionCodes } from './subscriptions/codes/promotion-codes.ts'
import { stripeConfirmations } from './subscriptions/confirmations.ts'
import { stripeDates } from './subscriptions/dates.ts'
import { stripeDiscounts } from './subscriptions/discounts.ts'
import { stripePauses } from './subscriptions/later/pauses.ts'
import { stripeSchedules } from './subscriptions/later/schedules.ts'
import { stripeStarts } from './subscriptions/start.ts'
import { stripeSubscriptions } from './subscriptions/subscriptions.ts'
import { stripeSwaps } from './subscriptions/swap.ts'
import { stripeTaxes } from './subscriptions/taxes.ts'
import { stripeTerms } from './subscriptions/terms.ts'
import { stripeUsage } from './usage/usage.ts'
import { stripeWebhooks } from './webhooks.ts'

/** What Stripe can do beyond what every provider can. `can` of its provider says the same. */
export type StripeParts =
  | 'quantities'
  | 'confirmations'
  | 'items'
  | 'schedules'
  | 'pauses'
  | 'endDates'
  | 'trials'
  | 'anchors'
  | 'backdating'
  | 'freeStarts'
  | 'forecasts'
  | 'checkout'
  | 'portal'
  | 'customerDetails'
  | 'languages'
  | 'refunds'
  | 'creditNotes'
  | 'balance'
  | 'invoiceActions'
  | 'payments'
  | 'promotionCodes'
  | 'paymentMethods'
  | 'setups'
  | 'disputes'
  | 'webhookEndpoints'
  | 'taxIds'
  | 'taxExemptions'
  | 'automaticTax'
  | 'lineRates'
  | 'usage'
  | 'meteredPrices'
  | 'lists'

export async function createStripeGateway(
  options: StripeSettings,
  { logger }: ProviderTools,
): Promise<Gateway<StripeParts>> {
  const context: StripeContext = {
    stripe: await loadStripe(options),
    options,
    currency: (options.currency ?? 'usd').toLowerCase(),
    warn: (logger.warn ?? logger.error).bind(logger),
  }
  const gateway: Gateway<StripeParts> = {
    name: 'stripe',
    ...stripeCustomers(context),
    ...stripeCustomerDetails(context),
    ...stripeSubscriptions(context),
    ...stripeConfirmations(context),
    ...stripeDiscounts(context),
    ...stripeTerms(context),
    ...stripePromotionCodes(context),
    ...stripeSwaps(context),
    ...stripeDates(context),
    ...stripeStarts,
    ...stripeSchedules(context),
    ...stripePauses(context),
    ...stripeForecasts(context),
    ...stripeCharges(context),
    ...stripeInvoices(context),
    ...stripeRefunds(context),
    ...stripeCreditNotes(context),
    ...stripeBalance(context),
    ...stripeInvoiceActions(context),
    ...stripePayments(context),
    ...stripeDisputes(context),
    ...stripeTaxIds(context),
    ...stripeUsage(context),
    ...stripeTaxes(context),
    ...stripeSingleInvoices(context),
    ...stripePaymentMethods(context),
    ...stripeSetups(context),
    ...stripeCheckout(context),
    ...stripePortal(context),
    ...stripeWebhooks(context),
    ...stripeEndpoints(context),
    ...stripeAccountLists(context),
    check: () => checkStripe(context),
  }
  return translateErrors(gateway, toBillingError)
}
