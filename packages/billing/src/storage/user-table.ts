/** Where the application keeps its users. */
export interface UserTable {
  /** The application's own table of users. */
  readonly table: string
  /** Its primary key. Default `id`. */
  readonly id?: string
  /** Type of that key. Default `integer`. */
  readonly idType?: 'integer' | 'string'
  /** The column with the e-mail address a customer gets. Default `email`; it may be missing. */
  readonly email?: string
  /** The column with the name a customer gets. Default `name`; it may be missing. */
  readonly name?: string
}
