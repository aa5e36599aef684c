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

/** Options for a report of usage. */
export interface UsageOptions {
  /**
   * Your id of the report: reports of the same owner with the same id count once. Default: each
   * call counts.
   */
  readonly id?: string
  /** When the usage occurred, at most 35 days ago. Default: now. */
  readonly at?: Date
  /**
   * Your own transaction on the same database: the report is stored when it commits, and not if it
   * is rolled back.
   */
  readonly transaction?: Database
}

/** A report of usage, and its state. */
export interface UsageReport {
  /** Your id of the report, or a generated one. */
  readonly id: string
  /** The provider's event name of the meter. */
  readonly meter: string
  /** Quantity, a decimal number as text. */
  readonly value: string
  /** When the usage occurred. */
  readonly at: Date
  /** State of the report: `pending` until the provider has it. */
  readonly state: UsageState
}

/** Selects the sums of usage to read. */
export interface UsageQuery {
  /** Start of the range. */
  readonly from: Date
  /** End of the range. Default: now. */
  readonly to?: Date
  /** Returns a sum for each day or hour. Without it, a single sum. */
  readonly by?: 'day' | 'hour'
}

/** A report with its owner. */
export interface ReportedUsage extends UsageReporter {
  readonly provider: ProviderName
  /** Primary key in the `subscriptions` table. `null` if the report names none. */
  readonly subscriptionId: number | null
  /**
   * Whether the subscription is part of the report's identity, because the usage is charged with
   * it.
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
 * Finds an earlier report with this id. Look for it before other checks, because a repeat is
 * allowed when a new report would no longer be.
 */
export async function findReport(
  queue: Pick<UsageQueue, 'find'>,
  by: UsageReporter,
  { id, transaction }: UsageOptions,
): Promise<StoredUsage | null> {
  if (id === undefined) return null
  return queue.find(by, requireText('id of the report', id), transaction ?? null)
}

/**
 * Stores a report, which is sent afterwards, because the provider may be unavailable. If an earlier
 * report with this id was found, only compares it.
 */
export async function reportUsage(
  queue: Pick<UsageQueue, 'add' | 'find'>,
  used: ReportedUsage,
  options: UsageOptions,
  now: Date,
  found: StoredUsage | null,
): Promise<UsageReport> {
  const { owner, provider, providerCustomer, subscriptionId } = used
  const meter = requireText('meter', used.meter)
  // A report that was stored before there was a limit of digits can be repeated.
  const value = requireUsageValue(used.value, found ? undefined : used.digits)
  const same = { ...used, meter, value, at: options.at }
  if (found) return requireSame(found, same)
  const at = options.at === undefined ? now : requireUsageTime(options.at, now)
  const reference = options.id ?? randomUUID()
  const whose = { owner, provider, providerCustomer, subscriptionId }
  const added = { reference, ...whose, meter, value, at }
  if (await queue.add(added, options.transaction ?? null)) {
    return { id: reference, meter, value, at, state: 'pending' }
  }
  const before = await findReport(queue, used, options)
  if (before) return requireSame(before, same)
  throw new InvalidArgument(`'${reference}' was reported before, and is deleted by now`)
}

function requireSame(
  before: StoredUsage,
  {
    meter,
    value,
    at,
    subscriptionId,
    isOfSubscription,
  }: ReportedUsage & { readonly at: Date | undefined },
): UsageReport {
  const isSame =
    before.meter === meter &&
    before.value === value &&
    (!isOfSubscription || before.subscriptionId === subscriptionId) &&
    (at === undefined || before.at.getTime() === Number(at))
  if (isSame) return toReport(before)
  throw new InvalidArgument(
    `'${before.reference}' was reported before, as ${before.value} of '${before.meter}': another report needs another id`,
  )
}

export function toReport({ reference: id, meter, value, at, state }: StoredUsage): UsageReport {
  return { id, meter, value, at, state }
}

/** Returns the price of a meter that we count. Throws InvalidArgument if there is none. */
export function requirePrice(usage: UsageCharges, name: string): MeteredPrice {
  const price = usage.priceOf(name)
  if (price) return price
  throw new InvalidArgument(`Nobody says what '${name}' costs: name it in the option 'metered'`)
}

/**
 * Checks a query before any request.
 * @throws {InvalidArgument} for invalid dates or grouping.
 */
export function requireQuery(
  { from, to, by }: UsageQuery,
  now: Date,
): Pick<UsageFilter, 'from' | 'to' | 'by'> {
  const until = to ?? now
  for (const date of [from, until]) {
    if (!(date instanceof Date) || Number.isNaN(date.getTime())) {
      throw new InvalidArgument(`${String(date)} is not a date: usage is asked for between two`)
    }
  }
  if (from >= until) {
    throw new InvalidArgument(
      `Usage is asked for from ${from.toISOString()} to ${until.toISOString()}, which is not later`,
    )
  }
  if (by !== undefined && by !== 'day' && by !== 'hour') {
    throw new InvalidArgument(`'${String(by)}' is neither 'day' nor 'hour'`)
  }
  return { from, to: until, by: by ?? null }
}
