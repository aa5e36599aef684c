import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely'
import type { AnyTables, Assignments, ParamBuilder } from '../../definitions.ts'
import {
  type AnyKysely,
  type BatchedClaims,
  type BatchedInserts,
  type SharedStatements,
  WINNER_COLUMN,
} from '../dialect.ts'

/**
 * Combines statements that arrive at the same time into one, because executing a statement costs
 * Node and Postgres more than the rows in it.
 */
export const batching: SharedStatements = {
  share: 'statement',
  patience: 10,

  insertMany(db, { table, columns, key }, rows) {
    const names = (list: readonly string[]) => sql.join(list.map((column) => sql.ref(column)))
    return (
      db
        .insertInto(table)
        .columns([...columns])
        // Ordered by key, because two processes could otherwise deadlock.
        .expression(
          sql`select ${names(columns)} from json_populate_recordset(null::${sql.table(table)}, ${rows}) order by ${names(key)}`,
        )
        .onConflict((conflict) => conflict.doNothing())
        .returning([...key])
    )
  },

  findMany: (db, { table, key }, keys) =>
    db
      .selectFrom(table)
      .selectAll()
      .where(sql<SqlBool>`${sql.ref(key)} = any(array(select json_array_elements_text(${keys})))`),

  /**
   * Claims only rows that no other transaction has locked, so that two such statements never wait
   * for each other. A caller whose row is locked retries alone.
   */
  claimMany(db, claims, list) {
    const { claim, insert } = claims
    const free = () => selectLockedRows(db, { row: claim, types: claims.types }, list)
    if (!insert) return updateLockedRows(free(), claim)
    const values = insert.values(refLockedColumn as ParamBuilder<AnyTables>, (column) =>
      sql.ref(`claimed.${column}`),
    )
    const columns = Object.keys(values)
    const selected = columns.map((column) => sql`${values[column]}`)
    return free()
      .with('claimed', (cte) => updateLockedRows(cte, claim))
      .with('inserted', (cte) =>
        cte
          .insertInto(insert.table)
          .columns(columns)
          .expression(
            sql`select ${sql.join(selected)} from claimed join free on ${refLockedColumn(WINNER_COLUMN)} = ${sql.ref(`claimed.${WINNER_COLUMN}`)}`,
          ),
      )
      .selectFrom('claimed')
      .selectAll()
  },

  /**
   * Takes shared locks on the rows, so that any number of callers in any process can depend on the
   * same row.
   */
  insertManyWhile(db, { row, insert, types }, list) {
    const values = insert.values(refLockedColumn as ParamBuilder<AnyTables>)
    const columns = Object.keys(values)
    const selected = columns.map((column) => sql`${values[column]}`)
    return selectLockedRows(db, { row, types, hold: true }, list)
      .with('inserted', (cte) =>
        cte
          .insertInto(insert.table)
          .columns(columns)
          .expression(sql`select ${sql.join(selected)} from free`),
      )
      .selectFrom('free')
      .select(refLockedColumn(WINNER_COLUMN).as(WINNER_COLUMN))
  },
}

/**
 * A row to lock: for an update or, with `hold`, only against changes by others. With `hold`, the
 * row's condition is checked here, and stays true until the transaction ends.
 */
interface RowToLock extends Pick<BatchedInserts, 'row' | 'types'> {
  readonly hold?: boolean
}

function selectLockedRows(
  db: AnyKysely,
  { row: { table, key, where }, types, hold }: RowToLock,
  list: Expression<string>,
) {
  const fields = Object.entries(types).map(([name, type]) => sql`${sql.id(name)} ${sql.raw(type)}`)
  const columns = [...Object.keys(types), WINNER_COLUMN].map((name) => sql.id(asParam(name)))
  const param = (name: string) => sql.ref<never>(`asked.${asParam(name)}`)
  const rows = sql.table(table)
  const met = hold && where ? sql`and ${where(expressionBuilder(), param)}` : sql``
  const lock = hold ? sql`for share` : sql`for update`
  return db
    .with(
      'asked',
      () => sql`(select * from rows from (json_to_recordset(${list}) as (${sql.join(fields)}))
        with ordinality as list(${sql.join(columns)}))`,
    )
    .with(
      'free',
      () => sql`(select asked.* from ${rows} join asked on ${keyMatches(table, key(param))}
        where ${keyAmong(table, key(param), 'asked')} ${met} ${lock} of ${rows} skip locked)`,
    )
}

function updateLockedRows(
  db: Pick<AnyKysely, 'updateTable'>,
  { table, key, where, set, returning }: BatchedClaims['claim'],
) {
  const param = refLockedColumn as ParamBuilder<AnyTables>
  return (db as AnyKysely)
    .updateTable(table)
    .from('free')
    .set(set(param))
    .where(keyMatches(table, key(param)))
    .where(keyAmong(table, key(param), 'free'))
    .where((eb) => where?.(eb, param) ?? eb.lit(true))
    .returning([...returning, refLockedColumn(WINNER_COLUMN).as(WINNER_COLUMN)])
}

function keyMatches(table: string, key: Assignments) {
  const columns = Object.entries(key)
  return sql<SqlBool>`${sql.join(
    columns.map(([column, value]) => sql`${sql.ref(`${table}.${column}`)} = ${value}`),
    sql` and `,
  )}`
}

/**
 * Logically redundant condition that makes Postgres use the key's index, whatever it estimates for
 * the join.
 */
function keyAmong(table: string, key: Assignments, list: 'asked' | 'free') {
  const [[column, value] = []] = Object.entries(key)
  return sql<SqlBool>`${sql.ref(`${table}.${column}`)} = any(array(select ${value} from ${sql.table(list)}))`
}

function refLockedColumn(name: string) {
  return sql.ref<never>(`free.${asParam(name)}`)
}

/** Returns a column name for a parameter. No column of the table has this name. */
function asParam(name: string): string {
  return `param ${name}`
}
