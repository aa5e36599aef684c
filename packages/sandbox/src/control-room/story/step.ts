import { formatAmount as formatBraintreeAmount } from '../../braintree/wire/money.ts'
import { formatAmount, isCurrency } from '../../stripe/wire/money.ts'

export type Tone = 'good' | 'bad' | 'warning' | 'plain'

export interface Amount {
  readonly minor: number
  readonly currency: string
  /** `$10.00` */
  readonly text: string
}

/** One of the things that make up a step, as the provider calls it. */
export interface Fact {
  /** `invoice.paid`, or the status of a transaction. */
  readonly type: string
  /** The event that told of it; null where it is read from the object, or has not happened yet. */
  readonly eventId: string | null
  /** The object it is about. */
  readonly objectId: string | null
}

/** What happened at one moment for one reason, in a few words. */
export interface Step {
  /** ISO 8601. */
  readonly at: string
  readonly provider: 'stripe' | 'braintree'
  /** Where Braintree has several merchants. */
  readonly merchant: string | null
  /** Whom it concerns; null when nobody in particular. */
  readonly customer: string | null
  readonly title: string
  readonly tone: Tone
  readonly amount: Amount | null
  /** What else is worth a line: `active → past_due`. */
  readonly notes: readonly string[]
  readonly facts: readonly Fact[]
}

export function amountOf(minor: unknown, currency: unknown): Amount | null {
  if (typeof minor !== 'number' || typeof currency !== 'string') return null
  const code = currency.toLowerCase()
  const upper = currency.toUpperCase()
  const text = isCurrency(code)
    ? formatAmount(minor, code)
    : `${formatBraintreeAmount(minor, upper)} ${upper}`
  return { minor, currency: code, text }
}

export function newestFirst<S extends Step>(steps: readonly S[]): S[] {
  return [...steps].reverse().sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}
