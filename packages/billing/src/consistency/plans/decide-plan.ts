import type { WantedItem } from '../../gateways/contract/item.ts'
import type { ProviderSubscription } from '../../gateways/contract/subscription.ts'
import { hasItems } from '../../gateways/contract/wanted-items.ts'
import type { Operation } from '../../storage/operations.ts'
import type { OperationRequest } from '../../storage/tables.ts'

/**
 * A planned swap, on record while something else is done with its subscription.
 * - `restore`: it is released for a change. It is planned again if that does not happen.
 * - `carry`: it is brought up to date after a change. It stays as it was if that does not happen.
 */
export interface KeptPlan extends OperationRequest {
  readonly to: 'restore' | 'carry'
  /** The subscription. */
  readonly of: string
  /** What is to be planned. */
  readonly items: readonly WantedItem[]
  /** When, in milliseconds. */
  readonly at: number
  readonly tax: number
  readonly automaticTax?: boolean
  readonly taxRates?: readonly string[]
  readonly itemRates?: Readonly<Record<string, readonly string[]>>
  /** The operation that planned what there was. */
  readonly by: string | null
  /** All prices before the change. */
  readonly before: readonly WantedItem[]
  /** All prices after it, where that is known. */
  readonly after: readonly WantedItem[]
}

/** `plan`: what is on record is to be planned now. `over`: there is nothing left to do. `wait`: the change may still come. */
export type PlanVerdict = 'plan' | 'over' | 'wait'

/** What becomes of an operation of the kind `plan` whose caller has gone, by the subscription as it is now. */
export function decidePlan(
  { id, request }: Pick<Operation, 'id' | 'request'>,
  found: ProviderSubscription | null,
  now: Date,
): PlanVerdict {
  if (found === null || found.isOver) return 'over'
  // A new one, by swapAtPeriodEnd(): it stands, or whoever asks for it again plans it.
  if (!isKept(request)) return found.planned?.operation === id ? 'over' : 'wait'
  if (found.endsAt !== null || request.at <= now.getTime()) return 'over'
  return DECIDE[request.to](request, found)
}

export function isKept(request: OperationRequest): request is KeptPlan {
  return typeof request.to === 'string' && Object.hasOwn(DECIDE, request.to)
}

const DECIDE: Readonly<
  Record<KeptPlan['to'], (kept: KeptPlan, found: ProviderSubscription) => PlanVerdict>
> = {
  restore({ before }, found) {
    if (found.isHeld) return 'wait'
    return !found.planned && hasItems(found, before) ? 'plan' : 'over'
  },

  carry({ by, before, after }, found) {
    // Taken back, carried already, or planned anew by somebody else.
    if (!found.isScheduled) return 'over'
    if (found.planned && found.planned.operation !== by) return 'over'
    if (hasItems(found, after)) return 'plan'
    return hasItems(found, before) ? 'wait' : 'over'
  },
}
