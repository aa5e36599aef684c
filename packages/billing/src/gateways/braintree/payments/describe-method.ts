import type braintree from 'braintree'
import { type CardExpiry, type CardSummary, NO_CARD, toExpiryText } from '../../../values/card.ts'
import type {
  PaymentMethodKind,
  ProviderMethod,
} from '../../contract/parts/pages/payment-methods.ts'

/** All that the classes of the SDK have; its typings know some of them. */
interface Fields {
  readonly token: string
  readonly cardType?: string
  readonly last4?: string
  readonly bin?: string
  readonly expirationMonth?: string
  readonly expirationYear?: string
  /** Of a PayPal account; a debit by SEPA has one, too. */
  readonly email?: string
  /** Google's cards have these two instead. */
  readonly sourceCardType?: string
  readonly sourceCardLast4?: string
  /** Apple's cards alone. */
  readonly paymentInstrumentName?: string
  readonly sourceDescription?: string
  readonly username?: string
  readonly venmoUserId?: string
  readonly bankName?: string
  readonly routingNumber?: string
  readonly mandateType?: string
}

export function describeMethod(
  method: braintree.PaymentMethod,
  isDefault: boolean,
): ProviderMethod {
  const fields = method as unknown as Fields
  const { kind, brand } = whatIs(fields)
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

/** A nonce, which the SDK's typings do not know much of. https://developer.paypal.com/braintree/docs/reference/response/payment-method-nonce */
export interface Nonce {
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

/** What a nonce stands for, before it is kept. */
export function describeNonce(nonce: Nonce): ProviderMethod {
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

/** All that Braintree tells of a number before and after it is kept: its first six digits and its last two. */
function fingerprintOf(bin: string | undefined, last: string | undefined): string | null {
  return bin && last ? `${bin}…${last.slice(-2)}` : null
}

/** By what each has: names of classes do not survive a bundler. */
function whatIs(fields: Fields): {
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

/** What our columns say of it. */
export function summarizeMethod(method: braintree.PaymentMethod): CardSummary {
  const { kind, brand, lastFour, email, expires } = describeMethod(method, true)
  if (kind === 'paypal') return { ...NO_CARD, paypalEmail: email }
  const card = { ...NO_CARD, cardBrand: brand, cardLastFour: lastFour }
  return expires ? { ...card, cardExpires: toExpiryText(expires) } : card
}
