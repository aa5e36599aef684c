import { formatAmount as formatBraintreeAmount } from '../../braintree/wire/money.ts'
import { formatAmount, isCurrency } from '../../stripe/wire/money.ts'

export type StepTone = 'good' | 'bad' | 'warning' | 'plain'

export interface StepAmount {
  readonly minor: number
  readonly currency: string
  /** Formatted amount with its currency, such as `$10.00`. */
  readonly text: string
}

/** An event or a status change that is part of a step of a timeline. */
export interface StepFact {
  /** Event type such as `invoice.paid`, or the status of a transaction. */
  readonly type: string
  /**
   * Id of the event. `null` if there is none, because the fact is read from the object or is part
   * of a forecast.
   */
  readonly eventId: string | null
  /** Id of the object that the event is about. */
  readonly objectId: string | null
}

/**
 * An entry of a timeline: changes that happened at one moment for one cause, summarized in a few
 * words.
 */
export interface TimelineStep {
  /** Time of the step in ISO 8601 format. */
  readonly at: string
  readonly provider: 'stripe' | 'braintree'
  /**
   * Id of the Braintree merchant. `null` if there is only one merchant, or the step happened at
   * Stripe.
   */
  readonly merchant: string | null
  /** Id of the customer. `null` if the step concerns no customer. */
  readonly customer: string | null
  readonly title: string
  readonly tone: StepTone
  readonly amount: StepAmount | null
  /** Additional lines of text, such as `Status: active → past_due`. */
  readonly notes: readonly string[]
  readonly facts: readonly StepFact[]
}

export function toStepAmount(minor: unknown, currency: unknown): StepAmount | null {
  if (typeof minor !== 'number' || typeof currency !== 'string') return null
  const code = currency.toLowerCase()
  const upper = currency.toUpperCase()
  const text = isCurrency(code)
    ? formatAmount(minor, code)
    : `${formatBraintreeAmount(minor, upper)} ${upper}`
  return { minor, currency: code, text }
}

export function sortNewestFirst<S extends TimelineStep>(steps: readonly S[]): S[] {
  return [...steps].reverse().sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
}
