import type { UserScope } from '../../core/user-scope.ts'
import { defineCapability, defineFeature } from '../define-feature.ts'
import { createBraintreeAccountLists } from './braintree.ts'
import type { DriftReport } from './drift.ts'
import { createStripeAccountLists } from './stripe.ts'
import { syncOwner } from './sync-owner.ts'

declare module '../../billable-user.ts' {
  interface BillableUser<User> {
    /**
     * Updates this user's rows to the provider's state, and returns the differences. Rarely needed:
     * webhooks keep the rows up to date. With `dryRun` it changes nothing.
     * @example
     * ```ts
     * const { drift } = await user.sync()
     * ```
     */
    sync(options?: { readonly dryRun?: boolean }): Promise<DriftReport>
  }
}

/** Updating our database to the provider's state, for example after webhooks were lost. */
export const syncFeature = defineFeature({
  user: {
    sync: (user, options = {}) => syncUser(user, options),
  },
})

/** Reading many customers and subscriptions at a time, which makes `sync()` faster. */
export const accountListsCapability = defineCapability('lists', {
  stripe: createStripeAccountLists,
  braintree: createBraintreeAccountLists,
})

export async function syncUser(
  user: UserScope,
  options: { readonly dryRun?: boolean },
): Promise<DriftReport> {
  const report = await syncOwner(user.context, user.owner, options)
  await user.user.reload()
  return report
}
