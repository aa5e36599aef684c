import { createHash } from 'node:crypto'
import { type AnyTables, type Database, insertIfAbsent } from '@tollgate/database'
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { ProviderName } from '../../provider-name.ts'
import type { Owner } from '../../values/owner.ts'
import type { OwnerIdTypes } from '../owner-columns.ts'
import { createQueue, type Queue } from './queue.ts'
import { type UsageState, usageTable } from './tables.ts'

/** Something that was used, as it waits for the provider or was taken by it. */
export interface StoredUsage {
  /** Counts upwards. */
  readonly id: number
  /** What makes two reports the same. */
  readonly identifier: string
  /** What the application calls the report. */
  readonly reference: string
  /** Who used it. */
  readonly owner: Owner
  /** Where it is billed. */
  readonly provider: ProviderName
  /** The customer that is billed for it; null for the owner's, in rows of older builds. */
  readonly providerCustomer: string | null
  /** Of our row; null where none was named. */
  readonly subscriptionId: number | null
  /** The provider's name of what is counted. */
  readonly meter: string
  /** A decimal number. */
  readonly value: string
  /** When it was used. */
  readonly at: Date
  /** `sent` is at the provider, which does not take what is `refused`; `cancelled` was taken back. */
  readonly state: UsageState
  /** How often it was tried. */
  readonly attempts: number
  /** When it is tried next. */
  readonly dueAt: Date
  /** Since when the provider may have it; null while it surely has not. */
  readonly askedAt: Date | null
  /** Why the last attempt failed; null when none has. */
  readonly lastError: string | null
  /** When it was reported. */
  readonly createdAt: Date
  /** When it was sent, refused or taken back; null while it waits. */
  readonly finishedAt: Date | null
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

/** One that waits, and what it is about. */
export type WaitingUsage = Pick<StoredUsage, 'id' | 'meter'>

/** Usage of one meter that was reported and is not billed yet. */
export interface UnbilledUsage {
  /** The provider that would bill it. */
  readonly provider: ProviderName
  /** The provider's name of what is counted. */
  readonly meter: string
  /** Number of reports. */
  readonly reports: number
}

/** One that somebody is about to send. */
export interface ClaimedUsage extends StoredUsage {
  /** Whether the provider may have it from an earlier attempt. */
  readonly isRepeat: boolean
}

export interface QueueOfUsage extends Omit<Queue<StoredUsage, UsageState>, 'claim' | 'retry'> {
  /** Takes one to be sent: from now on the provider may have it. */
  claim(id: number, at: Date, until: Date): Promise<ClaimedUsage | null>
}

/** What was used, until the provider has it and for some time after. */
export interface UsageRepository {
  /** Those of a provider. */
  queue(provider: ProviderName): QueueOfUsage
  /** Once for each owner and reference: false when it is there. */
  add(
    usage: NewUsage,
    when: { readonly now: Date; readonly dueAt: Date },
    tx: Database,
  ): Promise<boolean>
  /** What was reported for the reporter's customer, whoever owned it then. */
  find(by: UsageReporter, reference: string, tx?: Database): Promise<StoredUsage | null>
  /** An owner's that the provider may not have, oldest first. */
  listWaiting(owner: Owner, provider: ProviderName): Promise<WaitingUsage[]>
  /** Counts a customer's reports that are not billed yet, by provider and meter. */
  countWaiting(by: UsageReporter): Promise<UnbilledUsage[]>
  /** Cancels every report of a customer that is not billed yet. Returns how many there were. */
  cancelWaiting(by: UsageReporter, at: Date, tx: Database): Promise<number>
  /** Some that wait of a subscription, of these meters or of any. */
  listPending(
    subscription: number,
    meters: readonly string[] | null,
    limit: number,
  ): Promise<StoredUsage[]>
  /**
   * Takes one to be sent that is not due, or that somebody else is about to send: the provider counts it once. Null when it
   * is over.
   */
  claimAnyway(id: number, at: Date, until: Date): Promise<ClaimedUsage | null>
  /** The provider surely does not have it, if nobody has claimed it since. */
  markUntaken(claimed: ClaimedUsage): Promise<void>
  /** False when it was over before. */
  refuse(id: number, error: string, at: Date, tx: Database): Promise<boolean>
  /** By what makes two reports the same. */
  findByIdentifier(identifier: string): Promise<StoredUsage | null>
  /** One that the provider took, and dropped later; false when it was refused or taken back before. */
  refuseTaken(id: number, error: string, at: Date, tx: Database): Promise<boolean>
  /** Before the provider was asked; false when it has been, or it is over. */
  cancelUnsent(id: number, at: Date): Promise<boolean>
  /** One that was sent, and is taken back. */
  markCancelled(id: number, at: Date): Promise<void>
  /** Makes one due again that was refused; false when there is none. */
  retry(id: number, at: Date): Promise<boolean>
}

const TABLE = 'billing_usage'
const PENDING: UsageState = 'pending'
const newUsage = usageTable.omit('id')

/**
 * Includes the customer: user 7, team 7 and the next user 7 may each have a "job 1". After a transfer the new owner's report
 * of the same job counts as a repeat.
 */
function identifierOf({ owner, provider, providerCustomer, reference }: NewUsage): string {
  const by = providerCustomer ? [provider, providerCustomer] : [owner.type, String(owner.id)]
  const digest = createHash('sha256')
    .update(JSON.stringify([...by, reference]))
    .digest('hex')
  return `usage_${digest.slice(0, 40)}`
}

/** Finds the reports of an owner's present customer. Rows of older builds name no customer, and are the owner's. */
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

export function usageRepository(database: Database, types: OwnerIdTypes): UsageRepository {
  type UsageRecord = ReturnType<typeof usageTable.fromRow>
  const read = ({ ownerType: type, ownerId, batch: _batch, ...usage }: UsageRecord) => ({
    ...usage,
    owner: { type, id: types.get(type)?.idType === 'integer' ? Number(ownerId) : ownerId },
  })
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
      // Should somebody have it tried again, it belongs to another charge.
      { state: 'refused', last_error: error, finished_at: at.getTime(), batch: null },
    )
  type Rows = SelectQueryBuilder<AnyTables, string, object>
  const first = async (narrow: (rows: Rows) => Rows, tx = database) => {
    const row = await narrow(tx.kysely.selectFrom(TABLE).selectAll() as Rows).executeTakeFirst()
    return row ? read(usageTable.fromRow(row as ReturnType<typeof usageTable.toRow>)) : null
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
          identifier: identifierOf(added),
          ownerType: owner.type,
          ownerId: String(owner.id),
          batch: null,
          state: 'pending',
          attempts: 0,
          dueAt,
          askedAt: null,
          lastError: null,
          createdAt: now,
          finishedAt: null,
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
      return rows.map((row) => read(usageTable.fromRow(row as ReturnType<typeof usageTable.toRow>)))
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
        const found = read(usageTable.fromRow(row as ReturnType<typeof usageTable.toRow>))
        // Another than any claim before has, so that each knows its own.
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
    async markUntaken({ id, dueAt }) {
      await change(database, { id, state: 'pending', dueAt }, { asked_at: null })
    },
    refuse,
    // Its answer may have been lost, and its row still wait.
    refuseTaken: async (id, error, at, tx) =>
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
