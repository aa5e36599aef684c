import { defineCapability, defineFeature } from '../define-feature.ts'
import { changeItems } from '../items/subscription.ts'
import type { SwapOptions } from '../swap/subscription.ts'
import { createBraintreeUsage } from './braintree.ts'
import type { UsageSummary } from './contract.ts'
import type { UsageOptions, UsageQuery, UsageReport } from './report-usage.ts'
import { createStripeUsage } from './stripe.ts'
import {
  listUsage,
  reportUsage,
  type SubscriptionUsage,
  type SubscriptionUsageQuery,
} from './subscription.ts'
import type { UnbilledUsage } from './usage-rows.ts'
import type { UsageValue } from './usage-value.ts'
import {
  cancelUsage,
  listUnbilledUsage,
  listUserUsage,
  reportUserUsage,
  voidUnbilledUsage,
} from './user.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Lists usage that was reported and is not billed yet, by provider and meter. Reads only our
     * own rows: at Stripe, usage that has been sent is part of `upcomingInvoice()`.
     */
    unbilledUsage(): Promise<UnbilledUsage[]>

    /**
     * Cancels all usage that `unbilledUsage()` lists, so that it is never charged. Returns the
     * number of reports. Idempotent.
     * @throws {Busy} while a charge for some of it is in progress, because its outcome is not known
     * yet.
     */
    voidUnbilledUsage(): Promise<number>

    /**
     * Reports usage of a meter. The report is stored, and sent to the provider afterwards, even if
     * the provider is unavailable now. Reports with the same `id` count once.
     * @throws {NoCustomer} if the user is no customer yet.
     * @throws {NoSubscription} at Braintree, if no subscription is running.
     * @throws {InvalidArgument} for an invalid value or time, or if `id` was used for a different
     * report.
     * @example
     * ```ts
     * await user.reportUsage('api_calls', 3, { id: request.id })
     * ```
     */
    reportUsage(meter: string, value: UsageValue, options?: UsageOptions): Promise<UsageReport>

    /**
     * Returns the usage of a meter between two times, as counted so far: one sum, or one for each
     * day or hour.
     * @example
     * ```ts
     * const [today] = await user.usage('api_calls', { from: startOfDay, by: 'day' })
     * ```
     */
    usage(meter: string, query: UsageQuery): Promise<UsageSummary[]>

    /**
     * Cancels a report by its id, before it is sent and for 24 hours after. Idempotent.
     * @throws {Busy} while the report is being sent.
     * @throws {InvalidArgument} if there is no such report, or it is too late to cancel it.
     */
    cancelUsage(id: string): Promise<void>
  }
}

declare module '../../subscription.ts' {
  interface Subscription {
    /**
     * Reports usage by a meter or by a price of this subscription. The report is stored, and sent
     * to the provider afterwards, even if the provider is unavailable now. Reports of the same
     * owner with the same `id` count once.
     * @throws {SubscriptionEnded} if the subscription had ended at that time.
     * @throws {InvalidArgument} for an invalid value or time, or if `id` was used for a different
     * report.
     * @example
     * ```ts
     * await subscription.reportUsage({ meter: 'api_calls', value: 3, id: request.id })
     * ```
     */
    reportUsage(usage: SubscriptionUsage): Promise<UsageReport>

    /** Returns the usage as counted so far: of the current period, or between two times. */
    usage(query: SubscriptionUsageQuery): Promise<UsageSummary[]>

    /**
     * Adds a price that is billed by usage. Idempotent: adding the same price again has no effect.
     */
    addMeteredPrice(price: string, options?: SwapOptions): Promise<Subscription>
  }
}

declare module '../../core/storage/tables.ts' {
  interface OperationKinds {
    usage: true
  }
}

/** Reported usage that is not billed yet. */
export const unbilledUsageFeature = defineFeature({
  user: {
    unbilledUsage: listUnbilledUsage,
    voidUnbilledUsage,
  },
})

/**
 * Usage-based billing: the provider counts the usage, or billing counts it and charges it through
 * the provider.
 */
export const usageCapability = defineCapability('usage', {
  user: {
    reportUsage: (user, meter, value, options = {}) =>
      reportUserUsage(user, { meter, value }, options),
    usage: listUserUsage,
    cancelUsage,
  },
  subscription: {
    reportUsage,
    usage: listUsage,
  },
  operations: { usage: null },
  stripe: createStripeUsage,
  braintree: createBraintreeUsage,
})

/** Prices defined at the provider that are billed by usage. */
export const meteredPricesCapability = defineCapability('meteredPrices', {
  changes: {
    addMeteredPrice: async (subscription, price, options = {}) =>
      changeItems(
        subscription.withCapability('items'),
        { add: price, quantity: null },
        { ...options, invoiceNow: false },
      ),
  },
  builder: ['meteredPrice'],
  stripe: () => ({ meteredPrices: true }),
})
