import { InvalidArgument } from '../../errors.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import { requireCapability } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import type { Swap, SwapPreview } from '../../gateways/contract/swap.ts'
import { wantedOf } from '../../gateways/contract/wanted-items.ts'
import { requireCount, requireText } from '../../values/arguments.ts'
import { requireKnownPlan, requireProvider } from '../known-plans.ts'
import { mindingPlan, SAME_PRICES } from '../planned-swap.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'
import { type SwapOptions, swapSubscription } from '../swap.ts'
import { usageFirst } from '../usage-first.ts'
import { billedAtOnce, hasTrial, payable } from './billed-at-once.ts'
import { itemsOf } from './items.ts'

/** A price that a subscription is to have. */
export interface ItemWanted {
  /** The provider's id of the price. */
  readonly price: string
  /** Without it as many as there are, or 1. Null where usage is counted. */
  readonly quantity?: number | null
}

/** Which plan or prices, and how they are paid. */
export interface WantedSwap extends SwapOptions {
  readonly plan: string | readonly ItemWanted[]
  /** Bill the difference at once instead of with the next invoice. */
  readonly invoiceNow: boolean
}

export async function swap(subscription: SubscriptionScope, wanted: WantedSwap): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const asked = await requireSwap(subscription, wanted)
  const { invoiceNow, skipTrial } = asked
  // Another rhythm begins at once, and so does what costs something in place of what was free.
  const startsPeriod = async (id: string) =>
    (await (await subscription.gateway()).previewSwap(id, asked, subscription.now())).immediately
  const prices = {
    ...SAME_PRICES,
    targetOf: (found: ProviderSubscription) => itemsAfter(asked, found),
  }
  subscription.record = await swapSubscription(context, record, asked, (change) => {
    const minding = mindingPlan(subscription, 'swap', change, prices)
    return billedAtOnce(usageFirst(subscription, minding), (found) => {
      const endsTrial = skipTrial && hasTrial(found, subscription.now())
      return invoiceNow || endsTrial || startsPeriod(found.id)
    })
  })
}

/** All prices once it is made. */
function itemsAfter({ plan, items }: Swap, found: ProviderSubscription): readonly WantedItem[] {
  if (items) return items
  const [main, ...others] = wantedOf(found)
  return [
    { price: plan, quantity: main?.quantity ?? null },
    ...others.filter(({ price }) => price !== plan),
  ]
}

export async function previewSwap(
  subscription: SubscriptionScope,
  wanted: WantedSwap,
): Promise<SwapPreview> {
  subscription.requireRunning()
  const gateway = await subscription.gateway()
  const asked = await requireSwap(subscription, wanted)
  const { providerId } = subscription.record
  const preview = await subscription.ask(gateway.previewSwap(providerId, asked, subscription.now()))
  return payable(preview, () => subscription.requireFound())
}

/** The same for both, because a preview that differs from the swap is worth nothing. */
async function requireSwap(
  subscription: SubscriptionScope,
  { plan: wanted, invoiceNow, prorationDate }: WantedSwap,
): Promise<Swap> {
  const { context, record, settings } = subscription
  const items = typeof wanted === 'string' ? null : requireItems(subscription, wanted)
  const plan = items ? items[0]?.price : wanted
  if (typeof plan !== 'string' || plan === '') throw new InvalidArgument('Which plan to swap to?')
  const provider = requireProvider(context, record.provider)
  for (const price of items?.map((item) => item.price) ?? [plan]) requireKnownPlan(provider, price)
  const others = (items?.slice(1) ?? record.items).map(({ price }) => price)
  return {
    ...settings,
    plan,
    ...(items ? { items } : {}),
    invoiceNow,
    ...(await subscription.taxOfSwap(plan, others)),
    prorationDate: prorationDate ?? null,
  }
}

/** All prices with their quantities: as many as there are now, where nothing is said. */
export function requireItems(
  { context, record }: SubscriptionScope,
  wanted: readonly ItemWanted[],
): WantedItem[] {
  const provider = requireProvider(context, record.provider)
  requireCapability(provider, 'items')
  if (!Array.isArray(wanted)) throw new InvalidArgument('Which plan to swap to?')
  const present = itemsOf(record)
  const items = wanted.map(({ price, quantity }, at): WantedItem => {
    requireText('price', price)
    if (quantity === null) return { price, quantity }
    if (quantity !== undefined) return { price, quantity: requireCount(quantity) }
    const old = present.find((item) => item.price === price)
    return { price, quantity: old ? old.quantity : at === 0 ? record.quantity : 1 }
  })
  if (new Set(items.map(({ price }) => price)).size < items.length) {
    throw new InvalidArgument('A price is in a subscription once: say how many in its quantity')
  }
  const [main] = items
  if ((main?.quantity ?? 1) !== 1) requireCapability(provider, 'quantities')
  return items
}
