import type { Database } from '@tollgate/database'
import type { FailedAttempt } from '../../../core/storage/queue.ts'
import { usageBatchTable } from '../../../core/storage/queue-tables.ts'
import { type Decimal, parseDecimal } from '../../../core/values/decimal.ts'
import type { ProviderName } from '../../../core/values/provider-name.ts'
import type { UsageBill } from '../../../core/values/usage-bill.ts'
import type { UsageRange } from './periods.ts'

/** A subscription with usage that is due to be charged. */
export interface DueSubscription {
  /** Primary key in the `subscriptions` table. */
  readonly id: number
  readonly attempts: number
}

/** A batch of usage that is charged together, by one charge. */
export interface UsageBatch {
  readonly id: string
  /**
   * The billing period of the usage. Tiered prices apply to all batches of the same period
   * together.
   */
  readonly period: UsageRange
  /** Number of charges for the batch that were declined. */
  readonly declines: number
  /**
   * When the next attempt to charge the batch is due. While one process charges the batch, the time
   * at which another process may take over.
   */
  readonly dueAt: Date
}

export interface PaidUsageBatch {
  readonly bill: UsageBill
  readonly at: Date
}

/** Quantities of usage by meter. */
export type UsageSums = ReadonlyMap<string, Decimal>

/** Database access to the usage that billing itself counts, by subscription. */
export interface ChargedUsageRepository {
  /**
   * Lists the ids of subscriptions with usage that is due to be charged. Together with `claim()`,
   * `finish()` and `fail()`, this method implements a `WorkQueue`.
   */
  listDue(at: Date, limit: number): Promise<number[]>
  claim(id: number, at: Date, until: Date): Promise<DueSubscription | null>
  finish(id: number): Promise<void>
  fail(id: number, failure: FailedAttempt): Promise<void>
  /** Postpones the usage of a subscription that is in no batch yet. */
  postpone(id: number, until: Date): Promise<void>
  /** Makes all pending usage of a subscription due now. */
  makeDue(id: number, at: Date, tx: Database): Promise<void>
  /** Lists the unpaid batches of a subscription, oldest first. */
  listBatches(id: number): Promise<UsageBatch[]>
  /**
   * Returns the time of the subscription's oldest usage that is in no batch yet. `null` if there is
   * none.
   */
  firstWaiting(id: number): Promise<Date | null>
  /** Puts the subscription's pending usage of this time range into a batch. */
  setBatch(id: number, batch: string, range: UsageRange, at: Date, tx: Database): Promise<void>
  sumOfBatch(id: number, batch: string): Promise<UsageSums>
  /** Adds up the subscription's usage in this time range that is in no batch yet. */
  sumOfWaiting(id: number, range: UsageRange): Promise<UsageSums>
  /** Adds up the subscription's usage in this time range that was charged. */
  sumOfCharged(id: number, range: UsageRange): Promise<UsageSums>
  /** Marks a batch as paid, and stores its bill. */
  finishBatch(id: number, batch: string, paid: PaidUsageBatch, tx: Database): Promise<void>
  /** Postpones the next attempt to charge a batch after a declined charge. */
  postponeBatch(
    id: number,
    batch: string,
    declined: { readonly error: string; readonly dueAt: Date },
    tx: Database,
  ): Promise<void>
  /** Lists the usage bills of a subscription's billing period, oldest first. */
  listBills(id: number, period: UsageRange): Promise<UsageBill[]>
  /** Finds the usage bills of these batches, by batch id. */
  findBills(batches: readonly string[]): Promise<ReadonlyMap<string, UsageBill>>
  /**
   * Lists the usage of a meter in this time range for any of these subscriptions, charged or not.
   * Each entry has its time.
   */
  listUsed(
    ids: readonly number[],
    meter: string,
    range: UsageRange,
  ): Promise<{ readonly at: Date; readonly value: Decimal }[]>
}

const TABLE = 'billing_usage'
const BATCHES = 'billing_usage_batches'
const billed = usageBatchTable.pick('id', 'bill')
type BilledRow = ReturnType<typeof billed.toRow>
const PAGE = 1000
const HOUR = 3_600_000

export function createChargedUsageRepository(
  database: Database,
  provider: ProviderName,
): ChargedUsageRepository {
  const { kysely } = database
  const pending = (id: number, tx = database) =>
    tx.kysely.updateTable(TABLE).where('subscription_id', '=', id).where('state', '=', 'pending')

  /**
   * Reads page by page, because there may be very many rows. Sums are calculated here, because
   * databases differ in adding decimals that are stored as text.
   */
  async function readAll(
    narrow: (query: ReturnType<typeof rowsOf>) => ReturnType<typeof rowsOf>,
    take: (row: { meter: string; value: string; at: number }) => void,
  ): Promise<void> {
    for (let after = 0; ; ) {
      const rows = await narrow(rowsOf())
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE)
        .execute()
      for (const { meter, value, at } of rows) {
        take({ meter: String(meter), value: String(value), at: Number(at) })
      }
      if (rows.length < PAGE) return
      after = Number(rows.at(-1)?.id)
    }
  }

  function rowsOf() {
    return kysely.selectFrom(TABLE).select(['id', 'meter', 'value', 'at'])
  }

  function within(rows: ReturnType<typeof rowsOf>, id: number, { from, to }: UsageRange) {
    const since = rows.where('subscription_id', '=', id).where('at', '>=', from.getTime())
    return to ? since.where('at', '<', to.getTime()) : since
  }

  async function sum(
    narrow: (query: ReturnType<typeof rowsOf>) => ReturnType<typeof rowsOf>,
  ): Promise<UsageSums> {
    const sums = new Map<string, Decimal>()
    await readAll(narrow, ({ meter, value }) => {
      sums.set(meter, (sums.get(meter) ?? 0n) + parseDecimal(value))
    })
    return sums
  }

  return {
    async listDue(at, limit) {
      const rows = await kysely
        .selectFrom(TABLE)
        .select('subscription_id')
        .distinct()
        .where('provider', '=', provider)
        .where('state', '=', 'pending')
        .where('due_at', '<=', at.getTime())
        .where('subscription_id', 'is not', null)
        .limit(limit)
        .execute()
      return rows.map((row) => Number(row.subscription_id))
    },
    async claim(id, at, until) {
      const { numUpdatedRows } = await pending(id)
        .set({ due_at: until.getTime() })
        .where('due_at', '<=', at.getTime())
        .executeTakeFirst()
      if (Number(numUpdatedRows) === 0) return null
      const row = await kysely
        .selectFrom(TABLE)
        .select('attempts')
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .orderBy('attempts', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? { id, attempts: Number(row.attempts) } : null
    },
    // Batches are finished one by one, and the rest was postponed.
    finish: async () => undefined,
    async fail(id, { error, attempts, dueAt }) {
      const next = dueAt?.getTime() ?? 0
      // Excludes batches that wait for another card, which are due days later.
      await pending(id)
        .set({ last_error: error, attempts, due_at: next })
        .where('due_at', '<', next + HOUR)
        .execute()
    },
    async postpone(id, until) {
      await pending(id)
        .set({ due_at: until.getTime(), attempts: 0, last_error: null })
        .where('batch', 'is', null)
        .execute()
    },
    async makeDue(id, at, tx) {
      await pending(id, tx).set({ due_at: at.getTime() }).execute()
    },
    async listBatches(id) {
      const rows = await kysely
        .selectFrom(`${TABLE} as used`)
        .innerJoin(`${BATCHES} as batches`, 'batches.id', 'used.batch')
        .select((eb) => [
          'batches.id',
          'batches.period_from',
          'batches.period_to',
          'batches.declines',
          eb.fn.max('used.due_at').as('due'),
        ])
        .where('used.subscription_id', '=', id)
        .where('used.state', '=', 'pending')
        .groupBy(['batches.id', 'batches.period_from', 'batches.period_to', 'batches.declines'])
        .groupBy('batches.created_at')
        .orderBy('batches.period_from')
        .orderBy('batches.created_at')
        .orderBy('batches.id')
        .execute()
      return rows.map((row) => ({
        id: String(row.id),
        period: {
          from: new Date(Number(row.period_from)),
          to: row.period_to === null ? null : new Date(Number(row.period_to)),
        },
        declines: Number(row.declines),
        dueAt: new Date(Number(row.due)),
      }))
    },
    async firstWaiting(id) {
      const row = await kysely
        .selectFrom(TABLE)
        .select((eb) => eb.fn.min('at').as('first'))
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', 'is', null)
        .executeTakeFirst()
      return row?.first == null ? null : new Date(Number(row.first))
    },
    async setBatch(id, batch, { from, to }, at, tx) {
      const row = usageBatchTable.toRow({
        id: batch,
        subscriptionId: id,
        periodFrom: from,
        periodTo: to,
        declines: 0,
        createdAt: at,
        bill: null,
      })
      await tx.kysely.insertInto(BATCHES).values(row).execute()
      let query = tx.kysely
        .updateTable(TABLE)
        .set({ batch, asked_at: at.getTime() })
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', 'is', null)
        .where('at', '>=', from.getTime())
      if (to) query = query.where('at', '<', to.getTime())
      await query.execute()
    },
    sumOfBatch: (id, batch) =>
      sum((rows) => rows.where('subscription_id', '=', id).where('batch', '=', batch)),
    sumOfWaiting: (id, range) =>
      sum((rows) =>
        within(rows, id, range).where('state', '=', 'pending').where('batch', 'is', null),
      ),
    sumOfCharged: (id, range) => sum((rows) => within(rows, id, range).where('state', '=', 'sent')),
    async finishBatch(id, batch, { bill, at }, tx) {
      await tx.kysely
        .updateTable(TABLE)
        .set({ state: 'sent', finished_at: at.getTime(), last_error: null })
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', '=', batch)
        .execute()
      const row = billed.toRow({ id: batch, bill })
      await tx.kysely.updateTable(BATCHES).set({ bill: row.bill }).where('id', '=', batch).execute()
    },
    async postponeBatch(id, batch, { error, dueAt }, tx) {
      await tx.kysely
        .updateTable(TABLE)
        .set({ last_error: error, attempts: 0, due_at: dueAt.getTime() })
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', '=', batch)
        .execute()
      await tx.kysely
        .updateTable(BATCHES)
        .set((eb) => ({ declines: eb('declines', '+', 1) }))
        .where('id', '=', batch)
        .execute()
    },
    async listBills(id, { from }) {
      const rows = await kysely
        .selectFrom(BATCHES)
        .select(billed.columns)
        .where('subscription_id', '=', id)
        .where('period_from', '=', from.getTime())
        .where('bill', 'is not', null)
        .orderBy('created_at')
        .execute()
      return rows.flatMap((row) => billed.fromRow(row as BilledRow).bill ?? [])
    },
    async findBills(batches) {
      const bills = new Map<string, UsageBill>()
      if (batches.length === 0) return bills
      const rows = await kysely
        .selectFrom(BATCHES)
        .select(billed.columns)
        .where('id', 'in', [...batches])
        .execute()
      for (const row of rows) {
        const { id, bill } = billed.fromRow(row as BilledRow)
        if (bill) bills.set(id, bill)
      }
      return bills
    },
    async listUsed(ids, meter, { from, to }) {
      const used: { at: Date; value: Decimal }[] = []
      if (ids.length === 0) return used
      await readAll(
        (rows) => {
          const since = rows
            .where('subscription_id', 'in', [...ids])
            .where('meter', '=', meter)
            .where('state', 'in', ['pending', 'sent'])
            .where('at', '>=', from.getTime())
          return to ? since.where('at', '<', to.getTime()) : since
        },
        ({ at, value }) => used.push({ at: new Date(at), value: parseDecimal(value) }),
      )
      return used
    },
  }
}
