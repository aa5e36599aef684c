import type Stripe from 'stripe'
import type { StripeContext } from '../../sdk/client.ts'
import { isRefusal } from '../../sdk/errors.ts'
import { idsOf, taxParams } from '../chosen-tax.ts'
import { retrieve } from '../retrieve.ts'

const OF_WHOLE = 'tax_of_whole'
const OF_ITEM = /^tax_of_(si_\w+)$/
const NEVER = 'never'

type Metadata = Record<string, string>

/**
 * Stripe holds no tax back, so that of a change comes before it. What there was is written into the subscription meanwhile: it is
 * put back when nobody has paid, and forgotten with the change itself.
 */
export function rememberTax(current: Stripe.Subscription): Metadata {
  const { automatic_tax, trial_end, default_tax_rates, items } = current
  const way = automatic_tax.enabled ? 'automatic' : 'rates'
  const whole = [way, String(trial_end ?? NEVER), ...idsOf(default_tax_rates)]
  const ofItems = items.data.map((item): [string, string] => [
    `tax_of_${item.id}`,
    [...wordsOf(item), ...idsOf(item.tax_rates)].join(' '),
  ])
  return { [OF_WHOLE]: whole.join(' '), ...Object.fromEntries(ofItems) }
}

export function forgetTax(metadata: Metadata): Metadata {
  const kept = Object.keys(metadata).filter((key) => key === OF_WHOLE || OF_ITEM.test(key))
  return Object.fromEntries(kept.map((key) => [key, '']))
}

/** Whether a change is no longer held, and what was remembered for it is still there. */
export function hasLapsed({ pending_update, metadata, status }: Stripe.Subscription): boolean {
  return pending_update === null && OF_WHOLE in metadata && status !== 'canceled'
}

/** All as before a change that was never paid. One that was paid stands. */
export async function putTaxBack(
  { stripe }: StripeContext,
  current: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  if (!hasLapsed(current)) return current
  const { metadata } = current
  const [way, trialEnd, ...whole] = (metadata[OF_WHOLE] ?? '').split(' ')
  const before = new Map(
    Object.entries(metadata).flatMap(([key, value]) => {
      const item = OF_ITEM.exec(key)?.[1]
      const [price = '', quantity = '', ...rates] = value.split(' ')
      return item === undefined ? [] : [[item, { price, quantity, rates }] as const]
    }),
  )
  const { data } = current.items
  const isAsBefore =
    String(current.trial_end ?? NEVER) === trialEnd &&
    data.length === before.size &&
    data.every((item) => {
      const old = before.get(item.id)
      const [price, quantity] = wordsOf(item)
      return old?.price === price && old?.quantity === quantity
    })
  const byPrice = new Map([...before.values()].map(({ price, rates }) => [price, rates]))
  const tax = taxParams(current, {
    isAutomatic: way === 'automatic',
    whole,
    ofItem: (price) => byPrice.get(price),
  })
  const forgotten = { metadata: forgetTax(metadata) }
  try {
    await stripe.subscriptions.update(current.id, { ...(isAsBefore ? tax : {}), ...forgotten })
  } catch (error) {
    if (!isRefusal(error)) throw error
    // Its rate was archived, or there is no address any more: the new tax stays, and stands in nobody's way.
    await stripe.subscriptions.update(current.id, forgotten)
  }
  return retrieve(stripe, current.id)
}

function wordsOf({ price, quantity }: Stripe.SubscriptionItem): [price: string, quantity: string] {
  return [price.id, String(quantity ?? NEVER)]
}
