import type { Operation } from '../../core/storage/operations.ts'
import type { OperationRequest } from '../../core/storage/tables.ts'
import type { WantedItem } from '../../providers/item.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { hasItems } from '../../providers/wanted-items.ts'

/**
 * A planned swap, stored while the subscription is changed in another way.
 * - `restore`: the plan is cancelled before the change, and planned again if the change fails.
 * - `carry`: the plan is updated after the change, and left alone if the change fails.
 */
export interface StoredPlan extends OperationRequest {
  readonly to: 'restore' | 'carry'
  /** The provider's id of the subscription. */
  readonly of: string
  /** The prices to be planned, the main price first. */
  readonly items: readonly WantedItem[]
  /** When the prices change, in milliseconds since 1970. */
  readonly at: number
  readonly tax: number
  readonly automaticTax?: boolean
  readonly taxRates?: readonly string[]
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** Id of the operation that made the existing plan. */
  readonly by: string | null
  /** All prices before the change. */
  readonly before: readonly WantedItem[]
  /** All prices after the change, if known. */
  readonly after: readonly WantedItem[]
}

/**
 * Decision about a stored plan. `plan`: plan it now. `over`: nothing is left to do. `wait`: the
 * change may still happen.
 */
export type PlanVerdict = 'plan' | 'over' | 'wait'

/**
 * Decides what to do with the stored plan of a process that crashed, based on the present state of
 * the subscription.
 */
export function decidePlan(
  { id, request }: Pick<Operation, 'id' | 'request'>,
  found: ProviderSubscription | null,
  now: Date,
): PlanVerdict {
  if (found === null || found.isOver) return 'over'
  // A new plan from swapAtPeriodEnd(): it was made, or a repeated call will make it.
  if (!isStoredPlan(request)) return found.planned?.operation === id ? 'over' : 'wait'
  if (found.endsAt !== null || request.at <= now.getTime()) return 'over'
  return DECIDE[request.to](request, found)
}

export function isStoredPlan(request: OperationRequest): request is StoredPlan {
  return typeof request.to === 'string' && Object.hasOwn(DECIDE, request.to)
}

const DECIDE: Readonly<
  Record<StoredPlan['to'], (kept: StoredPlan, found: ProviderSubscription) => PlanVerdict>
> = {
  restore({ before }, found) {
    if (found.isHeld) return 'wait'
    return !found.planned && hasItems(found, before) ? 'plan' : 'over'
  },

  carry({ by, before, after }, found) {
    // Cancelled, already updated, or replaced by another plan.
    if (!found.isScheduled) return 'over'
    if (found.planned && found.planned.operation !== by) return 'over'
    if (hasItems(found, after)) return 'plan'
    return hasItems(found, before) ? 'wait' : 'over'
  },
}
