export { type Billing, createBilling } from './billing.ts'
export type { BraintreeBilling, BraintreeSubscription, BraintreeUser } from './braintree-only.ts'
export type { Drift, DriftReport, SyncOptions } from './consistency/sync.ts'
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
  PaymentActionRequired,
  PaymentFailed,
  type PendingConfirmation,
  type PendingPayment,
  ProviderChosen,
  ProviderError,
  ProviderMisconfigured,
  type ProviderName,
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
export type {
  ActiveDiscount,
  ChargeOptions,
  CustomerDetails,
  EndReason,
  InvoiceForOptions,
  PreviewLine,
  PreviewLineKind,
  SwapPreview,
} from './gateways/contract/gateway.ts'
export type { DownloadOptions } from './invoices/download.ts'
export { Invoice, type InvoiceData, type InvoiceLine } from './invoices/invoice.ts'
export { renderInvoice } from './invoices/pdf.ts'
export type {
  BillingOptions,
  BillingPaths,
  BraintreeOptions,
  BraintreeSettings,
  InvoiceSeller,
  StripeOptions,
  StripeSettings,
  UserTable,
} from './options.ts'
export { billingMigrations } from './storage/migrations.ts'
export type { StoredWebhook } from './storage/tables.ts'
export { SubscriptionBuilder } from './subscriptions/builder.ts'
export { type CancelNowOptions, Subscription } from './subscriptions/subscription.ts'
export type { SwapOptions } from './subscriptions/swap.ts'
export { BillableUser, type ListOptions } from './users/billable-user.ts'
export { type Clock, systemClock } from './values/clock.ts'
export type { Logger } from './values/logger.ts'
export { type Amount, formatMoney, fromDecimal, type Money, money } from './values/money.ts'
export type {
  BraintreeHandlers,
  HandlerContext,
  StripeHandlers,
  WebhookHandlers,
} from './webhooks/handlers.ts'
