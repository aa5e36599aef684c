import { defineCapability } from '../define-feature.ts'
import type { SwapItem } from '../swap/subscription.ts'
import { resumePlannedSwap } from './resume.ts'
import { createStripeSchedules } from './stripe.ts'
import {
  cancelPlannedSwap,
  findPlannedSwap,
  type PlannedChange,
  swapAtPeriodEnd,
} from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Swaps the main price when the next period begins. Until then nothing changes, and nothing is
     * prorated. A list gives all prices from then on, the main price first. Replaces an earlier
     * planned swap. Swapping to the present prices cancels the planned swap.
     * @throws {InvalidArgument} if the subscription was cancelled or its first payment is missing.
     * @throws {UnknownPrice} if the provider has no such price.
     * @throws {SubscriptionEnded} if the subscription has ended.
     * @example
     * ```ts
     * const { plannedPrice, plannedAt } = await subscription.swapAtPeriodEnd('small')
     * ```
     */
    swapAtPeriodEnd(price: string | readonly SwapItem[]): Promise<Subscription>

    /** Cancels the planned swap. Does nothing if none is planned. */
    cancelPlannedSwap(): Promise<Subscription>

    /**
     * Reads the planned swap from the provider: all prices, and when they change. `null` if none is
     * planned.
     */
    plannedSwap(): Promise<PlannedChange | null>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    plan: true
  }
}

/** Swaps that are planned for the end of the billing period. */
export const subscriptionSchedulesCapability = defineCapability('schedules', {
  subscription: {
    plannedSwap: findPlannedSwap,
  },
  changes: {
    swapAtPeriodEnd,
    cancelPlannedSwap,
  },
  operations: { plan: resumePlannedSwap },
  stripe: createStripeSchedules,
})
