import type Stripe from 'stripe'
import { PaymentFailed } from '../../core/errors/payment-errors.ts'
import { type StripeContext, toDate, toSeconds } from '../../providers/stripe/client.ts'
import { removeUpdateState } from '../../providers/stripe/held-change.ts'
import { throwIfUnpaid } from './stripe.ts'
import { encodePreviousTaxes, getPendingUpdateInvoice } from './stripe-pending-update.ts'

type Params = Stripe.SubscriptionUpdateParams

/**
 * Updates a subscription when the update may be charged immediately. If the payment is declined,
 * Stripe changes nothing. If the customer has to authenticate the payment, Stripe delays the update
 * until they have, so that nothing is granted before it is paid.
 */
export async function updateAndPay(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
  params: Params,
  /** The current time. `null` if no tax changes. */
  now: Date | null,
): Promise<void> {
  const { id } = current
  try {
    await stripe.subscriptions.update(id, { ...params, payment_behavior: 'error_if_incomplete' })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code !== 'subscription_payment_intent_requires_action') throw error
    const { tax, change } = splitTax(params)
    const hasTax = Object.keys(tax).length > 0
    const remembered = hasTax ? encodePreviousTaxes(current, { tax, change }) : {}
    const alternative = findDelayAlternative(current, { tax, change, remembered }, now)
    if (alternative !== null) throw createCannotDelayError(alternative, error)
    if (hasTax) {
      const update = { metadata: remembered, proration_behavior: 'none' } as const
      await stripe.subscriptions.update(id, { ...tax, ...update })
    }
    const metadata = { ...change.metadata, ...removeUpdateState(remembered) }
    const updated = await stripe.subscriptions.update(id, {
      ...change,
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      payment_behavior: 'pending_if_incomplete',
    })
    const invoice = getPendingUpdateInvoice(updated)
    if (invoice !== null) await throwIfUnpaid(stripe, invoice)
  }
}

function splitTax({ default_tax_rates, automatic_tax, items = [], ...rest }: Params): {
  readonly tax: Params
  readonly change: Params
} {
  const rated = items.flatMap(({ id, tax_rates }) =>
    id === undefined || tax_rates === undefined ? [] : [{ id, tax_rates }],
  )
  const unrated = items.map((item) => {
    const { tax_rates: _rates, ...without } = item
    // A new item keeps its tax rates, which cannot be set before it exists.
    return item.id === undefined ? item : without
  })
  return {
    tax: {
      ...(default_tax_rates === undefined ? {} : { default_tax_rates }),
      ...(automatic_tax === undefined ? {} : { automatic_tax }),
      ...(rated.length > 0 ? { items: rated } : {}),
    },
    change: { ...rest, ...(items.length > 0 ? { items: unrated } : {}) },
  }
}

/**
 * A subscription update in two parts: the taxes, which change first because Stripe cannot delay
 * them, and the rest, which Stripe delays until the customer has authenticated the payment.
 */
export interface TaxAndOtherChanges {
  readonly tax: Params
  readonly change: Params
  /** Metadata that stores the taxes from before the change, so that they can be restored. */
  readonly remembered: Stripe.Metadata
}

/**
 * Stripe discards a pending update after 23 hours, and at the end of a period or trial. We need an
 * hour of margin to notice it.
 */
const EXPIRES_AFTER = 23 * 3600
const SEEN_AFTER = 3600

const MAX_KEYS = 50

/**
 * Returns advice for the error message if Stripe cannot delay this change until the customer has
 * authenticated the payment: what the caller can do instead. `null` if Stripe can delay the change.
 */
export function findDelayAlternative(
  current: Stripe.Subscription,
  { tax, change, remembered }: TaxAndOtherChanges,
  now: Date | null,
): string | null {
  const { items = [], trial_end, cancel_at, ...others } = change
  if (items.some(({ deleted }) => deleted))
    return 'removePrice() for each price to be removed, then swap()'
  if (cancel_at !== undefined) return 'resume(), which clears the end date, then swap()'
  if (items.some(({ tax_rates }) => tax_rates !== undefined)) {
    return 'addPrice() for each price with tax rates of its own, which is paid with the next invoice, then the rest of the change'
  }
  const unknown = Object.keys(others).find((name) => !DELAYABLE.includes(name))
  if (unknown !== undefined) return `leave out ${unknown}`
  if (now === null || Object.keys(tax).length === 0) return null
  const values = Object.values({ ...current.metadata, ...remembered })
  const keys = values.filter((value) => value !== '').length
  if (keys > MAX_KEYS) {
    return `take out ${keys - MAX_KEYS} of the keys in the metadata of ${current.id}, which needs room for the previous tax`
  }
  const bill = Math.min(...current.items.data.map((item) => item.current_period_end))
  if (bill - toSeconds(now) >= EXPIRES_AFTER + SEEN_AFTER) return null
  const when = `on ${toDate(bill).toISOString()}`
  // The pending update expires with that invoice, which would be taxed for a change that was not
  // paid.
  if (trial_end !== undefined) return `swap() without skipTrial(): the trial ends ${when}`
  const first = change.cancel_at_period_end === undefined ? '' : 'resume(), then '
  return `${first}swapAtPeriodEnd(): the next invoice, which would already have the new tax, is due ${when}`
}

/** https://docs.stripe.com/billing/subscriptions/pending-updates#supported-attributes */
const DELAYABLE: readonly string[] = [
  'proration_behavior',
  'proration_date',
  'metadata',
  'cancel_at_period_end',
  'add_invoice_items',
]

export function createCannotDelayError(alternative: string, cause: unknown): PaymentFailed {
  return new PaymentFailed(
    `The customer's bank requires authentication, and Stripe cannot delay this whole change until they confirm. Instead: ${alternative}`,
    {
      provider: 'stripe',
      providerCode: 'subscription_payment_intent_requires_action',
      declineCode: 'authentication_required',
      cause,
    },
  )
}
