import { InvalidArgument } from '../errors.ts'
import { said } from '../values/arguments.ts'
import { USER } from '../values/owner.ts'
import type { OwnerTable } from './user-table.ts'

/** What may be missing of an application's table. */
type Columns = 'phone' | 'address'

/** Where the owners of one type are. */
export type ResolvedOwnerTable = Required<Omit<OwnerTable, Columns>> &
  Pick<OwnerTable, Columns> & {
    /** Whether the application says a percentage at all: 0 is one. */
    readonly saysPercentage: boolean
  }

/** By type. Users are the first. */
export type OwnerTables = ReadonlyMap<string, ResolvedOwnerTable>

/** Types stand in names of locks and migrations: no colon, and no longer than their columns. */
const TYPE = /^[a-z][a-z0-9_-]{0,49}$/

export function resolveOwnerTables(
  users: OwnerTable | undefined,
  others: Readonly<Record<string, OwnerTable>>,
): OwnerTables {
  const tables = new Map([[USER, resolveTable('users', users)]])
  for (const [type, table] of Object.entries(said(others))) {
    if (type === USER)
      throw new TypeError("owners.user: users have an option of their own, 'users'.")
    if (!TYPE.test(type)) {
      throw new TypeError(`owners: '${type}' should be a short word such as 'team'.`)
    }
    const resolved = resolveTable(`owners.${type}`, table)
    for (const [other, { table: taken }] of tables) {
      if (taken !== resolved.table) continue
      throw new TypeError(`owners.${type}: '${taken}' is the table of the type '${other}' already.`)
    }
    tables.set(type, resolved)
  }
  return tables
}

function resolveTable(option: string, table: OwnerTable | undefined): ResolvedOwnerTable {
  if (!table || !/^\w+$/.test(table.table ?? '')) {
    throw new TypeError(
      `${option}.table: name the application's own table, e.g. { table: 'users' }.`,
    )
  }
  const defaults = { id: 'id', idType: 'integer', email: 'email', name: 'name' } as const
  const saysPercentage = table.taxPercentage !== undefined
  return { ...defaults, taxPercentage: () => 0, ...said(table), saysPercentage }
}

/** The table of that type, or InvalidArgument. */
export function requireOwnerTable<Table>(tables: ReadonlyMap<string, Table>, type: string): Table {
  const table = tables.get(type)
  if (table !== undefined) return table
  throw new InvalidArgument(`There are no owners of the type '${type}': name their table in owners`)
}
