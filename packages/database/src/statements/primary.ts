import { type RawBuilder, sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import { NotPrimary } from '../errors.ts'

/**
 * Why the server that evaluates it is not the primary; null on the primary. For the statement whose answer decides, so
 * that what was read and the server it was read from are of one connection: those of a pool may lead to different
 * servers. `table` is the table that the statement reads.
 */
export function secondaryReason(
  { dialect }: Pick<Database, 'dialect'>,
  table: string,
): RawBuilder<string | null> {
  return dialect.schema.secondaryReason?.(table) ?? sql`null`
}

/**
 * Takes what `secondaryReason()` came to. All connections are replaced when it is not null, as the others may lead to
 * the same server.
 * @throws NotPrimary unless the reason is null
 */
export function requirePrimary(database: object, reason: string | null | undefined): void {
  if (reason === null || reason === undefined) return
  internalsOf(database).engine.renew?.()
  throw new NotPrimary(reason)
}

/**
 * Whether the server also receives changes from another one by replication, although it takes writes: then it may lack
 * what was committed there. Null if this user may not know.
 */
export async function isReplica({ dialect, kysely }: Database): Promise<boolean | null> {
  const { isReplica: ask } = dialect.schema
  return ask ? ask(kysely) : false
}
