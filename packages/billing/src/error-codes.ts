import type {
  AlreadySubscribed,
  AmountTooLarge,
  BillingErrorCode,
  Busy,
  ChargeNotFound,
  CheckoutNotFound,
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
  ProviderMisconfigured,
  ProviderRejected,
  ProviderUnavailable,
  RefundNotPossibleYet,
  RefundRefused,
  SubscriptionEnded,
  TaxLocationUnknown,
  TooManyAttempts,
  TransferRefused,
  TrialUsed,
  Unauthenticated,
  UnknownCoupon,
  UnknownPlan,
  Unsupported,
  UserNotFound,
} from './errors.ts'
import { BillingError } from './errors.ts'
import type { PaymentActionRequired, PaymentFailed } from './payment-errors.ts'

/** Every error of billing. `code` tells which it is, for the compiler too. */
export type AnyBillingError =
  | AlreadySubscribed
  | AmountTooLarge
  | Busy
  | ChargeNotFound
  | CheckoutNotFound
  | CreditNoteNotFound
  | DatabaseUnavailable
  | InvalidAmount
  | InvalidArgument
  | InvalidPaymentToken
  | InvalidSignature
  | InvalidTaxId
  | InvalidTaxPercentage
  | InvoiceNotFound
  | InvoicePaid
  | ItemNotFound
  | NoCustomer
  | NoPaymentMethod
  | NoSubscription
  | NotFound
  | NotOnGracePeriod
  | PaymentActionRequired
  | PaymentFailed
  | PromotionCodeRefused
  | PaymentMethodInUse
  | PaymentMethodNotFound
  | PaymentOverdue
  | ProviderChosen
  | ProviderMisconfigured
  | ProviderRejected
  | ProviderUnavailable
  | RefundNotPossibleYet
  | RefundRefused
  | SubscriptionEnded
  | TooManyAttempts
  | TaxLocationUnknown
  | TransferRefused
  | TrialUsed
  | Unauthenticated
  | UnknownCoupon
  | UnknownPlan
  | Unsupported
  | UserNotFound

/** The class of an error, by its code. */
export type BillingErrorOf<Code extends BillingErrorCode> = Extract<
  AnyBillingError,
  { readonly code: Code }
>

/**
 * Whether this was thrown by billing, and for this reason where a code is named. By the code and not by the
 * class, because a bundler may load this package more than once, and each copy has classes of its own.
 * @example
 * if (isBillingError(error, 'payment_failed')) showDecline(error.declineCode)
 */
export function isBillingError<Code extends BillingErrorCode = BillingErrorCode>(
  error: unknown,
  code?: Code,
): error is BillingErrorOf<Code> {
  return error instanceof BillingError && (code === undefined || error.code === code)
}
