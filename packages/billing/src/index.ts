export type { Billing } from './billing.ts'
export type {
  Drift,
  DriftReport,
  SyncFailure,
  SyncOptions,
  SyncReport,
} from './consistency/sync/drift.ts'
export {
  type BraintreeBilling,
  type BraintreeSubscription,
  type BraintreeUser,
  createBilling,
} from './create-billing.ts'
export type { PromotionCode } from './customers/promotion-codes.ts'
export type { Deliveries } from './deliveries/deliveries.ts'
export type { DeliveryEndpoint, DeliveryOptions } from './deliveries/delivery-options.ts'
export { isDeliverySecret } from './deliveries/signature.ts'
export type { DifferentTerm, SubscriptionTerm } from './different-term.ts'
export { type AnyBillingError, type BillingErrorOf, isBillingError } from './error-codes.ts'
export {
  AlreadySubscribed,
  AmountTooLarge,
  BillingError,
  type BillingErrorCode,
  Busy,
  ChargeNotFound,
  CheckoutNotFound,
  type CodeRefusal,
  CreditNoteNotFound,
  DatabaseUnavailable,
  InvalidAmount,
  InvalidArgument,
  InvalidPaymentToken,
  InvalidSignature,
  InvalidTaxId,
  InvalidTaxPercentage,
  InvoiceNotFound,
  InvoicePaid,
  ItemNotFound,
  NoCustomer,
  NoPaymentMethod,
  NoSubscription,
  NotFound,
  NotOnGracePeriod,
  PaymentMethodInUse,
  PaymentMethodNotFound,
  PaymentOverdue,
  PromotionCodeRefused,
  ProviderChosen,
  ProviderError,
  type ProviderFailure,
  ProviderMisconfigured,
  ProviderRejected,
  ProviderUnavailable,
  RefundNotPossibleYet,
  RefundRefused,
  SubscriptionEnded,
  TaxLocationUnknown,
  TooManyAttempts,
  type TransferRefusal,
  TransferRefused,
  TrialUsed,
  Unauthenticated,
  UnknownCoupon,
  UnknownPlan,
  Unsupported,
  UserNotFound,
} from './errors.ts'
export {
  type AnyBillingEvent,
  type BillingEvent,
  type BillingEvents,
  type BillingEventType,
  billingEventTypes,
  type CheckoutFacts,
  type CustomerFacts,
  type DisputeFacts,
  type EventListeners,
  type InvoiceFacts,
  type SubscriptionFacts,
  type UsageFacts,
} from './events/billing-event.ts'
export type { EventOutbox } from './events/event-stream.ts'
export type { BraintreeParts } from './gateways/braintree/gateway.ts'
export type { BraintreeHandlers, BraintreeNotification } from './gateways/braintree/sdk/handlers.ts'
export type { BraintreeOptions, BraintreeSettings } from './gateways/braintree/sdk/options.ts'
export type {
  CustomerDetails,
  NewCustomer,
  ProviderCustomer,
} from './gateways/contract/customer.ts'
export type { Gateway, GatewayChanges, GatewayReads } from './gateways/contract/gateway.ts'
export type { HandlerContext, HandlerName, WebhookHandler } from './gateways/contract/handlers.ts'
export type { ProviderItem, WantedItem } from './gateways/contract/item.ts'
export { refuseOverrides } from './gateways/contract/overrides.ts'
export type {
  AccountLists,
  AccountPage,
  AccountPart,
  ChangePage,
  DisputePage,
  ListedDispute,
  ProviderChange,
} from './gateways/contract/parts/account-lists.ts'
export type {
  CustomerBalance,
  NewBalanceEntry,
  ProviderBalanceEntry,
} from './gateways/contract/parts/money/balance.ts'
export type {
  CreditLeft,
  CreditNotes,
  NewCreditNote,
} from './gateways/contract/parts/money/credit-notes.ts'
export type {
  Address,
  ChangedDetails,
  CustomerUpdates,
} from './gateways/contract/parts/money/customer-details.ts'
export type { Disputes, ProviderDispute } from './gateways/contract/parts/money/disputes.ts'
export type {
  InvoiceActions,
  VoidedInvoice,
} from './gateways/contract/parts/money/invoice-actions.ts'
export type { Payments, ProviderPayment } from './gateways/contract/parts/money/payments.ts'
export type {
  CodeDiscount,
  NewDiscount,
  PromotionCodes,
  ProviderPromotionCode,
} from './gateways/contract/parts/money/promotion-codes.ts'
export type { NewRefund, Refundable, Refunds } from './gateways/contract/parts/money/refunds.ts'
export type {
  AutomaticTax,
  LineRates,
  TaxExemption,
  TaxExemptions,
} from './gateways/contract/parts/money/tax.ts'
export type { NewTaxId, ProviderTaxId, TaxIds } from './gateways/contract/parts/money/tax-ids.ts'
export type {
  DroppedReport,
  DroppedUsage,
  Meter,
  SentEvent,
  UsageCharge,
  UsageCharges,
  UsageEvent,
  UsageFilter,
  UsageOutcome,
  UsageReports,
  UsageSummary,
} from './gateways/contract/parts/money/usage.ts'
export type {
  CheckoutLine,
  CheckoutMode,
  CheckoutPages,
  CheckoutPaymentStatus,
  CheckoutSubscription,
  NewCheckout,
  ProviderCheckout,
} from './gateways/contract/parts/pages/checkout.ts'
export type { ClientTokens, NewClientToken } from './gateways/contract/parts/pages/client-tokens.ts'
export type {
  PaymentMethodKind,
  PaymentMethods,
  ProviderMethod,
} from './gateways/contract/parts/pages/payment-methods.ts'
export type {
  PortalFlow,
  PortalPages,
  PortalVisit,
} from './gateways/contract/parts/pages/portal.ts'
export type { CardSetups, NewSetup, ProviderSetup } from './gateways/contract/parts/pages/setups.ts'
export type { Confirmations } from './gateways/contract/parts/subscriptions/confirmations.ts'
export type { EndDates } from './gateways/contract/parts/subscriptions/end-dates.ts'
export type {
  Forecasts,
  PossibleSubscription,
} from './gateways/contract/parts/subscriptions/forecasts.ts'
export type {
  ItemsChange,
  SubscriptionItems,
} from './gateways/contract/parts/subscriptions/items.ts'
export type {
  Pause,
  PausedBills,
  Pauses,
} from './gateways/contract/parts/subscriptions/pauses.ts'
export type { Quantities } from './gateways/contract/parts/subscriptions/quantities.ts'
export type { Replacements } from './gateways/contract/parts/subscriptions/replacements.ts'
export type {
  NewPlannedSwap,
  PlannedSwap,
  Schedules,
} from './gateways/contract/parts/subscriptions/schedules.ts'
export type { Trials } from './gateways/contract/parts/subscriptions/trials.ts'
export type {
  EventQuery,
  ProviderEndpoint,
  WebhookEndpoints,
} from './gateways/contract/parts/webhook-endpoints.ts'
export type { Capability, GatewayParts } from './gateways/contract/parts.ts'
export type {
  ChargeOptions,
  InvoiceFilter,
  InvoiceForOptions,
  InvoiceOutcome,
  TaxOf,
} from './gateways/contract/payment.ts'
export {
  defineProvider,
  type Provider,
  type ProviderFacts,
  type ProviderTools,
} from './gateways/contract/provider.ts'
export type {
  ActiveDiscount,
  AgreedTerms,
  EndReason,
  NewSubscription,
  ProviderSubscription,
  StartTerms,
  TaxChoice,
} from './gateways/contract/subscription.ts'
export type { Replacement, Swap, SwapPreview } from './gateways/contract/swap.ts'
export type {
  FirstInvoices,
  PreviewLine,
  PreviewLineKind,
  UpcomingInvoice,
} from './gateways/contract/upcoming-invoice.ts'
export type {
  EventSubject,
  ProviderNews,
  RawWebhook,
  VerifiedEvent,
} from './gateways/contract/webhook.ts'
export type { StripeHandlers } from './gateways/stripe/sdk/handlers.ts'
export type { StripeOptions, StripeSettings } from './gateways/stripe/sdk/options.ts'
export {
  type CreditedLine,
  CreditNote,
  type CreditNoteData,
  type CreditNoteOptions,
  type CreditNoteReason,
  type CreditNoteTo,
} from './invoices/credit-note.ts'
export type { DownloadOptions } from './invoices/download.ts'
export type {
  Invoice,
  InvoiceData,
  InvoiceDeeds,
} from './invoices/invoice.ts'
export type {
  InvoiceCustomer,
  InvoiceDiscount,
  InvoiceLine,
  InvoiceTax,
} from './invoices/invoice-parts.ts'
export { type InvoicePdfOptions, renderCreditNote, renderInvoice } from './invoices/pdf.ts'
export type { Refund, RefundOptions, RefundReason } from './invoices/refund.ts'
export type { MailAttachment, MailMessage, MailOptions } from './mail/mail-options.ts'
export { type MailFacts, type RenderedMail, renderMail } from './mail/render-mail.ts'
export type { Notices } from './notices/notices.ts'
export type {
  Asking,
  BillingOptions,
  BillingPaths,
  DisputeOptions,
  InvoiceSeller,
  PausePolicy,
  Spoken,
  TaxOption,
  TaxSource,
  TrialOptions,
  WebhookHandlers,
} from './options.ts'
export type { Checkout } from './pages/checkout.ts'
export type {
  CheckoutItem,
  CheckoutOptions,
  CheckoutPageOptions,
} from './pages/checkout-request.ts'
export type { PortalOptions } from './pages/open-portal.ts'
export { PaymentActionRequired, PaymentFailed } from './payment-errors.ts'
export type { PaymentMethod } from './payment-methods/payment-method.ts'
export type { ProviderName, ProviderNames } from './provider-name.ts'
export { ownerMigrations } from './storage/migrations/owners.ts'
export { billingMigrations } from './storage/migrations.ts'
export type { DeliveryState, StoredDelivery } from './storage/queues/deliveries.ts'
export type { StoredEvent } from './storage/queues/events.ts'
export type { NoticeState, StoredNotice } from './storage/queues/notices.ts'
export type { QueueState, UsageState } from './storage/queues/tables.ts'
export type { StoredUsage, UnbilledUsage } from './storage/queues/usage.ts'
export type { StoredWebhook, WebhookState } from './storage/tables.ts'
export type { AddressColumns, OwnerTable, UserTable } from './storage/user-table.ts'
export type { SubscriptionBuilder, SubscriptionPageOptions } from './subscriptions/builder.ts'
export type { CancelNowOptions } from './subscriptions/features/cancelling.ts'
export type { ItemChange, SubscriptionItem } from './subscriptions/features/items.ts'
export type { PauseOptions } from './subscriptions/features/pausing.ts'
export type { PlannedChange } from './subscriptions/features/planning.ts'
export type { ItemWanted } from './subscriptions/features/swapping.ts'
export type {
  CountedBy,
  SubscriptionUsage,
  SubscriptionUsageQuery,
} from './subscriptions/features/usage.ts'
export type { BUILDER_NEEDS, SUBSCRIPTION_NEEDS } from './subscriptions/needs.ts'
export type {
  PreviewOptions,
  Subscription,
  SubscriptionChange,
} from './subscriptions/subscription.ts'
export type { SwapOptions } from './subscriptions/swap.ts'
export type { MeterOptions, Meters, NewMeter } from './usage/meters.ts'
export type { UsageOptions, UsageQuery, UsageReport } from './usage/report-usage.ts'
export type { UsageOutbox } from './usage/usage-outbox.ts'
export type { BillableOwner, BillableUser } from './users/billable-user.ts'
export type {
  BalanceEntry,
  BalanceListOptions,
  BalanceOptions,
  GiftOptions,
} from './users/features/balance.ts'
export type {
  ClientTokenOptions,
  PaymentForm,
  PaymentFormOptions,
  SetupIntent,
  SetupOptions,
} from './users/features/card-forms.ts'
export type { ChargePageOptions, CheckoutResult } from './users/features/checkout.ts'
export type { CreditNoteListOptions } from './users/features/credit-notes.ts'
export type { InvoiceListOptions } from './users/features/invoices.ts'
export type { AddMethodOptions } from './users/features/payment-methods.ts'
export type { TaxId } from './users/features/tax.ts'
export type { INVOICE_NEEDS, USER_NEEDS } from './users/needs.ts'
export { type CardExpiry, type CardSummary, NO_CARD } from './values/card.ts'
export { type Clock, systemClock } from './values/clock.ts'
export type { PendingConfirmation, PendingPayment } from './values/confirmation.ts'
export type { Logger } from './values/logger.ts'
export type { MeteredPrice, UsageTier } from './values/metered-price.ts'
export {
  type Amount,
  formatMoney,
  fromDecimal,
  type Money,
  statedMoney as money,
  toDecimal,
} from './values/money.ts'
export type { Owner } from './values/owner.ts'
export { digestOfName } from './values/subscription-name.ts'
export type { Standing, Statuses } from './values/subscription-state.ts'
export type { BasisPoints, TaxTerms } from './values/tax.ts'
export type { UsageValue } from './values/usage.ts'
export type {
  EndpointReport,
  Endpoints,
  NewEndpoint,
  NewEndpointOptions,
  UsageEndpointReport,
} from './webhooks/endpoints.ts'
export type { WebhookInbox } from './webhooks/inbox.ts'
export type { ReplayOptions } from './webhooks/replay.ts'
export type {
  DetailsLeft,
  DetailsWithoutLanguage,
  ItemQuantities,
  MethodsLacking,
  MethodsNeeding,
  OptionalMethods,
  QuantitiesLeft,
  Without,
} from './without.ts'
export type { InvoiceWords, MailWords, NoticeKind, NoticeWords } from './words/words.ts'
