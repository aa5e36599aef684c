import type { AnyTables, Database } from '@tollgate/database'
import { type Compilable, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { isUser, type Owner, userOwner } from '../values/owner.ts'

/**
 * The columns that store the owner of a row: `user_id` for a user, `owner_type` and `owner_id` for
 * any other owner.
 */
export interface OwnerColumns {
  readonly user_id: string | number | null
  readonly owner_type: string | null
  readonly owner_id: string | null
}

/** The type of ids for each owner type, including users. */
export type OwnerIdTypes = ReadonlyMap<string, { readonly idType: 'integer' | 'string' }>

/** The database table with the owners of one type. */
export interface OwnerRowTable {
  readonly table: string
  /** Name of the primary key column. */
  readonly id: string
  readonly idType: 'integer' | 'string'
}

/** The tables of all owner types, including users. */
export type OwnerRowTables = ReadonlyMap<string, OwnerRowTable>

export function toOwnerColumns(owner: Owner): OwnerColumns {
  return isUser(owner)
    ? { user_id: owner.id, owner_type: null, owner_id: null }
    : { user_id: null, owner_type: owner.type, owner_id: String(owner.id) }
}

export function readRowOwner(row: OwnerColumns, types: OwnerIdTypes): Owner {
  const { user_id, owner_type: type, owner_id } = row
  if (type === null || owner_id === null) return userOwner(user_id ?? '')
  const number = types.get(type)?.idType === 'integer' ? Number(owner_id) : Number.NaN
  return { type, id: Number.isSafeInteger(number) ? number : owner_id }
}

/**
 * Returns the SQL condition for the rows of this owner. Its columns are qualified with `table` if
 * it is given.
 */
export function buildOwnerCondition(owner: Owner, table?: string): RawBuilder<SqlBool> {
  const { user_id, owner_type, owner_id } = toOwnerColumns(owner)
  const ref = (column: string) => sql.ref(table === undefined ? column : `${table}.${column}`)
  return isUser(owner)
    ? sql<SqlBool>`${ref('user_id')} = ${user_id}`
    : sql<SqlBool>`${ref('owner_type')} = ${owner_type} and ${ref('owner_id')} = ${owner_id}`
}

type Param<Params> = <Name extends keyof Params & string>(name: Name) => RawBuilder<Params[Name]>

/** A prepared query for the rows of an owner. */
export type OwnerStatement<Params, Row> = (owner: Owner, params: Params) => Promise<Row[]>

/**
 * Prepares a query for the rows of an owner in two versions: one for users (column `user_id`), and
 * one for other owners (columns `owner_type` and `owner_id`).
 */
export function prepareOwnerStatement<Params extends object, Row>(
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

/**
 * Returns the SQL condition on `subscriptions` for rows that belong to the owner's current
 * customer. The condition excludes rows of a customer that the owner no longer has, and rows of a
 * previous owner with the same id.
 */
export function belongsToCurrentCustomer(
  { table, id: idColumn }: OwnerRowTable,
  id: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const of = (column: string) => sql.ref(`subscriptions.${column}`)
  const owners = (column: string) => sql.ref(`bound.${column}`)
  return sql<SqlBool>`(${of('provider_customer')} is null or exists (
    select 1 from ${sql.table(table)} as ${sql.ref('bound')}
    where ${owners(idColumn)} = ${id}
      and ${owners('provider')} = ${of('provider')}
      and ${owners('provider_id')} = ${of('provider_customer')}))`
}

/**
 * Prepares a query of `subscriptions` like `prepareOwnerStatement`, but only finds rows of the owner's
 * current customer.
 */
export function prepareCurrentCustomerStatement<Params extends object, Row>(
  database: Database,
  tables: OwnerRowTables,
  build: (db: Kysely<AnyTables>, isTheirs: RawBuilder<SqlBool>, param: Param<Params>) => Compilable,
): OwnerStatement<Params, Row> {
  type Asked = Params & {
    readonly ownerType: string
    readonly ownerId: string | number
    readonly rowId: string | number
  }
  type Run = ReturnType<typeof database.statement<Asked, Row>>
  const compiled = new Map<string, Run>()
  const compile = (type: string) =>
    database.statement<Asked, Row>((db, param) => {
      const table = tables.get(type)
      const isNamed = isUser({ type, id: '' })
        ? sql<SqlBool>`${sql.ref('user_id')} = ${param('ownerId')}`
        : sql<SqlBool>`${sql.ref('owner_type')} = ${param('ownerType')}
            and ${sql.ref('owner_id')} = ${param('ownerId')}`
      // The owner's customer can only be checked if this process knows the table of the type.
      const isTheirs = table
        ? sql<SqlBool>`${isNamed} and ${belongsToCurrentCustomer(table, param('rowId'))}`
        : isNamed
      return build(db, isTheirs, param as Param<Params>)
    })
  return async (owner, params) => {
    const run = compiled.get(owner.type) ?? compile(owner.type)
    compiled.set(owner.type, run)
    const ownerId = isUser(owner) ? owner.id : String(owner.id)
    return (await run({ ...params, ownerType: owner.type, ownerId, rowId: owner.id })).rows
  }
}
