import { insertIfAbsent, isUniqueViolation } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { FACTOR_TABLES } from '../storage/personal-data.ts'
import {
  factorResetTable,
  recoveryCodeTable,
  type ServiceDatabase,
  totpFactorTable,
} from '../storage/tables.ts'
import { createPasskeys, type Passkey, type Passkeys, type Store } from './passkeys.ts'
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts'
import { createSealer } from './sealed-text.ts'
import { buildTotpUri, createTotpSecret, findTotpStep } from './totp.ts'

/** The second factors of a person. */
export interface FactorList {
  readonly passkeys: readonly Passkey[]
  readonly totp: { readonly createdAt: Date; readonly lastUsedAt: Date | null } | null
  /** Number of recovery codes that were not used yet. */
  readonly recoveryCodes: number
}

/** A change of second factors, about which the person can be informed. */
export interface FactorChange {
  readonly userId: string
  readonly change:
    | 'totp-added'
    | 'totp-removed'
    | 'passkey-added'
    | 'passkey-removed'
    | 'recovery-codes-created'
    | 'recovery-code-used'
    | 'reset'
}

/** An authenticator app that the person sets up, before the first code has been typed. */
export interface TotpEnrolment {
  /** The secret in base32, as it can be typed into an app. */
  readonly secret: string
  /** The content of the QR code. */
  readonly uri: string
  /** The encrypted secret, for a hidden field of the form. */
  readonly sealed: string
}

export interface Factors {
  readonly passkeys: Passkeys
  list(userId: string): Promise<FactorList>
  /** Whether the person has an authenticator app or a passkey. */
  has(userId: string): Promise<boolean>
  /** Creates the secret of an authenticator app. Nothing is stored. */
  beginTotp(user: { readonly id: string; readonly email: string }): TotpEnrolment
  /**
   * Reads the enrolment from the hidden field of the form. `null` if it is forged, expired, or was
   * made for another person.
   */
  readTotp(
    user: { readonly id: string; readonly email: string },
    sealed: string,
  ): TotpEnrolment | null
  /**
   * Stores an authenticator app, if the code proves that it has the secret. Returns `false` for a
   * wrong code, or if the person has an app already. `store` runs the write, for example while the
   * session is open.
   */
  addTotp(userId: string, enrolment: TotpEnrolment, code: string, store?: Store): Promise<boolean>
  /**
   * Checks a code of the person's authenticator app. Returns `false` if it is wrong. A correct code
   * is used up: it is not accepted again, and neither are older codes.
   */
  useTotp(userId: string, code: string): Promise<boolean>
  /** Removes the authenticator app of a person. Returns `false` if the person had none. */
  removeTotp(userId: string): Promise<boolean>
  /** Adds a passkey: see `Passkeys.register()`. */
  addPasskey(
    userId: string,
    passkey: Parameters<Passkeys['register']>[1],
    store?: Store,
  ): Promise<void>
  /** Removes a passkey of a person. Returns `false` if the person has no passkey with this id. */
  removePasskey(userId: string, id: string): Promise<boolean>
  /**
   * Replaces the recovery codes. Returns the new ones, which are stored as hashes only. `store` runs
   * the write.
   */
  renewRecoveryCodes(userId: string, store?: Store): Promise<string[]>
  /**
   * Checks a recovery code of the person and uses it up. Returns `false` if it is wrong, or was
   * used before.
   */
  useRecoveryCode(userId: string, code: string): Promise<boolean>
  /** Removes all factors and recovery codes. The person is told at the next sign-in. */
  reset(userId: string): Promise<void>
  /** Whether an operator has removed the person's factors, and the person was not told yet. */
  wasReset(userId: string): Promise<boolean>
  /**
   * Returns when an operator removed the person's factors, and marks the person as told. `null` if
   * there is nothing to tell.
   */
  takeReset(userId: string): Promise<Date | null>
  /** Encrypts all secrets with the first secret of the service. Returns the number of changes. */
  reseal(): Promise<number>
  /** Returns the number of secrets that `reseal()` would change. */
  toReseal(): Promise<number>
}

/** How long a person may take to set up an authenticator app. */
const ENROLMENT = 60 * 60_000

export function createFactors(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly secrets: readonly string[]
  /** Public base URL of the service. */
  readonly url: string
  /** Name of the service, which authenticators show. */
  readonly serviceName: string
  /** Is called after each change, for notices to the person. */
  readonly onChange?: (change: FactorChange) => void
}): Factors {
  const { clock, serviceName, onChange = () => {} } = options
  const { database } = options
  const sealer = createSealer(options.secrets, 'TOTP secrets')
  const passkeys = createPasskeys(options)
  const hasTotp = database.statement<{ user: number }, { user_id: number }>((db, param) =>
    db.selectFrom('totp_factors').select('user_id').where('user_id', '=', param('user')),
  )
  const hasPasskey = database.statement<{ user: number }, { user_id: number }>((db, param) =>
    db.selectFrom('passkeys').select('user_id').where('user_id', '=', param('user')).limit(1),
  )

  const hasReset = database.statement<{ user: number }, { user_id: number }>((db, param) =>
    db.selectFrom('factor_resets').select('user_id').where('user_id', '=', param('user')),
  )

  const has = async (userId: string) => {
    const user = Number(userId)
    const [totp, passkey] = await Promise.all([hasTotp({ user }), hasPasskey({ user })])
    return totp.rows.length + passkey.rows.length > 0
  }

  const findTotp = (userId: string) =>
    database.kysely
      .selectFrom('totp_factors')
      .selectAll()
      .where('user_id', '=', Number(userId))
      .executeTakeFirst()

  /** Recovery codes replace a factor, so they go with the last one. */
  async function dropCodesWithoutFactor(userId: string): Promise<void> {
    if (await has(userId)) return
    await database.kysely
      .deleteFrom('recovery_codes')
      .where('user_id', '=', Number(userId))
      .execute()
  }

  const describe = (
    { id, email }: { readonly id: string; readonly email: string },
    secret: string,
    until: number,
  ): TotpEnrolment => ({
    secret,
    uri: buildTotpUri(secret, serviceName, email),
    sealed: sealer.close(JSON.stringify({ secret, until }), enrolmentOf(id)),
  })

  const outdated = async () => {
    const rows = await database.kysely.selectFrom('totp_factors').selectAll().execute()
    return rows.filter((row) => !sealer.isCurrent(row.sealed_secret, factorOf(row.user_id)))
  }

  return {
    passkeys,
    has,
    async list(userId) {
      const [totp, ownPasskeys, codes] = await Promise.all([
        findTotp(userId),
        passkeys.list(userId),
        database.kysely
          .selectFrom('recovery_codes')
          .select((eb) => eb.fn.countAll().as('count'))
          .where('user_id', '=', Number(userId))
          .where('used_at', 'is', null)
          .executeTakeFirstOrThrow(),
      ])
      return {
        passkeys: ownPasskeys,
        totp: totp ? totpTimes.fromRow(totp) : null,
        recoveryCodes: Number(codes.count),
      }
    },
    beginTotp: (user) => describe(user, createTotpSecret(), clock.now().getTime() + ENROLMENT),
    readTotp(user, sealed) {
      const text = sealer.open(sealed, enrolmentOf(user.id))
      if (text === null) return null
      const { secret, until } = JSON.parse(text) as { secret: string; until: number }
      return until > clock.now().getTime() ? describe(user, secret, until) : null
    },
    async addTotp(userId, { secret }, code, store = (write) => write()) {
      const now = clock.now()
      const step = findTotpStep(code, { secret, now, after: 0 })
      if (step === null) return false
      const row = totpFactorTable.toRow({
        userId: Number(userId),
        sealedSecret: sealer.close(secret, factorOf(userId)),
        // The code that was just typed must not sign anybody in.
        lastStep: step,
        createdAt: now,
        lastUsedAt: null,
      })
      try {
        await store(() => database.kysely.insertInto('totp_factors').values(row).execute())
      } catch (error) {
        if (isUniqueViolation(error)) return false
        throw error
      }
      onChange({ userId, change: 'totp-added' })
      return true
    },
    async useTotp(userId, code) {
      const row = await findTotp(userId)
      if (!row) return false
      const secret = sealer.open(row.sealed_secret, factorOf(userId))
      if (secret === null) {
        throw new Error(
          `The TOTP secret of user ${userId} was encrypted with a secret of the service that is not given`,
        )
      }
      const now = clock.now()
      const step = findTotpStep(code, { secret, now, after: row.last_step })
      if (step === null) return false
      // Of two requests with the same code, one changes the row.
      const { numUpdatedRows } = await database.kysely
        .updateTable('totp_factors')
        .set(totpUse.toChange({ lastStep: step, lastUsedAt: now }))
        .where('user_id', '=', row.user_id)
        .where('last_step', '<', step)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },
    async removeTotp(userId) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom('totp_factors')
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      const isRemoved = numDeletedRows > 0n
      if (isRemoved) onChange({ userId, change: 'totp-removed' })
      await dropCodesWithoutFactor(userId)
      return isRemoved
    },
    async addPasskey(userId, passkey, store) {
      await passkeys.register(userId, passkey, store)
      onChange({ userId, change: 'passkey-added' })
    },
    async removePasskey(userId, id) {
      const isRemoved = await passkeys.remove(userId, id)
      if (isRemoved) onChange({ userId, change: 'passkey-removed' })
      await dropCodesWithoutFactor(userId)
      return isRemoved
    },
    async renewRecoveryCodes(userId, store = (write) => write()) {
      const codes = createRecoveryCodes()
      const now = clock.now()
      const rows = codes.map((code) =>
        recoveryCodeTable.toRow({
          hash: hashRecoveryCode(userId, code) ?? '',
          userId: Number(userId),
          createdAt: now,
          usedAt: null,
        }),
      )
      // One at a time, so that two clicks leave one set of codes.
      await store(() =>
        database.exclusively(`recovery codes ${userId}`, async (tx) => {
          const own = tx.kysely.deleteFrom('recovery_codes').where('user_id', '=', Number(userId))
          await own.execute()
          await tx.kysely.insertInto('recovery_codes').values(rows).execute()
        }),
      )
      onChange({ userId, change: 'recovery-codes-created' })
      return codes
    },
    async useRecoveryCode(userId, code) {
      const hash = hashRecoveryCode(userId, code)
      if (hash === null) return false
      const { numUpdatedRows } = await database.kysely
        .updateTable('recovery_codes')
        .set(codeUse.toChange({ usedAt: clock.now() }))
        .where('hash', '=', hash)
        .where('user_id', '=', Number(userId))
        .where('used_at', 'is', null)
        .executeTakeFirst()
      if (numUpdatedRows === 0n) return false
      onChange({ userId, change: 'recovery-code-used' })
      return true
    },
    async reset(userId) {
      for (const table of FACTOR_TABLES) {
        await database.kysely.deleteFrom(table).where('user_id', '=', Number(userId)).execute()
      }
      const row = factorResetTable.toRow({ userId: Number(userId), resetAt: clock.now() })
      await insertIfAbsent(database, 'factor_resets', row)
      onChange({ userId, change: 'reset' })
    },
    async wasReset(userId) {
      const { rows } = await hasReset({ user: Number(userId) })
      return rows.length > 0
    },
    async takeReset(userId) {
      const row = await database.kysely
        .selectFrom('factor_resets')
        .selectAll()
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      if (!row) return null
      await database.kysely
        .deleteFrom('factor_resets')
        .where('user_id', '=', Number(userId))
        .execute()
      return factorResetTable.fromRow(row).resetAt
    },
    async reseal() {
      let resealed = 0
      for (const row of await outdated()) {
        const secret = sealer.open(row.sealed_secret, factorOf(row.user_id))
        if (secret === null) {
          throw new Error(
            `The TOTP secret of user ${row.user_id} was encrypted with a secret of the service that is not given`,
          )
        }
        const { numUpdatedRows } = await database.kysely
          .updateTable('totp_factors')
          .set({ sealed_secret: sealer.close(secret, factorOf(row.user_id)) })
          .where('user_id', '=', row.user_id)
          .where('sealed_secret', '=', row.sealed_secret)
          .executeTakeFirst()
        resealed += Number(numUpdatedRows)
      }
      return resealed
    },
    toReseal: async () => (await outdated()).length,
  }
}

const totpTimes = totpFactorTable.pick('created_at', 'last_used_at')
const totpUse = totpFactorTable.pick('last_step', 'last_used_at')
const codeUse = recoveryCodeTable.pick('used_at')

/** The context of an encrypted secret, which prevents its use for another account. */
const factorOf = (userId: string | number) => `factor of ${userId}`
const enrolmentOf = (userId: string) => `enrolment of ${userId}`
