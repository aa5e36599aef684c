import { type Compilable, type Expression, type Kysely, type SqlBool, sql } from 'kysely'
import type { AnyTables } from '../any-tables.ts'
import { type Database, internals } from '../database.ts'
import type { Dialect } from '../dialects/engine.ts'
import { type ParamBuilder, prepareStatement } from '../statements/statement.ts'
import { toJsonRows } from '../values.ts'
import type {
  Assignments,
  Claim,
  ClaimThenInsert,
  ConditionalUpdate,
  ParamTypes,
} from '../writes/conditional.ts'
import { gather } from './gather.ts'

type AnyKysely = Kysely<AnyTables>

/** A result for each, null for one that changed nothing, undefined for one to be run alone. */
type ClaimMany<Params, Row> = (items: readonly Params[]) => Promise<Array<Row | null | undefined>>

/** The claim for every element of a JSON list. */
export type Many = (db: AnyKysely, list: Expression<string>) => Compilable

interface Ways<T, Params extends object, Row> {
  readonly database: Database<T>
  readonly alone: Claim<Params, Row>
  readonly many: Many
}

const howTogether: Record<
  Dialect,
  (<T, Params extends object, Row>(ways: Ways<T, Params, Row>) => ClaimMany<Params, Row>) | null
> = {
  sqlite: inOneTransaction,
  postgres: inOneStatement,
  mysql: null,
}

/** The same claim, but calls that come at the same time share one statement or one commit. */
export function claimTogether<T, Params extends object, Row>(
  ways: Ways<T, Params, Row>,
): Claim<Params, Row> {
  const { alone } = ways
  const together = howTogether[ways.database.dialect]?.(ways)
  if (!together) return alone
  const gathered = gather<Params, Row | null>({
    together,
    alone: (params) => alone(params),
    patience: ways.database[internals].engine.patience,
  })
  return (params, on) => (on ? alone(params, on) : gathered(params))
}

/** SQLite waits for the disk at each commit. */
function inOneTransaction<T, Params extends object, Row>({
  database,
  alone,
}: Ways<T, Params, Row>): ClaimMany<Params, Row> {
  return (items) =>
    database.transaction(async (tx) => {
      const rows: Array<Row | null> = []
      for (const params of items) rows.push(await alone(params, tx as Database))
      return rows
    })
}

/** Counts the items, to say which one a row was changed for: two may name the same, and one wins. */
const WINNER = '$winner'

/** A statement costs Node and Postgres more than the rows it changes. */
function inOneStatement<T, Params extends object, Row>({
  database,
  many,
}: Ways<T, Params, Row>): ClaimMany<Params, Row> {
  type Won = Record<typeof WINNER, number>
  const run = prepareStatement<T, { list: string }, Won>(
    database,
    (db, param) => many(db as AnyKysely, param('list')),
    { followsSize: true },
  )
  return async (items) => {
    const { rows } = await run({ list: toJsonRows(items) })
    const won = new Array<Row | undefined>(items.length)
    for (const { [WINNER]: number, ...row } of rows) won[number - 1] = row as Row
    return won
  }
}

/**
 * The update for every element of a JSON list whose row nobody holds: so two such statements never
 * wait for each other, and whoever asked for a row that is held asks again alone.
 */
export function updateMany<T, Params>(
  db: AnyKysely,
  update: ConditionalUpdate<T, Params>,
  types: ParamTypes<Params>,
  list: Expression<string>,
) {
  return updateFree(withFree(db, update, types, list), update)
}

/** The same, and for each row changed one insert. */
export function updateThenInsertMany<T, Params>(
  db: AnyKysely,
  { claim, insert }: ClaimThenInsert<T, Params>,
  types: ParamTypes<Params>,
  list: Expression<string>,
) {
  const values = insert.values(fromFree as ParamBuilder<Params>, (column) =>
    sql.ref(`claimed.${column}`),
  )
  const columns = Object.keys(values)
  const selected = columns.map((column) => sql`${values[column]}`)
  return withFree(db, claim, types, list)
    .with('claimed', (cte) => updateFree(cte, claim))
    .with('inserted', (cte) =>
      cte
        .insertInto(insert.table as string)
        .columns(columns)
        .expression(
          sql`select ${sql.join(selected)} from claimed join free on ${fromFree(WINNER)} = ${sql.ref(`claimed.${WINNER}`)}`,
        ),
    )
    .selectFrom('claimed')
    .selectAll()
}

function withFree<T, Params>(
  db: AnyKysely,
  { table, key }: ConditionalUpdate<T, Params>,
  types: ParamTypes<Params>,
  list: Expression<string>,
) {
  const fields = Object.entries<string>(types).map(
    ([name, type]) => sql`${sql.id(name)} ${sql.raw(type)}`,
  )
  const columns = [...Object.keys(types), WINNER].map((name) => sql.id(asParam(name)))
  const param = (name: string) => sql.ref<never>(`asked.${asParam(name)}`)
  const rows = sql.table(table)
  return db
    .with(
      'asked',
      () => sql`(select * from rows from (json_to_recordset(${list}) as (${sql.join(fields)}))
        with ordinality as list(${sql.join(columns)}))`,
    )
    .with(
      'free',
      () => sql`(select asked.* from ${rows} join asked on ${keyMatches(table, key(param))}
        where ${keyAmong(table, key(param), 'asked')} for update of ${rows} skip locked)`,
    )
}

function updateFree<T, Params>(
  db: Pick<AnyKysely, 'updateTable'>,
  { table, key, where, set, returning }: ConditionalUpdate<T, Params>,
) {
  const param = fromFree as ParamBuilder<Params>
  return (db as AnyKysely)
    .updateTable(table as string)
    .from('free')
    .set(set(param))
    .where(keyMatches(table, key(param)))
    .where(keyAmong(table, key(param), 'free'))
    .where((eb) => where?.(eb, param) ?? eb.lit(true))
    .returning([...returning, fromFree(WINNER).as(WINNER)])
}

function keyMatches(table: string, key: Assignments) {
  const columns = Object.entries(key)
  return sql<SqlBool>`${sql.join(
    columns.map(([column, value]) => sql`${sql.ref(`${table}.${column}`)} = ${value}`),
    sql` and `,
  )}`
}

/** Says nothing new, but makes Postgres fetch by the key's index, whatever it thinks of the join. */
function keyAmong(table: string, key: Assignments, list: 'asked' | 'free') {
  const [[column, value] = []] = Object.entries(key)
  return sql<SqlBool>`${sql.ref(`${table}.${column}`)} = any(array(select ${value} from ${sql.table(list)}))`
}

function fromFree(name: string) {
  return sql.ref<never>(`free.${asParam(name)}`)
}

/** So that it cannot be taken for a column of the table. */
function asParam(name: string): string {
  return `param ${name}`
}
