import { formatAmount as formatBraintreeAmount } from '../../braintree/wire/money.ts'
import { formatAmount, isCurrency } from '../../stripe/wire/money.ts'

export type Tone = 'good' | 'bad' | 'warning' | 'plain'

export interface Amount {
  readonly minor: number
  readonly currency: string
  /** Formatted amount, such as `$10.00`. */
  readonly text: string
}

/** An event or status change that is part of a step. */
export interface Fact {
  /** Event type such as `invoice.paid`, or the status of a transaction. */
  readonly type: string
  /** The event. `null` if the fact is read from the object, or is part of a forecast. */
  readonly eventId: string | null
  /** Id of the object that the event is about. */
  readonly objectId: string | null
}

/** Changes with one cause at one moment, summarized in a few words. */
export interface Step {
  /** Time of the step as ISO 8601. */
  readonly at: string
  readonly provider: 'stripe' | 'braintree'
  /** Id of the Braintree merchant. `null` if there is only one merchant. */
  readonly merchant: string | null
  /** Id of the customer. `null` if the step concerns no customer. */
  readonly customer: string | null
  readonly title: string
  readonly tone: Tone
  readonly amount: Amount | null
  /** Additional lines, such as `Status: active → past_due`. */
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
