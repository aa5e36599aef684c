import type { BillingContext } from '../../context.ts'
import { InvalidArgument, ItemNotFound } from '../../errors.ts'
import {
  isChargedByUs,
  type UsageFilter,
  type UsageSummary,
} from '../../gateways/contract/parts/money/usage.ts'
import type { ProviderName } from '../../provider-name.ts'
import { chargedUsageRepository } from '../../storage/queues/charged-usage.ts'
import { sumUsage } from '../../usage/charges/sum-usage.ts'
import {
  findReport,
  reportUsage as report,
  requirePrice,
  requireQuery,
  type UsageOptions,
  type UsageQuery,
  type UsageReport,
} from '../../usage/report-usage.ts'
import { requireText } from '../../values/arguments.ts'
import { isTooLate, type UsageValue } from '../../values/usage.ts'
import type { SubscriptionHaving } from '../subscription-scope.ts'
import { pricesOf } from './items.ts'

/** What is counted: a meter, or a price of the subscription that is billed by it. */
export type CountedBy =
  | {
      /** What events of it are called at the provider. */
      readonly meter: string
    }
  | {
      /** The provider's id of the price. The first time, the provider is asked which meter it has. */
      readonly price: string
    }

/** What was used with a subscription. */
export type SubscriptionUsage = CountedBy &
  UsageOptions & {
    /** How much: a number, or a decimal number as text. Below zero it corrects what was reported before. */
    readonly value: UsageValue
  }

/** Which sums of a subscription are wanted. Without `from` those of the running period. */
export type SubscriptionUsageQuery = CountedBy & Partial<UsageQuery>

type Scope = SubscriptionHaving<'usage'>

export async function reportUsage(
  subscription: Scope,
  used: SubscriptionUsage,
): Promise<UsageReport> {
  const { owner, provider, id: subscriptionId } = subscription.record
  const { usage: queue } = subscription.context
  const providerCustomer = subscription.record.providerCustomer ?? subscription.user.providerId
  const found = await findReport(queue, { owner, providerCustomer }, used)
  if (!found) await requireNotOver(subscription, used.at)
  const meter = found ? await meterOfAny(subscription, used) : await meterOf(subscription, used)
  const isOfSubscription = isChargedByUs((await subscription.gateway()).usage)
  const digits = subscription.context.options.providers.find(provider)?.usageDigits
  const { value } = used
  const whose = { owner, provider, providerCustomer, subscriptionId }
  const by = { ...whose, isOfSubscription, meter, value, digits }
  return report(queue, by, used, subscription.now(), found)
}

export async function listUsage(
  subscription: Scope,
  query: SubscriptionUsageQuery,
): Promise<UsageSummary[]> {
  const meter = await meterOf(subscription, query)
  const { usage } = await subscription.gateway()
  const found = await subscription.requireFound()
  const began = isChargedByUs(usage) ? usage.periodsOf(found).at(-1) : found.periodStartsAt
  const from = query.from ?? began ?? found.createdAt
  const now = subscription.now()
  // A period that has just begun, by a clock that is ahead of ours, is no mistake of whoever asks.
  const isBeginning = query.from === undefined && from >= now
  const filter = requireQuery({ ...query, from }, isBeginning ? later(from) : now)
  if (isChargedByUs(usage)) {
    const { provider, id } = subscription.record
    return sumOfOwn(subscription.context, provider, [id], { ...filter, meter })
  }
  return usage.summaries({ ...filter, meter, customerId: found.customerId ?? '' })
}

function later(date: Date): Date {
  return new Date(date.getTime() + 60_000)
}

/** What we count is added up by our own rows. */
export function sumOfOwn(
  { options }: BillingContext,
  provider: ProviderName,
  subscriptions: readonly number[],
  filter: Omit<UsageFilter, 'customerId'>,
): Promise<UsageSummary[]> {
  const usage = chargedUsageRepository(options.database, provider)
  return sumUsage(usage, subscriptions, filter)
}

/** What was used before the end is still billed, where the provider counts within the hour before its last invoice is final. */
async function requireNotOver(subscription: Scope, at: unknown): Promise<void> {
  const { endsAt } = subscription.record
  const when = at instanceof Date ? at : subscription.now()
  if (endsAt === null) return
  if (when > endsAt) return subscription.requireRunning()
  const { usage } = await subscription.gateway()
  if (!isChargedByUs(usage) && isTooLate(when, endsAt, subscription.now())) {
    subscription.requireRunning()
  }
}

async function meterOf(subscription: Scope, counted: CountedBy): Promise<string> {
  const { usage } = await subscription.gateway()
  const { meter, price } = namesOf(counted)
  if (isChargedByUs(usage)) {
    requirePrice(usage, requireText('meter', meter ?? price))
  } else if (meter === undefined) {
    const wanted = requireText('price', price)
    if (!pricesOf(subscription.record).includes(wanted)) {
      throw new ItemNotFound(`The subscription has no price '${wanted}'`)
    }
  }
  return meterOfAny(subscription, counted)
}

/** The same, also of a price that was there before. */
async function meterOfAny(subscription: Scope, counted: CountedBy): Promise<string> {
  const { usage } = await subscription.gateway()
  const { meter: given, price: wanted } = namesOf(counted)
  if (isChargedByUs(usage)) return requireText('meter', given ?? wanted)
  if (given !== undefined) return requireText('meter', given)
  const price = requireText('price', wanted)
  const meter = await usage.meterOf(price)
  if (meter !== null) return meter
  throw new InvalidArgument(`'${price}' is not billed by usage`)
}

function namesOf(counted: CountedBy): { readonly meter?: unknown; readonly price?: unknown } {
  return counted
}
