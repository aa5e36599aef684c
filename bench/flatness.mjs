import { measure } from './measure.mjs'
import { flatRows } from './rows.mjs'

/**
 * Measures the same work on databases with more and more tokens. Returns the cost of a request at
 * each size, relative to the cost at the smallest. A database is filled once and serves all of its
 * rows.
 */
export async function measureFlatness(context, announce) {
  const { sizes, databases } = context
  // The limit shows how the cost of the database itself grows. A quick run omits it.
  const own = context.quick && context.own.includes('tollgate') ? ['tollgate'] : context.own
  const filled = new Map()
  const results = []
  for (const row of flatRows.filter(({ slow }) => !(context.quick && slow)))
    for (const subject of own) {
      const entries = sizes.map((size) => ({
        column: String(size),
        subject,
        row: { ...row, fill: filled.has(`${subject} ${row.store} ${size}`) ? 0 : size },
        database: `${subject} ${row.store} ${size}`,
      }))
      const cells = await measure(entries, { ...context, createDatabase: reuse })
      results.push({ row, subject, cells })
      announce(`flatness, ${row.label}, ${subject}`)
    }
  return results

  async function reuse(store, { database }) {
    if (!filled.has(database)) filled.set(database, await databases.create(store))
    return filled.get(database)
  }
}
