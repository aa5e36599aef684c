import { type CardExpiry, isExpiredAt } from '../../core/values/card.ts'
import type { PaymentMethodKind, ProviderPaymentMethod } from '../../providers/payment-method.ts'
import { formatPaymentMethodLabel } from './label.ts'

/** Default number of days before the end at which a card counts as expiring. */
const DAYS_AHEAD = 30

/** A payment method of a customer: a card, a PayPal account, or a bank debit. */
export class PaymentMethod {
  /** The provider's id of the payment method. */
  readonly id: string
  /** Kind of the payment method. */
  readonly kind: PaymentMethodKind
  /**
   * The brand of the payment method as the provider writes it, such as `visa` or `sepa_debit`.
   * `null` if there is no brand.
   */
  readonly brand: string | null
  /** Last four digits of the card or bank account. `null` for other kinds. */
  readonly lastFour: string | null
  /** E-mail address of the PayPal account. `null` for other kinds. */
  readonly email: string | null
  /**
   * Name of the bank, for a bank debit. `null` for other kinds, or if the provider does not say.
   */
  readonly bank: string | null
  /** Last month in which the payment method can be charged. `null` if it does not expire. */
  readonly expires: CardExpiry | null
  /** Whether it is the customer's default payment method, to which payments are charged. */
  readonly isDefault: boolean
  /** The object as the provider's SDK returned it. */
  readonly raw: unknown
  readonly #now: Date

  constructor(method: ProviderPaymentMethod, now: Date) {
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

  /**
   * Whether the payment method will have expired at the given time. `at` defaults to 30 days from
   * now.
   */
  isExpiring(at: Date = new Date(this.#now.getTime() + DAYS_AHEAD * 86_400_000)): boolean {
    return this.expires !== null && isExpiredAt(this.expires, at)
  }

  /**
   * Returns a short text by which customers recognize the payment method: `Visa •••• 4242`,
   * `PayPal (jane@example.com)`, `Bank debit (Test Bank) •••• 6789`.
   */
  label(locale = 'en'): string {
    return formatPaymentMethodLabel(this, locale)
  }
}

type Compared = Pick<
  ProviderPaymentMethod,
  'id' | 'kind' | 'brand' | 'lastFour' | 'email' | 'expires' | 'fingerprint'
>

/**
 * Whether two payment methods are the same card or account, for example one that was entered twice.
 * A renewed card with the same number and a later expiry counts as a different one. `false` if the
 * data is not sufficient to tell.
 */
export function isSameMethod(a: Compared, b: Compared): boolean {
  if (a.id === b.id) return true
  if (a.kind !== b.kind || haveDifferentExpiries(a, b)) return false
  if (a.fingerprint && b.fingerprint) return a.fingerprint === b.fingerprint
  const isKnown = a.lastFour !== null || a.email !== null
  return (
    isKnown &&
    a.lastFour === b.lastFour &&
    a.email === b.email &&
    a.brand?.toLowerCase() === b.brand?.toLowerCase()
  )
}

/**
 * Whether both have an expiry, and they differ. A provider may not say when a card that is not
 * stored yet expires.
 */
function haveDifferentExpiries({ expires: a }: Compared, { expires: b }: Compared): boolean {
  return a !== null && b !== null && (a.month !== b.month || a.year !== b.year)
}
