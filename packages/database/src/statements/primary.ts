import { type RawBuilder, sql } from 'kysely'
import { type Database, internalsOf } from '../database.ts'
import { NotPrimary } from '../errors.ts'

/**
 * Returns an SQL expression for the reason why the server that evaluates it is not the primary;
 * `null` on the primary. Add it to the statement whose result must come from the primary:
 * connections of a pool may lead to different servers, but the values of one statement come from
 * the same server. `table` is the table that the statement reads.
 */
export function selectNotPrimaryReason(
  { dialect }: Pick<Database, 'dialect'>,
  table: string,
): RawBuilder<string | null> {
  return dialect.schema.secondaryReason?.(table) ?? sql`null`
}

/**
 * Checks the value of `selectNotPrimaryReason()`. If it is not `null`, all connections are replaced,
 * because others may lead to the same server.
 * @throws {NotPrimary} unless the reason is `null`.
 */
export function requirePrimary(database: object, reason: string | null | undefined): void {
  if (reason === null || reason === undefined) return
  internalsOf(database).engine.renew?.()
  throw new NotPrimary(reason)
}

/**
 * Whether the server accepts writes but also replicates changes from another server, so that it may
 * lack data that was committed there. `null` if the database user lacks the permission to find out.
 */
export async function isReplica({ dialect, kysely }: Database): Promise<boolean | null> {
  const { isReplica: ask } = dialect.schema
  return ask ? ask(kysely) : false
}
