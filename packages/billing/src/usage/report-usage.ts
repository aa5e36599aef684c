import { randomUUID } from 'node:crypto'
import type { Database } from '@tollgate/database'
import { InvalidArgument } from '../errors.ts'
import type { UsageCharges, UsageFilter } from '../gateways/contract/parts/money/usage.ts'
import type { ProviderName } from '../provider-name.ts'
import type { UsageState } from '../storage/queues/tables.ts'
import type { StoredUsage, UsageReporter } from '../storage/queues/usage.ts'
import { requireText } from '../values/arguments.ts'
import type { MeteredPrice } from '../values/metered-price.ts'
import { requireUsageTime, requireUsageValue, type UsageValue } from '../values/usage.ts'
import type { UsageQueue } from './usage-outbox.ts'

/** How something is reported. */
export interface UsageOptions {
  /** What the application calls this report: the same id of an owner counts once. Default: each call counts. */
  readonly id?: string
  /** When it was used: at most 35 days ago. Default: now. */
  readonly at?: Date
  /** A transaction of the application's on the same database: the report is there when that is. */
  readonly transaction?: Database
}

/** What was reported, and what became of it by now. */
export interface UsageReport {
  /** What the application calls it, or what was made up for it. */
  readonly id: string
  /** What is counted. */
  readonly meter: string
  /** A decimal number, as text. */
  readonly value: string
  /** When it was used. */
  readonly at: Date
  /** `pending` until the provider has it. */
  readonly state: UsageState
}

/** Which sums are wanted of what was used. */
export interface UsageQuery {
  /** From then on. */
  readonly from: Date
  /** Until then. Default: now. */
  readonly to?: Date
  /** A sum for each; without it one sum. */
  readonly by?: 'day' | 'hour'
}

/** Who used it, of what, and how much. */
export interface UsedBy extends UsageReporter {
  readonly provider: ProviderName
  /** Of our row; null for none. */
  readonly subscriptionId: number | null
  /** Whether it would be another report with another subscription: one was named, and it is charged with that. */
  readonly isOfSubscription: boolean
  readonly meter: string
  readonly value: UsageValue
  /** As the provider's `usageDigits`. */
  readonly digits: number | undefined
}

/** What was reported under this id before. To be looked for first: a repeat may come when a new report no longer may. */
export async function findReport(
  queue: Pick<UsageQueue, 'find'>,
  by: UsageReporter,
  { id, transaction }: UsageOptions,
): Promise<StoredUsage | null> {
  if (id === undefined) return null
  return queue.find(by, requireText('id of the report', id), transaction ?? null)
}

/** Writes it down, and sends it afterwards: the provider may be away. One that was found is only compared. */
export async function reportUsage(
  queue: Pick<UsageQueue, 'add' | 'find'>,
  used: UsedBy,
  options: UsageOptions,
  now: Date,
  found: StoredUsage | null,
): Promise<UsageReport> {
  const { owner, provider, providerCustomer, subscriptionId } = used
  const meter = requireText('meter', used.meter)
  // What was taken before there was a limit is still the same report.
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
  }: UsedBy & { readonly at: Date | undefined },
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

/** What usage costs under this name, where we count it. */
export function requirePrice(usage: UsageCharges, name: string): MeteredPrice {
  const price = usage.priceOf(name)
  if (price) return price
  throw new InvalidArgument(`Nobody says what '${name}' costs: name it in the option 'metered'`)
}

/** Or InvalidArgument, before any call. */
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
