import { type UserRow, userTable } from '../storage/tables.ts'

/** A person with an account at this service. Contains no password. */
export interface User {
  /** Id of the user, also used in tokens. */
  readonly id: string
  /** E-mail address for signing in, as the person entered it. */
  readonly email: string
  /** Display name. `null` if the person gave none. */
  readonly name: string | null
  /** Whether the person is an operator, who may see the overview page and manage accounts. */
  readonly operator: boolean
  /**
   * Language that the person chose for pages, emails and invoices. `null` to use the browser's
   * language.
   */
  readonly locale: string | null
  /** When the account was created. */
  readonly createdAt: Date
}

/** An account as operators see it, including disabled ones. */
export interface Account extends User {
  readonly disabledAt: Date | null
  /** The payment provider where the person is a customer. `null` if there is none. */
  readonly billedBy: string | null
}

const shown = userTable.pick('id', 'email', 'name', 'operator', 'locale', 'created_at')
const standing = userTable.pick('disabled_at')

export function accountFromRow(row: UserRow): Account {
  return {
    ...fromRow(row),
    disabledAt: standing.fromRow(row).disabledAt,
    billedBy: row.provider_id ? (row.provider ?? 'a payment provider') : null,
  }
}

/** Returns the JSON of an account for `tollgate user list --json`. */
export function accountJson(account: Account) {
  const { operator, disabledAt } = account
  return { ...userJson(account), operator, disabled_at: disabledAt?.toISOString() ?? null }
}

export function fromRow(row: UserRow): User {
  const { id, ...rest } = shown.fromRow(row)
  return { id: String(id), ...rest }
}

/** Returns the JSON of a user for `GET /api/user` and for commands. */
export function userJson(user: User): {
  id: string
  email: string
  name: string | null
  created_at: string
} {
  const { id, email, name } = user
  return { id, email, name, created_at: user.createdAt.toISOString() }
}
