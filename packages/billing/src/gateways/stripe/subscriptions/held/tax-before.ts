import type Stripe from 'stripe'
import type { StripeContext } from '../../sdk/client.ts'
import { isRefusal } from '../../sdk/errors.ts'
import { haveSamePrices, itemsOf } from '../change-params.ts'
import { idsOf, ratesParam } from '../chosen-tax.ts'
import { retrieve } from '../retrieve.ts'
import { forget, hasLapsed, type Remembered, read, type TaxBefore, write } from './remembered.ts'

type Params = Stripe.SubscriptionUpdateParams

/**
 * Stripe holds no tax back, so that of a change comes before it. What there was is written into the subscription's metadata by the
 * very call that changes it, and forgotten by the change itself once that is paid: so there is no moment at which a process
 * that is killed leaves one without the other, and whoever reads the subscription knows all of it. No row of ours could do that.
 */
export function rememberTax(
  current: Stripe.Subscription,
  { tax, change }: { readonly tax: Params; readonly change: Params },
): Stripe.Metadata {
  const { metadata } = current
  return write(metadata, {
    before: withFirst(read(metadata)?.before ?? {}, taxBefore(current, tax)),
    wanted: wantedOf(current, change),
    endsTrial: change.trial_end === 'now',
    trialEnd: current.trial_end,
  })
}

/** What the subscription has of all that these params change. */
function taxBefore(
  { automatic_tax, default_tax_rates, items }: Stripe.Subscription,
  tax: Params,
): TaxBefore {
  const named = (tax.items ?? []).map(({ id }) => id)
  const rated = items.data.filter(({ id }) => named.includes(id))
  return {
    ...(tax.automatic_tax ? { automatic_tax: { enabled: automatic_tax.enabled } } : {}),
    ...(tax.default_tax_rates === undefined
      ? {}
      : { default_tax_rates: ratesParam(idsOf(default_tax_rates)) }),
    items: rated.map(({ id, tax_rates }) => ({ id, tax_rates: ratesParam(idsOf(tax_rates)) })),
  }
}

/** What an earlier change has found is what there was: this one finds what that has left. */
function withFirst(first: TaxBefore, found: TaxBefore): TaxBefore {
  const known = first.items ?? []
  const others = (found.items ?? []).filter(({ id }) => !known.some((item) => item.id === id))
  return { ...found, ...first, items: [...known, ...others] }
}

function wantedOf({ items }: Stripe.Subscription, { items: changes = [] }: Params) {
  const kept = items.data.map(({ id, price, quantity }) => {
    const change = changes.find((item) => item.id === id)
    const count = change ? change.quantity : quantity
    return { price: change?.price ?? price.id, quantity: count ?? null }
  })
  const added = changes
    .filter(({ id }) => id === undefined)
    .map(({ price = '', quantity }) => ({ price, quantity: quantity ?? null }))
  return [...kept, ...added]
}

/** The tax as before a change that was never paid. One that was paid stands. */
export async function putTaxBack(
  context: StripeContext,
  current: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!hasLapsed(current)) return current
  const { stripe, warn } = context
  const { id, metadata } = current
  const reason = await tryToPutBack(context, current)
  if (reason !== null) {
    warn(
      `Subscription ${id} has the tax of a change that nobody paid, because the one before it cannot be put back. See to its customer's address and its tax rates at Stripe, then call syncTaxPercentage()`,
      reason,
    )
    // The new tax stands in nobody's way.
    await stripe.subscriptions.update(id, { metadata: forget(metadata) })
  }
  return retrieve(stripe, id)
}

/** Null, or what speaks against it: a rate was archived, there is no address any more. */
async function tryToPutBack(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
): Promise<unknown> {
  const { id, metadata } = current
  const remembered = read(metadata)
  if (remembered === null) return new Error(`The metadata of ${id} does not say it any more`)
  const tax = isMade(current, remembered) ? {} : stillThere(current, remembered.before)
  const told = { metadata: forget(metadata), proration_behavior: 'none' } as const
  try {
    await stripe.subscriptions.update(id, { ...tax, ...told })
    return null
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

/** Whether it has become what the change wanted; whatever else has changed since is somebody else's. */
function isMade(current: Stripe.Subscription, remembered: Remembered): boolean {
  const { wanted, endsTrial, trialEnd } = remembered
  // A trial also ends by itself, when it was to end.
  const wasEnded = trialEnd !== null && current.trial_end !== null && current.trial_end < trialEnd
  return haveSamePrices(itemsOf(current), wanted) && (!endsTrial || wasEnded)
}

function stillThere({ items }: Stripe.Subscription, { items: rated = [], ...whole }: TaxBefore) {
  const left = rated.filter(({ id }) => items.data.some((item) => item.id === id))
  return { ...whole, ...(left.length > 0 ? { items: left } : {}) }
}
