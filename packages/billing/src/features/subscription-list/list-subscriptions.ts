import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import { requireOwnerTable } from '../../core/storage/owner-tables.ts'
import {
  SUBSCRIPTION_STATUSES,
  type SubscriptionStatus,
} from '../../core/storage/subscription-conditions.ts'
import {
  formatValue,
  requireCount,
  requireOneOf,
  requireText,
} from '../../core/values/arguments.ts'
import { formatOwnerKey } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'
import { Subscription } from '../../subscription.ts'

/** Filters for `billing.subscriptions()`. A subscription must match all of them. */
export interface SubscriptionListOptions {
  /**
   * Only subscriptions for which the method with this name returns `true`, such as `active` or
   * `pastDue`.
   */
  readonly status?: SubscriptionStatus
  /** Only subscriptions with this price, either as the main price or as an additional price. */
  readonly price?: string
  /** Only subscriptions with this name, such as `main`. */
  readonly name?: string
  /** Only subscriptions at this provider. */
  readonly provider?: ProviderName
  /** Only subscriptions of owners of this type: `user`, or a type from the option `owners`. */
  readonly ownerType?: string
  /** Cursor: the `next` of the previous page. Left out for the first page. */
  readonly after?: string
  /** Number of subscriptions to read for one page, at most 1000. @default 100 */
  readonly limit?: number
}

/** One page of subscriptions. */
export interface SubscriptionPage {
  /**
   * The subscriptions of the page, newest first. A page can have fewer than `limit`, or none, even
   * if it is not the last: subscriptions without an owner are left out, and if a filter cannot use
   * an index, at most 10,000 subscriptions are examined for one page.
   */
  readonly subscriptions: Subscription[]
  /** Cursor for the next page. `null` on the last page. */
  readonly next: string | null
}

const LARGEST_PAGE = 1000

/** Number of subscriptions that are examined for one page if a filter cannot use an index. */
export const MAX_EXAMINED_SUBSCRIPTIONS = 10_000

/** Statuses that depend on the provider's status, which has an index. */
const INDEXED: ReadonlySet<SubscriptionStatus> = new Set([
  'pastDue',
  'incomplete',
  'awaitsFirstPayment',
])

const CURSOR = /^[1-9]\d{0,14}$/

/**
 * Lists one page of subscriptions. Runs two SQL statements, one more for each further type of owner
 * on the page, and one more if a filter cannot use an index.
 */
export async function listSubscriptions(
  context: BillingContext,
  { after, limit = 100, ...filters }: SubscriptionListOptions,
): Promise<SubscriptionPage> {
  const { status, price, name, provider, ownerType } = filters
  if (status !== undefined) requireOneOf('The status', status, SUBSCRIPTION_STATUSES)
  if (price !== undefined) requireText('price', price)
  if (name !== undefined) requireText('subscription name', name)
  if (provider !== undefined) requireText('provider', provider)
  if (ownerType !== undefined) requireOwnerTable(context.options.owners, ownerType)
  if (requireCount(limit) > LARGEST_PAGE) {
    throw new InvalidArgument(`limit is ${limit}; expected at most ${LARGEST_PAGE}`)
  }
  if (after !== undefined && !CURSOR.test(after)) {
    throw new InvalidArgument(
      `after is ${formatValue(after)}; expected the 'next' of an earlier page`,
    )
  }
  const before = after === undefined ? undefined : Number(after)
  const now = context.options.clock.now()
  const isIndexed = status !== undefined && INDEXED.has(status)
  const isSearch = !isIndexed && [status, provider, ownerType].some((value) => value !== undefined)
  const end = isSearch
    ? await context.subscriptions.findEnd(before, MAX_EXAMINED_SUBSCRIPTIONS)
    : null
  const range = { ...(before !== undefined && { before }), ...(end !== null && { end }) }
  // One additional row tells whether there is another page.
  const rows = await context.subscriptions.list({ ...filters, ...range, limit: limit + 1 }, now)
  const page = rows.slice(0, limit)
  const owners = await context.owners.findMany(page.map(({ owner }) => owner))
  const subscriptions = page.flatMap((record) => {
    const owner = owners.get(formatOwnerKey(record.owner))
    if (!owner) return []
    const { provider: at, providerCustomer: customer } = record
    const isTheirs = customer === null || (owner.provider === at && owner.providerId === customer)
    return isTheirs ? [new Subscription(context, owner, record)] : []
  })
  const last = rows.length > limit ? page.at(-1)?.id : end
  const next = last == null ? null : String(last)
  return { subscriptions, next }
}
