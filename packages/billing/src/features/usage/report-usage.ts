import { randomUUID } from 'node:crypto'
import type { Database } from '@tollgate/database'
import { InvalidArgument } from '../../core/errors/errors.ts'
import type { UsageState } from '../../core/storage/queue-tables.ts'
import { requireText } from '../../core/values/arguments.ts'
import type { MeteredPrice } from '../../core/values/metered-price.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import type { UsageCharges, UsageFilter } from './contract.ts'
import type { UsageQueue } from './usage-queue.ts'
import type { StoredUsage, UsageReporter } from './usage-rows.ts'
import { requireUsageTime, requireUsageValue, type UsageValue } from './usage-value.ts'

/** Options for reporting usage. */
export interface UsageOptions {
  /**
   * Your id of the report: reports of the same user or team with the same id count once. Default:
   * each call counts.
   */
  readonly id?: string
  /** When the usage occurred, at most 35 days ago. Default: now. */
  readonly at?: Date
  /**
   * Your own transaction on the same database. The report is stored as part of it: if the
   * transaction is rolled back, the usage is not reported.
   */
  readonly transaction?: Database
}

/** A report of usage, and its state, such as `pending`. */
export interface UsageReport {
  /** Your id of the report, or a generated one. */
  readonly id: string
  /** The provider's event name of the meter. */
  readonly meter: string
  /** Quantity of usage, as decimal text. */
  readonly value: string
  /** When the usage occurred. */
  readonly at: Date
  /** State of the report: `pending` until the provider has received it. */
  readonly state: UsageState
}

/** Selects the sums of usage to read. */
export interface UsageQuery {
  /** Start of the time range. */
  readonly from: Date
  /** End of the time range. Default: now. */
  readonly to?: Date
  /** Whether to return a sum for each day or for each hour. Default: a single sum. */
  readonly by?: 'day' | 'hour'
}

/** A usage report to store, with the owner (user or team) and the customer to be billed. */
export interface NewUsageReport extends UsageReporter {
  readonly provider: ProviderName
  /**
   * Primary key in the `subscriptions` table. `null` if the usage is reported for the customer
   * only.
   */
  readonly subscriptionId: number | null
  /**
   * Whether a repeated report must name the same subscription as the first one, because the usage
   * is charged with its subscription.
   */
  readonly isOfSubscription: boolean
  readonly meter: string
  readonly value: UsageValue
  /**
   * Maximum number of digits that the provider accepts in a quantity (its `usageDigits`).
   * `undefined` for no limit.
   */
  readonly digits: number | undefined
}

/**
 * Finds an earlier report with this id. Call it before other checks, because a repeated report is
 * accepted even when a new report would no longer be.
 */
export async function findUsageReport(
  queue: Pick<UsageQueue, 'find'>,
  by: UsageReporter,
  { id, transaction }: UsageOptions,
): Promise<StoredUsage | null> {
  if (id === undefined) return null
  return queue.find(by, requireText('id of the report', id), transaction ?? null)
}

/**
 * Stores a usage report in the database, from where it is sent to the provider later. If an earlier
 * report with this id was found, only checks that it is the same.
 */
export async function reportUsage(
  queue: Pick<UsageQueue, 'add' | 'find'>,
  used: NewUsageReport,
  options: UsageOptions,
  now: Date,
  found: StoredUsage | null,
): Promise<UsageReport> {
  const { owner, provider, providerCustomer, subscriptionId } = used
  const meter = requireText('meter', used.meter)
  const value = requireUsageValue(used.value, used.digits)
  const same = { ...used, meter, value, at: options.at }
  if (found) return requireSameReport(found, same)
  const at = options.at === undefined ? now : requireUsageTime(options.at, now)
  const reference = options.id ?? randomUUID()
  const whose = { owner, provider, providerCustomer, subscriptionId }
  const added = { reference, ...whose, meter, value, at }
  if (await queue.add(added, options.transaction ?? null)) {
    return { id: reference, meter, value, at, state: 'pending' }
  }
  const before = await findUsageReport(queue, used, options)
  if (before) return requireSameReport(before, same)
  throw new InvalidArgument(`'${reference}' was reported before and has been deleted since`)
}

function requireSameReport(
  earlierReport: StoredUsage,
  {
    meter,
    value,
    at,
    subscriptionId,
    isOfSubscription,
  }: NewUsageReport & { readonly at: Date | undefined },
): UsageReport {
  const isSame =
    earlierReport.meter === meter &&
    earlierReport.value === value &&
    (!isOfSubscription || earlierReport.subscriptionId === subscriptionId) &&
    (at === undefined || earlierReport.at.getTime() === Number(at))
  if (isSame) return toUsageReport(earlierReport)
  throw new InvalidArgument(
    `'${earlierReport.reference}' was already reported as ${earlierReport.value} of '${earlierReport.meter}': use another id for another report`,
  )
}

export function toUsageReport({
  reference: id,
  meter,
  value,
  at,
  state,
}: StoredUsage): UsageReport {
  return { id, meter, value, at, state }
}

/**
 * Returns the price of a meter from the options, for usage that billing itself counts. Throws
 * InvalidArgument if there is none.
 */
export function requireMeteredPrice(usage: UsageCharges, name: string): MeteredPrice {
  const price = usage.priceOf(name)
  if (price) return price
  throw new InvalidArgument(`No price is configured for '${name}': add it to the option 'metered'`)
}

/**
 * Checks a query for usage before any request is sent, and fills in defaults.
 * @throws {InvalidArgument} for invalid dates or grouping.
 */
export function requireUsageQuery(
  { from, to, by }: UsageQuery,
  now: Date,
): Pick<UsageFilter, 'from' | 'to' | 'by'> {
  const until = to ?? now
  for (const date of [from, until]) {
    if (!(date instanceof Date) || Number.isNaN(date.getTime())) {
      throw new InvalidArgument(
        `${String(date)} is not a valid date; expected dates as 'from' and 'to'`,
      )
    }
  }
  if (from >= until) {
    throw new InvalidArgument(
      `'from' is ${from.toISOString()} and 'to' is ${until.toISOString()}; expected 'to' to be later than 'from'`,
    )
  }
  if (by !== undefined && by !== 'day' && by !== 'hour') {
    throw new InvalidArgument(`'${String(by)}' is neither 'day' nor 'hour'`)
  }
  return { from, to: until, by: by ?? null }
}
