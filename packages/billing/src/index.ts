export type { Billing } from './billing.ts'
export type { Drift, DriftReport, SyncOptions } from './consistency/drift.ts'
export {
  type BraintreeBilling,
  type BraintreeSubscription,
  type BraintreeUser,
  createBilling,
} from './create-billing.ts'
export {
  AlreadySubscribed,
  BillingError,
  type BillingErrorCode,
  Busy,
  InvalidAmount,
  InvalidArgument,
  InvalidPaymentToken,
  InvalidSignature,
  InvalidTaxPercentage,
  InvoiceNotFound,
  MethodNotAllowed,
  NoCustomer,
  NoPaymentMethod,
  NoSubscription,
  NotFound,
  NotOnGracePeriod,
  PayloadTooLarge,
  ProviderChosen,
  ProviderError,
  ProviderMisconfigured,
  ProviderRejected,
  ProviderUnavailable,
  RequestCutOff,
  SubscriptionEnded,
  Unauthenticated,
  UnknownCoupon,
  UnknownPlan,
  Unsupported,
  UserNotFound,
} from './errors.ts'
export type { BraintreeHandlers } from './gateways/braintree/sdk/handlers.ts'
export type { BraintreeOptions, BraintreeSettings } from './gateways/braintree/sdk/options.ts'
export type { CustomerDetails } from './gateways/contract/customer.ts'
export type { HandlerContext } from './gateways/contract/handlers.ts'
export type { ChargeOptions, InvoiceForOptions } from './gateways/contract/payment.ts'
export type { ActiveDiscount, EndReason } from './gateways/contract/subscription.ts'
export type { PreviewLine, PreviewLineKind, SwapPreview } from './gateways/contract/swap.ts'
export type { StripeHandlers } from './gateways/stripe/sdk/handlers.ts'
export type { StripeOptions, StripeSettings } from './gateways/stripe/sdk/options.ts'
export type { DownloadOptions } from './invoices/download.ts'
export {
  Invoice,
  type InvoiceData,
  type InvoiceDiscount,
  type InvoiceLine,
} from './invoices/invoice.ts'
export { type InvoicePdfOptions, renderInvoice } from './invoices/pdf.ts'
export type { InvoiceWords } from './invoices/words.ts'
export type { BillingOptions, BillingPaths, InvoiceSeller, WebhookHandlers } from './options.ts'
export {
  PaymentActionRequired,
  PaymentFailed,
  type PendingConfirmation,
  type PendingPayment,
} from './payment-errors.ts'
export type { ProviderName } from './provider-name.ts'
export { billingMigrations } from './storage/migrations.ts'
export type { StoredWebhook } from './storage/tables.ts'
export type { UserTable } from './storage/user-table.ts'
export { SubscriptionBuilder } from './subscriptions/builder.ts'
export { type CancelNowOptions, Subscription } from './subscriptions/subscription.ts'
export type { SwapOptions } from './subscriptions/swap.ts'
export { BillableUser, type ListOptions } from './users/billable-user.ts'
export { type Clock, systemClock } from './values/clock.ts'
export type { Logger } from './values/logger.ts'
export { type Amount, formatMoney, fromDecimal, type Money, money } from './values/money.ts'
