export { BillableUser, type ListOptions } from './billable-user.ts'
export { type Billing, createBilling } from './billing.ts'
export type { BraintreeBilling, BraintreeSubscription, BraintreeUser } from './braintree-only.ts'
export { type Clock, systemClock } from './clock.ts'
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
} from './gateways/gateway.ts'
export type { DownloadOptions } from './invoices/download.ts'
export { Invoice, type InvoiceData, type InvoiceLine } from './invoices/invoice.ts'
export { renderInvoice } from './invoices/pdf.ts'
export type { Logger } from './logger.ts'
export { type Amount, formatMoney, fromDecimal, type Money, money } from './money.ts'
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
export { type CancelNowOptions, Subscription } from './subscription.ts'
export { SubscriptionBuilder } from './subscription-builder.ts'
export type { SwapOptions } from './swap-subscription.ts'
export type { Drift, DriftReport, SyncOptions } from './sync.ts'
export type {
  BraintreeHandlers,
  HandlerContext,
  StripeHandlers,
  WebhookHandlers,
} from './webhooks/handlers.ts'
