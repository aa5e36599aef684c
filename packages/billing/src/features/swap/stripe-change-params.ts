import type Stripe from 'stripe'
import type { WantedItem } from '../../providers/item.ts'
import { orNull } from '../../providers/stripe/client.ts'
import { isMetered, mainItem } from '../../providers/stripe/describe-subscription.ts'
import { haveIds, ratesParam, type TaxTarget } from '../taxes/stripe-chosen-tax.ts'

/** How the difference of a change is billed. */
interface Billing {
  readonly prorate: boolean
  readonly invoiceNow: boolean
}

/** Lists the prices of the subscription, the main price first. */
export function itemsOf(current: Stripe.Subscription): WantedItem[] {
  const main = mainItem(current)
  const { data } = current.items
  return [...data.filter((item) => item === main), ...data.filter((item) => item !== main)].map(
    ({ price, quantity }) => ({ price: price.id, quantity: quantity ?? null }),
  )
}

/** Lists the prices with another main price in the same quantity. */
export function itemsWithPlan(current: Stripe.Subscription, plan: string): WantedItem[] {
  const [main, ...others] = itemsOf(current)
  return [
    { price: plan, quantity: main?.quantity ?? null },
    ...others.filter(({ price }) => price !== plan),
  ]
}

export function hasItems(current: Stripe.Subscription, wanted: readonly WantedItem[]): boolean {
  return isWanted(itemsOf(current), wanted)
}

/** Whether these are exactly the wanted prices, with the same main price. */
export function isWanted(found: readonly WantedItem[], wanted: readonly WantedItem[]): boolean {
  return found[0]?.price === wanted[0]?.price && haveSamePrices(found, wanted)
}

/** Whether prices and quantities are the same, in any order. */
export function haveSamePrices(
  found: readonly WantedItem[],
  wanted: readonly WantedItem[],
): boolean {
  return (
    found.length === wanted.length &&
    found.every((item) => wanted.some((each) => isSame(item, each)))
  )
}

export function ownRates(rates: readonly string[] = []): { tax_rates?: string[] } {
  return rates.length > 0 ? { tax_rates: [...rates] } : {}
}

/**
 * Returns the difference between present and wanted prices. The preview of a change sends the same.
 */
export function itemParams(
  current: Stripe.Subscription,
  wanted: readonly WantedItem[],
  ratesOf: TaxTarget['ofItem'],
): Stripe.SubscriptionUpdateParams.Item[] {
  const { data } = current.items
  const replaced = replacedItem(current, wanted)
  const changed = wanted.flatMap((each, at): Stripe.SubscriptionUpdateParams.Item[] => {
    const old =
      data.find(({ price }) => price.id === each.price) ?? (at === 0 ? replaced : undefined)
    const { price, quantity } = each
    const count = quantity === null ? {} : { quantity }
    const own = ratesOf(price)
    if (!old) return [{ price, ...count, ...ownRates(own) }]
    // The main price is always included, because the metadata name it.
    const isThere = isSame({ price: old.price.id, quantity: old.quantity ?? null }, each)
    const isTaxedSo = own === undefined || haveIds(old.tax_rates, own)
    if (isThere && isTaxedSo && at > 0) return []
    return [{ id: old.id, price, ...count, ...(isTaxedSo ? {} : { tax_rates: ratesParam(own) }) }]
  })
  const removed = data
    .filter((item) => item !== replaced && !wanted.some(({ price }) => price === item.price.id))
    .map(({ id }) => ({ id, deleted: true }))
  return [...changed, ...removed]
}

/**
 * Returns the item whose price changes: the main one, unless the subscription already has the new
 * main price.
 */
export function replacedItem(
  current: Stripe.Subscription,
  [first]: readonly WantedItem[],
): Stripe.SubscriptionItem | undefined {
  const isThere = current.items.data.some(({ price }) => price.id === first?.price)
  return isThere ? undefined : mainItem(current)
}

/**
 * Writes the main price into the metadata in the same request that changes it, so that no other
 * price is ever taken for the main one.
 */
export function mainParams(
  current: Stripe.Subscription,
  wanted: readonly WantedItem[],
): Pick<Stripe.SubscriptionUpdateParams, 'metadata'> {
  const [main] = wanted
  if (!main || (wanted.length < 2 && current.metadata.main === undefined)) return {}
  return { metadata: { main: main.price } }
}

export function prorationBehavior({
  prorate,
  invoiceNow,
}: Billing): 'always_invoice' | 'create_prorations' | 'none' {
  if (!prorate) return 'none'
  return invoiceNow ? 'always_invoice' : 'create_prorations'
}

function isSame(a: WantedItem, b: WantedItem): boolean {
  return a.price === b.price && (b.quantity === null || a.quantity === b.quantity)
}

/**
 * Removes the quantity 1 of metered prices, for which Stripe accepts none: a swap by name does not
 * state a quantity. Any other quantity was stated by the caller, and Stripe rejects it.
 */
export async function withoutMeteredQuantities(
  stripe: Stripe,
  current: Stripe.Subscription,
  wanted: readonly WantedItem[],
): Promise<WantedItem[]> {
  const known = current.items.data.map(({ price }) => price)
  return Promise.all(
    wanted.map(async (item) => {
      if (item.quantity !== 1) return item
      const price = known.find(({ id }) => id === item.price) ?? (await find(stripe, item.price))
      return price && isMetered(price) ? { ...item, quantity: null } : item
    }),
  )
}

/** Reads a price. `null` if it does not exist, which the change itself reports. */
async function find(stripe: Stripe, id: string): Promise<Stripe.Price | null> {
  return orNull(() => stripe.prices.retrieve(id))
}
