import { defineCapability, defineFeature } from '../define-feature.ts'
import { createStripeTrials } from './stripe.ts'
import { endTrial, extendTrial } from './subscription.ts'
import { everHadTrial, isOnGenericTrial, isOnTrial, startGenericTrial } from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Whether the subscription with this name is on trial or, without a name, whether the
     * user-level trial is running.
     * @example
     * ```ts
     * if (await user.onTrial('main')) showTrialBanner()
     * ```
     */
    onTrial(name?: string): Promise<boolean>

    /** Whether the user-level trial is running and no subscription was ever created. */
    onGenericTrial(): Promise<boolean>

    /**
     * Starts, moves or (`null`) ends the user-level trial, which needs neither a card nor a
     * subscription.
     * @throws {TrialUsed} if the option `trials: { oncePerOwner: true }` is set and there was a
     * trial before.
     * @example
     * ```ts
     * await user.startGenericTrial(new Date(Date.now() + 14 * 86_400_000))
     * ```
     */
    startGenericTrial(endsAt: Date | null): Promise<void>

    /**
     * Whether there ever was a free trial, of a subscription or at the user level. With the option
     * `trials: { oncePerOwner: true }` a second trial throws TrialUsed, so check this before a page
     * promises one.
     */
    hadTrial(): Promise<boolean>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Moves the end of a running trial.
     * @throws {InvalidArgument} if no trial is running or a swap is planned.
     * @throws {Unsupported} at Braintree.
     * @example
     * ```ts
     * await subscription.extendTrial(new Date('2026-07-01'))
     * ```
     */
    extendTrial(to: Date): Promise<Subscription>

    /**
     * Ends the trial now and charges the customer. Does nothing if the trial is over.
     * @throws {InvalidArgument} while the subscription is paused or a swap is planned.
     * @throws {Unsupported} at Braintree.
     */
    endTrial(): Promise<Subscription>
  }
}

/** Trials of a user that need no subscription. */
export const genericTrialsFeature = defineFeature({
  user: {
    onTrial: isOnTrial,
    onGenericTrial: isOnGenericTrial,
    startGenericTrial,
    hadTrial: everHadTrial,
  },
})

/** Extending and ending the trial of a subscription. */
export const trialsCapability = defineCapability('trials', {
  changes: {
    extendTrial,
    endTrial,
  },
  builder: ['trialUntil'],
  stripe: createStripeTrials,
})
