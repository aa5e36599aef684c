import type Stripe from 'stripe'
import { PaymentFailed } from '../../../../payment-errors.ts'
import { type StripeContext, toSeconds } from '../../sdk/client.ts'
import { throwUnpaid } from '../confirmations.ts'
import { heldInvoice } from './held-change.ts'
import { forgetTax, rememberTax } from './tax-before.ts'

type Params = Stripe.SubscriptionUpdateParams

/**
 * A change that may have to be paid at once. A declined payment undoes it. One that needs the customer is held back until
 * that has come: nobody has what is not paid for.
 */
export async function payUpdate(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
  params: Params,
  now?: Date,
): Promise<void> {
  const { id } = current
  try {
    await stripe.subscriptions.update(id, { ...params, payment_behavior: 'error_if_incomplete' })
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code !== 'subscription_payment_intent_requires_action') throw error
    const { tax, change } = splitTax(params)
    const hasTax = Object.keys(tax).length > 0
    if (!canBeHeld(change) || (hasTax && now && isBilledSoon(current, now))) throw cannotWait(error)
    const before = hasTax ? rememberTax(current) : {}
    if (hasTax) await stripe.subscriptions.update(id, { ...tax, metadata: before })
    const metadata = { ...change.metadata, ...forgetTax(before) }
    const updated = await stripe.subscriptions.update(id, {
      ...change,
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      payment_behavior: 'pending_if_incomplete',
    })
    const invoice = heldInvoice(updated)
    if (invoice !== null) await throwUnpaid(stripe, invoice)
  }
}

const A_DAY = 24 * 3600

/** What is held lapses with the next bill at the latest: too late for that one to have the old tax again. */
function isBilledSoon({ items }: Stripe.Subscription, now: Date): boolean {
  return items.data.some((item) => item.current_period_end - toSeconds(now) < A_DAY)
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

const HELD: readonly string[] = [
  'items',
  'trial_end',
  'proration_behavior',
  'proration_date',
  'metadata',
  'cancel_at_period_end',
]

const HELD_OF_ITEM: readonly string[] = ['id', 'price', 'quantity']

/** https://docs.stripe.com/billing/subscriptions/pending-updates#supported-attributes */
function canBeHeld(params: Params): boolean {
  const items = params.items ?? []
  return (
    Object.keys(params).every((name) => HELD.includes(name)) &&
    items.every((item) => Object.keys(item).every((name) => HELD_OF_ITEM.includes(name)))
  )
}

function cannotWait(cause: unknown): PaymentFailed {
  return new PaymentFailed(
    'The bank asks the customer, and Stripe cannot hold all of this back until they confirm. Make it two changes: first ' +
      'removePrice() what goes, or resume() what was to end on a date; addPrice() what has tax rates of its own; syncTaxPercentage() on the last day of a period',
    {
      provider: 'stripe',
      providerCode: 'subscription_payment_intent_requires_action',
      declineCode: 'authentication_required',
      cause,
    },
  )
}
