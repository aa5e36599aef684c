import { type UserRow, userTable } from '../storage/tables.ts'
import { parseRole, type Role } from './roles.ts'

/** A person with an account at this service. Contains no password. */
export interface User {
  /** Id of the user, also used in tokens. */
  readonly id: string
  /** E-mail address for signing in, as the person entered it. */
  readonly email: string
  /**
   * When the person proved that mail to the address reaches them. `null` if they never did.
   */
  readonly emailVerifiedAt: Date | null
  /** Display name. `null` if the person gave none. */
  readonly name: string | null
  /** The operator role of the person. `null` for people who only use the service. */
  readonly role: Role | null
  /**
   * The language that the person chose for pages, mail and invoices. `null` for the language of the
   * browser.
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

const publicUserColumns = userTable.pick(
  'id',
  'email',
  'email_verified_at',
  'name',
  'role',
  'locale',
  'created_at',
)
const accountStateColumns = userTable.pick('disabled_at')

export function accountFromRow(row: UserRow): Account {
  return {
    ...fromRow(row),
    disabledAt: accountStateColumns.fromRow(row).disabledAt,
    billedBy: row.provider_id ? (row.provider ?? 'a payment provider') : null,
  }
}

/** Returns the JSON of an account for `tollgate user list --json`. */
export function accountJson(account: Account) {
  const { role, disabledAt } = account
  return { ...userJson(account), role, disabled_at: disabledAt?.toISOString() ?? null }
}

export function fromRow(row: UserRow): User {
  const { id, role, ...rest } = publicUserColumns.fromRow(row)
  return { id: String(id), role: parseRole(role), ...rest }
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
