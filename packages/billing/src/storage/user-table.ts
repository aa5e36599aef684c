import type { Address } from '../gateways/contract/parts/money/customer-details.ts'

/** Where the application keeps those who are billed. */
export interface UserTable {
  /** The application's own table. */
  readonly table: string
  /** Its primary key. Default `id`. */
  readonly id?: string
  /** Type of that key. Default `integer`. */
  readonly idType?: 'integer' | 'string'
  /** The column with the e-mail address a customer gets. Default `email`; it may be missing. */
  readonly email?: string
  /** The column with the name a customer gets. Default `name`; it may be missing. */
  readonly name?: string
  /** The column with the telephone number a customer gets. Default: none. */
  readonly phone?: string
  /** The columns with the address a customer gets, such as `{ line1: 'street', city: 'town' }`. Default: none. */
  readonly address?: AddressColumns
}

/** The column of each part of an address. */
export type AddressColumns = { readonly [Part in keyof Address]?: string }

/** Another table of the application whose rows are billed, such as that of teams. */
export interface OwnerTable extends UserTable {
  /** As `taxPercentage` of users, which is not asked for these. Default 0. */
  readonly taxPercentage?: (row: Record<string, unknown>) => number | Promise<number>
}
