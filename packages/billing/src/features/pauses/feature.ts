import { defineCapability } from '../define-feature.ts'
import { createStripePauses } from './stripe.ts'
import {
  findPausedUntil,
  type PauseOptions,
  pauseSubscription,
  unpauseSubscription,
} from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Pauses the collection of payments until `until`, or until `unpause()` is called. The
     * subscription continues. A repeat replaces the pause.
     * @throws InvalidArgument if `until` is not in the future, or the first payment is missing.
     * @example
     * await subscription.pause({ until: new Date('2027-03-01') })
     */
    pause(options?: PauseOptions): Promise<Subscription>

    /**
     * Ends the pause, so that the next invoice is collected again. Does nothing if the subscription
     * is not paused.
     */
    unpause(): Promise<Subscription>

    /**
     * Reads from the provider when the pause ends by itself. `null` if it does not end by itself,
     * or if the subscription is not paused.
     */
    pausedUntil(): Promise<Date | null>
  }
}

/** Pausing subscriptions. */
export const pausesCapability = defineCapability('pauses', {
  subscription: {
    pausedUntil: findPausedUntil,
  },
  changes: {
    pause: (subscription, options = {}) => pauseSubscription(subscription, options),
    unpause: unpauseSubscription,
  },
  stripe: createStripePauses,
})
