import { Busy, InvalidArgument, NoSubscription } from '../../core/errors/errors.ts'
import { withOwnerLock } from '../../core/owner-lock.ts'
import type { UserScope, UserScopeWith } from '../../core/user-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { hasSubscriptionEnded } from '../../core/values/subscription-state.ts'
import { isChargedByUs, type UsageSummary } from './contract.ts'
import {
  findUsageReport,
  reportUsage as report,
  requireMeteredPrice,
  requireUsageQuery,
  type UsageOptions,
  type UsageQuery,
  type UsageReport,
} from './report-usage.ts'
import { sumUsageCountedByUs } from './subscription.ts'
import type { UnbilledUsage } from './usage-rows.ts'
import type { UsageValue } from './usage-value.ts'

/** A quantity of usage, and the meter that counts it. */
export interface MeteredQuantity {
  readonly meter: string
  readonly value: UsageValue
}

export async function reportUserUsage(
  user: UserScopeWith<'usage'>,
  used: MeteredQuantity,
  options: UsageOptions,
): Promise<UsageReport> {
  const { owner, provider, context } = user
  const providerCustomer = await user.findCustomerId()
  const found = await findUsageReport(context.usage, { owner, providerCustomer }, options)
  const subscriptionId = found ? found.subscriptionId : await findChargedSubscription(user, used)
  const digits = context.options.providers.find(provider)?.usageDigits
  const whose = { owner, provider, providerCustomer, subscriptionId }
  const by = { ...whose, isOfSubscription: false, digits, ...used }
  return report(context.usage, by, options, user.now(), found)
}

/**
 * Returns the subscription with which a new report is charged. `null` if the provider counts usage.
 */
async function findChargedSubscription(
  user: UserScopeWith<'usage'>,
  { meter }: MeteredQuantity,
): Promise<number | null> {
  await user.requireCustomerId()
  const { usage } = await user.gateway()
  if (!isChargedByUs(usage)) return null
  const subscriptionId = await findNewestRunningId(user)
  requireMeteredPrice(usage, requireText('meter', meter))
  return subscriptionId
}

/** Returns the newest running subscription, with which usage that we count is charged. */
async function findNewestRunningId(user: UserScopeWith<'usage'>): Promise<number> {
  const { context, owner, provider } = user
  const all = await context.subscriptions.listByOwner(owner)
  const running = all.find(
    (each) => each.provider === provider && !hasSubscriptionEnded(each, user.now()),
  )
  if (running) return running.id
  throw new NoSubscription('Usage is charged with a running subscription, and there is none')
}

/** Returns the sums of a user's usage. Empty if the user has no customer at the provider. */
export async function listUserUsage(
  user: UserScopeWith<'usage'>,
  meter: string,
  query: UsageQuery,
): Promise<UsageSummary[]> {
  requireText('meter', meter)
  const filter = requireUsageQuery(query, user.now())
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const { usage } = await user.gateway()
  if (!isChargedByUs(usage)) return usage.summaries({ ...filter, meter, customerId })
  const all = await user.context.subscriptions.listByOwner(user.owner)
  const ids = all.map(({ id }) => id)
  return sumUsageCountedByUs(user.context, user.provider, ids, { ...filter, meter })
}

export async function cancelUsage(user: UserScopeWith<'usage'>, id: string): Promise<void> {
  const { usage } = user.context
  const by = { owner: user.owner, providerCustomer: await user.findCustomerId() }
  const found = await usage.find(by, requireText('id of the report', id), null)
  if (!found) throw new InvalidArgument(`There is no usage report with the id '${id}'`)
  await usage.cancel(found)
}

export async function listUnbilledUsage(user: UserScope): Promise<UnbilledUsage[]> {
  const { context, owner } = user
  return context.usage.unbilled({ owner, providerCustomer: await user.findCustomerId() })
}

export function voidUnbilledUsage(user: UserScope): Promise<number> {
  const { context, owner } = user
  return withOwnerLock(context, owner, async (locked) => {
    // A lost response may hide a successful charge: after voiding, that payment would belong to no
    // usage.
    const begun = await context.operations.listByOwner(owner)
    if (begun.some(({ kind }) => kind === 'usage')) {
      throw new Busy('Usage is being charged at the moment: try again in a few minutes')
    }
    const by = { owner, providerCustomer: await user.findCustomerId() }
    return locked.lock.write((tx) => context.usage.voidAll(by, tx))
  })
}
