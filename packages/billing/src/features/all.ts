// Every feature of billing by its name. The capabilities of the providers, the methods that are
// missing without them, and the errors for those are all derived from this list.

export { balanceCapability } from './balance/feature.ts'
export { cancellationFeature, endDatesCapability } from './cancel/feature.ts'
export { paymentCapturesCapability } from './captures/feature.ts'
export {
  cardFormsFeature,
  clientTokensCapability,
  paymentMethodSetupsCapability,
} from './card-forms/feature.ts'
export { catalogCapability } from './catalog/feature.ts'
export { checkoutCapability, openCheckoutsFeature } from './checkout/feature.ts'
export { confirmationsCapability } from './confirmations/feature.ts'
export { creditNotesCapability } from './credit-notes/feature.ts'
export {
  customerDetailsCapability,
  customerLanguagesCapability,
  customersFeature,
} from './customers/feature.ts'
export { disputesCapability } from './disputes/feature.ts'
export { invoiceForecastsCapability } from './forecasts/feature.ts'
export { guestCheckoutCapability } from './guest-checkout/feature.ts'
export { invoiceSearchCapability } from './invoice-search/feature.ts'
export { invoiceActionsCapability, invoicesFeature } from './invoices/feature.ts'
export { pricesFeature, subscriptionItemsCapability } from './items/feature.ts'
export { metadataCapability } from './metadata/feature.ts'
export { pausesCapability } from './pauses/feature.ts'
export { paymentMethodsCapability } from './payment-methods/feature.ts'
export { chargesFeature, paymentsCapability } from './payments/feature.ts'
export { customerPortalCapability } from './portal/feature.ts'
export { discountsFeature, promotionCodesCapability } from './promotion-codes/feature.ts'
export { quantitiesCapability, quantityChangesFeature } from './quantities/feature.ts'
export { refundsCapability } from './refunds/feature.ts'
export { resumeFeature } from './resume/feature.ts'
export { subscriptionSchedulesCapability } from './schedules/feature.ts'
export { sentInvoicesCapability } from './sent-invoices/feature.ts'
export {
  backdatingCapability,
  billingAnchorsCapability,
  freeStartsCapability,
  subscriptionCreationFeature,
} from './subscribe/feature.ts'
export { swapFeature, swapReplacementsCapability } from './swap/feature.ts'
export { accountListsCapability, syncFeature } from './sync/feature.ts'
export {
  automaticTaxCapability,
  lineRatesCapability,
  taxExemptionsCapability,
  taxesFeature,
  taxIdsCapability,
} from './taxes/feature.ts'
export { genericTrialsFeature, trialsCapability } from './trials/feature.ts'
export { meteredPricesCapability, unbilledUsageFeature, usageCapability } from './usage/feature.ts'
export { webhookEndpointsCapability, webhooksFeature } from './webhooks/feature.ts'
