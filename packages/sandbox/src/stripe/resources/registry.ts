import type { StripeOperations } from '../api/operation.ts'
import type { OperationsV2 } from '../api/v2.ts'
import { account } from './account.ts'
import { balance, balanceTransactionOperations } from './balance.ts'
import { billingPortal } from './billing-portal.ts'
import { billingPortalConfigurations } from './billing-portal-configurations.ts'
import { charges } from './charges.ts'
import { checkoutSessions } from './checkout-sessions.ts'
import { coupons } from './coupons.ts'
import { creditNotes } from './credit-notes.ts'
import { customerBalance } from './customer-balance.ts'
import { customerSourceOperations } from './customer-sources.ts'
import { customers } from './customers.ts'
import { disputes } from './disputes.ts'
import { emptyLists } from './empty-lists.ts'
import { eventDestinations } from './event-destinations.ts'
import { eventOperations } from './events.ts'
import { invoiceItems } from './invoice-items.ts'
import { invoicePayments } from './invoice-payments.ts'
import { invoicePreview } from './invoice-preview.ts'
import { invoices } from './invoices.ts'
import { meterEvents } from './meter-events.ts'
import { meterEventsV2 } from './meter-events-v2.ts'
import { meters } from './meters.ts'
import { paymentIntents } from './payment-intents.ts'
import { paymentMethods } from './payment-methods.ts'
import { plans } from './plans.ts'
import { prices } from './prices.ts'
import { products } from './products.ts'
import { promotionCodes } from './promotion-codes.ts'
import { refunds } from './refunds.ts'
import { setupIntents } from './setup-intents.ts'
import { subscriptionItemOperations } from './subscription-items.ts'
import { subscriptionScheduleOperations } from './subscription-schedules.ts'
import { subscriptions } from './subscriptions.ts'
import { taxCodes } from './tax-codes.ts'
import { taxIds } from './tax-ids.ts'
import { taxRates } from './tax-rates.ts'
import { testClocks } from './test-clocks.ts'
import { thinEvents } from './thin-events.ts'
import { tokens } from './tokens.ts'
import { usageRecords } from './usage-records.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

/**
 * All supported operations of the `/v1` API. Any other request is answered as an unrecognized URL.
 */
export const OPERATIONS: StripeOperations = {
  ...account,
  ...balance,
  ...balanceTransactionOperations,
  ...billingPortal,
  ...billingPortalConfigurations,
  ...charges,
  ...checkoutSessions,
  ...coupons,
  ...creditNotes,
  ...customerBalance,
  ...customerSourceOperations,
  ...customers,
  ...disputes,
  ...emptyLists,
  ...eventOperations,
  ...invoiceItems,
  ...invoicePayments,
  ...invoicePreview,
  ...invoices,
  ...meterEvents,
  ...meters,
  ...paymentIntents,
  ...paymentMethods,
  ...plans,
  ...prices,
  ...products,
  ...promotionCodes,
  ...refunds,
  ...setupIntents,
  ...subscriptionItemOperations,
  ...subscriptionScheduleOperations,
  ...subscriptions,
  ...taxCodes,
  ...taxIds,
  ...taxRates,
  ...testClocks,
  ...tokens,
  ...usageRecords,
  ...webhookEndpoints,
}

/** All supported operations of the `/v2` API. */
export const OPERATIONS_V2: OperationsV2 = {
  ...eventDestinations,
  ...meterEventsV2,
  ...thinEvents,
}
