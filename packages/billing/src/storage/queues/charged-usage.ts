import type { Database } from '@tollgate/database'
import type { ProviderName } from '../../provider-name.ts'
import { type Decimal, decimal } from '../../values/decimal.ts'
import type { Owner } from '../../values/owner.ts'
import type { UsageRange } from '../../values/usage-periods.ts'
import type { OwnerIdTypes } from '../owner-columns.ts'
import type { Failure } from './queue.ts'

/** A subscription with usage that waits to be charged. */
export interface DueSubscription {
  /** Of our row. */
  readonly id: number
  readonly owner: Owner
  readonly attempts: number
}

/** What is charged together. */
export interface UsageBatch {
  readonly id: string
  /** When the first of it was used: all of it belongs to one period. */
  readonly firstAt: Date
  /** How often a card was charged for it in vain. */
  readonly attempts: number
  /** When that is tried again; of one that somebody is at, when another may be. */
  readonly dueAt: Date
}

/** How much was used of each meter. */
export type UsageSums = ReadonlyMap<string, Decimal>

/** What was used where we count it, subscription by subscription. */
export interface ChargedUsageRepository {
  /** Subscriptions that are due, as a queue. */
  listDue(at: Date, limit: number): Promise<number[]>
  claim(id: number, at: Date, until: Date): Promise<DueSubscription | null>
  finish(id: number): Promise<void>
  fail(id: number, failure: Failure): Promise<void>
  /** When those are looked at next that are in no batch. */
  postpone(id: number, until: Date): Promise<void>
  /** Looked at now. */
  makeDue(id: number, at: Date): Promise<void>
  /** Those that were begun and are not paid, oldest first. */
  listBatches(id: number): Promise<UsageBatch[]>
  /** When the oldest was used that waits in no batch; null for none. */
  firstWaiting(id: number): Promise<Date | null>
  /** Puts what waits of that time into a batch. */
  setBatch(id: number, batch: string, range: UsageRange, at: Date, tx: Database): Promise<void>
  sumOfBatch(id: number, batch: string): Promise<UsageSums>
  /** What was charged already of that time. */
  sumOfCharged(id: number, range: UsageRange): Promise<UsageSums>
  /** It is paid. */
  finishBatch(id: number, batch: string, at: Date, tx: Database): Promise<void>
  /** It is owed, and tried again then. */
  putOffBatch(
    id: number,
    batch: string,
    failure: Failure & { readonly dueAt: Date },
    tx: Database,
  ): Promise<void>
  /** What was used of a meter in that time with any of these, charged or not: each with its moment. */
  listUsed(
    ids: readonly number[],
    meter: string,
    range: UsageRange,
  ): Promise<{ readonly at: Date; readonly value: Decimal }[]>
}

const TABLE = 'billing_usage'
const PAGE = 1000
const HOUR = 3_600_000

export function chargedUsageRepository(
  { kysely }: Database,
  provider: ProviderName,
  types: OwnerIdTypes,
): ChargedUsageRepository {
  const pending = (id: number) =>
    kysely.updateTable(TABLE).where('subscription_id', '=', id).where('state', '=', 'pending')

  /** Page by page: there may be a great many of them, and no database adds up decimals in text alike. */
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

  async function sum(
    narrow: (query: ReturnType<typeof rowsOf>) => ReturnType<typeof rowsOf>,
  ): Promise<UsageSums> {
    const sums = new Map<string, Decimal>()
    await readAll(narrow, ({ meter, value }) => {
      sums.set(meter, (sums.get(meter) ?? 0n) + decimal(value))
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
        .select(['owner_type', 'owner_id', 'attempts'])
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .orderBy('attempts', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!row) return null
      const type = String(row.owner_type)
      const isNumber = types.get(type)?.idType === 'integer'
      const ownerId = isNumber ? Number(row.owner_id) : String(row.owner_id)
      return { id, owner: { type, id: ownerId }, attempts: Number(row.attempts) }
    },
    // What is over is over batch by batch, and the rest was put off.
    finish: async () => undefined,
    async fail(id, { error, attempts, dueAt }) {
      const next = dueAt?.getTime() ?? 0
      // Not what waits for another card, which is due days later.
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
    async makeDue(id, at) {
      await pending(id).set({ due_at: at.getTime() }).execute()
    },
    async listBatches(id) {
      const rows = await kysely
        .selectFrom(TABLE)
        .select((eb) => [
          'batch',
          eb.fn.min('at').as('first'),
          eb.fn.max('attempts').as('attempts'),
          eb.fn.max('due_at').as('due'),
        ])
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', 'is not', null)
        .groupBy('batch')
        .execute()
      return rows
        .map((row) => ({
          id: String(row.batch),
          firstAt: new Date(Number(row.first)),
          attempts: Number(row.attempts),
          dueAt: new Date(Number(row.due)),
        }))
        .sort((a, b) => a.firstAt.getTime() - b.firstAt.getTime())
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
    sumOfCharged: (id, { from, to }) =>
      sum((rows) => {
        const since = rows
          .where('subscription_id', '=', id)
          .where('state', '=', 'sent')
          .where('at', '>=', from.getTime())
        return to ? since.where('at', '<', to.getTime()) : since
      }),
    async finishBatch(id, batch, at, tx) {
      await tx.kysely
        .updateTable(TABLE)
        .set({ state: 'sent', finished_at: at.getTime(), last_error: null })
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', '=', batch)
        .execute()
    },
    async putOffBatch(id, batch, { error, attempts, dueAt }, tx) {
      await tx.kysely
        .updateTable(TABLE)
        .set({ last_error: error, attempts, due_at: dueAt.getTime() })
        .where('subscription_id', '=', id)
        .where('state', '=', 'pending')
        .where('batch', '=', batch)
        .execute()
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
        ({ at, value }) => used.push({ at: new Date(at), value: decimal(value) }),
      )
      return used
    },
  }
}
