import { defineCapability, defineFeature } from '../define-feature.ts'
import { createStripeEndDates } from './stripe.ts'
import {
  type CancelNowOptions,
  cancelAt,
  cancelNow,
  cancelSubscriptionAtPeriodEnd,
} from './subscription.ts'

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Cancels the subscription at the end of the paid period or of the trial. `resume()` undoes
     * this until then.
     * @example
     * const { endsAt } = await (await user.subscription('main')).cancel()
     */
    cancel(): Promise<Subscription>

    /**
     * Cancels the subscription immediately. A prorated charge that a swap left for the next invoice
     * is never charged, unless `invoiceNow` bills it first. At providers that charge every swap
     * immediately, `invoiceNow` has no effect.
     */
    cancelNow(options?: CancelNowOptions): Promise<Subscription>

    /**
     * Cancels the subscription on the given date. Until then it renews as usual, and `resume()`
     * undoes the cancellation. Paid time after the date is credited, unless `noProrate()` was
     * called.
     * @throws InvalidArgument if the date is not in the future.
     */
    cancelAt(date: Date): Promise<Subscription>
  }
}

/** Cancelling subscriptions, now or later. */
export const cancellationFeature = defineFeature({
  changes: {
    cancel: cancelSubscriptionAtPeriodEnd,
    cancelNow: (subscription, options = {}) => cancelNow(subscription, options),
  },
})

/** Ending subscriptions on a chosen day. */
export const endDatesCapability = defineCapability('endDates', {
  changes: {
    cancelAt,
  },
  stripe: createStripeEndDates,
})
