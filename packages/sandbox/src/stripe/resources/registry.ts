import type { StripeOperations } from '../api/operation.ts'
import type { OperationsV2 } from '../api/v2.ts'
import { accountOperations } from './account.ts'
import { balanceOperations, balanceTransactionOperations } from './balance.ts'
import { billingPortal } from './billing-portal.ts'
import { billingPortalConfigurations } from './billing-portal-configurations.ts'
import { chargeOperations } from './charges.ts'
import { checkoutSessions } from './checkout-sessions.ts'
import { couponOperations } from './coupons.ts'
import { creditNotes } from './credit-notes.ts'
import { customerBalance } from './customer-balance.ts'
import { customerSourceOperations } from './customer-sources.ts'
import { customerOperations } from './customers.ts'
import { disputeOperations } from './disputes.ts'
import { emptyLists } from './empty-lists.ts'
import { eventDestinations } from './event-destinations.ts'
import { eventOperations } from './events.ts'
import { invoiceItems } from './invoice-items.ts'
import { invoicePayments } from './invoice-payments.ts'
import { invoicePreview } from './invoice-preview.ts'
import { invoiceOperations } from './invoices.ts'
import { meterEvents } from './meter-events.ts'
import { meterEventsV2 } from './meter-events-v2.ts'
import { meterOperations } from './meters.ts'
import { paymentIntents } from './payment-intents.ts'
import { paymentMethods } from './payment-methods.ts'
import { planOperations } from './plans.ts'
import { priceOperations } from './prices.ts'
import { productOperations } from './products.ts'
import { promotionCodes } from './promotion-codes.ts'
import { refundOperations } from './refunds.ts'
import { setupIntents } from './setup-intents.ts'
import { subscriptionItemOperations } from './subscription-items.ts'
import { subscriptionScheduleOperations } from './subscription-schedules.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { taxCodes } from './tax-codes.ts'
import { taxIds } from './tax-ids.ts'
import { taxRates } from './tax-rates.ts'
import { testClocks } from './test-clocks.ts'
import { thinEvents } from './thin-events.ts'
import { tokenOperations } from './tokens.ts'
import { usageRecords } from './usage-records.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

/**
 * All supported operations of the `/v1` API. Any other request is answered as an unrecognized URL.
 */
export const OPERATIONS: StripeOperations = {
  ...accountOperations,
  ...balanceOperations,
  ...balanceTransactionOperations,
  ...billingPortal,
  ...billingPortalConfigurations,
  ...chargeOperations,
  ...checkoutSessions,
  ...couponOperations,
  ...creditNotes,
  ...customerBalance,
  ...customerSourceOperations,
  ...customerOperations,
  ...disputeOperations,
  ...emptyLists,
  ...eventOperations,
  ...invoiceItems,
  ...invoicePayments,
  ...invoicePreview,
  ...invoiceOperations,
  ...meterEvents,
  ...meterOperations,
  ...paymentIntents,
  ...paymentMethods,
  ...planOperations,
  ...priceOperations,
  ...productOperations,
  ...promotionCodes,
  ...refundOperations,
  ...setupIntents,
  ...subscriptionItemOperations,
  ...subscriptionScheduleOperations,
  ...subscriptionOperations,
  ...taxCodes,
  ...taxIds,
  ...taxRates,
  ...testClocks,
  ...tokenOperations,
  ...usageRecords,
  ...webhookEndpoints,
}

/** All supported operations of the `/v2` API. */
export const OPERATIONS_V2: OperationsV2 = {
  ...eventDestinations,
  ...meterEventsV2,
  ...thinEvents,
}
