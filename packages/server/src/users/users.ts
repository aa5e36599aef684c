import { type Database, isUniqueViolation } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import type { ServiceTables } from '../storage/tables.ts'
import { emailKey, InvalidAccount, LONGEST_PASSWORD, parseAccount } from './parse.ts'
import type { Passwords } from './passwords.ts'
import { fromRow, type User } from './user.ts'

export interface NewUser {
  readonly email: string
  readonly password: string
  readonly name?: string | null
  readonly operator?: boolean
  /** Made by the demo, with a password that stands in a file. */
  readonly demo?: boolean
}

export interface UserAccounts {
  /** The new user, or InvalidAccount. */
  create(account: NewUser): Promise<User>
  findById(id: string): Promise<User | null>
  findByEmail(email: string): Promise<User | null>
  /** Null for an unknown user and for a wrong password, after the same work. */
  findByCredentials(email: string, password: string): Promise<User | null>
  /** The caller ends sessions and tokens. */
  changePassword(id: string, password: string): Promise<void>
  countDemo(): Promise<number>
}

const ID = /^[1-9]\d{0,14}$/

export function createUsers(options: {
  readonly database: Database
  readonly passwords: Passwords
  readonly clock: Clock
}): UserAccounts {
  const { passwords, clock } = options
  const database = options.database as unknown as Database<ServiceTables>
  const byId = database.statement<{ id: number }, ServiceTables['users']>((db, param) =>
    db.selectFrom('users').selectAll().where('id', '=', param('id')),
  )
  const byKey = database.statement<{ key: string }, ServiceTables['users']>((db, param) =>
    db.selectFrom('users').selectAll().where('email_key', '=', param('key')),
  )
  const findRow = async (email: string) => {
    const key = emailKey(email)
    return key.length > 254 ? null : ((await byKey({ key })).rows[0] ?? null)
  }

  return {
    async create(account) {
      const { email, password, name } = parseAccount(account)
      const row = {
        email,
        email_key: emailKey(email),
        name,
        password_hash: await passwords.hash(password),
        operator: account.operator ? 1 : 0,
        demo: account.demo ? 1 : 0,
        created_at: clock.now().getTime(),
      }
      try {
        await database.kysely
          .insertInto('users')
          .values(row as ServiceTables['users'])
          .execute()
      } catch (error) {
        if (!isUniqueViolation(error)) throw error
        throw new InvalidAccount({ email: 'There is already an account with this e-mail address.' })
      }
      const stored = await findRow(email)
      if (!stored) throw new Error('The new user was not stored')
      return fromRow(stored)
    },
    async findById(id) {
      if (!ID.test(id)) return null
      const [row] = (await byId({ id: Number(id) })).rows
      return row ? fromRow(row) : null
    },
    async findByEmail(email) {
      const row = await findRow(email)
      return row ? fromRow(row) : null
    },
    async findByCredentials(email, password) {
      if (password.length > LONGEST_PASSWORD) return null
      const row = await findRow(email)
      const matches = await passwords.verify(row?.password_hash ?? null, password)
      return row && matches ? fromRow(row) : null
    },
    async changePassword(id, password) {
      const user = ID.test(id) ? (await byId({ id: Number(id) })).rows[0] : undefined
      if (!user) throw new RangeError(`There is no user ${id}`)
      parseAccount({ email: user.email, password })
      await database.kysely
        .updateTable('users')
        .set({ password_hash: await passwords.hash(password) })
        .where('id', '=', user.id)
        .execute()
    },
    async countDemo() {
      const rows = await database.kysely
        .selectFrom('users')
        .select('id')
        .where('demo', '=', 1)
        .limit(10)
        .execute()
      return rows.length
    },
  }
}
