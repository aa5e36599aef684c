import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument, ItemNotFound } from '../../core/errors/errors.ts'
import { listSubscriptionPrices } from '../../core/subscription-items.ts'
import type { SubscriptionScopeWith } from '../../core/subscription-scope.ts'
import { requireText } from '../../core/values/arguments.ts'
import { formatDecimal } from '../../core/values/decimal.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import {
  type ChargedUsageRepository,
  createChargedUsageRepository,
} from './charges/charged-usage-rows.ts'
import { isChargedByUs, type UsageFilter, type UsageSummary } from './contract.ts'
import {
  findUsageReport,
  reportUsage as report,
  requireMeteredPrice,
  requireUsageQuery,
  type UsageOptions,
  type UsageQuery,
  type UsageReport,
} from './report-usage.ts'
import { isUsageTooLate, type UsageValue } from './usage-value.ts'

/** Selects a meter: by its event name, or by a price of the subscription that is billed by it. */
export type MeterSelector =
  | {
      /** The provider's event name of the meter. */
      readonly meter: string
    }
  | {
      /** The provider's id of the price. Its meter is read from the provider once. */
      readonly price: string
    }

/** A report of usage for a subscription. */
export type SubscriptionUsage = MeterSelector &
  UsageOptions & {
    /**
     * Quantity: a number, or a decimal number as text. A negative value corrects earlier reports.
     */
    readonly value: UsageValue
  }

/**
 * Selects the sums of a subscription's usage to read. Without `from`, the current billing period.
 */
export type SubscriptionUsageQuery = MeterSelector & Partial<UsageQuery>

type Scope = SubscriptionScopeWith<'usage'>

export async function reportUsage(
  subscription: Scope,
  used: SubscriptionUsage,
): Promise<UsageReport> {
  const { owner, provider, id: subscriptionId } = subscription.record
  const { usage: queue } = subscription.context
  const providerCustomer = subscription.record.providerCustomer ?? subscription.user.providerId
  const found = await findUsageReport(queue, { owner, providerCustomer }, used)
  if (!found) await requireNotOver(subscription, used.at)
  const meter = found
    ? await findCurrentOrFormerMeter(subscription, used)
    : await requireCurrentMeter(subscription, used)
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
  const meter = await requireCurrentMeter(subscription, query)
  const { usage } = await subscription.gateway()
  const found = await subscription.requireFound()
  const began = isChargedByUs(usage) ? usage.periodsOf(found).at(-1) : found.periodStartsAt
  const from = query.from ?? began ?? found.createdAt
  const now = subscription.now()
  // The provider's clock may be ahead of ours when a period has just begun, which is no mistake of
  // the caller.
  const isBeginning = query.from === undefined && from >= now
  const filter = requireUsageQuery({ ...query, from }, isBeginning ? addOneMinute(from) : now)
  if (isChargedByUs(usage)) {
    const { provider, id } = subscription.record
    return sumUsageCountedByUs(subscription.context, provider, [id], { ...filter, meter })
  }
  return usage.summaries({ ...filter, meter, customerId: found.customerId ?? '' })
}

function addOneMinute(date: Date): Date {
  return new Date(date.getTime() + 60_000)
}

/** Adds up usage that billing itself counts, from the reports in our database. */
export function sumUsageCountedByUs(
  { options }: BillingContext,
  provider: ProviderName,
  subscriptions: readonly number[],
  filter: Omit<UsageFilter, 'customerId'>,
): Promise<UsageSummary[]> {
  const usage = createChargedUsageRepository(options.database, provider)
  return sumUsageBySubscription(usage, subscriptions, filter)
}

/**
 * Throws SubscriptionEnded if the usage can no longer be billed. Usage from before the end of the
 * subscription can still be billed: at any time if we count it, or within an hour if the provider
 * counts it, before its last invoice is final.
 */
async function requireNotOver(subscription: Scope, at: unknown): Promise<void> {
  const { endsAt } = subscription.record
  const when = at instanceof Date ? at : subscription.now()
  if (endsAt === null) return
  if (when > endsAt) return subscription.requireRunning()
  const { usage } = await subscription.gateway()
  if (!isChargedByUs(usage) && isUsageTooLate(when, endsAt, subscription.now())) {
    subscription.requireRunning()
  }
}

async function requireCurrentMeter(subscription: Scope, counted: MeterSelector): Promise<string> {
  const { usage } = await subscription.gateway()
  const { meter, price } = asUncheckedSelector(counted)
  if (isChargedByUs(usage)) {
    requireMeteredPrice(usage, requireText('meter', meter ?? price))
  } else if (meter === undefined) {
    const wanted = requireText('price', price)
    if (!listSubscriptionPrices(subscription.record).includes(wanted)) {
      throw new ItemNotFound(`The subscription has no price '${wanted}'`)
    }
  }
  return findCurrentOrFormerMeter(subscription, counted)
}

/** Finds the meter, even for a price that the subscription no longer has. */
async function findCurrentOrFormerMeter(
  subscription: Scope,
  counted: MeterSelector,
): Promise<string> {
  const { usage } = await subscription.gateway()
  const { meter: given, price: wanted } = asUncheckedSelector(counted)
  if (isChargedByUs(usage)) return requireText('meter', given ?? wanted)
  if (given !== undefined) return requireText('meter', given)
  const price = requireText('price', wanted)
  const meter = await usage.meterOf(price)
  if (meter !== null) return meter
  throw new InvalidArgument(`'${price}' is not billed by usage`)
}

function asUncheckedSelector(counted: MeterSelector): {
  readonly meter?: unknown
  readonly price?: unknown
} {
  return counted
}

const STEP = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/**
 * Adds up the usage of these subscriptions, charged or not: a single sum (of whole minutes), or a
 * sum for each hour or day.
 */
export async function sumUsageBySubscription(
  usage: Pick<ChargedUsageRepository, 'listUsed'>,
  subscriptions: readonly number[],
  { meter, from, to, by }: Omit<UsageFilter, 'customerId'>,
): Promise<UsageSummary[]> {
  const step = STEP[by ?? 'minute']
  const start = Math.floor(from.getTime() / step) * step
  const end = Math.ceil(to.getTime() / step) * step
  const size = by === null ? end - start : step
  const range = { from: new Date(start), to: new Date(end) }
  const used = await usage.listUsed(subscriptions, meter, range)
  const sums = Array.from({ length: (end - start) / size }, () => 0n)
  for (const { at, value } of used) {
    const index = Math.floor((at.getTime() - start) / size)
    sums[index] = (sums[index] ?? 0n) + value
  }
  return sums.map((sum, index) => ({
    from: new Date(start + index * size),
    to: new Date(start + (index + 1) * size),
    value: formatDecimal(sum),
  }))
}
