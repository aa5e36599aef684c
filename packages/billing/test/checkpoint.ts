import { timestamp } from '@tollgate/database'
import type { FlowTest } from './support.ts'

/**
 * Saves the state of the sandbox and all our rows. Returns a function that restores both and
 * creates a new billing, because the old one has outdated state in memory. Useful if tests start at
 * the same point many times, and reaching that point takes longer than the test itself. Nothing may
 * be running during the call.
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

/** Values read from a timestamp column must be converted before they are written back. */
function toStorable(row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Date ? timestamp(value) : value,
  ])
  return Object.fromEntries(entries)
}
