import { type UserRow, userTable } from '../storage/tables.ts'

/** A person with an account here, without secrets. */
export interface User {
  /** As it stands in tokens. */
  readonly id: string
  /** What they sign in with, as they wrote it. */
  readonly email: string
  /** What they want to be called; null where they did not say. */
  readonly name: string | null
  /** May see the overview of the whole service. */
  readonly operator: boolean
  /** When the account was made. */
  readonly createdAt: Date
}

/** An account as whoever runs the service sees it, also a disabled one. */
export interface Account extends User {
  readonly disabledAt: Date | null
  /** The payment provider that knows the person, or null. */
  readonly billedBy: string | null
}

const shown = userTable.pick('id', 'email', 'name', 'operator', 'created_at')
const standing = userTable.pick('disabled_at')

export function accountFromRow(row: UserRow): Account {
  return {
    ...fromRow(row),
    disabledAt: standing.fromRow(row).disabledAt,
    billedBy: row.provider_id ? (row.provider ?? 'a payment provider') : null,
  }
}

/** What `tollgate user list --json` shows. */
export function accountJson(account: Account) {
  const { operator, disabledAt } = account
  return { ...userJson(account), operator, disabled_at: disabledAt?.toISOString() ?? null }
}

export function fromRow(row: UserRow): User {
  const { id, ...rest } = shown.fromRow(row)
  return { id: String(id), ...rest }
}

/** What `GET /api/user` and the command line show. */
export function userJson(user: User): {
  id: string
  email: string
  name: string | null
  created_at: string
} {
  const { id, email, name } = user
  return { id, email, name, created_at: user.createdAt.toISOString() }
}
