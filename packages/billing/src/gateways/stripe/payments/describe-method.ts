import type Stripe from 'stripe'
import { type CardSummary, NO_CARD, toExpiryText } from '../../../values/card.ts'
import type {
  PaymentMethodKind,
  ProviderMethod,
} from '../../contract/parts/pages/payment-methods.ts'

/** What Stripe takes from an account at a bank. */
const BANK_DEBITS: readonly string[] = [
  'acss_debit',
  'au_becs_debit',
  'bacs_debit',
  'nz_bank_account',
  'sepa_debit',
  'us_bank_account',
]

/** Accounts elsewhere that can be charged again. */
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

export function describeMethod(
  method: Stripe.PaymentMethod,
  defaultId: string | null,
): ProviderMethod {
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

/** What our columns say of it. */
export function summarizeMethod(method: Stripe.PaymentMethod): CardSummary {
  const { kind, brand, lastFour, email, expires } = describeMethod(method, null)
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

/** Each type keeps what is special to it under its own name. */
function detailsOf(method: Stripe.PaymentMethod): Details {
  const details = (method as unknown as Readonly<Record<string, unknown>>)[method.type]
  return typeof details === 'object' && details !== null ? details : {}
}
