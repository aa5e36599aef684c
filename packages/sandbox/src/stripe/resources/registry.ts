import type { StripeOperations } from '../api/operation.ts'
import type { StripeV2Operations } from '../api/v2.ts'
import { accountOperations } from './account.ts'
import { balanceOperations, balanceTransactionOperations } from './balance.ts'
import { portalOperations } from './billing-portal.ts'
import { portalConfigurationOperations } from './billing-portal-configurations.ts'
import { chargeOperations } from './charges.ts'
import { checkoutSessionOperations } from './checkout-sessions.ts'
import { couponOperations } from './coupons.ts'
import { creditNoteOperations } from './credit-notes.ts'
import { customerBalanceOperations } from './customer-balance.ts'
import { customerSourceOperations } from './customer-sources.ts'
import { customerOperations } from './customers.ts'
import { disputeOperations } from './disputes.ts'
import { emptyListOperations } from './empty-lists.ts'
import { eventDestinationOperations } from './event-destinations.ts'
import { eventOperations } from './events.ts'
import { invoiceItemOperations } from './invoice-items.ts'
import { invoicePaymentOperations } from './invoice-payments.ts'
import { invoicePreviewOperations } from './invoice-preview.ts'
import { invoiceOperations } from './invoices.ts'
import { meterEventOperations } from './meter-events.ts'
import { meterEventV2Operations } from './meter-events-v2.ts'
import { meterOperations } from './meters.ts'
import { paymentIntentOperations } from './payment-intents.ts'
import { paymentMethodOperations } from './payment-methods.ts'
import { planOperations } from './plans.ts'
import { priceOperations } from './prices.ts'
import { productOperations } from './products.ts'
import { promotionCodeOperations } from './promotion-codes.ts'
import { refundOperations } from './refunds.ts'
import { setupIntentOperations } from './setup-intents.ts'
import { subscriptionItemOperations } from './subscription-items.ts'
import { subscriptionScheduleOperations } from './subscription-schedules.ts'
import { subscriptionOperations } from './subscriptions.ts'
import { taxCodeOperations } from './tax-codes.ts'
import { taxIdOperations } from './tax-ids.ts'
import { taxRateOperations } from './tax-rates.ts'
import { testClockOperations } from './test-clocks.ts'
import { thinEventOperations } from './thin-events.ts'
import { tokenOperations } from './tokens.ts'
import { usageRecordOperations } from './usage-records.ts'
import { webhookEndpointOperations } from './webhook-endpoints.ts'

/**
 * All supported operations of the `/v1` API. Any other request is answered as an unrecognized URL.
 */
export const STRIPE_OPERATIONS: StripeOperations = {
  ...accountOperations,
  ...balanceOperations,
  ...balanceTransactionOperations,
  ...portalOperations,
  ...portalConfigurationOperations,
  ...chargeOperations,
  ...checkoutSessionOperations,
  ...couponOperations,
  ...creditNoteOperations,
  ...customerBalanceOperations,
  ...customerSourceOperations,
  ...customerOperations,
  ...disputeOperations,
  ...emptyListOperations,
  ...eventOperations,
  ...invoiceItemOperations,
  ...invoicePaymentOperations,
  ...invoicePreviewOperations,
  ...invoiceOperations,
  ...meterEventOperations,
  ...meterOperations,
  ...paymentIntentOperations,
  ...paymentMethodOperations,
  ...planOperations,
  ...priceOperations,
  ...productOperations,
  ...promotionCodeOperations,
  ...refundOperations,
  ...setupIntentOperations,
  ...subscriptionItemOperations,
  ...subscriptionScheduleOperations,
  ...subscriptionOperations,
  ...taxCodeOperations,
  ...taxIdOperations,
  ...taxRateOperations,
  ...testClockOperations,
  ...tokenOperations,
  ...usageRecordOperations,
  ...webhookEndpointOperations,
}

/** All supported operations of the `/v2` API. */
export const STRIPE_V2_OPERATIONS: StripeV2Operations = {
  ...eventDestinationOperations,
  ...meterEventV2Operations,
  ...thinEventOperations,
}
