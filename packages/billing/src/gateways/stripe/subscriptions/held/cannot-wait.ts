import type Stripe from 'stripe'
import { PaymentFailed } from '../../../../payment-errors.ts'
import { toDate, toSeconds } from '../../sdk/client.ts'

type Params = Stripe.SubscriptionUpdateParams

/** A change in two parts: its tax, which comes first, and what Stripe holds back. */
export interface HeldParts {
  readonly tax: Params
  readonly change: Params
  /** What is remembered of the tax before. */
  readonly remembered: Stripe.Metadata
}

/** Stripe discards what is held after 23 hours, and with the end of a period or trial at the latest; we need some time to see it. */
const LAPSES_AFTER = 23 * 3600
const SEEN_AFTER = 3600

const MOST_KEYS = 50

/** What stands in the way of a change that is to wait for the customer, and the way round it; null for nothing. */
export function whyNotHeld(
  current: Stripe.Subscription,
  { tax, change, remembered }: HeldParts,
  now: Date | null,
): string | null {
  const { items = [], trial_end, cancel_at, ...others } = change
  if (items.some(({ deleted }) => deleted)) return 'removePrice() what goes, then swap()'
  if (cancel_at !== undefined) return 'resume(), which takes back when it was to end, then swap()'
  if (items.some(({ tax_rates }) => tax_rates !== undefined)) {
    return 'addPrice() what has tax rates of its own, which is paid with the next bill, then do the rest'
  }
  const unknown = Object.keys(others).find((name) => !HELD.includes(name))
  if (unknown !== undefined) return `leave out ${unknown}`
  if (now === null || Object.keys(tax).length === 0) return null
  const told = Object.values({ ...current.metadata, ...remembered })
  const keys = told.filter((value) => value !== '').length
  if (keys > MOST_KEYS) {
    return `take out ${keys - MOST_KEYS} of the keys in the metadata of ${current.id}, where the tax before has to be kept`
  }
  const bill = Math.min(...current.items.data.map((item) => item.current_period_end))
  if (bill - toSeconds(now) >= LAPSES_AFTER + SEEN_AFTER) return null
  const when = `on ${toDate(bill).toISOString()}`
  // What is held lapses with that bill, which would have the tax of a change that nobody paid.
  if (trial_end !== undefined) return `swap() without skipTrial(): the trial ends ${when}`
  const first = change.cancel_at_period_end === undefined ? '' : 'resume(), then '
  return `${first}swapAtPeriodEnd(): the next bill, which has another tax, comes ${when}`
}

/** https://docs.stripe.com/billing/subscriptions/pending-updates#supported-attributes */
const HELD: readonly string[] = [
  'proration_behavior',
  'proration_date',
  'metadata',
  'cancel_at_period_end',
  'add_invoice_items',
]

export function cannotWait(wayRound: string, cause: unknown): PaymentFailed {
  return new PaymentFailed(
    `The bank asks the customer, and Stripe cannot hold all of this back until they confirm. Instead: ${wayRound}`,
    {
      provider: 'stripe',
      providerCode: 'subscription_payment_intent_requires_action',
      declineCode: 'authentication_required',
      cause,
    },
  )
}
