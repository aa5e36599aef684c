import { type Expression, type Kysely, sql } from 'kysely'
import type { AnyTables } from './any-tables.ts'
import type { Claim, UpdateOne } from './conditional-writes.ts'
import type { Database } from './database.ts'
import type { Dialect } from './engine.ts'
import { gather } from './gather.ts'
import { type ParamBuilder, prepareStatement } from './statement.ts'
import { toJsonRows } from './values.ts'

type AnyKysely = Kysely<AnyTables>

/** A result for each, null for one that changed nothing, undefined for one to be run alone. */
type UpdateMany<Params, Row> = (items: readonly Params[]) => Promise<Array<Row | null | undefined>>

type How = <T, Params extends object, Row>(
  database: Database<T>,
  update: UpdateOne<T, Params>,
  alone: Claim<Params, Row>,
) => UpdateMany<Params, Row>

const howTogether: Record<Dialect, How | null> = {
  sqlite: inOneTransaction,
  postgres: inOneStatement,
  mysql: null,
}

/** The same update, but calls that come at the same time share one statement or one commit. */
export function updateTogether<T, Params extends object, Row>(
  database: Database<T>,
  update: UpdateOne<T, Params>,
  alone: Claim<Params, Row>,
): Claim<Params, Row> {
  const how = howTogether[database.dialect]
  if (!update.together || !how) return alone
  const together = gather<Params, Row | null>({
    alone: (params) => alone(params),
    together: how(database, update, alone),
  })
  return (params, on) => (on ? alone(params, on) : together(params))
}

/** SQLite waits for the disk at each commit. */
function inOneTransaction<T, Params extends object, Row>(
  database: Database<T>,
  _update: UpdateOne<T, Params>,
  alone: Claim<Params, Row>,
): UpdateMany<Params, Row> {
  return (items) =>
    database.transaction(async (tx) => {
      const rows: Array<Row | null> = []
      for (const params of items) rows.push(await alone(params, tx as Database))
      return rows
    })
}

/** Which of the items a row was changed for: two may name the same row, and one of them wins. */
const WINNER = '$winner'

/**
 * A statement costs Node and Postgres more than the rows it changes. A row that somebody holds is left
 * out, so that two such statements never wait for each other; whoever asked for it asks again alone.
 */
function inOneStatement<T, Params extends object, Row>(
  database: Database<T>,
  update: UpdateOne<T, Params>,
): UpdateMany<Params, Row> {
  type Won = Record<typeof WINNER, number>
  const run = prepareStatement<T, { asked: string }, Won>(
    database,
    (db, param) => updateMany(db as AnyKysely, update, param('asked')),
    // A plan made while the table was small would read all of it when it is large.
    { planEachTime: true },
  )
  return async (items) => {
    const asked = items.map((params, index) => ({ ...params, [WINNER]: index }))
    const { rows } = await run({ asked: toJsonRows(asked) })
    const won = new Array<Row | undefined>(items.length)
    for (const { [WINNER]: index, ...row } of rows) won[index] = row as Row
    return won
  }
}

function updateMany<T, Params>(
  db: AnyKysely,
  { table, key, where, set, returning, together }: UpdateOne<T, Params>,
  asked: Expression<string>,
) {
  const types = Object.entries({ ...together, [WINNER]: 'bigint' })
  const columns = types.map(([name, type]) => sql`${sql.id(name)} ${sql.raw(String(type))}`)
  // Named so that they cannot be taken for columns of the table.
  const renamed = types.map(([name]) => sql`asked.${sql.id(name)} as ${sql.id(asParam(name))}`)
  const keys = Object.entries(key((name) => sql.ref(`asked.${name}`))).map(
    ([column, value]) => sql`${sql.ref(`${table}.${column}`)} = ${value}`,
  )
  const param = (name: string) => sql.ref(`free.${asParam(name)}`)
  return db
    .with(
      'free',
      () => sql`(select ${sql.join(renamed)} from ${sql.table(table)}
        join json_to_recordset(${asked}) as asked(${sql.join(columns)}) on ${sql.join(keys, sql` and `)}
        for update of ${sql.table(table)} skip locked)`,
    )
    .updateTable(table as string)
    .from('free')
    .set(set(param as ParamBuilder<Params>))
    .where((eb) => eb.and(key(param as ParamBuilder<Params>)))
    .where((eb) => where?.(eb, param as ParamBuilder<Params>) ?? eb.lit(true))
    .returning([...returning, sql.ref(`free.${asParam(WINNER)}`).as(WINNER)])
}

function asParam(name: string): string {
  return `param ${name}`
}
