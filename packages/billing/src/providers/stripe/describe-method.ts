import type Stripe from 'stripe'
import { type CardSummary, NO_CARD, toExpiryText } from '../../core/values/card.ts'
import type {
  InvoicePaymentMethod,
  PaymentMethodKind,
  ProviderPaymentMethod,
} from '../payment-method.ts'

/** Payment method types that debit a bank account. */
const BANK_DEBITS: readonly string[] = [
  'acss_debit',
  'au_becs_debit',
  'bacs_debit',
  'nz_bank_account',
  'sepa_debit',
  'us_bank_account',
]

/** Payment method types of wallets that can be charged again. */
const WALLETS: readonly string[] = [
  'alipay',
  'amazon_pay',
  'cashapp',
  'grabpay',
  'kakao_pay',
  'link',
  'mobilepay',
  'naver_pay',
  'payco',
  'paypay',
  'revolut_pay',
  'samsung_pay',
  'satispay',
  'wechat_pay',
]

export function describeStripePaymentMethod(
  method: Stripe.PaymentMethod,
  defaultId: string | null,
): ProviderPaymentMethod {
  const { id, type, card } = method
  const { last4, bank_name, email, payer_email, fingerprint } = detailsOf(method)
  return {
    id,
    kind: kindOf(type),
    brand: card ? card.brand : type === 'paypal' ? null : type,
    lastFour: card ? card.last4 : (last4 ?? null),
    email: payer_email ?? email ?? null,
    bank: bank_name ?? null,
    expires: card ? { month: card.exp_month, year: card.exp_year } : null,
    fingerprint: fingerprint ?? null,
    isDefault: id === defaultId,
    raw: method,
  }
}

/** Describes the payment method of a charge, as it was at the time of the charge. */
export function describeChargedMethod(
  details: Stripe.Charge.PaymentMethodDetails,
): InvoicePaymentMethod {
  const { type, card } = details
  const { last4, bank_name, payer_email } = detailsOf(details)
  return {
    kind: kindOf(type),
    brand: card ? card.brand : type === 'paypal' ? null : type,
    lastFour: last4 ?? null,
    email: payer_email ?? null,
    bank: bank_name ?? null,
  }
}

/** Returns the values of our card columns for a payment method. */
export function summarizePaymentMethod(method: Stripe.PaymentMethod): CardSummary {
  const { kind, brand, lastFour, email, expires } = describeStripePaymentMethod(method, null)
  if (kind === 'paypal') return { ...NO_CARD, paypalEmail: email }
  const card = { ...NO_CARD, cardBrand: brand, cardLastFour: lastFour }
  return expires ? { ...card, cardExpires: toExpiryText(expires) } : card
}

function kindOf(type: string): PaymentMethodKind {
  if (type === 'card' || type === 'paypal') return type
  if (BANK_DEBITS.includes(type)) return 'bank_debit'
  return WALLETS.includes(type) ? 'wallet' : 'other'
}

interface Details {
  readonly last4?: string | null
  readonly bank_name?: string | null
  readonly email?: string | null
  readonly payer_email?: string | null
  readonly fingerprint?: string | null
}

/** Returns the details of a payment method, which Stripe stores under the name of its type. */
function detailsOf(method: { readonly type: string }): Details {
  const fields: Readonly<Record<string, unknown>> = { ...method }
  const details = fields[method.type]
  return typeof details === 'object' && details !== null ? details : {}
}
