import type { EndReason } from '../../providers/subscription.ts'
import type { Subscription } from '../../subscription.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreeSubscriptions } from './braintree.ts'
import { createBraintreeAgreedTerms } from './braintree-terms.ts'
import type { SubscriptionBuilder } from './builder.ts'
import { resumeNewSubscription } from './resume.ts'
import { createStripeSubscriptions } from './stripe.ts'
import { createStripeAgreedTerms } from './stripe-terms.ts'
import {
  findEndReason,
  findPaidUntil,
  findPeriodEnd,
  readProviderSubscription,
} from './subscription.ts'
import {
  findSubscription,
  isUserSubscribed,
  listSubscriptions,
  newSubscription,
  requireSubscription,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Builds a new subscription; `create()` or `checkout()` creates it.
     * @param name Your name for the subscription, such as `main`. An owner has one running
     * subscription per name.
     * @param plan The provider's id of the main price.
     * @example
     * ```ts
     * await user.newSubscription('main', 'monthly').trialDays(10).create(cardToken, { email })
     * ```
     */
    newSubscription(name: string, plan: string): SubscriptionBuilder

    /** Finds the newest subscription with this name. `null` if there is none. */
    findSubscription(name: string): Promise<Subscription | null>

    /**
     * Returns the newest subscription with this name.
     * @throws {NoSubscription} if there is none.
     */
    subscription(name: string): Promise<Subscription>

    /** Lists all subscriptions of the owner, newest first, including ended ones. */
    subscriptions(): Promise<Subscription[]>

    /**
     * Whether the subscription is active, on trial or in its grace period. With `plan`, it must
     * also have that price.
     * @example
     * ```ts
     * if (!(await user.subscribed('main'))) return redirect('/plans')
     * ```
     */
    subscribed(name: string, plan?: string): Promise<boolean>

    /** Whether the subscription is valid and has the given price, or one of several. */
    subscribedToPlan(plan: string | readonly string[], name: string): Promise<boolean>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /** Reads from the provider why the subscription ended. `null` if it has not ended. */
    endReason(): Promise<EndReason | null>

    /**
     * Reads from the provider when the current period or trial ends: the date of the next invoice,
     * or the end of a cancelled subscription.
     */
    periodEndsAt(): Promise<Date | null>

    /**
     * Reads from the provider when `cancel()` would end the subscription: at the end of the trial
     * or of the paid period. If it was cancelled, when it ends or ended. `null` if `cancel()` would
     * end it immediately.
     */
    paidUntil(): Promise<Date | null>

    /** Reads the subscription as the object of the provider's SDK. */
    asProvider(): Promise<unknown>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    subscription: true
  }
}

/** Creating and finding subscriptions. */
export const subscriptionCreationFeature = defineFeature({
  user: {
    newSubscription,
    findSubscription,
    subscription: requireSubscription,
    subscriptions: listSubscriptions,
    subscribed: (user, name, plan) =>
      isUserSubscribed(user, name, plan === undefined ? plan : [plan]),
    subscribedToPlan: (user, plan, name) => isUserSubscribed(user, name, [plan].flat()),
  },
  subscription: {
    endReason: findEndReason,
    periodEndsAt: findPeriodEnd,
    paidUntil: findPaidUntil,
    asProvider: readProviderSubscription,
  },
  operations: { subscription: resumeNewSubscription },
  stripe: (context) => ({
    ...createStripeSubscriptions(context),
    ...createStripeAgreedTerms(context),
  }),
  braintree: (context) => ({
    ...createBraintreeSubscriptions(context),
    ...createBraintreeAgreedTerms(context),
  }),
})

/** New subscriptions whose first whole billing period begins on a given day. */
export const billingAnchorsCapability = defineCapability('anchors', {
  builder: ['anchorOn', 'noProrate'],
  stripe: () => ({ anchors: true }),
})

/** New subscriptions that start in the past. */
export const backdatingCapability = defineCapability('backdating', {
  builder: ['backdate'],
  stripe: () => ({ backdating: true }),
})

/** New subscriptions without a card, as long as nothing is due. */
export const freeStartsCapability = defineCapability('freeStarts', {
  builder: ['withoutCard'],
  stripe: () => ({ freeStarts: true }),
})
