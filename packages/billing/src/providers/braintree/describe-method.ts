import type braintree from 'braintree'
import { type CardExpiry, type CardSummary, NO_CARD, toExpiryText } from '../../core/values/card.ts'
import type {
  InvoicePaymentMethod,
  PaymentMethodKind,
  ProviderPaymentMethod,
} from '../payment-method.ts'

/** Fields of all payment method classes of the SDK, of which its types declare only some. */
interface Fields {
  readonly token: string
  readonly cardType?: string | undefined
  readonly last4?: string | undefined
  readonly bin?: string | undefined
  readonly expirationMonth?: string | undefined
  readonly expirationYear?: string | undefined
  /** Set for PayPal accounts, and for SEPA debits. */
  readonly email?: string | undefined
  /** Google Pay cards have this field and `sourceCardLast4` instead of `cardType` and `last4`. */
  readonly sourceCardType?: string | undefined
  readonly sourceCardLast4?: string | undefined
  /** Only set for Apple Pay cards. */
  readonly paymentInstrumentName?: string | undefined
  readonly sourceDescription?: string | undefined
  readonly username?: string | undefined
  readonly venmoUserId?: string | undefined
  readonly bankName?: string | undefined
  readonly routingNumber?: string | undefined
  readonly mandateType?: string | undefined
}

export function describeBraintreePaymentMethod(
  method: braintree.PaymentMethod,
  isDefault: boolean,
): ProviderPaymentMethod {
  const fields: Fields = method
  const { kind, brand } = detectKind(fields)
  return {
    id: fields.token,
    kind,
    brand,
    lastFour: fields.sourceCardLast4 ?? fields.last4 ?? null,
    email: kind === 'paypal' ? (fields.email ?? null) : null,
    bank: fields.bankName ?? null,
    expires: expiryOf(fields),
    fingerprint: fingerprintOf(fields.bin, fields.last4),
    isDefault,
    raw: method,
  }
}

/**
 * Describes the payment method of a transaction, as it was at the time of the transaction. `null`
 * if the transaction has none.
 */
export function describeTransactionMethod(
  transaction: braintree.Transaction,
): InvoicePaymentMethod | null {
  const found = TRANSACTION_METHODS.map(
    (name) =>
      (transaction as unknown as Record<string, Partial<TransactionFields> | undefined>)[name],
  ).find(isFilled)
  if (!found) return null
  const { kind, brand } = detectKind({ ...found, email: found.payerEmail })
  return {
    kind,
    brand,
    lastFour: found.sourceCardLast4 ?? found.last4 ?? null,
    email: found.payerEmail ?? null,
    bank: found.bankName ?? null,
  }
}

/** Fields of a transaction for its payment method. The SDK creates empty objects for the others. */
const TRANSACTION_METHODS = [
  'paypalAccount',
  'applePayCard',
  'androidPayCard',
  'venmoAccountDetails',
  'usBankAccount',
  'sepaDirectDebitAccountDetails',
  'creditCard',
]

interface TransactionFields extends Fields {
  /** Only set for PayPal accounts. */
  readonly payerEmail?: string | undefined
}

function isFilled(fields: Partial<TransactionFields> | undefined): boolean {
  const { last4, sourceCardLast4, payerEmail, venmoUserId } = fields ?? {}
  return [last4, sourceCardLast4, payerEmail, venmoUserId].some(Boolean)
}

/**
 * A payment method nonce, for which the SDK's types are incomplete.
 * @see https://developer.paypal.com/braintree/docs/reference/response/payment-method-nonce
 */
export interface PaymentMethodNonce {
  readonly nonce: string
  readonly type?: string
  readonly details?: {
    readonly bin?: string
    readonly cardType?: string
    readonly lastTwo?: string
    readonly lastFour?: string
    readonly expirationMonth?: string
    readonly expirationYear?: string
    readonly email?: string
    readonly payerInfo?: { readonly email?: string } | null
  }
}

/** Describes the payment method of a nonce before it is stored. */
export function describePaymentMethodNonce(nonce: PaymentMethodNonce): ProviderPaymentMethod {
  const { type = '', details = {} } = nonce
  const kind = KINDS[type] ?? 'other'
  return {
    id: nonce.nonce,
    kind,
    brand: kind === 'paypal' ? null : (details.cardType ?? type),
    lastFour: details.lastFour ?? null,
    email: kind === 'paypal' ? (details.payerInfo?.email ?? details.email ?? null) : null,
    bank: null,
    expires: expiryOf(details),
    fingerprint: fingerprintOf(details.bin, details.lastFour ?? details.lastTwo),
    isDefault: false,
    raw: nonce,
  }
}

const KINDS: Readonly<Record<string, PaymentMethodKind>> = {
  CreditCard: 'card',
  PayPalAccount: 'paypal',
  ApplePayCard: 'wallet',
  AndroidPayCard: 'wallet',
  VenmoAccount: 'wallet',
  UsBankAccount: 'bank_debit',
  SepaDebitAccount: 'bank_debit',
}

/**
 * Identifies a card number by the digits that Braintree shows both before and after the card is
 * stored: the first six and the last two.
 */
function fingerprintOf(bin: string | undefined, last: string | undefined): string | null {
  return bin && last ? `${bin}…${last.slice(-2)}` : null
}

/** Detects the kind by the fields that are set, because bundlers change class names. */
function detectKind(fields: Omit<Fields, 'token'>): {
  readonly kind: PaymentMethodKind
  readonly brand: string | null
} {
  if (fields.venmoUserId !== undefined) return { kind: 'wallet', brand: 'venmo' }
  if (fields.routingNumber !== undefined) return { kind: 'bank_debit', brand: 'us_bank_account' }
  if (fields.mandateType !== undefined) return { kind: 'bank_debit', brand: 'sepa_debit' }
  if (fields.sourceCardType !== undefined) return { kind: 'wallet', brand: 'google_pay' }
  if (fields.paymentInstrumentName !== undefined) return { kind: 'wallet', brand: 'apple_pay' }
  if (fields.last4 !== undefined) return { kind: 'card', brand: fields.cardType ?? null }
  return fields.email === undefined
    ? { kind: 'other', brand: null }
    : { kind: 'paypal', brand: null }
}

function expiryOf({
  expirationMonth,
  expirationYear,
}: Pick<Fields, 'expirationMonth' | 'expirationYear'>): CardExpiry | null {
  const month = Number(expirationMonth)
  const year = Number(expirationYear)
  return month >= 1 && month <= 12 && year > 0 ? { month, year } : null
}

/** Returns the values of our card columns for a payment method. */
export function summarizePaymentMethod(method: braintree.PaymentMethod): CardSummary {
  const { kind, brand, lastFour, email, expires } = describeBraintreePaymentMethod(method, true)
  if (kind === 'paypal') return { ...NO_CARD, paypalEmail: email }
  const card = { ...NO_CARD, cardBrand: brand, cardLastFour: lastFour }
  return expires ? { ...card, cardExpires: toExpiryText(expires) } : card
}
