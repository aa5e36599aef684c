import type { UserRow } from '../storage/tables.ts'

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

export function accountFromRow(row: UserRow): Account {
  return {
    ...fromRow(row),
    disabledAt: row.disabled_at === null ? null : new Date(Number(row.disabled_at)),
    billedBy: row.provider_id ? (row.provider ?? 'a payment provider') : null,
  }
}

/** What `tollgate user list --json` shows. */
export function accountJson(account: Account) {
  const { operator, disabledAt } = account
  return { ...userJson(account), operator, disabled_at: disabledAt?.toISOString() ?? null }
}

export function fromRow(row: UserRow): User {
  return {
    id: String(row.id),
    email: row.email,
    name: row.name,
    operator: Number(row.operator) === 1,
    createdAt: new Date(Number(row.created_at)),
  }
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
