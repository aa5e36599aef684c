import { isUniqueViolation } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { defineError } from '../service-error.ts'
import { cardAccountName, factorAccountName, hashAccountName } from '../storage/account-names.ts'
import { deleteAccountMail, deletePersonalData } from '../storage/personal-data.ts'
import {
  type ServiceDatabase,
  type ServiceTables,
  type UserRow,
  userTable,
} from '../storage/tables.ts'
import { PROVIDER_NAMES } from './account-billing.ts'
import {
  createLinkedIdentities,
  type LinkedIdentities,
  type NewIdentity,
} from './linked-identities.ts'
import { emailKey, InvalidAccount, MAX_PASSWORD_LENGTH, parseAccount } from './parse.ts'
import type { Passwords } from './passwords.ts'
import type { Role } from './roles.ts'
import { type Account, accountFromRow, fromRow, type User } from './user.ts'

export interface NewUser {
  readonly email: string
  /** The password. `null` for a person who signs in with another provider only. */
  readonly password: string | null
  readonly name?: string | null
  /** The operator role of the account. @default null */
  readonly role?: Role | null
  /** Whether the demo created the user, with a password that is stored in a file. */
  readonly demo?: boolean
  /** Whether the person has proved that mail to the address reaches them. @default false */
  readonly isVerified?: boolean
  /** The hash of the password, if `hashPassword()` has made it already. */
  readonly passwordHash?: string
}

/**
 * Thrown if a change would leave the service without an owner who can sign in. Nothing was changed.
 */
export class LastOwner extends defineError(
  'conflict',
  'This is the last owner. Appoint another one first.',
) {}

/** Filters and position of a page of accounts. */
export interface AccountPage {
  readonly email?: string | undefined
  /** Customer id at the payment provider. */
  readonly customer?: string | undefined
  readonly role?: Role | undefined
  /** Only accounts that were created before this one. `null` begins with the newest. */
  readonly before: string | null
  readonly limit: number
}

/** A user whose password was right. */
export interface ProvedUser {
  readonly user: User
  /** Whether the account still has this password, and is enabled. */
  readonly stillHolds: () => Promise<boolean>
}

export interface UserAccounts {
  /**
   * Creates a user.
   * @throws InvalidAccount if a field is invalid or the address is taken.
   */
  create(account: NewUser): Promise<User>
  /**
   * Validates and hashes a password. Call it before a transaction, which must not wait for it.
   * @throws InvalidAccount if the password is invalid.
   */
  hashPassword(account: {
    readonly email: string
    readonly password: string
    readonly name?: string | null
  }): Promise<string>
  /**
   * Creates a user without a password who signs in with another provider.
   * @throws InvalidAccount if a field is invalid or the address is taken.
   * @throws IdentityTaken
   */
  createWith(account: Omit<NewUser, 'password'>, identity: NewIdentity): Promise<User>
  /** The accounts at other providers that people sign in with. */
  readonly identities: LinkedIdentities
  /** Whether the account has a password. */
  hasPassword(id: string): Promise<boolean>
  /** Finds an enabled user by id. `null` if there is no such user or the account is disabled. */
  findById(id: string): Promise<User | null>
  /** Finds enabled users by id. Unknown and disabled users are left out. */
  findByIds(ids: readonly string[]): Promise<User[]>
  findByEmail(email: string): Promise<User | null>
  /**
   * Finds an enabled user by e-mail address and password. `null` for an unknown user or a wrong
   * password. The two cases take the same work, so that their duration does not reveal which it
   * was.
   */
  findByCredentials(email: string, password: string): Promise<User | null>
  /** Like `findByCredentials()`, for a sign-in that must not outlive the password. */
  proveCredentials(email: string, password: string): Promise<ProvedUser | null>
  /** Finds an account by id or e-mail address, including a disabled one. */
  findAccount(idOrEmail: string): Promise<Account | null>
  /** Lists accounts by page, newest first, including disabled ones. */
  page(request: AccountPage): Promise<Account[]>
  /**
   * Stores the operator role of the account; `null` takes it away.
   * @throws LastOwner
   */
  setRole(id: string, role: Role | null): Promise<void>
  /**
   * Stores the language of the person's pages, mail and invoices. `null` for the language of the
   * browser.
   */
  setLocale(id: string, locale: string | null): Promise<void>
  /**
   * Replaces the password. The caller must end sessions and tokens: see `setPassword()` in
   * end-account.ts.
   */
  changePassword(id: string, password: string): Promise<void>
  /**
   * Disables or enables an account. `isOwnRequest` says that the person asked to delete the account,
   * which is then completed even after a crash. Returns `false` if an operator has disabled the
   * account already, and the person asks to delete it.
   * @throws LastOwner
   */
  setDisabled(
    id: string,
    disabled: boolean,
    options?: { readonly isOwnRequest?: boolean },
  ): Promise<boolean>
  /**
   * Cancels a deletion that the person asked for: enables the account if it is disabled only
   * because of that request. Has no effect on accounts that an operator disabled.
   */
  cancelRequestedDeletion(id: string): Promise<void>
  /** Lists accounts whose deletion was requested before this time and has not finished. */
  listRequestedDeletions(before: Date): Promise<Account[]>
  /**
   * Deletes an account, its mail and links, and its personal data in the audit log.
   * @throws LastOwner
   */
  delete(id: string): Promise<void>
  countDemo(): Promise<number>
}

const newUser = userTable.omit('id')

const isEnabled = (row: UserRow) => row.disabled_at === null

type Condition = (eb: ExpressionBuilder<ServiceTables, 'users'>) => Expression<SqlBool>

const isNoOwner: Condition = (eb) =>
  eb.or([eb('role', 'is', null), eb('role', '<>', 'owner'), eb('disabled_at', 'is not', null)])
const matchEveryone: Condition = (eb) => eb.and([])

const ID = /^[1-9]\d{0,14}$/

/** Largest number of unfinished deletions that are completed in one run. */
const LEAVING_AT_ONCE = 20

const PROVIDERS = Object.keys(PROVIDER_NAMES)

export function createUsers(options: {
  readonly database: ServiceDatabase
  readonly passwords: Passwords
  /**
   * The clock of dates.
   * @default the clock of the database
   */
  readonly clock?: Clock
}): UserAccounts {
  const { passwords, database, clock = database.clock } = options
  const byId = database.statement<{ id: number }, UserRow>((db, param) =>
    db.selectFrom('users').selectAll().where('id', '=', param('id')),
  )
  const byKey = database.statement<{ key: string }, UserRow>((db, param) =>
    db.selectFrom('users').selectAll().where('email_key', '=', param('key')),
  )
  const findRow = async (email: string) => {
    const key = emailKey(email)
    return key.length > 254 ? null : ((await byKey({ key })).rows[0] ?? null)
  }

  /**
   * Performs a change that could remove the last owner. First calls `change` with the condition
   * that the account is not an owner who can sign in; `change` returns whether it changed the
   * account. If it did not, runs it again without this condition, one change at a time across all
   * processes, because two owners who demote each other must not both rely on the other one.
   * @throws LastOwner
   */
  async function keepingOwners(
    id: string,
    change: (on: ServiceDatabase, where: Condition) => Promise<boolean>,
  ): Promise<void> {
    if (await change(database, isNoOwner)) return
    await database.exclusively('owners', async (tx) => {
      const owners = await tx.kysely
        .selectFrom('users')
        .select('id')
        .where('role', '=', 'owner')
        .where('disabled_at', 'is', null)
        .limit(2)
        .execute()
      if (owners.length === 1 && owners[0]?.id === Number(id)) throw new LastOwner()
      await change(tx, matchEveryone)
    })
  }

  const forgetNetworks = (names: readonly string[]) =>
    database.kysely
      .deleteFrom('known_networks')
      .where('account', 'in', names.map(hashAccountName))
      .execute()

  const update = (id: string, change: Partial<UserRow>) =>
    keepingOwners(id, async (on, where) => {
      const { numUpdatedRows } = await on.kysely
        .updateTable('users')
        .set(change)
        .where('id', '=', Number(id))
        .where(where)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    })

  const identities = createLinkedIdentities(database, clock)
  const create: UserAccounts['create'] = async (account) => {
    const { email, password, name } = parseAccount(account)
    const row = newUser.toRow({
      email,
      emailKey: emailKey(email),
      emailVerifiedAt: account.isVerified ? clock.now() : null,
      name,
      passwordHash:
        account.passwordHash ?? (password === null ? null : await passwords.hash(password)),
      demo: account.demo ?? false,
      createdAt: clock.now(),
      disabledAt: null,
      locale: null,
      role: account.role ?? null,
      leavingAt: null,
      turns: 0,
    })
    try {
      await database.kysely
        .insertInto('users')
        .values(row as UserRow)
        .execute()
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new InvalidAccount({ email: 'account.problem.taken' })
    }
    const stored = await findRow(email)
    if (!stored) throw new Error('The new user was not stored')
    return fromRow(stored)
  }

  const proveCredentials: UserAccounts['proveCredentials'] = async (email, password) => {
    if (password.length > MAX_PASSWORD_LENGTH) return null
    const row = await findRow(email)
    const hash = row?.password_hash ?? null
    const matches = await passwords.verify(hash, password)
    if (!row || !matches || !isEnabled(row)) return null
    const stillHolds = async () =>
      (await byId({ id: row.id })).rows.some((now) => now.password_hash === hash && isEnabled(now))
    return { user: fromRow(row), stillHolds }
  }

  return {
    identities,
    createWith(account, identity) {
      return database.unitOfWork(async () => {
        const user = await create({ ...account, password: null, isVerified: true })
        await identities.add(user.id, identity)
        return user
      })
    },
    async hashPassword(account) {
      parseAccount(account)
      return passwords.hash(account.password)
    },
    async hasPassword(id) {
      if (!ID.test(id)) return false
      return Boolean((await byId({ id: Number(id) })).rows[0]?.password_hash)
    },
    create,
    async findById(id) {
      if (!ID.test(id)) return null
      const [row] = (await byId({ id: Number(id) })).rows
      return row && isEnabled(row) ? fromRow(row) : null
    },
    async findByIds(ids) {
      const numbers = ids.filter((id) => ID.test(id)).map(Number)
      if (numbers.length === 0) return []
      const rows = await database.kysely
        .selectFrom('users')
        .selectAll()
        .where('id', 'in', numbers)
        .execute()
      return rows.filter(isEnabled).map(fromRow)
    },
    async findByEmail(email) {
      const row = await findRow(email)
      return row && isEnabled(row) ? fromRow(row) : null
    },
    async findAccount(idOrEmail) {
      const row = ID.test(idOrEmail)
        ? (await byId({ id: Number(idOrEmail) })).rows[0]
        : await findRow(idOrEmail)
      return row ? accountFromRow(row) : null
    },
    async page({ email, customer, role, before, limit }) {
      if (email !== undefined) {
        const row = before === null ? await findRow(email) : null
        return row ? [accountFromRow(row)] : []
      }
      let query = database.kysely.selectFrom('users').selectAll()
      if (before !== null) query = query.where('id', '<', Number(before))
      if (role !== undefined) query = query.where('role', '=', role)
      if (customer === undefined) {
        const rows = await query.orderBy('id', 'desc').limit(limit).execute()
        return rows.map(accountFromRow)
      }
      // The index begins with the provider. At most one account per provider has the customer.
      const rows = await query
        .where('provider', 'in', PROVIDERS)
        .where('provider_id', '=', customer)
        .execute()
      const newestFirst = rows.sort((a, b) => b.id - a.id)
      return newestFirst.slice(0, limit).map(accountFromRow)
    },
    async setDisabled(id, disabled, { isOwnRequest = false } = {}) {
      const at = clock.now()
      if (disabled && isOwnRequest) {
        const { numUpdatedRows } = await database.kysely
          .updateTable('users')
          .set(userTable.toChange({ disabledAt: at, leavingAt: at }))
          .where('id', '=', Number(id))
          .where((eb) => eb.or([eb('disabled_at', 'is', null), eb('leaving_at', 'is not', null)]))
          .executeTakeFirst()
        return numUpdatedRows > 0n
      }
      if (disabled) {
        await update(id, userTable.toChange({ disabledAt: at, leavingAt: null }))
        return true
      }
      await database.kysely
        .updateTable('users')
        .set(userTable.toChange({ disabledAt: null, leavingAt: null }))
        .where('id', '=', Number(id))
        .execute()
      return true
    },
    async setRole(id, role) {
      if (role !== 'owner') return update(id, userTable.toChange({ role }))
      await database.kysely
        .updateTable('users')
        .set(userTable.toChange({ role }))
        .where('id', '=', Number(id))
        .execute()
    },
    async setLocale(id, locale) {
      await database.kysely
        .updateTable('users')
        .set(userTable.toChange({ locale }))
        .where('id', '=', Number(id))
        .execute()
    },
    async cancelRequestedDeletion(id) {
      await database.kysely
        .updateTable('users')
        .set(userTable.toChange({ disabledAt: null, leavingAt: null }))
        .where('id', '=', Number(id))
        .where('leaving_at', 'is not', null)
        .execute()
    },
    async listRequestedDeletions(before) {
      const rows = await database.kysely
        .selectFrom('users')
        .selectAll()
        .where('leaving_at', '<=', before.getTime())
        .orderBy('leaving_at')
        .limit(LEAVING_AT_ONCE)
        .execute()
      return rows.map(accountFromRow)
    },
    async delete(id) {
      // First, so that a repeat after a crash still finds the account.
      await deletePersonalData(database, id)
      const [account] = ID.test(id) ? (await byId({ id: Number(id) })).rows : []
      const names = [cardAccountName(id), factorAccountName(id)]
      if (account) await forgetNetworks([account.email_key, ...names])
      await deleteAccountMail(database, id)
      await keepingOwners(id, async (on, where) => {
        const { numDeletedRows } = await on.kysely
          .deleteFrom('users')
          .where('id', '=', Number(id))
          .where(where)
          .executeTakeFirst()
        return numDeletedRows > 0n
      })
    },
    proveCredentials,
    async findByCredentials(email, password) {
      return (await proveCredentials(email, password))?.user ?? null
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
