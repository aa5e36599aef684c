import { InvalidArgument, SubscriptionEnded } from '../../core/errors/errors.ts'
import { requireKnownPrice, requireProvider } from '../../core/known-prices.ts'
import { beginOperation, runOperation } from '../../core/operation.ts'
import type { OperationIntent } from '../../core/storage/operations.ts'
import type { SubscriptionScope, SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { awaitsFirstPayment } from '../../core/values/subscription-state.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { hasExactItems, toRequestedItems } from '../../providers/wanted-items.ts'
import { completeSwapItems, type SwapItem } from '../swap/subscription.ts'
import { deleteStoredPlannedSwaps, readPlannedTaxTerms } from './planned-swap.ts'

/** A planned swap of a subscription, as returned by `plannedSwap()`. */
export interface PlannedChange {
  /** The main price after the swap. */
  readonly price: string
  /** All prices after the swap, the main price first. */
  readonly items: readonly RequestedItem[]
  /** When the planned swap takes effect. */
  readonly at: Date
}

type Scope = SubscriptionScopeWith<'schedules'>

/**
 * Plans the prices for the next billing period. The complete list of prices is stored before the
 * request is sent, so that a retry after a lost response plans the same swap.
 */
export async function swapAtPeriodEnd(
  subscription: Scope,
  requestedPrices: string | readonly SwapItem[],
): Promise<void> {
  subscription.requireRunning()
  const choose = resolveRequestedPrices(subscription, requestedPrices)
  const { context, record } = subscription
  const { owner, provider, providerId: of } = record
  await subscription.change(
    async ({ found, locked, ask }) => {
      requirePlannable(subscription, found)
      const items = choose(found)
      // The subscription already has these prices, so no swap is needed.
      if (hasExactItems(found, items)) {
        if (found.planned)
          await ask((gateway) => requireGatewayPart(gateway, 'schedules').release(of))
        return
      }
      const intent: OperationIntent = { owner, kind: 'plan', request: { provider, of, items } }
      const terms = await readPlannedTaxTerms(subscription, items)
      const operation = await beginOperation(context, locked, intent)
      const swap = { ...terms, items, at: 'period_end', operation: operation.id } as const
      await runOperation(context, locked, operation, () =>
        ask((gateway) => requireGatewayPart(gateway, 'schedules').plan(of, swap)),
      )
    },
    // Deleted last: if the caller gets no response, the retry must still find the operation.
    { settle: (locked) => deleteStoredPlannedSwaps(context, locked, of) },
  )
}

export async function findPlannedSwap(subscription: Scope): Promise<PlannedChange | null> {
  if (subscription.isEnded()) return null
  const planned = (await subscription.find())?.planned
  const [main] = planned?.items ?? []
  if (!planned || !main) return null
  return { price: main.price, items: planned.items, at: planned.at }
}

/** Cancels the planned swap. Does nothing if none is planned. */
export async function cancelPlannedSwap(subscription: Scope): Promise<void> {
  const { context, record } = subscription
  await subscription.change(
    async ({ found, ask }) => {
      if (found.planned)
        await ask((gateway) => requireGatewayPart(gateway, 'schedules').release(found.id))
    },
    { settle: (locked) => deleteStoredPlannedSwaps(context, locked, record.providerId) },
  )
}

/**
 * Checks the wanted prices before any request, and returns a function that completes them from the
 * present subscription.
 */
function resolveRequestedPrices(
  subscription: Scope,
  wanted: string | readonly SwapItem[],
): (found: ProviderSubscription) => readonly RequestedItem[] {
  const provider = requireProvider(subscription.context, subscription.record.provider)
  if (typeof wanted !== 'string') {
    const items = completeSwapItems(subscription, wanted)
    if (items.length === 0) throw new InvalidArgument('Pass the price to swap to')
    for (const { price } of items) requireKnownPrice(provider, price)
    return () => items
  }
  if (wanted === '') throw new InvalidArgument('Pass the price to swap to')
  requireKnownPrice(provider, wanted)
  return (found) => {
    const [main, ...others] = toRequestedItems(found)
    const rest = others.filter(({ price }) => price !== wanted)
    return [{ price: wanted, quantity: main?.quantity ?? 1 }, ...rest]
  }
}

function requirePlannable({ context, record }: SubscriptionScope, found: ProviderSubscription) {
  const standing = context.options.providers.standing(record.provider, found.status)
  if (awaitsFirstPayment({ standing })) {
    throw new InvalidArgument(
      'A swap cannot be planned before the first payment: there is no billing period yet',
    )
  }
  if (found.isOver) throw new SubscriptionEnded('The subscription has ended: create a new one')
  if (found.endsAt !== null) {
    throw new InvalidArgument(
      'The subscription is cancelled and has no next period: resume() first',
    )
  }
}
