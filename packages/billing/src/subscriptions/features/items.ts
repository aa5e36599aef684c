import { InvalidArgument, ItemNotFound } from '../../errors.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import type { ItemsChange } from '../../gateways/contract/parts/subscriptions/items.ts'
import { requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { SwapPreview } from '../../gateways/contract/swap.ts'
import { wantedOf } from '../../gateways/contract/wanted-items.ts'
import type { SubscriptionRecord } from '../../storage/tables.ts'
import { requireCount, requireText } from '../../values/arguments.ts'
import type { ChangeAtProvider } from '../change.ts'
import { requireKnownPlan, requireProvider } from '../known-plans.ts'
import { type Carry, mindingPlan } from '../planned-swap.ts'
import type { SubscriptionHaving, SubscriptionScope } from '../subscription-scope.ts'
import type { SwapOptions } from '../swap.ts'
import { usageFirst } from '../usage-first.ts'
import { billedAtOnce, payable } from './billed-at-once.ts'

/** One price of a subscription, as our rows have it. */
export interface SubscriptionItem {
  /** The provider's id: of the plan, of another price, or of an add-on (Braintree). */
  readonly price: string
  /** Null where usage is counted instead. */
  readonly quantity: number | null
  /** The one that `providerPlan` and `quantity` of the subscription are about. */
  readonly isMain: boolean
}

/** One change of the prices beside the main one, or of how many there are. */
export type ItemChange =
  | { readonly add: string; readonly quantity?: number | null }
  | { readonly remove: string }
  | { readonly replace: string; readonly by: string }
  | { readonly quantity: number; readonly price?: string }

/** How it is billed. */
export interface ItemBilling extends SwapOptions {
  readonly invoiceNow: boolean
}

type Scope = SubscriptionHaving<'items'>

/** The main one first. */
export function itemsOf({ providerPlan, quantity, items }: SubscriptionRecord): SubscriptionItem[] {
  return [
    { price: providerPlan, quantity, isMain: true },
    ...items.map((item) => ({ price: item.price, quantity: item.quantity, isMain: false })),
  ]
}

export function pricesOf(record: SubscriptionRecord): string[] {
  return [record.providerPlan, ...record.items.map(({ price }) => price)]
}

/** Our rows know the products of the other prices only. */
export async function hasProduct(
  subscription: SubscriptionScope,
  product: string,
): Promise<boolean> {
  if (subscription.record.items.some((item) => item.product === product)) return true
  const found = await subscription.find()
  return found?.items?.some((item) => item.product === product) ?? false
}

export async function changeItems(
  subscription: Scope,
  change: ItemChange,
  billing: ItemBilling,
): Promise<void> {
  requireItemChange(subscription, change)
  const terms = {
    ...(await termsOf(subscription, billing)),
    ...(await ratesOf(subscription, change)),
  }
  const make: ChangeAtProvider = async ({ found, ask }) => {
    const wanted = targetOf(found, change)
    await ask((gateway) =>
      requirePart(gateway, 'items').change(found.id, { ...terms, wanted }, subscription.now()),
    )
  }
  const plans = {
    carry: carrying(change),
    targetOf: (found: ProviderSubscription) => targetOf(found, change),
  }
  const minding = mindingPlan(subscription, 'items', make, plans)
  const isBilled = async (found: ProviderSubscription) => {
    if (billing.invoiceNow) return true
    const { items } = await subscription.gateway()
    const wanted = targetOf(found, change)
    return (await items.preview(found.id, { ...terms, wanted }, subscription.now())).immediately
  }
  const takesAway = 'remove' in change || 'replace' in change
  const made = takesAway ? usageFirst(subscription, minding) : minding
  await subscription.change(billedAtOnce(made, isBilled))
}

/**
 * The same change in the prices that are planned. One that says nothing to them leaves them: what is to go stays gone. How
 * many there are of the plan is said of whichever plan comes.
 */
export function carrying(change: ItemChange): Carry {
  return (planned, plan) => {
    const has = (id: string) => planned.some(({ price }) => price === id)
    const [main] = planned
    if ('add' in change) {
      const { add: price, quantity = 1 } = change
      return has(price) ? planned : [...planned, { price, quantity }]
    }
    if ('remove' in change) {
      return planned.filter((item) => item === main || item.price !== change.remove)
    }
    if ('replace' in change) {
      const { replace, by } = change
      if (has(by)) return planned.filter((item) => item === main || item.price !== replace)
      return planned.map((item) => (item.price === replace ? { ...item, price: by } : item))
    }
    const { quantity, price = plan } = change
    const counted = has(price) ? price : price === plan ? main?.price : undefined
    return planned.map((item) =>
      item.price === counted && item.quantity !== null ? { ...item, quantity } : item,
    )
  }
}

/** The same value makes the change, because a preview that differs from it is worth nothing. */
export async function previewItems(
  subscription: Scope,
  change: ItemChange,
  billing: ItemBilling,
): Promise<SwapPreview> {
  requireItemChange(subscription, change)
  const terms = {
    ...(await termsOf(subscription, billing)),
    ...(await ratesOf(subscription, change)),
  }
  const found = await subscription.requireFound()
  const { items } = await subscription.gateway()
  const wanted = targetOf(found, change)
  const preview = await subscription.ask(
    items.preview(found.id, { ...terms, wanted }, subscription.now()),
  )
  return payable(preview, async () => found)
}

/** What is added has rates of its own, where the application names them. */
async function ratesOf(
  subscription: Scope,
  change: ItemChange,
): Promise<Pick<ItemsChange, 'itemRates'>> {
  const added = 'add' in change ? change.add : 'by' in change ? change.by : null
  const { taxRates } = added === null ? {} : await subscription.tax(added)
  return added !== null && taxRates ? { itemRates: { [added]: taxRates } } : {}
}

/** Before any call. */
function requireItemChange({ context, record }: Scope, change: ItemChange): void {
  const prices = Object.entries(change).filter(([key]) => key !== 'quantity')
  for (const [, price] of prices) if (price !== undefined) requireText('price', price)
  if ('quantity' in change && change.quantity != null) requireCount(change.quantity)
  const added = 'add' in change ? change.add : 'by' in change ? change.by : null
  if (added !== null) requireKnownPlan(requireProvider(context, record.provider), added)
}

/** All but the prices themselves. */
export async function termsOf(
  subscription: SubscriptionScope,
  { invoiceNow, prorationDate }: ItemBilling,
): Promise<Omit<ItemsChange, 'wanted'>> {
  subscription.requireRunning()
  const { context, record, settings } = subscription
  const before = await context.taxes.find(record.provider, record.providerId)
  return {
    prorate: settings.prorate,
    invoiceNow,
    prorationDate: prorationDate ?? null,
    before,
    // The tax of what is there already: all of it is on one invoice.
    tax: before?.tax ?? (await subscription.tax(record.providerPlan)).tax,
  }
}

/** All prices once the change is made; the same for one that is made already. */
export function targetOf(found: ProviderSubscription, change: ItemChange): WantedItem[] {
  const present = wantedOf(found)
  if ('add' in change) return withAdded(present, change)
  if ('remove' in change) return withRemoved(present, change.remove)
  if ('replace' in change) return withReplaced(present, change)
  return withQuantity(present, change)
}

function withAdded(
  present: readonly WantedItem[],
  { add, quantity = 1 }: { readonly add: string; readonly quantity?: number | null },
): WantedItem[] {
  const there = present.find(({ price }) => price === add)
  if (!there) return [...present, { price: add, quantity }]
  // A repeat of a call whose answer was lost. Of a metered price there is no quantity, whoever adds it.
  if (there.quantity === quantity || (there.quantity === null && quantity === 1))
    return [...present]
  throw new InvalidArgument(
    `There are ${there.quantity} of '${add}' already: use updateQuantity(${quantity}, '${add}')`,
  )
}

function withRemoved(present: readonly WantedItem[], removed: string): WantedItem[] {
  if (present[0]?.price !== removed) return present.filter(({ price }) => price !== removed)
  throw new InvalidArgument(`'${removed}' is the main price: swap it for another, or cancel()`)
}

function withReplaced(
  present: readonly WantedItem[],
  { replace, by }: { readonly replace: string; readonly by: string },
): WantedItem[] {
  const isThere = (id: string) => present.some(({ price }) => price === id)
  if (!isThere(replace)) {
    // A repeat of a call whose answer was lost.
    if (isThere(by)) return [...present]
    throw notFound(replace)
  }
  if (isThere(by) && replace !== by) {
    throw new InvalidArgument(`'${by}' is there already: remove '${replace}' instead`)
  }
  return present.map((item) => (item.price === replace ? { ...item, price: by } : item))
}

function withQuantity(
  present: readonly WantedItem[],
  {
    quantity,
    price = present[0]?.price ?? '',
  }: { readonly quantity: number; readonly price?: string },
): WantedItem[] {
  requireCounted(present, price)
  return present.map((item) => (item.price === price ? { price, quantity } : item))
}

/** How many there are of a price. */
export function requireCounted(present: readonly WantedItem[], price: string): number {
  const item = present.find((each) => each.price === price)
  if (!item) throw notFound(price)
  if (item.quantity !== null) return item.quantity
  throw new InvalidArgument(`Usage of '${price}' is counted: it has no quantity`)
}

function notFound(price: string): ItemNotFound {
  return new ItemNotFound(`The subscription has no price '${price}'`)
}
