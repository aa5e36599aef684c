import type { BillingContext } from '../../core/context.ts'
import { toStateColumns } from '../../core/converge.ts'
import { InvalidArgument, SubscriptionEnded } from '../../core/errors/errors.ts'
import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import { beginOperation, runOperation } from '../../core/operation.ts'
import { resumeInterrupted, withOwnerLock } from '../../core/owner-lock.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { SubscriptionRecord } from '../../core/storage/tables.ts'
import { listSubscriptionItems } from '../../core/subscription-items.ts'
import {
  type ChangeAtProvider,
  changeSubscription,
  requireSubscriptionRecord,
  requireUnchangedOwner,
  type SubscriptionScope,
} from '../../core/subscription-scope.ts'
import { storeTaxTerms } from '../../core/tax.ts'
import { requireCount, requireText } from '../../core/values/arguments.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import { requireCapability, requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { toRequestedItems } from '../../providers/wanted-items.ts'
import { UNCHANGED_PRICES, withPlannedSwapRule } from '../schedules/planned-swap.ts'
import { sendUsageFirst } from '../usage/send-usage-first.ts'
import { completeReplacement } from './complete-replacement.ts'
import type { SwapPreview, SwapRequest } from './contract.ts'
import { isOnTrialAt, rejectPreviewWhilePaused, rejectWhilePaused } from './reject-while-paused.ts'

/** A price that the subscription shall have after a swap. */
export interface SwapItem {
  /** The provider's id of the price. */
  readonly price: string
  /**
   * Quantity of the price. `null` for a metered price. Default: the present quantity, or 1 for a
   * new price.
   */
  readonly quantity?: number | null
}

/** The requested prices of a swap, and how the difference is billed. */
export interface RequestedSwap extends SwapOptions {
  readonly price: string | readonly SwapItem[]
  /** Whether to bill the difference immediately instead of with the next invoice. */
  readonly invoiceNow: boolean
}

export async function swapPrices(
  subscription: SubscriptionScope,
  requestedSwap: RequestedSwap,
): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const asked = await prepareSwapRequest(subscription, requestedSwap)
  const { invoiceNow, skipTrial } = asked
  // Another billing interval starts a period immediately, and so does a paid price in place of a
  // free one.
  const startsPeriod = async (id: string) =>
    (await (await subscription.gateway()).previewSwap(id, asked, subscription.now())).immediately
  const prices = {
    ...UNCHANGED_PRICES,
    targetOf: (found: ProviderSubscription) => listItemsAfterSwap(asked, found),
  }
  subscription.record = await swapSubscription(context, record, asked, (change) => {
    const planAware = withPlannedSwapRule(subscription, 'swap', change, prices)
    return rejectWhilePaused(sendUsageFirst(subscription, planAware), (found) => {
      const endsTrial = skipTrial && isOnTrialAt(found, subscription.now())
      return invoiceNow || endsTrial || startsPeriod(found.id)
    })
  })
}

/** Lists all prices after the swap. */
function listItemsAfterSwap(
  { price: mainPrice, items }: SwapRequest,
  found: ProviderSubscription,
): readonly RequestedItem[] {
  if (items) return items
  const [main, ...others] = toRequestedItems(found)
  return [
    { price: mainPrice, quantity: main?.quantity ?? null },
    ...others.filter(({ price }) => price !== mainPrice),
  ]
}

export async function previewSwap(
  subscription: SubscriptionScope,
  requestedSwap: RequestedSwap,
): Promise<SwapPreview> {
  subscription.requireRunning()
  const gateway = await subscription.gateway()
  const asked = await prepareSwapRequest(subscription, requestedSwap)
  const { providerId } = subscription.record
  const preview = await subscription.awaitPreview(
    gateway.previewSwap(providerId, asked, subscription.now()),
  )
  return rejectPreviewWhilePaused(preview, () => subscription.requireFound())
}

/** Builds the same request for swap and preview, so that they cannot differ. */
async function prepareSwapRequest(
  subscription: SubscriptionScope,
  { price: wanted, invoiceNow, prorationDate }: RequestedSwap,
): Promise<SwapRequest> {
  const { context, record, settings } = subscription
  const items = typeof wanted === 'string' ? null : completeSwapItems(subscription, wanted)
  const mainPrice = items ? items[0]?.price : wanted
  if (typeof mainPrice !== 'string' || mainPrice === '')
    throw new InvalidArgument('Pass the price to swap to')
  const provider = requireProvider(context, record.provider)
  for (const price of items?.map((item) => item.price) ?? [mainPrice])
    requireKnownPrice(provider, price)
  const others = (items?.slice(1) ?? record.items).map(({ price }) => price)
  return {
    ...settings,
    price: mainPrice,
    ...(items ? { items } : {}),
    invoiceNow,
    ...(await subscription.readSwapTax(mainPrice, others)),
    prorationDate: prorationDate ?? null,
  }
}

/**
 * Checks the requested prices of a swap, and adds missing quantities: the present quantity of the
 * price, otherwise 1.
 */
export function completeSwapItems(
  { context, record }: SubscriptionScope,
  requestedSwapItems: readonly SwapItem[],
): RequestedItem[] {
  const provider = requireProvider(context, record.provider)
  requireCapability(provider, 'items')
  if (!Array.isArray(requestedSwapItems)) throw new InvalidArgument('Pass the price to swap to')
  const present = listSubscriptionItems(record)
  const items = requestedSwapItems.map(({ price, quantity }, at): RequestedItem => {
    requireText('price', price)
    if (quantity === null) return { price, quantity }
    if (quantity !== undefined) return { price, quantity: requireCount(quantity) }
    const old = present.find((item) => item.price === price)
    return { price, quantity: old ? old.quantity : at === 0 ? record.quantity : 1 }
  })
  if (new Set(items.map(({ price }) => price)).size < items.length) {
    throw new InvalidArgument('Each price can be listed only once: set its quantity instead')
  }
  const [main] = items
  if ((main?.quantity ?? 1) !== 1) requireCapability(provider, 'quantities')
  return items
}

/** Options for `swap()` and other changes of prices. */
export interface SwapOptions {
  /**
   * The `prorationDate` of an earlier preview, to be charged exactly the previewed amount. Default:
   * now.
   */
  readonly prorationDate?: Date
}

/**
 * Swaps the prices of a subscription. If the provider cannot change the existing subscription,
 * replaces it by a new one.
 */
export async function swapSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  swapRequest: SwapRequest,
  wrap: (change: ChangeAtProvider) => ChangeAtProvider = (change) => change,
): Promise<SubscriptionRecord> {
  const { provider } = record
  const { clock } = context.options
  const needsReplacement = async () => {
    const { replacements } = await context.gateway(provider)
    return (await replacements?.isNeeded(record.providerId, swapRequest, clock.now())) ?? false
  }
  if (await needsReplacement()) return replaceSubscription(context, record, swapRequest)
  let needsOne = false
  const make: ChangeAtProvider = async ({ found, locked, ask }) => {
    requireLive(context, provider, found)
    // A refund before the lock was acquired may have made a replacement necessary.
    needsOne = await needsReplacement()
    if (needsOne) return
    await ask((gateway) => gateway.swap(found.id, swapRequest, clock.now()))
    if (found.taxedPrice === null) return
    const { lastChargeAt } = found
    const swapped = await (await locked.gateway(provider)).findSubscription(found.id)
    const terms = { tax: swapRequest.tax, lastChargeAt }
    if (swapped) await storeTaxTerms(context, locked, provider, { found: swapped, ...terms })
  }
  const changed = await changeSubscription(context, record, wrap(make))
  return needsOne ? replaceSubscription(context, record, swapRequest) : changed
}

/**
 * Swaps by creating a new subscription and cancelling the old one afterwards, so that a customer
 * whose card is declined keeps the old one. An operation is stored before the first request, so
 * that a swap interrupted by a crash is finished later.
 */
export function replaceSubscription(
  context: BillingContext,
  record: SubscriptionRecord,
  swapRequest: SwapRequest,
): Promise<SubscriptionRecord> {
  const { clock } = context.options
  const { owner, provider, providerId: from, name } = record
  return withOwnerLock(context, owner, async (locked) => {
    await resumeInterrupted(context, locked)
    await requireUnchangedOwner(context, record)
    const newest = await context.subscriptions.findByName(owner, name)
    // A concurrent call, which held the lock, has already made the swap.
    if (newest && newest.id !== record.id && hasRequestedPrices(newest, swapRequest)) {
      if (hasSubscriptionEnded(newest, clock.now())) throw hasEnded()
      return newest
    }
    const current = await (await locked.gateway(provider)).findSubscription(from)
    if (current) requireLive(context, provider, current)
    const row = await requireSubscriptionRecord(context, record)
    if (hasSubscriptionEnded(row, clock.now())) throw hasEnded()
    const { items } = swapRequest
    const same = { provider, from, price: swapRequest.price, ...(items ? { items } : {}) }
    const tax = swapRequest.keepsPrice
      ? (swapRequest.before?.tax ?? swapRequest.tax)
      : swapRequest.tax
    const request = { ...same, tax }
    const intent: OperationIntent = { owner, kind: 'swap', request, same, name }
    const operation = await beginOperation(context, locked, intent)
    const customer = await context.owners.find(owner)
    const customerId = customer?.providerId ?? ''
    const at = { operation: operation.id, name, customerId, now: clock.now() }
    const made = await runOperation(context, locked, operation, () =>
      locked.change(provider, (gateway) =>
        requireGatewayPart(gateway, 'replacements').create(from, swapRequest, at),
      ),
    )
    await storeTaxTerms(context, locked, provider, { found: made, tax, lastChargeAt: null })
    await completeReplacement(context, locked, { provider, made, from, operation })
    return requireSubscriptionRecord(context, { provider, providerId: made.id })
  })
}

function hasRequestedPrices(
  row: SubscriptionRecord,
  { price: mainPrice, items }: SwapRequest,
): boolean {
  if (row.providerPlan !== mainPrice) return false
  const others = items?.slice(1) ?? row.items
  return (
    others.length === row.items.length &&
    others.every(({ price, quantity }) =>
      row.items.some((item) => item.price === price && item.quantity === quantity),
    )
  )
}

function requireLive(
  context: BillingContext,
  provider: ProviderName,
  current: ProviderSubscription,
): void {
  const columns = toStateColumns(context, provider, current)
  if (hasSubscriptionEnded(columns, context.options.clock.now())) throw hasEnded()
}

function hasEnded(): SubscriptionEnded {
  return new SubscriptionEnded('The subscription has ended')
}
