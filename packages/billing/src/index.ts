export type { BillableOwner, BillableUser } from './billable-user.ts'
export type { Billing } from './billing.ts'
export type { BraintreeParts } from './braintree-provider.ts'
export type { DifferentTerm, SubscriptionTerm } from './core/errors/different-term.ts'
export {
  type AnyBillingError,
  type BillingErrorOf,
  isBillingError,
} from './core/errors/error-codes.ts'
export {
  AlreadySubscribed,
  AmountTooLarge,
  AuthorizationNotOpen,
  type AuthorizationState,
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
  UnknownPrice,
  Unsupported,
  UserNotFound,
} from './core/errors/errors.ts'
export { PaymentActionRequired, PaymentFailed } from './core/errors/payment-errors.ts'
export type { AuditEntry, AuditEvents } from './core/events/audit-events.ts'
export {
  type AnyBillingEvent,
  type BillingEvent,
  type BillingEvents,
  type BillingEventType,
  billingEventTypes,
  type CheckoutEventData,
  type CustomerEventData,
  type DisputeEventData,
  type EventListeners,
  type InvoiceEventData,
  type SubscriptionEventData,
  type UsageEventData,
} from './core/events/billing-event.ts'
export type { EventOutbox } from './core/events/event-stream.ts'
export type { StoredEvent } from './core/storage/events.ts'
export { billingMigrations, ownerMigrations } from './core/storage/migrations.ts'
export type { AddressColumns, OwnerTable, UserTable } from './core/storage/owner-tables.ts'
export type { QueueEntry } from './core/storage/queue.ts'
export type { QueueCounts } from './core/storage/queue-counts.ts'
export type { QueuePageOptions } from './core/storage/queue-pages.ts'
export type { QueueState, UsageState } from './core/storage/queue-tables.ts'
export type { SubscriptionStatus } from './core/storage/subscription-conditions.ts'
export type { PriceSubscriptionCount } from './core/storage/subscriptions.ts'
export type { StoredWebhook, WebhookState } from './core/storage/tables.ts'
export type { SubscriptionItem } from './core/subscription-items.ts'
export { type CardExpiry, type CardSummary, NO_CARD } from './core/values/card.ts'
export { type Clock, systemClock } from './core/values/clock.ts'
export type { PendingConfirmation, PendingPayment } from './core/values/confirmation.ts'
export type { DisputeStatus } from './core/values/dispute-status.ts'
export type { Logger } from './core/values/logger.ts'
export type { MeteredPrice, UsageTier } from './core/values/metered-price.ts'
export {
  type Amount,
  createMoney as money,
  formatMoney,
  fromDecimal,
  type Money,
  toDecimal,
} from './core/values/money.ts'
export type {
  Observe,
  ObservedJob,
  ObservedRequest,
  ObservedResponse,
  ObservedWork,
  Observer,
} from './core/values/observer.ts'
export type { Owner } from './core/values/owner.ts'
export type { ProviderName, ProviderNames } from './core/values/provider-name.ts'
export { hashSubscriptionName } from './core/values/subscription-name.ts'
export type { StandingsByStatus, SubscriptionStanding } from './core/values/subscription-state.ts'
export type { BasisPoints, TaxLookup, TaxTerms } from './core/values/tax.ts'
export { mailLanguages } from './core/words/all.ts'
export {
  type InvoiceWords,
  type MailKind,
  type MailKindWords,
  type MailWords,
  mailKinds,
} from './core/words/words.ts'
export {
  type BraintreeBilling,
  type BraintreeSubscription,
  type BraintreeUser,
  createBilling,
} from './create-billing.ts'
export { builtInCapabilities } from './create-providers.ts'
/** Every feature of billing: the methods it adds and the providers that support it. */
export type * as BillingFeatures from './features/all.ts'
export type {
  CustomerBalance,
  NewBalanceEntry,
  ProviderBalanceEntry,
} from './features/balance/contract.ts'
export type {
  BalanceEntry,
  BalanceListOptions,
  BalanceOptions,
  CreditOptions,
} from './features/balance/user.ts'
export type { EndDates } from './features/cancel/contract.ts'
export type { CancelNowOptions } from './features/cancel/subscription.ts'
export type { CardAuthorization, PaymentCaptures } from './features/captures/contract.ts'
export type { CaptureOptions } from './features/captures/user.ts'
export type {
  CardSetups,
  ClientTokens,
  NewCardSetup,
  NewClientToken,
  ProviderCardSetup,
} from './features/card-forms/contract.ts'
export type {
  ClientTokenOptions,
  PaymentForm,
  PaymentFormOptions,
  SetupIntent,
  SetupOptions,
} from './features/card-forms/user.ts'
export type {
  Catalog,
  CatalogCoupon,
  CatalogPage,
  CatalogPrice,
  CatalogPromotionCode,
  CatalogRange,
} from './features/catalog/contract.ts'
export type { CatalogOptions, CatalogReader } from './features/catalog/read-catalog.ts'
export type { Checkout } from './features/checkout/checkout.ts'
export type {
  CheckoutItem,
  CheckoutOptions,
  CheckoutPageOptions,
} from './features/checkout/checkout-request.ts'
export type {
  CheckoutLine,
  CheckoutMode,
  CheckoutPages,
  CheckoutPaymentStatus,
  CheckoutSubscription,
  NewCheckout,
  ProviderCheckout,
} from './features/checkout/contract.ts'
export type { ChargePageOptions, CheckoutResult } from './features/checkout/user.ts'
export type { PaymentConfirmations } from './features/confirmations/contract.ts'
export type {
  CreditNotes,
  NewCreditNote,
  RemainingCredit,
} from './features/credit-notes/contract.ts'
export {
  type CreditedLine,
  CreditNote,
  type CreditNoteData,
  type CreditNoteOptions,
  type CreditNoteReason,
  type CreditNoteTo,
} from './features/credit-notes/credit-note.ts'
export type { CreditNoteListOptions } from './features/credit-notes/user.ts'
export type { CustomerUpdates } from './features/customers/contract.ts'
export type { PaymentDisputes, ProviderDispute } from './features/disputes/contract.ts'
export type { Dispute, DisputeList, DisputeListOptions } from './features/disputes/list-disputes.ts'
export type { InvoiceForecasts, PreviewedSubscription } from './features/forecasts/contract.ts'
export type {
  FirstInvoices,
  PreviewLine,
  PreviewLineKind,
  UpcomingInvoice,
} from './features/forecasts/upcoming-invoice.ts'
export type { GuestPages, NewGuestCheckout } from './features/guest-checkout/contract.ts'
export type { GuestCheckout, GuestCheckoutOptions } from './features/guest-checkout/guest.ts'
export type { InvoiceHit, InvoiceSearch } from './features/invoice-search/contract.ts'
export type { FoundInvoice } from './features/invoice-search/find-invoices.ts'
export type {
  InvoiceActions,
  InvoiceFilter,
  VoidedInvoice,
} from './features/invoices/contract.ts'
export type { DownloadOptions } from './features/invoices/download.ts'
export type {
  Invoice,
  InvoiceAmounts,
  InvoiceData,
  InvoiceMethods,
} from './features/invoices/invoice.ts'
export type {
  InvoiceCustomer,
  InvoiceDiscount,
  InvoiceLine,
  InvoiceTax,
} from './features/invoices/invoice-parts.ts'
export { renderCreditNote, renderInvoice } from './features/invoices/pdf.ts'
export type { InvoicePdfOptions, InvoiceSeller } from './features/invoices/pdf-options.ts'
export type { InvoiceListOptions } from './features/invoices/user.ts'
export type { ItemsChange, SubscriptionItems } from './features/items/contract.ts'
export type {
  ItemChange,
  PreviewOptions,
  SubscriptionChange,
} from './features/items/subscription.ts'
export {
  isMailRejected,
  type MailAttachment,
  type MailMessage,
  type MailOptions,
  MailRejected,
} from './features/mail/mail-options.ts'
export type { MailState, QueuedMail } from './features/mail/mail-rows.ts'
export type { MailQueue } from './features/mail/notices.ts'
export {
  type MailDetails,
  type MailLetter,
  type RenderedMail,
  renderLetter,
  renderMail,
} from './features/mail/render-mail.ts'
export type { SubscriptionMetadata } from './features/metadata/contract.ts'
export type { ApplicationEvent, Deliveries } from './features/outgoing-webhooks/deliveries.ts'
export type {
  DeliveryEndpoint,
  DeliveryOptions,
} from './features/outgoing-webhooks/delivery-options.ts'
export type { DeliveryState, StoredDelivery } from './features/outgoing-webhooks/delivery-rows.ts'
export { isDeliverySecret } from './features/outgoing-webhooks/signature.ts'
export type { CollectionPauses } from './features/pauses/contract.ts'
export type { PauseOptions } from './features/pauses/subscription.ts'
export type { PaymentMethods } from './features/payment-methods/contract.ts'
export type { PaymentMethod } from './features/payment-methods/payment-method.ts'
export type { AddPaymentMethodOptions } from './features/payment-methods/user.ts'
export type {
  ChargeOptions,
  InvoiceForOptions,
  InvoiceOutcome,
} from './features/payments/charge-contract.ts'
export type { CustomerPayments, ProviderPayment } from './features/payments/contract.ts'
export type { PortalFlow, PortalPages, PortalVisit } from './features/portal/contract.ts'
export type { PortalOptions } from './features/portal/open-portal.ts'
export type {
  NewDiscount,
  PromotionCodeDiscount,
  PromotionCodes,
  ProviderPromotionCode,
} from './features/promotion-codes/contract.ts'
export type { PromotionCode } from './features/promotion-codes/promotion-codes.ts'
export type { QuantityChanges } from './features/quantities/contract.ts'
export type { NewRefund, PaymentRefunds, RefundablePayment } from './features/refunds/contract.ts'
export type { Refund, RefundOptions, RefundReason } from './features/refunds/refund.ts'
export type { NewPlannedSwap, SubscriptionSchedules } from './features/schedules/contract.ts'
export type { PlannedChange } from './features/schedules/subscription.ts'
export type {
  NewSentInvoice,
  SendInvoiceOptions,
  SentInvoices,
} from './features/sent-invoices/contract.ts'
export type { SubscriptionBuilder, SubscriptionPageOptions } from './features/subscribe/builder.ts'
export type {
  SubscriptionListOptions,
  SubscriptionPage,
} from './features/subscription-list/list-subscriptions.ts'
export type { NewReplacement, SwapPreview, SwapRequest } from './features/swap/contract.ts'
export type { SubscriptionReplacements } from './features/swap/replacements-contract.ts'
export type { SwapItem, SwapOptions } from './features/swap/subscription.ts'
export type {
  AccountData,
  AccountLists,
  AccountPage,
  DisputePage,
  ListedDispute,
  ProviderChange,
  ProviderChangePage,
} from './features/sync/contract.ts'
export type {
  Drift,
  DriftReport,
  SyncFailure,
  SyncOptions,
  SyncReport,
} from './features/sync/drift.ts'
export type {
  AutomaticTax,
  LineTaxRates,
  TaxExemption,
  TaxExemptions,
} from './features/taxes/contract.ts'
export type { NewTaxId, ProviderTaxId, TaxIds } from './features/taxes/tax-ids-contract.ts'
export type { TaxId } from './features/taxes/user.ts'
export type { SubscriptionTrials } from './features/trials/contract.ts'
export type {
  DroppedReport,
  DroppedUsage,
  SentUsageEvent,
  UsageCharge,
  UsageCharges,
  UsageEvent,
  UsageFilter,
  UsageMeter,
  UsageOutcome,
  UsageReports,
  UsageSummary,
} from './features/usage/contract.ts'
export type { MeterOptions, NewMeter, UsageMeters } from './features/usage/meters.ts'
export type { UsageOptions, UsageQuery, UsageReport } from './features/usage/report-usage.ts'
export type {
  MeterSelector,
  SubscriptionUsage,
  SubscriptionUsageQuery,
} from './features/usage/subscription.ts'
export type { UsageOutbox } from './features/usage/usage-queue.ts'
export type { StoredUsage, UnbilledUsage } from './features/usage/usage-rows.ts'
export type { UsageValue } from './features/usage/usage-value.ts'
export type {
  EndpointReport,
  Endpoints,
  NewEndpoint,
  NewEndpointOptions,
  UsageEndpointReport,
} from './features/webhooks/endpoints.ts'
export type {
  EventQuery,
  ProviderEndpoint,
  WebhookEndpoints,
} from './features/webhooks/endpoints-contract.ts'
export type { WebhookInbox } from './features/webhooks/inbox.ts'
export type { ReplayOptions } from './features/webhooks/replay.ts'
export type {
  BillingOptions,
  BillingPaths,
  DisputeOptions,
  OwnerLocale,
  PausePolicy,
  SignedInOwner,
  TaxOption,
  TaxSource,
  TrialOptions,
  WebhookHandlers,
} from './options.ts'
export type { BraintreeHandlers, BraintreeNotification } from './providers/braintree/handlers.ts'
export type { BraintreeOptions, BraintreeSettings } from './providers/braintree/options.ts'
export type {
  Address,
  CustomerDetails,
  NewCustomer,
  ProviderCustomer,
} from './providers/customer.ts'
export type { Gateway, GatewayChanges, GatewayReads } from './providers/gateway.ts'
export type { Capability, GatewayParts } from './providers/gateway-parts.ts'
export type { HandlerContext, HandlerName, WebhookHandler } from './providers/handlers.ts'
export type { ProviderItem, RequestedItem } from './providers/item.ts'
export { rejectReservedOptions } from './providers/overrides.ts'
export type {
  InvoicePaymentMethod,
  PaymentMethodKind,
  ProviderPaymentMethod,
} from './providers/payment-method.ts'
export {
  defineProvider,
  type GatewayDependencies,
  type Provider,
  type ProviderManifest,
} from './providers/provider.ts'
export type { OmitDecided, PassThroughOptions, SdkTypes } from './providers/sdk-types.ts'
export type { StripeHandlers } from './providers/stripe/handlers.ts'
export type { StripeOptions, StripeSettings } from './providers/stripe/options.ts'
export type {
  ActiveDiscount,
  AgreedTerms,
  CollectionPause,
  EndReason,
  MetadataValues,
  NewSubscription,
  PausedBills,
  PlannedSwap,
  ProviderSubscription,
  StartTerms,
  TaxChoice,
} from './providers/subscription.ts'
export type { EventObject, EventSubject, RawWebhook, VerifiedEvent } from './providers/webhook.ts'
export type { PurgedQueue, PurgeOptions, PurgeReport, QueueReport } from './queues.ts'
export type { SdkBilling, SdkUser } from './sdk-billing.ts'
export type { Subscription, SubscriptionPeriod } from './subscription.ts'
export type {
  CapabilitiesOf,
  CapabilityByMethod,
  CustomerUpdateWithoutLanguage,
  ItemQuantities,
  MethodsNeeding,
  OptionalMethods,
  RemainingCustomerUpdate,
  RemainingQuantityMethods,
  UnsupportedMethods,
  Without,
} from './without.ts'
