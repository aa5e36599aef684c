import { createHash } from 'node:crypto'
import { type AnyTables, type Database, insertIfAbsent } from '@tollgate/database'
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { OwnerIdTypes } from '../../core/storage/owner-columns.ts'
import {
  createQueue,
  createQueueEntry,
  type QueueEntry,
  type WorkQueue,
} from '../../core/storage/queue.ts'
import { type UsageState, usageTable } from '../../core/storage/queue-tables.ts'
import type { Owner } from '../../core/values/owner.ts'
import type { ProviderName } from '../../core/values/provider-name.ts'

/** A usage report, as stored in the database. */
export interface StoredUsage extends QueueEntry<UsageState> {
  /** Unique key of the report. Repeated reports have the same key. */
  readonly identifier: string
  /** The application's id of the usage report. */
  readonly reference: string
  /** The owner (user or team) who caused the usage. */
  readonly owner: Owner
  /** The provider that bills the usage. */
  readonly provider: ProviderName
  /**
   * The provider's id of the customer that is billed for the usage. `null` if the owner had no
   * customer when the usage was reported: then the owner's present customer is billed.
   */
  readonly providerCustomer: string | null
  /**
   * Primary key in the `subscriptions` table. `null` if the usage was reported for the customer
   * only.
   */
  readonly subscriptionId: number | null
  /** The provider's event name of the meter. */
  readonly meter: string
  /** Quantity of usage, as decimal text. */
  readonly value: string
  /** When the usage occurred. */
  readonly at: Date
  /**
   * When the report was first sent, so that the provider may have it. `null` as long as the
   * provider certainly does not have it.
   */
  readonly askedAt: Date | null
}

export type NewUsage = Pick<
  StoredUsage,
  | 'reference'
  | 'owner'
  | 'provider'
  | 'providerCustomer'
  | 'subscriptionId'
  | 'meter'
  | 'value'
  | 'at'
>

/** An owner who reports usage, with the customer that is billed for it. */
export type UsageReporter = Pick<StoredUsage, 'owner' | 'providerCustomer'>

/** A usage report that waits to be sent to the provider. */
export type WaitingUsage = Pick<StoredUsage, 'id' | 'meter'>

/** Usage of one meter that was reported and is not billed yet. */
export interface UnbilledUsage {
  /** The provider that would bill the usage. */
  readonly provider: ProviderName
  /** The provider's event name of the meter. */
  readonly meter: string
  /** Number of usage reports. */
  readonly reports: number
}

/** A usage report that a worker has claimed to send it. */
export interface ClaimedUsage extends StoredUsage {
  /** Whether the report was sent before, so that the provider may already have received it. */
  readonly isRepeat: boolean
}

export interface UsageRowQueue extends Omit<WorkQueue<StoredUsage, UsageState>, 'claim' | 'retry'> {
  /** Claims a usage report for sending, and records that the provider may have it from now on. */
  claim(id: number, at: Date, until: Date): Promise<ClaimedUsage | null>
}

/**
 * Database access to usage reports. They are kept for some time after the provider has received
 * them.
 */
export interface UsageRepository {
  /** Returns the queue of the usage reports for a provider. */
  queue(provider: ProviderName): UsageRowQueue
  /**
   * Stores a usage report. Returns `false` if there is already one with the same owner and
   * reference.
   */
  add(
    usage: NewUsage,
    when: { readonly now: Date; readonly dueAt: Date },
    tx: Database,
  ): Promise<boolean>
  /**
   * Finds a usage report for this customer by its reference, even if another owner had the customer
   * when it was reported.
   */
  find(by: UsageReporter, reference: string, tx?: Database): Promise<StoredUsage | null>
  /** Lists an owner's usage reports that the provider may not have received yet, oldest first. */
  listWaiting(owner: Owner, provider: ProviderName): Promise<WaitingUsage[]>
  /** Counts a customer's usage reports that are not billed yet, by provider and meter. */
  countWaiting(by: UsageReporter): Promise<UnbilledUsage[]>
  /** Cancels every usage report of a customer that is not billed yet. Returns their number. */
  cancelWaiting(by: UsageReporter, at: Date, tx: Database): Promise<number>
  /** Lists pending usage reports of a subscription, for these meters or for all (`null`). */
  listPending(
    subscription: number,
    meters: readonly string[] | null,
    limit: number,
  ): Promise<StoredUsage[]>
  /**
   * Claims a usage report for sending, even if it is not due or another worker has claimed it: if
   * two workers send it, the provider counts it once. Returns `null` if the report is finished.
   */
  claimAnyway(id: number, at: Date, until: Date): Promise<ClaimedUsage | null>
  /**
   * Records that the provider has not received a usage report, unless another worker has claimed
   * the report in the meantime.
   */
  markNotReceived(claimed: ClaimedUsage): Promise<void>
  /** Marks a usage report as refused. Returns `false` if it was already finished. */
  refuse(id: number, error: string, at: Date, tx: Database): Promise<boolean>
  /** Finds a usage report by its unique key. */
  findByIdentifier(identifier: string): Promise<StoredUsage | null>
  /**
   * Marks a usage report that the provider accepted at first and dropped later as refused. Returns
   * `false` if it was already refused or cancelled.
   */
  refuseDropped(id: number, error: string, at: Date, tx: Database): Promise<boolean>
  /**
   * Cancels a usage report that was never sent. Returns `false` if it may have been sent, or is
   * finished.
   */
  cancelUnsent(id: number, at: Date): Promise<boolean>
  /** Marks a usage report that was sent as cancelled. */
  markCancelled(id: number, at: Date): Promise<void>
  /**
   * Makes a refused usage report due again. Returns `false` if there is no refused report with this
   * id.
   */
  retry(id: number, at: Date): Promise<boolean>
}

const TABLE = 'billing_usage'
const PENDING: UsageState = 'pending'
const newUsage = usageTable.omit('id')

/**
 * Builds the unique key. It includes the customer: user 7, team 7 and the next user 7 may each have
 * a "job 1". After a transfer, the new owner's report of the same job counts as a repeat.
 */
function buildReportIdentifier({ owner, provider, providerCustomer, reference }: NewUsage): string {
  const by = providerCustomer ? [provider, providerCustomer] : [owner.type, String(owner.id)]
  const digest = createHash('sha256')
    .update(JSON.stringify([...by, reference]))
    .digest('hex')
  return `usage_${digest.slice(0, 40)}`
}

/**
 * Matches the reports of an owner's present customer, and the owner's reports that name no
 * customer.
 */
const isReportedBy =
  ({ owner, providerCustomer }: UsageReporter) =>
  (row: ExpressionBuilder<AnyTables, string>) =>
    row.and([
      row('owner_type', '=', owner.type),
      row('owner_id', '=', String(owner.id)),
      row.or([
        row('provider_customer', 'is', null),
        row('provider_customer', '=', providerCustomer),
      ]),
    ])

export function createUsageRepository(database: Database, types: OwnerIdTypes): UsageRepository {
  type UsageRecord = ReturnType<typeof usageTable.fromRow>
  type UsageRow = ReturnType<typeof usageTable.toRow>
  const read = ({ ownerType: type, ownerId, batch: _batch, ...usage }: UsageRecord) => ({
    ...usage,
    owner: { type, id: types.get(type)?.idType === 'integer' ? Number(ownerId) : ownerId },
  })
  const fromRow = (row: object) => read(usageTable.fromRow(row as UsageRow))
  const change = async (
    tx: Database,
    where: {
      readonly id: number
      readonly state: UsageState
      readonly isUnasked?: boolean
      readonly dueAt?: Date
    },
    values: Readonly<Record<string, unknown>>,
  ) => {
    let query = tx.kysely
      .updateTable(TABLE)
      .set(values)
      .where('id', '=', where.id)
      .where('state', '=', where.state)
    if (where.isUnasked) query = query.where('asked_at', 'is', null)
    if (where.dueAt) query = query.where('due_at', '=', where.dueAt.getTime())
    const { numUpdatedRows } = await query.executeTakeFirst()
    return Number(numUpdatedRows) > 0
  }
  const refuse = (id: number, error: string, at: Date, tx: Database, state = PENDING) =>
    change(
      tx,
      { id, state },
      // If it is retried, it belongs to another batch.
      { state: 'refused', last_error: error, finished_at: at.getTime(), batch: null },
    )
  type Rows = SelectQueryBuilder<AnyTables, string, object>
  const first = async (narrow: (rows: Rows) => Rows, tx = database) => {
    const row = await narrow(tx.kysely.selectFrom(TABLE).selectAll() as Rows).executeTakeFirst()
    return row ? fromRow(row) : null
  }
  return {
    queue(provider) {
      const { claim, list, ...queue } = createQueue(database, usageTable, {
        givenUp: 'refused',
        within: { provider },
        claimed: (at) => ({ asked_at: sql`coalesce(${sql.ref('asked_at')}, ${at})` }),
      })
      return {
        ...queue,
        async claim(id, at, until) {
          const usage = await claim(id, at, until)
          return usage && { ...read(usage), isRepeat: usage.askedAt?.getTime() !== at.getTime() }
        },
        list: async (state, limit) => (await list(state, limit)).map(read),
      }
    },
    add: (added, { now, dueAt }, tx) => {
      const { owner, ...usage } = added
      return insertIfAbsent(
        tx,
        TABLE,
        newUsage.toRow({
          ...usage,
          identifier: buildReportIdentifier(added),
          ownerType: owner.type,
          ownerId: String(owner.id),
          batch: null,
          ...createQueueEntry(now),
          dueAt,
          askedAt: null,
        }),
      )
    },
    find: (by, reference, tx = database) =>
      first((rows) => rows.where(isReportedBy(by)).where('reference', '=', reference), tx),
    findByIdentifier: (identifier) => first((rows) => rows.where('identifier', '=', identifier)),
    async listWaiting(owner, provider) {
      const rows = await database.kysely
        .selectFrom(TABLE)
        .select(['id', 'meter'])
        .where('provider', '=', provider)
        .where('state', '=', 'pending')
        .where('owner_type', '=', owner.type)
        .where('owner_id', '=', String(owner.id))
        .orderBy('id')
        .execute()
      return rows.map(({ id, meter }) => ({ id: Number(id), meter: String(meter) }))
    },
    async countWaiting(by) {
      const rows = await database.kysely
        .selectFrom(TABLE)
        .select((eb) => ['provider', 'meter', eb.fn.countAll().as('reports')])
        .where('state', '=', 'pending')
        .where(isReportedBy(by))
        .groupBy(['provider', 'meter'])
        .orderBy('provider')
        .orderBy('meter')
        .execute()
      return rows.map(({ provider, meter, reports }) => ({
        provider: provider as ProviderName,
        meter: String(meter),
        reports: Number(reports),
      }))
    },
    async cancelWaiting(by, at, tx) {
      const { numUpdatedRows } = await tx.kysely
        .updateTable(TABLE)
        .set({ state: 'cancelled', finished_at: at.getTime(), batch: null })
        .where('state', '=', 'pending')
        .where(isReportedBy(by))
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },
    async listPending(subscription, meters, limit) {
      let query = database.kysely
        .selectFrom(TABLE)
        .selectAll()
        .where('subscription_id', '=', subscription)
        .where('state', '=', 'pending')
      if (meters) query = query.where('meter', 'in', [...meters])
      const rows = await query.orderBy('id').limit(limit).execute()
      return rows.map(fromRow)
    },
    async claimAnyway(id, at, until) {
      for (;;) {
        const row = await database.kysely
          .selectFrom(TABLE)
          .selectAll()
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .executeTakeFirst()
        if (!row) return null
        const found = fromRow(row)
        // Differs from the time of every earlier claim, so that each worker recognizes its own.
        const dueAt = new Date(Math.max(until.getTime(), found.dueAt.getTime() + 1))
        const askedAt = found.askedAt ?? at
        const isMine = await change(
          database,
          { id, state: 'pending', dueAt: found.dueAt },
          { due_at: dueAt.getTime(), asked_at: askedAt.getTime() },
        )
        if (isMine) return { ...found, dueAt, askedAt, isRepeat: found.askedAt !== null }
      }
    },
    async markNotReceived({ id, dueAt }) {
      await change(database, { id, state: 'pending', dueAt }, { asked_at: null })
    },
    refuse,
    // The response may have been lost, so the row may still be pending.
    refuseDropped: async (id, error, at, tx) =>
      (await refuse(id, error, at, tx, 'sent')) || refuse(id, error, at, tx),
    cancelUnsent: (id, at) =>
      change(
        database,
        { id, state: 'pending', isUnasked: true },
        { state: 'cancelled', finished_at: at.getTime() },
      ),
    async markCancelled(id, at) {
      const over = { state: 'cancelled', finished_at: at.getTime() }
      await change(database, { id, state: 'sent' }, over)
    },
    retry: (id, at) =>
      change(
        database,
        { id, state: 'refused' },
        { state: 'pending', attempts: 0, due_at: at.getTime(), asked_at: null, finished_at: null },
      ),
  }
}
