import type { Address } from '../../providers/customer.ts'
import { InvalidArgument } from '../errors/errors.ts'
import { omitUndefined } from '../values/arguments.ts'
import { USER_OWNER_TYPE } from '../values/owner.ts'

/** Options of a table that may be left out. */
type Columns = 'phone' | 'address'

/** The resolved options of an owner table. */
export type ResolvedOwnerTable = Required<Omit<OwnerTable, Columns>> &
  Pick<OwnerTable, Columns> & {
    /**
     * Whether the application set the option `taxPercentage`, even to a function that returns 0.
     */
    readonly hasTaxPercentage: boolean
  }

/** The owner tables by type, users first. */
export type OwnerTables = ReadonlyMap<string, ResolvedOwnerTable>

/**
 * Types are part of the names of locks and migrations: they contain no colon and fit their columns.
 */
const TYPE = /^[a-z][a-z0-9_-]{0,49}$/

export function resolveOwnerTables(
  users: OwnerTable | undefined,
  others: Readonly<Record<string, OwnerTable>>,
): OwnerTables {
  const tables = new Map([[USER_OWNER_TYPE, resolveTable('users', users)]])
  for (const [type, table] of Object.entries(omitUndefined(others))) {
    if (type === USER_OWNER_TYPE)
      throw new TypeError("owners.user: users have an option of their own, 'users'.")
    if (!TYPE.test(type)) {
      throw new TypeError(`owners: '${type}' should be a short word such as 'team'.`)
    }
    const resolved = resolveTable(`owners.${type}`, table)
    for (const [other, { table: taken }] of tables) {
      if (taken !== resolved.table) continue
      throw new TypeError(
        `owners.${type}: the table '${taken}' already belongs to the type '${other}'.`,
      )
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
  const hasTaxPercentage = table.taxPercentage !== undefined
  return { ...defaults, taxPercentage: () => 0, ...omitUndefined(table), hasTaxPercentage }
}

/**
 * Returns the table of an owner type.
 * @throws InvalidArgument if there is no such type.
 */
export function requireOwnerTable<Table>(tables: ReadonlyMap<string, Table>, type: string): Table {
  const table = tables.get(type)
  if (table !== undefined) return table
  throw new InvalidArgument(`Unknown owner type '${type}': add its table to the option owners`)
}

/** The application's user table, and the columns that billing reads. */
export interface UserTable {
  /** Name of the table. */
  readonly table: string
  /** Name of the primary key column. @default 'id' */
  readonly id?: string
  /** Type of the primary key. @default 'integer' */
  readonly idType?: 'integer' | 'string'
  /**
   * Column whose value becomes the customer's e-mail address at the provider. Ignored if the table
   * has no such column.
   * @default 'email'
   */
  readonly email?: string
  /**
   * Column whose value becomes the customer's name at the provider. Ignored if the table has no
   * such column. @default 'name'
   */
  readonly name?: string
  /** Column whose value becomes the customer's telephone number at the provider. @default none */
  readonly phone?: string
  /**
   * Columns whose values become the customer's address, such as
   * `{ line1: 'street', city: 'town' }`.
   * @default none
   */
  readonly address?: AddressColumns
}

/** The column for each part of an address. */
export type AddressColumns = { readonly [Part in keyof Address]?: string }

/** Another table of the application whose rows are billed, such as a table of teams. */
export interface OwnerTable extends UserTable {
  /**
   * Tax percentage of subscription charges for these owners, from 0 to 100 with at most two
   * decimals. The option `taxPercentage` of `createBilling()` applies only to users.
   * @default 0
   */
  readonly taxPercentage?: (row: Record<string, unknown>) => number | Promise<number>
}
