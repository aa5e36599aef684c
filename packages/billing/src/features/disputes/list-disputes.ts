import type { BillingContext } from '../../core/context.ts'
import { InvalidArgument } from '../../core/errors/errors.ts'
import type { DisputeRecord } from '../../core/storage/disputes.ts'
import { requireOwnerTable } from '../../core/storage/owner-tables.ts'
import {
  formatValue,
  requireCount,
  requireOneOf,
  requireText,
} from '../../core/values/arguments.ts'
import type { DisputeStatus } from '../../core/values/dispute-status.ts'
import { type Money, money } from '../../core/values/money.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

const DISPUTE_STATUSES: readonly DisputeStatus[] = ['inquiry', 'open', 'won', 'lost']

/** A disputed charge, as stored in our row. */
export interface Dispute {
  /** The provider of the charge. */
  readonly provider: ProviderName
  /** The provider's id of the dispute. */
  readonly id: string
  /** The type of the owner: `user`, or a type from the option `owners`. */
  readonly ownerType: string
  /** The id of the user or other owner who was charged, as text. */
  readonly ownerId: string
  /** Our id of the subscription that the charge paid for. `null` for a single charge. */
  readonly subscriptionId: number | null
  /** The provider's id of the charge. */
  readonly charge: string
  /** The provider's id of the invoice that the charge paid. `null` if there is none. */
  readonly invoice: string | null
  /** The disputed amount. */
  readonly amount: Money
  /** The provider's code for the reason of the dispute. `null` if the provider gives no reason. */
  readonly reason: string | null
  /**
   * `inquiry`: the bank asks for information, and no money is taken. `open`: the dispute is not
   * decided yet. `won`: decided for the merchant. `lost`: decided for the customer.
   */
  readonly status: DisputeStatus
  /** When the dispute was opened. */
  readonly openedAt: Date
  /** When we learned of the decision. `null` while the dispute is not decided. */
  readonly closedAt: Date | null
}

/** Filters for `billing.disputes()`. A dispute must match all of them. */
export interface DisputeListOptions {
  /** Only disputes with this status. */
  readonly status?: DisputeStatus
  /** Only disputes at this provider. */
  readonly provider?: ProviderName
  /** Only disputes of this user or other owner. */
  readonly owner?: Owner
  /** Cursor: the `next` of the previous page. Left out for the first page. */
  readonly after?: string
  /** Maximum number of disputes on the page, at most 1000. @default 100 */
  readonly limit?: number
}

/** One page of disputes. */
export interface DisputeList {
  /** The disputes of the page, newest first. */
  readonly disputes: Dispute[]
  /** Cursor for the next page. `null` on the last page. */
  readonly next: string | null
}

const LARGEST_PAGE = 1000
const CURSOR = /^(\d{1,15}) (\S+) (.+)$/

/** Lists one page of disputes in one SQL statement. */
export async function listDisputes(
  { disputes, options }: BillingContext,
  { status, provider, owner, after, limit = 100 }: DisputeListOptions,
): Promise<DisputeList> {
  if (status !== undefined) requireOneOf('The status', status, DISPUTE_STATUSES)
  if (provider !== undefined) requireText('provider', provider)
  if (owner !== undefined) requireOwnerTable(options.owners, owner.type)
  if (requireCount(limit) > LARGEST_PAGE) {
    throw new InvalidArgument(`limit is ${limit}; expected at most ${LARGEST_PAGE}`)
  }
  const position = after === undefined ? undefined : parseCursor(after)
  // One additional row tells whether there is another page.
  const filters = { status, provider, owner, after: position, limit: limit + 1 }
  const rows = await disputes.list(filters)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const next = rows.length > limit && last ? cursorOf(last) : null
  return { disputes: page.map(toDispute), next }
}

function cursorOf({ openedAt, provider, providerId }: DisputeRecord): string {
  return `${openedAt.getTime()} ${provider} ${providerId}`
}

function parseCursor(text: string) {
  const [, at, provider, providerId] = CURSOR.exec(text) ?? []
  if (provider === undefined || providerId === undefined) {
    throw new InvalidArgument(
      `after is ${formatValue(text)}; expected the 'next' of an earlier page`,
    )
  }
  return { openedAt: new Date(Number(at)), provider: provider as ProviderName, providerId }
}

function toDispute(row: DisputeRecord): Dispute {
  const { providerId: id, amount, currency, ...rest } = row
  return { ...rest, id, amount: money(amount, currency) }
}
