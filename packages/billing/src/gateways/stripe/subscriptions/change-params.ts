import type Stripe from 'stripe'
import type { WantedItem } from '../../contract/item.ts'
import { isMissing } from '../sdk/errors.ts'
import { haveIds, ratesParam, type TaxTarget } from './chosen-tax.ts'
import { isMetered, mainItem } from './describe.ts'

/** How the difference of a change is billed. */
interface Billing {
  readonly prorate: boolean
  readonly invoiceNow: boolean
}

/** The prices that it has, the main one first. */
export function itemsOf(current: Stripe.Subscription): WantedItem[] {
  const main = mainItem(current)
  const { data } = current.items
  return [...data.filter((item) => item === main), ...data.filter((item) => item !== main)].map(
    ({ price, quantity }) => ({ price: price.id, quantity: quantity ?? null }),
  )
}

/** The same with another plan, of which there are as many. */
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

/** Whether these are the prices that are wanted, the main one first. */
export function isWanted(found: readonly WantedItem[], wanted: readonly WantedItem[]): boolean {
  return found[0]?.price === wanted[0]?.price && haveSamePrices(found, wanted)
}

/** In whatever order, and as many of each as are wanted. */
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

/** The difference between what it has and what it is to have. The preview of a change sends the same. */
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
    // The main one is always named: it says what the subscription is.
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

/** The item whose price changes: the main one, unless the new main price is there already. */
export function replacedItem(
  current: Stripe.Subscription,
  [first]: readonly WantedItem[],
): Stripe.SubscriptionItem | undefined {
  const isThere = current.items.data.some(({ price }) => price.id === first?.price)
  return isThere ? undefined : mainItem(current)
}

/** Said with everything that changes it, so there is no moment at which another one is the main price. */
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

/** Whoever swaps by name says no quantity, and of a metered price Stripe takes none. More than one was said, and is refused. */
export async function countable(
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

/** Null for one that there is not: the change itself says so. */
async function find(stripe: Stripe, id: string): Promise<Stripe.Price | null> {
  try {
    return await stripe.prices.retrieve(id)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
