import { timestamp } from '@tollgate/database'
import type { FlowTest } from './support.ts'

/**
 * Keeps what the providers have and every row of ours, and gives the function that puts both back, for a billing
 * that was started anew: the one before remembers what is no more. For campaigns that begin at the same point
 * again and again, where living up to it takes longer than what follows. Nothing may be under way.
 */
export async function takeCheckpoint(test: FlowTest): Promise<() => Promise<FlowTest>> {
  const { sandbox } = test
  const { kysely } = test.database
  const there = sandbox.snapshot()
  const here: (readonly [table: string, rows: Record<string, unknown>[]])[] = []
  for (const { name } of await kysely.introspection.getTables()) {
    const rows = await kysely.selectFrom(name).selectAll().execute()
    here.push([name, rows.map(toStorable)])
  }
  return async () => {
    sandbox.restore(there)
    for (const [table, rows] of here) {
      await kysely.deleteFrom(table).execute()
      if (rows.length > 0) await kysely.insertInto(table).values(rows).execute()
    }
    return { ...test, billing: test.another() }
  }
}

/** A time as it is read is not a time as it is written. */
function toStorable(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Date ? timestamp(value) : value,
  ])
  return Object.fromEntries(entries)
}
