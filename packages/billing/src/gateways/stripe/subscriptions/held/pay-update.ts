import type Stripe from 'stripe'
import type { StripeContext } from '../../sdk/client.ts'
import { throwUnpaid } from '../confirmations.ts'
import { cannotWait, whyNotHeld } from './cannot-wait.ts'
import { heldInvoice } from './held-change.ts'
import { forget } from './remembered.ts'
import { rememberTax } from './tax-before.ts'

type Params = Stripe.SubscriptionUpdateParams

/**
 * A change that may have to be paid at once. A declined payment undoes it. One that needs the customer is held back until
 * that has come: nobody has what is not paid for.
 */
export async function payUpdate(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
  params: Params,
  /** Null where no tax changes. */
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
    const remembered = hasTax ? rememberTax(current, { tax, change }) : {}
    const wayRound = whyNotHeld(current, { tax, change, remembered }, now)
    if (wayRound !== null) throw cannotWait(wayRound, error)
    if (hasTax) {
      const told = { metadata: remembered, proration_behavior: 'none' } as const
      await stripe.subscriptions.update(id, { ...tax, ...told })
    }
    const metadata = { ...change.metadata, ...forget(remembered) }
    const updated = await stripe.subscriptions.update(id, {
      ...change,
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      payment_behavior: 'pending_if_incomplete',
    })
    const invoice = heldInvoice(updated)
    if (invoice !== null) await throwUnpaid(stripe, invoice)
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
    // Of what is added they come with it, or not at all.
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
