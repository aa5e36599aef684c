import type Stripe from 'stripe'
import type { RequestedItem } from '../../providers/item.ts'
import { nullIfMissing } from '../../providers/stripe/client.ts'
import { findMainItem, isMeteredPrice } from '../../providers/stripe/describe-subscription.ts'
import {
  buildTaxRatesParam,
  haveTaxRateIds,
  type ResolvedSubscriptionTax,
} from '../taxes/stripe-chosen-tax.ts'

/** How the difference of a change is billed. */
interface Billing {
  readonly prorate: boolean
  readonly invoiceNow: boolean
}

/** Lists the prices of a Stripe subscription with their quantities, the main price first. */
export function listSubscriptionPriceItems(current: Stripe.Subscription): RequestedItem[] {
  const main = findMainItem(current)
  const { data } = current.items
  return [...data.filter((item) => item === main), ...data.filter((item) => item !== main)].map(
    ({ price, quantity }) => ({ price: price.id, quantity: quantity ?? null }),
  )
}

/**
 * Lists the prices of a Stripe subscription after its main price is replaced by `mainPrice`, in the same
 * quantity.
 */
export function replaceMainPriceItem(
  current: Stripe.Subscription,
  mainPrice: string,
): RequestedItem[] {
  const [main, ...others] = listSubscriptionPriceItems(current)
  return [
    { price: mainPrice, quantity: main?.quantity ?? null },
    ...others.filter(({ price }) => price !== mainPrice),
  ]
}

export function hasStripeItems(
  current: Stripe.Subscription,
  requestedItems: readonly RequestedItem[],
): boolean {
  return isSamePriceList(listSubscriptionPriceItems(current), requestedItems)
}

/**
 * Whether both lists have the same prices and quantities, and the same main price (the first one).
 */
export function isSamePriceList(
  found: readonly RequestedItem[],
  requestedItems: readonly RequestedItem[],
): boolean {
  return found[0]?.price === requestedItems[0]?.price && haveSamePrices(found, requestedItems)
}

/** Whether both lists have the same prices and quantities, in any order. */
export function haveSamePrices(
  found: readonly RequestedItem[],
  requestedItems: readonly RequestedItem[],
): boolean {
  return (
    found.length === requestedItems.length &&
    found.every((item) => requestedItems.some((each) => isSame(item, each)))
  )
}

export function buildItemTaxRatesParam(rates: readonly string[] = []): { tax_rates?: string[] } {
  return rates.length > 0 ? { tax_rates: [...rates] } : {}
}

/**
 * Returns the `items` parameter that changes the present prices of a subscription to the wanted
 * ones. A preview of the change sends the same parameter.
 */
export function buildItemUpdateParams(
  current: Stripe.Subscription,
  requestedItems: readonly RequestedItem[],
  ratesOf: ResolvedSubscriptionTax['ofItem'],
): Stripe.SubscriptionUpdateParams.Item[] {
  const { data } = current.items
  const replaced = findItemWithChangedPrice(current, requestedItems)
  const changed = requestedItems.flatMap((each, at): Stripe.SubscriptionUpdateParams.Item[] => {
    const old =
      data.find(({ price }) => price.id === each.price) ?? (at === 0 ? replaced : undefined)
    const { price, quantity } = each
    const count = quantity === null ? {} : { quantity }
    const own = ratesOf(price)
    if (!old) return [{ price, ...count, ...buildItemTaxRatesParam(own) }]
    // The main price is always included, because the metadata name it.
    const isThere = isSame({ price: old.price.id, quantity: old.quantity ?? null }, each)
    const isTaxedSo = own === undefined || haveTaxRateIds(old.tax_rates, own)
    if (isThere && isTaxedSo && at > 0) return []
    return [
      { id: old.id, price, ...count, ...(isTaxedSo ? {} : { tax_rates: buildTaxRatesParam(own) }) },
    ]
  })
  const removed = data
    .filter(
      (item) => item !== replaced && !requestedItems.some(({ price }) => price === item.price.id),
    )
    .map(({ id }) => ({ id, deleted: true }))
  return [...changed, ...removed]
}

/**
 * Returns the subscription item whose price is replaced: the main one. `undefined` if the
 * subscription already has the new main price.
 */
export function findItemWithChangedPrice(
  current: Stripe.Subscription,
  [first]: readonly RequestedItem[],
): Stripe.SubscriptionItem | undefined {
  const isThere = current.items.data.some(({ price }) => price.id === first?.price)
  return isThere ? undefined : findMainItem(current)
}

/**
 * Returns the parameters that write the id of the main price to the subscription's metadata. They
 * are part of the request that changes the price, so that another price is never mistaken for the
 * main one.
 */
export function buildMainPriceMetadata(
  current: Stripe.Subscription,
  requestedItems: readonly RequestedItem[],
): Pick<Stripe.SubscriptionUpdateParams, 'metadata'> {
  const [main] = requestedItems
  if (!main || (requestedItems.length < 2 && current.metadata.main === undefined)) return {}
  return { metadata: { main: main.price } }
}

export function chooseProrationBehavior({
  prorate,
  invoiceNow,
}: Billing): 'always_invoice' | 'create_prorations' | 'none' {
  if (!prorate) return 'none'
  return invoiceNow ? 'always_invoice' : 'create_prorations'
}

function isSame(a: RequestedItem, b: RequestedItem): boolean {
  return a.price === b.price && (b.quantity === null || a.quantity === b.quantity)
}

/**
 * Removes the quantity 1 from metered prices, because Stripe accepts no quantity for them and 1 is
 * our default. Any other quantity was stated by the caller, and is left for Stripe to reject.
 */
export async function withoutMeteredQuantities(
  stripe: Stripe,
  current: Stripe.Subscription,
  requestedItems: readonly RequestedItem[],
): Promise<RequestedItem[]> {
  const known = current.items.data.map(({ price }) => price)
  return Promise.all(
    requestedItems.map(async (item) => {
      if (item.quantity !== 1) return item
      const price = known.find(({ id }) => id === item.price) ?? (await find(stripe, item.price))
      return price && isMeteredPrice(price) ? { ...item, quantity: null } : item
    }),
  )
}

/** Reads a price. `null` if it does not exist, which the change itself reports. */
async function find(stripe: Stripe, id: string): Promise<Stripe.Price | null> {
  return nullIfMissing(() => stripe.prices.retrieve(id))
}
