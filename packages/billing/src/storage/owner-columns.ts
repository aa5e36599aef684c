import type { AnyTables, Database } from '@tollgate/database'
import { type Compilable, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isUser, type Owner, userWith } from '../values/owner.ts'

/**
 * Whose a row is, in the tables that are older than other owners: a user's has `user_id`, and everybody
 * else's has the other two.
 */
export interface OwnerColumns {
  readonly user_id: string | number | null
  readonly owner_type: string | null
  readonly owner_id: string | null
}

/** Of each type of owners, what the ids are in their table. Users are among them. */
export type OwnerIdTypes = ReadonlyMap<string, { readonly idType: 'integer' | 'string' }>

export function toOwnerColumns(owner: Owner): OwnerColumns {
  return isUser(owner)
    ? { user_id: owner.id, owner_type: null, owner_id: null }
    : { user_id: null, owner_type: owner.type, owner_id: String(owner.id) }
}

export function ownerOfRow(row: OwnerColumns, types: OwnerIdTypes): Owner {
  const { user_id, owner_type: type, owner_id } = row
  if (type === null || owner_id === null) return userWith(user_id ?? '')
  const number = types.get(type)?.idType === 'integer' ? Number(owner_id) : Number.NaN
  return { type, id: Number.isSafeInteger(number) ? number : owner_id }
}

/** For a query: the rows of this owner, in the table that is called so there. */
export function isOf(owner: Owner, table?: string): RawBuilder<SqlBool> {
  const { user_id, owner_type, owner_id } = toOwnerColumns(owner)
  const ref = (column: string) => sql.ref(table === undefined ? column : `${table}.${column}`)
  return isUser(owner)
    ? sql<SqlBool>`${ref('user_id')} = ${user_id}`
    : sql<SqlBool>`${ref('owner_type')} = ${owner_type} and ${ref('owner_id')} = ${owner_id}`
}

type Param<Params> = <Name extends keyof Params & string>(name: Name) => RawBuilder<Params[Name]>

/** Runs a compiled query about the rows of an owner. */
export type OwnerStatement<Params, Row> = (owner: Owner, params: Params) => Promise<Row[]>

/** A query that is compiled once for users, and once for the others if there are any. */
export function ownerStatement<Params extends object, Row>(
  database: Database,
  build: (db: Kysely<AnyTables>, isTheirs: RawBuilder<SqlBool>, param: Param<Params>) => Compilable,
): OwnerStatement<Params, Row> {
  type OfUser = Params & { readonly user: string | number }
  type OfOther = Params & { readonly ownerType: string; readonly ownerId: string }
  const ofUser = database.statement<OfUser, Row>((db, param) =>
    build(db, sql<SqlBool>`${sql.ref('user_id')} = ${param('user')}`, param as Param<Params>),
  )
  const ofOther = database.statement<OfOther, Row>((db, param) => {
    const isTheirs = sql<SqlBool>`${sql.ref('owner_type')} = ${param('ownerType')}
      and ${sql.ref('owner_id')} = ${param('ownerId')}`
    return build(db, isTheirs, param as Param<Params>)
  })
  return async (owner, params) => {
    const { type: ownerType, id } = owner
    const { rows } = isUser(owner)
      ? await ofUser({ ...params, user: id })
      : await ofOther({ ...params, ownerType, ownerId: String(id) })
    return rows
  }
}
