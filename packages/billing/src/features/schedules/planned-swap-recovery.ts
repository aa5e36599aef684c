import type { PendingOperation } from '../../core/storage/operations.ts'
import type { OperationRequest } from '../../core/storage/tables.ts'
import type { RequestedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { hasExactItems } from '../../providers/wanted-items.ts'

/**
 * A planned swap that is stored while the subscription is changed in another way, so that a crash
 * does not lose it.
 * - `to: 'restore'`: the plan is cancelled before the change, and planned again if the change
 * fails.
 * - `to: 'carry'`: the plan is updated after the change, and not changed if the change fails.
 */
export interface StoredPlannedSwap extends OperationRequest {
  readonly to: 'restore' | 'carry'
  /** The provider's id of the subscription. */
  readonly of: string
  /** The prices to be planned, the main price first. */
  readonly items: readonly RequestedItem[]
  /** When the planned swap takes effect, in milliseconds since 1970. */
  readonly at: number
  readonly tax: number
  readonly automaticTax?: boolean
  readonly taxRates?: readonly string[]
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** Id of our operation that made the existing plan. `null` if it was made outside of Tollgate. */
  readonly by: string | null
  /** All prices of the subscription before the other change. */
  readonly before: readonly RequestedItem[]
  /** All prices of the subscription after the other change. */
  readonly after: readonly RequestedItem[]
}

/**
 * Action for a stored planned swap after a crash. `plan`: plan it at the provider now. `over`: do
 * nothing, and delete its record. `wait`: do nothing yet, because the interrupted change may still
 * take effect.
 */
export type PlannedSwapRecovery = 'plan' | 'over' | 'wait'

/**
 * Decides what to do about a planned swap that a crashed process has stored, from the present state
 * of the subscription at the provider.
 */
export function decidePlannedSwapRecovery(
  { id, request }: Pick<PendingOperation, 'id' | 'request'>,
  found: ProviderSubscription | null,
  now: Date,
): PlannedSwapRecovery {
  if (found === null || found.isOver) return 'over'
  // A new plan from swapAtPeriodEnd(): it was made, or a repeated call will make it.
  if (!isStoredPlannedSwap(request)) return found.planned?.operation === id ? 'over' : 'wait'
  if (found.endsAt !== null || request.at <= now.getTime()) return 'over'
  return DECIDE[request.to](request, found)
}

export function isStoredPlannedSwap(request: OperationRequest): request is StoredPlannedSwap {
  return typeof request.to === 'string' && Object.hasOwn(DECIDE, request.to)
}

const DECIDE: Readonly<
  Record<
    StoredPlannedSwap['to'],
    (kept: StoredPlannedSwap, found: ProviderSubscription) => PlannedSwapRecovery
  >
> = {
  restore({ before }, found) {
    if (found.isHeld) return 'wait'
    return !found.planned && hasExactItems(found, before) ? 'plan' : 'over'
  },

  carry({ by, before, after }, found) {
    // Cancelled, already updated, or replaced by another plan.
    if (!found.isScheduled) return 'over'
    if (found.planned && found.planned.operation !== by) return 'over'
    if (hasExactItems(found, after)) return 'plan'
    return hasExactItems(found, before) ? 'wait' : 'over'
  },
}
