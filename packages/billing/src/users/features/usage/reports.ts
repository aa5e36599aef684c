import { InvalidArgument, NoSubscription } from '../../../errors.ts'
import { isChargedByUs, type UsageSummary } from '../../../gateways/contract/parts/money/usage.ts'
import { sumOfOwn } from '../../../subscriptions/features/usage.ts'
import {
  findReport,
  reportUsage as report,
  requirePrice,
  requireQuery,
  type UsageOptions,
  type UsageQuery,
  type UsageReport,
} from '../../../usage/report-usage.ts'
import { requireText } from '../../../values/arguments.ts'
import { ended } from '../../../values/subscription-state.ts'
import type { UsageValue } from '../../../values/usage.ts'
import type { UserHaving } from '../../user-scope.ts'

/** What was used, and how much of it. */
export interface Used {
  readonly meter: string
  readonly value: UsageValue
}

export async function reportUsage(
  user: UserHaving<'usage'>,
  used: Used,
  options: UsageOptions,
): Promise<UsageReport> {
  const { owner, provider, context } = user
  const providerCustomer = await user.findCustomerId()
  const found = await findReport(context.usage, { owner, providerCustomer }, options)
  const subscriptionId = found ? found.subscriptionId : await placeOf(user, used)
  const digits = context.options.providers.find(provider)?.usageDigits
  const whose = { owner, provider, providerCustomer, subscriptionId }
  const by = { ...whose, isOfSubscription: false, digits, ...used }
  return report(context.usage, by, options, user.now(), found)
}

/** The subscription that a new report is charged with; null where the provider counts it. */
async function placeOf(user: UserHaving<'usage'>, { meter }: Used): Promise<number | null> {
  await user.requireCustomerId()
  const { usage } = await user.gateway()
  if (!isChargedByUs(usage)) return null
  const subscriptionId = await runningOf(user)
  requirePrice(usage, requireText('meter', meter))
  return subscriptionId
}

/** What we count is charged with a subscription: the newest one that runs. */
async function runningOf(user: UserHaving<'usage'>): Promise<number> {
  const { context, owner, provider } = user
  const all = await context.subscriptions.listByOwner(owner)
  const running = all.find((each) => each.provider === provider && !ended(each, user.now()))
  if (running) return running.id
  throw new NoSubscription('Usage is charged with a subscription, and there is none')
}

/** Nothing was used by somebody whom the provider does not know. */
export async function listUsage(
  user: UserHaving<'usage'>,
  meter: string,
  query: UsageQuery,
): Promise<UsageSummary[]> {
  requireText('meter', meter)
  const filter = requireQuery(query, user.now())
  const customerId = await user.findCustomerId()
  if (customerId === null) return []
  const { usage } = await user.gateway()
  if (!isChargedByUs(usage)) return usage.summaries({ ...filter, meter, customerId })
  const all = await user.context.subscriptions.listByOwner(user.owner)
  const ids = all.map(({ id }) => id)
  return sumOfOwn(user.context, user.provider, ids, { ...filter, meter })
}

export async function cancelUsage(user: UserHaving<'usage'>, id: string): Promise<void> {
  const { usage } = user.context
  const by = { owner: user.owner, providerCustomer: await user.findCustomerId() }
  const found = await usage.find(by, requireText('id of the report', id), null)
  if (!found) throw new InvalidArgument(`Nothing was reported as '${id}'`)
  await usage.cancel(found)
}
