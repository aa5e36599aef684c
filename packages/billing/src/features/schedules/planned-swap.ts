import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, isDefiniteFailure } from '../../core/errors/errors.ts'
import { PaymentActionRequired } from '../../core/errors/payment-errors.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import { beginOperation, finishOperation, runOperation } from '../../core/operation.ts'
import type { PendingOperation } from '../../core/storage/operations.ts'
import type {
  ChangeAtProvider,
  CurrentSubscription,
  SubscriptionScope,
} from '../../core/subscription-scope.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { PlannedSwap, ProviderSubscription } from '../../providers/subscription.ts'
import { toRequestedItems } from '../../providers/wanted-items.ts'
import type { NewPlannedSwap } from './contract.ts'
import type { StoredPlannedSwap } from './planned-swap-recovery.ts'
import { replanStoredSwap } from './replan-stored-swap.ts'
import { resumePlannedSwap } from './resume.ts'

/**
 * Effect of another change of a subscription on its planned swap.
 * - `keeps`: the planned swap stays as it is.
 * - `drops`: the planned swap is cancelled, because it would undo the change.
 * - `carries`: the planned swap stays, and the same change is made in its prices.
 * - `refuses`: the change throws InvalidArgument before anything is changed, because it would move
 * the date of the planned swap.
 */
export type PlannedSwapRule = 'keeps' | 'drops' | 'carries' | 'refuses'

export const PLANNED_SWAP_RULES = {
  swap: 'drops',
  cancel: 'drops',
  cancelAt: 'drops',
  items: 'carries',
  discounts: 'carries',
  tax: 'carries',
  trial: 'refuses',
  // The plan ends with the subscription. A subscription with a plan cannot be resumed: cancel() has
  // dropped the plan.
  cancelNow: 'keeps',
  payNow: 'keeps',
  pause: 'keeps',
  unpause: 'keeps',
} as const satisfies Readonly<Record<string, PlannedSwapRule>>

/**
 * Makes the same change in the prices of a planned swap, and returns its new prices. `plan` is the
 * id of the present main price.
 */
export type PlannedItemsUpdate = (
  planned: readonly RequestedItem[],
  plan: string,
) => readonly RequestedItem[]

/**
 * The effect of a change of a subscription on its present and its planned prices. Use
 * `UNCHANGED_PRICES` for a change that affects no prices.
 */
export interface SubscriptionPriceChange {
  /** Makes the same change in the prices of the planned swap. */
  readonly carry: PlannedItemsUpdate
  /** Returns all present prices of the subscription after the change. */
  readonly targetOf: (found: ProviderSubscription) => readonly RequestedItem[]
}

export const UNCHANGED_PRICES: SubscriptionPriceChange = {
  carry: (planned) => planned,
  targetOf: toRequestedItems,
}

interface RuleArguments {
  readonly subscription: SubscriptionScope
  readonly current: CurrentSubscription
  readonly change: ChangeAtProvider
  readonly prices: SubscriptionPriceChange
}

/**
 * Wraps a change of a subscription so that it treats a planned swap as `PLANNED_SWAP_RULES` says
 * for this kind of change. If no swap is planned, only the change is made.
 */
export function withPlannedSwapRule(
  subscription: SubscriptionScope,
  changeKind: keyof typeof PLANNED_SWAP_RULES,
  change: ChangeAtProvider,
  prices: SubscriptionPriceChange = UNCHANGED_PRICES,
): ChangeAtProvider {
  return async (current) => {
    const asked = { subscription, current, change, prices }
    if (current.found.isScheduled)
      await PLANNED_SWAP_HANDLERS[PLANNED_SWAP_RULES[changeKind]](asked)
    else await change(current)
  }
}

const PLANNED_SWAP_HANDLERS: Readonly<
  Record<PlannedSwapRule, (asked: RuleArguments) => Promise<void>>
> = {
  keeps: ({ change, current }) => change(current),

  // The cancelled plan is stored until the change is made: after a crash or a lost response it is
  // planned again.
  async drops(asked) {
    const { subscription, current, change } = asked
    const { context } = subscription
    const { found, locked, ask } = current
    const release = () =>
      ask((gateway) => requireGatewayPart(gateway, 'schedules').release(found.id))
    if (found.planned) await requireOfferedTarget(asked)
    const operation = found.planned ? await storePlan(asked, found.planned, 'restore') : null
    try {
      await release()
      await change(current)
    } catch (error) {
      // After a declined payment, and while a payment waits for confirmation, the customer keeps
      // the plan.
      if (operation && isDefiniteFailure(error)) await restoreNow(context, locked, operation)
      throw error
    }
    if (operation) await deleteStoredPlannedSwaps(context, locked, found.id)
  },

  // The plan is updated after the change, so that a retry finds both the change and the old plan.
  async carries(asked) {
    const { subscription, current, change, prices } = asked
    const { context } = subscription
    const { found, locked } = current
    const { planned } = found
    if (!planned) return change(current)
    const items = prices.carry(planned.items, found.price)
    await requireSameInterval(current, planned.items, items)
    await requireOffered(current, items)
    const operation = await storePlan(asked, { ...planned, items }, 'carry')
    try {
      await change(current)
    } catch (error) {
      // A payment that waits for confirmation may still make the change; a declined one has not.
      if (error instanceof PaymentActionRequired) await restoreNow(context, locked, operation)
      else if (isDefiniteFailure(error)) await finishOperation(context, locked, operation)
      throw error
    }
    await runOperation(context, locked, operation, () => replanStoredSwap(locked, operation))
    await deleteStoredPlannedSwaps(context, locked, found.id)
  },

  async refuses({ current, change }) {
    if (current.found.planned) {
      throw new InvalidArgument(
        'This change would move the date of the planned swap: cancelPlannedSwap() first',
      )
    }
    await change(current)
  },
}

/** Stores the plan before the first request, with everything that is needed to plan it again. */
async function storePlan(
  { subscription, current: { found, locked }, prices }: RuleArguments,
  { items, at }: Pick<PlannedSwap, 'items' | 'at'>,
  to: StoredPlannedSwap['to'],
): Promise<PendingOperation> {
  const { context, record } = subscription
  const request: StoredPlannedSwap = {
    provider: record.provider,
    of: found.id,
    to,
    items,
    at: at.getTime(),
    ...(await readPlannedTaxTerms(subscription, items)),
    by: found.planned?.operation ?? null,
    before: toRequestedItems(found),
    after: prices.targetOf(found),
  }
  return beginOperation(context, locked, { owner: record.owner, kind: 'plan', request })
}

/**
 * Restores the plan now, in the way a crash recovery would. On failure the operation stays stored,
 * because the caller must see the original error.
 */
async function restoreNow(
  context: BillingContext,
  locked: LockedOwner,
  operation: PendingOperation,
): Promise<void> {
  await resumePlannedSwap(context, locked, { ...operation, kind: 'plan' }).catch(() => undefined)
}

/**
 * Rejects the change before anything is sent: a provider cannot plan prices with different billing
 * intervals.
 */
async function requireSameInterval(
  { ask }: CurrentSubscription,
  planned: readonly RequestedItem[],
  items: readonly RequestedItem[],
): Promise<void> {
  const [main] = items
  const added = items.filter(({ price }) => !planned.some((item) => item.price === price))
  if (!main || added.length === 0) return
  const prices = [main, ...added].map(({ price }) => price)
  if (await ask((gateway) => requireGatewayPart(gateway, 'schedules').haveSameInterval(prices)))
    return
  throw new InvalidArgument(
    `The planned swap leads to '${main.price}', which has a different billing interval: cancelPlannedSwap() first, or add the price after the swap`,
  )
}

/**
 * Rejects the change before anything is sent: afterwards the present and the planned prices must be
 * planned again, which an archived price prevents.
 */
async function requireOffered(
  current: CurrentSubscription,
  items: readonly RequestedItem[],
): Promise<void> {
  const archived = await findArchived(current, [...toRequestedItems(current.found), ...items])
  if (archived === null) return
  throw new InvalidArgument(
    `'${archived}' is archived, so the planned swap could not be planned again after this change: cancelPlannedSwap() first`,
  )
}

/**
 * Rejects an impossible swap before the plan is cancelled, because that plan may be one that cannot
 * be made again.
 */
async function requireOfferedTarget({ current, prices }: RuleArguments): Promise<void> {
  const there = toRequestedItems(current.found)
  const added = prices
    .targetOf(current.found)
    .filter(({ price }) => !there.some((item) => item.price === price))
  const archived = await findArchived(current, added)
  if (archived === null) return
  throw new InvalidArgument(
    `'${archived}' is archived, so nothing can be swapped to it. The planned swap is kept`,
  )
}

async function findArchived(
  { ask }: CurrentSubscription,
  items: readonly RequestedItem[],
): Promise<string | null> {
  if (items.length === 0) return null
  const prices = [...new Set(items.map(({ price }) => price))]
  return ask(
    async (gateway) =>
      (await requireGatewayPart(gateway, 'schedules').findArchived?.(prices)) ?? null,
  )
}

/** Returns the tax settings of the application for the prices of a planned swap. */
export async function readPlannedTaxTerms(
  subscription: SubscriptionScope,
  items: readonly RequestedItem[],
): Promise<Pick<NewPlannedSwap, 'tax' | 'keepsTax' | 'automaticTax' | 'taxRates' | 'itemRates'>> {
  const [main = subscription.record.providerPlan, ...others] = items.map(({ price }) => price)
  return subscription.readConfiguredTax(main, others)
}

/** Deletes all stored planned swaps of this subscription, because a newer call replaces them. */
export async function deleteStoredPlannedSwaps(
  { operations }: BillingContext,
  { owner, lock }: LockedOwner,
  subscriptionId: string,
): Promise<void> {
  const begun = await operations.listByOwner(owner)
  const ours = begun.filter(({ kind, request }) => kind === 'plan' && request.of === subscriptionId)
  if (ours.length === 0) return
  await lock.write(async (tx) => {
    for (const operation of ours) await operations.finish(operation, tx)
  })
}
