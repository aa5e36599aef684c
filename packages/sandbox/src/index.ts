export type { Duration } from '@tollgate/http'
export type {
  ModificationDefinition,
  PlanDefinition,
  PlanTrial,
} from './braintree/catalog/control-panel.ts'
export type {
  BraintreeConfig,
  BraintreeHandle,
  MerchantAccountDefinition,
} from './braintree/server/handle.ts'
export type { LoopbackEnvironment } from './braintree/server/loopback-environment.ts'
export type { NonceRequest } from './braintree/server/nonce-request.ts'
export type {
  BraintreeMerchant,
  BraintreeMerchantOptions,
  BraintreeOptions,
} from './braintree/server/options.ts'
export type { SettingsRow as BraintreeSettings } from './braintree/state/rows/merchant.ts'
export type {
  AppliedModification as BraintreeAppliedModification,
  ModificationRow as BraintreeModification,
  PlanRow as BraintreePlan,
  StatementDescriptor as BraintreeDescriptor,
  SubscriptionRow as BraintreeSubscription,
  SubscriptionStatus as BraintreeSubscriptionStatus,
  SubscriptionStatusEvent as BraintreeSubscriptionStatusEvent,
} from './braintree/state/rows/subscriptions.ts'
export type {
  AuthorizationAdjustment as BraintreeAuthorizationAdjustment,
  LineItem as BraintreeLineItem,
  PayPalSale as BraintreePayPalSale,
  TransactionRow as BraintreeTransaction,
  TransactionStatus as BraintreeTransactionStatus,
  TransactionStatusEvent as BraintreeTransactionStatusEvent,
} from './braintree/state/rows/transactions.ts'
export type {
  AddressRow as BraintreeCustomerAddress,
  BillingAddress as BraintreeAddress,
  CardDetails as BraintreeCard,
  CustomerRow as BraintreeCustomer,
  CustomerSnapshot as BraintreeCustomerSnapshot,
  InternationalPhone as BraintreeInternationalPhone,
  PaymentInstrument as BraintreeInstrument,
  PaymentMethodRow as BraintreePaymentMethod,
  PayPalDetails as BraintreePayPalAccount,
  TaxIdentifier as BraintreeTaxIdentifier,
  ThreeDSecureInfo as BraintreeThreeDSecureInfo,
  VerificationRow as BraintreeVerification,
} from './braintree/state/rows/vault.ts'
export type { CalendarDay as BraintreeDay } from './braintree/wire/days.ts'
export type { ControlRoom } from './control-room/control-room.ts'
export type { FailedJob } from './core/clock/failed-jobs.ts'
export type {
  Delivery,
  DeliveryAttempt,
  DeliverySwitches,
  OutgoingWebhook,
} from './core/outbox.ts'
export type { SandboxSnapshot } from './core/store/snapshot.ts'
export type { StoreSnapshot } from './core/store/store.ts'
export type { AppliedCallFault, CallFault, PendingFaults } from './core/trouble.ts'
export type {
  BraintreeFixtures,
  FixtureCall,
  SandboxFixtures,
  StripeFixtures,
} from './fixtures/fixtures.ts'
export type { MailboxOptions } from './mail/mail-server.ts'
export type {
  MailFault,
  SandboxMail,
  SandboxMailAttachment,
  SandboxMailbox,
} from './mail/mailbox.ts'
export type {
  ControlRoomStart,
  DeliveryFilter,
  Provider,
  Sandbox,
  SandboxClock,
  SandboxOptions,
  SandboxOutbox,
  SandboxOutboxOptions,
  SandboxTrouble,
} from './sandbox.ts'
export { startSandbox } from './start-sandbox.ts'
export type { DroppedEvents } from './stripe/resources/dropped-usage.ts'
export type {
  CheckoutInput,
  DisputeInput,
  RegisteredWebhook,
  SeedPrice,
  SeedTier,
  StripeHandle,
  StripeSdkConfig,
} from './stripe/server/handle.ts'
export type { StripeOptions, WebhookAddress } from './stripe/server/options.ts'
export type { DunningOptions } from './stripe/state/context.ts'
export type { WireObject } from './stripe/wire/wire-object.ts'
