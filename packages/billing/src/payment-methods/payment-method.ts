import type {
  PaymentMethodKind,
  ProviderMethod,
} from '../gateways/contract/parts/pages/payment-methods.ts'
import { type CardExpiry, isExpiredAt } from '../values/card.ts'
import { labelOf } from './label.ts'

/** How long before its end a card is said to be expiring, unless the caller says. */
const DAYS_AHEAD = 30

/** Something a customer can pay with: a card, a PayPal account, a debit from a bank. */
export class PaymentMethod {
  /** The provider's id. */
  readonly id: string
  /** What it is. */
  readonly kind: PaymentMethodKind
  /** Such as `visa` or `sepa_debit`, in the provider's words; null for what has none. */
  readonly brand: string | null
  /** Of the card or the bank account; null for anything else. */
  readonly lastFour: string | null
  /** Of the PayPal account; null for anything else. */
  readonly email: string | null
  /** The bank's name, of a debit, where the provider tells it. */
  readonly bank: string | null
  /** The last month in which it works; null for what does not end. */
  readonly expires: CardExpiry | null
  /** Whether it is the one that is billed. */
  readonly isDefault: boolean
  /** The provider's own object. */
  readonly raw: unknown
  readonly #now: Date

  constructor(method: ProviderMethod, now: Date) {
    this.id = method.id
    this.kind = method.kind
    this.brand = method.brand
    this.lastFour = method.lastFour
    this.email = method.email
    this.bank = method.bank
    this.expires = method.expires
    this.isDefault = method.isDefault
    this.raw = method.raw
    this.#now = now
  }

  /** Whether it no longer works at that moment; unless one is named, in 30 days. */
  isExpiring(at: Date = new Date(this.#now.getTime() + DAYS_AHEAD * 86_400_000)): boolean {
    return this.expires !== null && isExpiredAt(this.expires, at)
  }

  /** For people: `Visa •••• 4242`, `PayPal (jane@example.com)`, `Bank debit (Test Bank) •••• 6789`. */
  label(locale = 'en'): string {
    return labelOf(this, locale)
  }
}
