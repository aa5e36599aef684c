import { attempt, begin, finish } from '../../consistency/operation.ts'
import type { LockedOwner } from '../../consistency/owner-lock.ts'
import type { WantedItem } from '../../gateways/contract/item.ts'
import { type Capability, requirePart } from '../../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import { wantedOf } from '../../gateways/contract/wanted-items.ts'
import type { Intent, Operation } from '../../storage/operations.ts'
import { requireCount } from '../../values/arguments.ts'
import type { ChangeAtProvider, Current } from '../change.ts'
import { mindingPlan } from '../planned-swap.ts'
import type { SubscriptionScope } from '../subscription-scope.ts'
import type { SwapOptions } from '../swap.ts'
import { billedAtOnce } from './billed-at-once.ts'
import { carrying, changeItems, requireCounted, termsOf } from './items.ts'

/** As long as providers keep idempotency keys: whoever asks again later wants another one. */
const REPEATED_FOR = 24 * 3_600_000

/** Which part of a gateway a quantity needs: that of the plan, or of another price. */
export function partFor(price: string | undefined): Extract<Capability, 'quantities' | 'items'> {
  return price === undefined ? 'quantities' : 'items'
}

/** Which price, and when its difference is billed. */
export interface QuantityOf {
  readonly price: string | undefined
  /** At once instead of with the next invoice. */
  readonly invoiceNow?: boolean
}

export async function addQuantity(
  subscription: SubscriptionScope,
  count: number,
  of: QuantityOf,
): Promise<void> {
  await move(subscription, requireCount(count), of)
}

export async function takeQuantity(
  subscription: SubscriptionScope,
  count: number,
  of: QuantityOf,
): Promise<void> {
  await move(subscription, -requireCount(count), of)
}

export async function setQuantity(
  subscription: SubscriptionScope,
  wanted: SwapOptions & QuantityOf & { readonly quantity: number },
): Promise<void> {
  const { quantity, price, invoiceNow = false, ...options } = wanted
  requireCount(quantity)
  subscription.requireRunning()
  if (subscription.can('items')) {
    const change = price === undefined ? { quantity } : { quantity, price }
    return changeItems(subscription.having('items'), change, { ...options, invoiceNow })
  }
  await subscription.change((current) => set(subscription, current, quantity, { price }))
}

/**
 * So many more or fewer. The target is on record before it is asked for: a repeat after a lost answer sets the same
 * number again. Never below one.
 */
async function move(
  subscription: SubscriptionScope,
  step: number,
  { price, invoiceNow = false }: QuantityOf,
): Promise<void> {
  subscription.requireRunning()
  const { context, record } = subscription
  const { provider, providerId: of, owner } = record
  const same = { provider, of, price: price ?? null, step, ...(invoiceNow ? { invoiceNow } : {}) }
  let operation: Operation
  const ask = async (current: Current) => {
    const { found, locked } = current
    const now = subscription.now()
    const from = requireCounted(wantedOf(found), price ?? found.plan)
    const to = requireCount(Math.max(1, from + step))
    const request = { ...same, was: from, to, at: now.getTime() }
    const intent: Intent = { owner, kind: 'quantity', request, same }
    const begun = await context.operations.find(intent)
    const isRepeat = begun !== null && isUnderWay(begun, from, now)
    if (begun && !isRepeat) await finish(context, locked, begun)
    operation = await begin(context, locked, intent)
    const target = Number(operation.request.to)
    const counted = price ?? found.plan
    const plans = {
      carry: carrying({ quantity: target, price: counted }),
      targetOf: (of: ProviderSubscription) => withQuantity(of, target, counted),
    }
    const make: ChangeAtProvider = async () => {
      if (target !== from) await set(subscription, current, target, { price, invoiceNow })
    }
    const minding = mindingPlan(subscription, 'items', make, plans)
    const isBilled = () =>
      isBilledNow(subscription, current, target, { price: counted, invoiceNow })
    await attempt(context, locked, operation, () => billedAtOnce(minding, isBilled)(current))
  }
  // Off the record last: who gets no answer must find it there.
  const settle = (locked: LockedOwner) => finish(context, locked, operation)
  await subscription.change(ask, { settle })
}

/** Whether nothing else has happened since: it is where it was, or where it was to be. */
function isUnderWay({ request }: Operation, quantity: number, now: Date): boolean {
  const { was, to, at } = request
  return (quantity === was || quantity === to) && now.getTime() - Number(at) < REPEATED_FOR
}

async function set(
  subscription: SubscriptionScope,
  { found, ask }: Current,
  quantity: number,
  { price = found.plan, invoiceNow = false }: QuantityOf,
): Promise<void> {
  if (!subscription.can('items')) {
    return ask((gateway) => requirePart(gateway, 'quantities').set(found.id, quantity))
  }
  const terms = await termsOf(subscription, { invoiceNow })
  const wanted = withQuantity(found, quantity, price)
  await ask((gateway) =>
    requirePart(gateway, 'items').change(found.id, { ...terms, wanted }, subscription.now()),
  )
}

/** Before its end, a subscription is billed at once for what it has more. */
async function isBilledNow(
  subscription: SubscriptionScope,
  { found }: Current,
  quantity: number,
  { price = found.plan, invoiceNow = false }: QuantityOf,
): Promise<boolean> {
  if (!subscription.can('items')) return false
  const terms = await termsOf(subscription, { invoiceNow })
  const { items } = await subscription.having('items').gateway()
  const wanted = withQuantity(found, quantity, price)
  return (await items.preview(found.id, { ...terms, wanted }, subscription.now())).immediately
}

function withQuantity(found: ProviderSubscription, quantity: number, price: string): WantedItem[] {
  return wantedOf(found).map((item) => (item.price === price ? { price, quantity } : item))
}
