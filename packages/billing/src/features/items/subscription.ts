import { InvalidArgument, ItemNotFound } from '../../core/errors/errors.ts'
import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import type {
  ChangeAtProvider,
  SubscriptionScope,
  SubscriptionScopeWith,
} from '../../core/subscription-scope.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { toRequestedItems } from '../../providers/wanted-items.ts'
import { type PlannedItemsUpdate, withPlannedSwapRule } from '../schedules/planned-swap.ts'
import type { SwapPreview } from '../swap/contract.ts'
import { rejectPreviewWhilePaused, rejectWhilePaused } from '../swap/reject-while-paused.ts'
import { previewSwap, type SwapItem, type SwapOptions } from '../swap/subscription.ts'
import { sendUsageFirst } from '../usage/send-usage-first.ts'
import type { ItemsChange } from './contract.ts'

/**
 * A change of one price of a subscription: adds, removes or replaces an additional price, or sets
 * the quantity of a price.
 */
export type ItemChange =
  | { readonly add: string; readonly quantity?: number | null }
  | { readonly remove: string }
  | { readonly replace: string; readonly by: string }
  | { readonly quantity: number; readonly price?: string }

/** Billing options for a change of prices. */
export interface ItemBillingOptions extends SwapOptions {
  readonly invoiceNow: boolean
}

type Scope = SubscriptionScopeWith<'items'>

/**
 * Whether one of the subscription's prices belongs to the product. Asks the provider for the
 * product of the main price, which is not in our database.
 */
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
  billing: ItemBillingOptions,
): Promise<void> {
  requireItemChange(subscription, change)
  const terms = {
    ...(await readItemsChangeTerms(subscription, billing)),
    ...(await readAddedPriceRates(subscription, change)),
  }
  const make: ChangeAtProvider = async ({ found, ask }) => {
    const wanted = applyItemChange(found, change)
    await ask((gateway) =>
      requireGatewayPart(gateway, 'items').change(
        found.id,
        { ...terms, wanted },
        subscription.now(),
      ),
    )
  }
  const plans = {
    carry: createPlannedItemsUpdate(change),
    targetOf: (found: ProviderSubscription) => applyItemChange(found, change),
  }
  const planAware = withPlannedSwapRule(subscription, 'items', make, plans)
  const isBilled = async (found: ProviderSubscription) => {
    if (billing.invoiceNow) return true
    const { items } = await subscription.gateway()
    const wanted = applyItemChange(found, change)
    return (await items.preview(found.id, { ...terms, wanted }, subscription.now())).immediately
  }
  const removesPrice = 'remove' in change || 'replace' in change
  const made = removesPrice ? sendUsageFirst(subscription, planAware) : planAware
  await subscription.change(rejectWhilePaused(made, isBilled))
}

/**
 * Returns a function that makes the same change in the prices of a planned swap. A price that is
 * removed or replaced is ignored if it is not planned. A new quantity of the current main price
 * also applies to the planned main price.
 */
export function createPlannedItemsUpdate(change: ItemChange): PlannedItemsUpdate {
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

/**
 * Previews the cost of a change of prices, with the same parameters as the call that makes the
 * change.
 */
export async function previewItems(
  subscription: Scope,
  change: ItemChange,
  billing: ItemBillingOptions,
): Promise<SwapPreview> {
  requireItemChange(subscription, change)
  const terms = {
    ...(await readItemsChangeTerms(subscription, billing)),
    ...(await readAddedPriceRates(subscription, change)),
  }
  const found = await subscription.requireFound()
  const { items } = await subscription.gateway()
  const wanted = applyItemChange(found, change)
  const preview = await subscription.awaitPreview(
    items.preview(found.id, { ...terms, wanted }, subscription.now()),
  )
  return rejectPreviewWhilePaused(preview, async () => found)
}

/** Returns the tax rates of an added price, if the application names some. */
async function readAddedPriceRates(
  subscription: Scope,
  change: ItemChange,
): Promise<Pick<ItemsChange, 'itemRates'>> {
  const added = 'add' in change ? change.add : 'by' in change ? change.by : null
  const { taxRates } = added === null ? {} : await subscription.readConfiguredTax(added)
  return added !== null && taxRates ? { itemRates: { [added]: taxRates } } : {}
}

/** Checks a change before any request is sent to the provider. */
function requireItemChange({ context, record }: Scope, change: ItemChange): void {
  const prices = Object.entries(change).filter(([key]) => key !== 'quantity')
  for (const [, price] of prices) if (price !== undefined) requireText('price', price)
  if ('quantity' in change && change.quantity != null) requireCount(change.quantity)
  const added = 'add' in change ? change.add : 'by' in change ? change.by : null
  if (added !== null) requireKnownPrice(requireProvider(context, record.provider), added)
}

/** Returns the tax and billing terms for a change of prices. */
export async function readItemsChangeTerms(
  subscription: SubscriptionScope,
  { invoiceNow, prorationDate }: ItemBillingOptions,
): Promise<Omit<ItemsChange, 'wanted'>> {
  subscription.requireRunning()
  const { context, record, settings } = subscription
  const before = await context.taxes.find(record.provider, record.providerId)
  return {
    prorate: settings.prorate,
    invoiceNow,
    prorationDate: prorationDate ?? null,
    before,
    // The current tax, because all prices share one invoice.
    tax: before?.tax ?? (await subscription.readConfiguredTax(record.providerPlan)).tax,
  }
}

/**
 * Returns all prices of the subscription after the change. A change that was made already has no
 * effect.
 */
export function applyItemChange(found: ProviderSubscription, change: ItemChange): RequestedItem[] {
  const present = toRequestedItems(found)
  if ('add' in change) return withAdded(present, change)
  if ('remove' in change) return withRemoved(present, change.remove)
  if ('replace' in change) return withReplaced(present, change)
  return withQuantity(present, change)
}

function withAdded(
  present: readonly RequestedItem[],
  { add, quantity = 1 }: { readonly add: string; readonly quantity?: number | null },
): RequestedItem[] {
  const there = present.find(({ price }) => price === add)
  if (!there) return [...present, { price: add, quantity }]
  // Repeat of a call whose response was lost. A metered price has no quantity.
  if (there.quantity === quantity || (there.quantity === null && quantity === 1))
    return [...present]
  if (there.quantity === null)
    throw new InvalidArgument(
      `The subscription already has '${add}', which is billed by usage and has no quantity`,
    )
  if (quantity === null)
    throw new InvalidArgument(
      `The subscription already has ${there.quantity} of '${add}', which is not billed by usage`,
    )
  throw new InvalidArgument(
    `The subscription already has ${there.quantity} of '${add}': use updateQuantity(${quantity}, '${add}')`,
  )
}

function withRemoved(present: readonly RequestedItem[], removed: string): RequestedItem[] {
  if (present[0]?.price !== removed) return present.filter(({ price }) => price !== removed)
  throw new InvalidArgument(`'${removed}' is the main price: replace it with swap(), or cancel()`)
}

function withReplaced(
  present: readonly RequestedItem[],
  { replace, by }: { readonly replace: string; readonly by: string },
): RequestedItem[] {
  const isThere = (id: string) => present.some(({ price }) => price === id)
  if (!isThere(replace)) {
    // Repeat of a call whose response was lost.
    if (isThere(by)) return [...present]
    throw notFound(replace)
  }
  if (isThere(by) && replace !== by) {
    throw new InvalidArgument(`The subscription already has '${by}': remove '${replace}' instead`)
  }
  return present.map((item) => (item.price === replace ? { ...item, price: by } : item))
}

function withQuantity(
  present: readonly RequestedItem[],
  {
    quantity,
    price = present[0]?.price ?? '',
  }: { readonly quantity: number; readonly price?: string },
): RequestedItem[] {
  requireQuantityOf(present, price)
  return present.map((item) => (item.price === price ? { price, quantity } : item))
}

/**
 * Returns the current quantity of a price.
 * @throws ItemNotFound if the subscription has no such price.
 * @throws InvalidArgument if the price is metered, because it has no quantity.
 */
export function requireQuantityOf(present: readonly RequestedItem[], price: string): number {
  const item = present.find((each) => each.price === price)
  if (!item) throw notFound(price)
  if (item.quantity !== null) return item.quantity
  throw new InvalidArgument(`'${price}' is billed by usage, so it has no quantity`)
}

function notFound(price: string): ItemNotFound {
  return new ItemNotFound(`The subscription has no price '${price}'`)
}

/**
 * A change to preview with `preview()`: a swap, or a change of one price. Each variant previews the
 * method of a similar name: `{ swap }` previews `swap()`, `{ add }` previews `addPrice()`.
 */
export type SubscriptionChange = { readonly swap: string | readonly SwapItem[] } | ItemChange

/** Options for `preview()`. */
export interface PreviewOptions extends SwapOptions {
  /**
   * Whether the change is charged immediately, as by `swapAndInvoice()`, `addPriceAndInvoice()` and
   * `updateQuantityAndInvoice()`.
   * @default false
   */
  readonly invoiceNow?: boolean
}

export async function previewChange(
  subscription: Scope,
  change: SubscriptionChange,
  { invoiceNow = false, ...rest }: PreviewOptions = {},
): Promise<SwapPreview> {
  if ('swap' in change)
    return previewSwap(subscription, { ...rest, price: change.swap, invoiceNow })
  return previewItems(subscription, change, { ...rest, invoiceNow })
}
