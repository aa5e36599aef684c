import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { OperationIntent, PendingOperation } from '../../core/storage/operations.ts'
import type {
  ChangeAtProvider,
  CurrentSubscription,
  SubscriptionScope,
} from '../../core/subscription-scope.ts'
import { requireCount } from '../../core/values/arguments.ts'
import { type Capability, requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { toRequestedItems } from '../../providers/wanted-items.ts'
import {
  changeItems,
  createPlannedItemsUpdate,
  readItemsChangeTerms,
  requireQuantityOf,
} from '../items/subscription.ts'
import { withPlannedSwapRule } from '../schedules/planned-swap.ts'
import { rejectWhilePaused } from '../swap/reject-while-paused.ts'
import type { SwapOptions } from '../swap/subscription.ts'

/**
 * How long a repeated call counts as a retry, in milliseconds: as long as providers keep
 * idempotency keys. A later call is a new change.
 */
const RETRY_WINDOW = 24 * 3_600_000

/**
 * Returns the gateway capability that changes the quantity of a price: `quantities` for the main
 * price (if no price is given), `items` for any other price.
 */
export function getQuantityCapability(
  price: string | undefined,
): Extract<Capability, 'quantities' | 'items'> {
  return price === undefined ? 'quantities' : 'items'
}

/** Options for changes of quantity: the price, and when the difference is billed. */
export interface QuantityOptions {
  readonly price: string | undefined
  /** Whether to bill the difference immediately instead of with the next invoice. @default false */
  readonly invoiceNow?: boolean
}

export async function addQuantity(
  subscription: SubscriptionScope,
  count: number,
  options: QuantityOptions,
): Promise<void> {
  await changeQuantityBy(subscription, requireCount(count), options)
}

export async function subtractQuantity(
  subscription: SubscriptionScope,
  count: number,
  options: QuantityOptions,
): Promise<void> {
  await changeQuantityBy(subscription, -requireCount(count), options)
}

export async function setQuantity(
  subscription: SubscriptionScope,
  requestedQuantity: SwapOptions & QuantityOptions & { readonly quantity: number },
): Promise<void> {
  const { quantity, price, invoiceNow = false, ...options } = requestedQuantity
  requireCount(quantity)
  subscription.requireRunning()
  if (subscription.hasCapability('items')) {
    const change = price === undefined ? { quantity } : { quantity, price }
    return changeItems(subscription.withCapability('items'), change, { ...options, invoiceNow })
  }
  await subscription.change((current) =>
    setQuantityAtProvider(subscription, current, quantity, { price }),
  )
}

/**
 * Changes the quantity by `step`, never below one. The target quantity is stored before the request
 * to the provider, so that a retry after a lost response sets the same number again.
 */
async function changeQuantityBy(
  subscription: SubscriptionScope,
  step: number,
  { price, invoiceNow = false }: QuantityOptions,
): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const { provider, providerId: of, owner } = record
  const same = { provider, of, price: price ?? null, step, ...(invoiceNow ? { invoiceNow } : {}) }
  let operation: PendingOperation
  const ask = async (current: CurrentSubscription) => {
    const { found, locked } = current
    const now = subscription.now()
    const from = requireQuantityOf(toRequestedItems(found), price ?? found.price)
    const to = requireCount(Math.max(1, from + step))
    const request = { ...same, was: from, to, at: now.getTime() }
    const intent: OperationIntent = { owner, kind: 'quantity', request, same }
    const begun = await context.operations.find(intent)
    const isRepeat = begun !== null && canRetryQuantityChange(begun, from, now)
    if (begun && !isRepeat) await finishOperation(context, locked, begun)
    operation = await beginOperation(context, locked, intent)
    const target = Number(operation.request.to)
    const counted = price ?? found.price
    const plans = {
      carry: createPlannedItemsUpdate({ quantity: target, price: counted }),
      targetOf: (of: ProviderSubscription) => withQuantity(of, target, counted),
    }
    const make: ChangeAtProvider = async () => {
      if (target !== from)
        await setQuantityAtProvider(subscription, current, target, { price, invoiceNow })
    }
    const planAware = withPlannedSwapRule(subscription, 'items', make, plans)
    const isBilled = () =>
      isBilledNow(subscription, current, target, { price: counted, invoiceNow })
    await runOperation(context, locked, operation, () =>
      rejectWhilePaused(planAware, isBilled)(current),
    )
  }
  // Finished last: if the caller gets no response, the retry must still find the operation.
  const settle = (locked: LockedOwner) => finishOperation(context, locked, operation)
  await subscription.change(ask, { settle })
}

/**
 * Whether the operation can still be retried: nothing else changed the quantity in the meantime,
 * and providers still keep its idempotency key.
 */
function canRetryQuantityChange(
  { request }: PendingOperation,
  quantity: number,
  now: Date,
): boolean {
  const { was, to, at } = request
  return (quantity === was || quantity === to) && now.getTime() - Number(at) < RETRY_WINDOW
}

async function setQuantityAtProvider(
  subscription: SubscriptionScope,
  { found, ask }: CurrentSubscription,
  quantity: number,
  { price = found.price, invoiceNow = false }: QuantityOptions,
): Promise<void> {
  if (!subscription.hasCapability('items')) {
    return ask((gateway) => requireGatewayPart(gateway, 'quantities').set(found.id, quantity))
  }
  const terms = await readItemsChangeTerms(subscription, { invoiceNow })
  const wanted = withQuantity(found, quantity, price)
  await ask((gateway) =>
    requireGatewayPart(gateway, 'items').change(found.id, { ...terms, wanted }, subscription.now()),
  )
}

/** Whether the provider bills the additional units immediately. */
async function isBilledNow(
  subscription: SubscriptionScope,
  { found }: CurrentSubscription,
  quantity: number,
  { price = found.price, invoiceNow = false }: QuantityOptions,
): Promise<boolean> {
  if (!subscription.hasCapability('items')) return false
  const terms = await readItemsChangeTerms(subscription, { invoiceNow })
  const { items } = await subscription.withCapability('items').gateway()
  const wanted = withQuantity(found, quantity, price)
  return (await items.preview(found.id, { ...terms, wanted }, subscription.now())).immediately
}

function withQuantity(
  found: ProviderSubscription,
  quantity: number,
  price: string,
): RequestedItem[] {
  return toRequestedItems(found).map((item) => (item.price === price ? { price, quantity } : item))
}
