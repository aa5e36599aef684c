import type { Database } from '@tollgate/database'
import { sql } from 'kysely'

/** One step of a query plan. */
export interface PlanStep {
  /** The table that is read. `null` for a step such as sorting. */
  readonly table: string | null
  /** Whether the step may read every row of the table, with or without an index. */
  readonly isScan: boolean
  /** Whether rows are sorted, or made distinct, in a temporary table. */
  readonly isSort: boolean
  /** The step in the words of the database. */
  readonly text: string
}

/** Explains a statement with placeholders. Only for SQLite, whose plans do not depend on statistics. */
export async function explain(
  { kysely }: Database,
  statement: string,
): Promise<readonly PlanStep[]> {
  const { rows } = await sql
    .raw<{ detail: string }>(`explain query plan ${statement.replaceAll('?', "'1'")}`)
    .execute(kysely)
  const names = aliasesIn(statement)
  return rows.map(({ detail: text }) => {
    const [, verb, name = null] = /^(SCAN|SEARCH) (\S+)/.exec(text) ?? []
    return {
      table: name && (names.get(name) ?? name),
      isScan: verb === 'SCAN',
      isSort: text.includes('TEMP B-TREE'),
      text,
    }
  })
}

/** Returns the tables in a statement by their aliases. */
function aliasesIn(statement: string): ReadonlyMap<string, string> {
  const found = statement.matchAll(/(?:from|join) "(\w+)" as "(\w+)"/g)
  return new Map([...found].map(([, table = '', alias = '']) => [alias, table]))
}
