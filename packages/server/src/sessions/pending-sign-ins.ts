import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@tollgate/oauth'
import { deleteInBatches, pendingSignInTable, type ServiceDatabase } from '../storage/tables.ts'
import { changeWhile, type StillHolds } from './account-lock.ts'
import { readCookie, serializeCookie } from './cookie.ts'
import { parseMethods } from './methods.ts'

/** The step that is left before the session starts. */
export type PendingStep = 'second-factor' | 'enrolment'

/** A sign-in whose first factor was right. It gives access only to the pages of the second step. */
export interface PendingSignIn {
  readonly userId: string
  readonly step: PendingStep
  /** When the first factor was proved. */
  readonly authenticatedAt: Date
  /** The methods of the first factor. */
  readonly methods: readonly string[]
  readonly returnTo: string
  /**
   * The session that the second factor is added to, which must still be open. `null` if there is
   * none yet.
   */
  readonly sessionId: string | null
}

export interface FoundPendingSignIn extends PendingSignIn {
  /** Hash of the cookie's value, which identifies the sign-in in the database. */
  readonly id: string
}

export interface PendingSignIns {
  /**
   * Starts the second step. Returns the `Set-Cookie` header that binds it to the browser.
   * @throws SignInEnded if `stillHolds` returns `false`, or the account is gone.
   */
  start(pending: PendingSignIn, stillHolds?: StillHolds): Promise<string>
  /** Finds the pending sign-in of the browser. `null` if there is none, or it has expired. */
  find(cookieHeader: string | null): Promise<FoundPendingSignIn | null>
  /**
   * Ends a pending sign-in. Returns `false` if it was ended before, so that only one request
   * completes it.
   */
  end(id: string): Promise<boolean>
  /** Returns the `Set-Cookie` header that deletes the cookie. */
  forgetCookie(): string
  purge(): Promise<number>
}

/** Maximum time between the two steps, in milliseconds. */
const LIFETIME = 10 * 60_000
const ID = /^[\w-]{43}$/

export function createPendingSignIns(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly secure: boolean
}): PendingSignIns {
  const { clock, secure, database } = options
  const name = secure ? '__Host-tollgate_sign_in' : 'tollgate_sign_in'

  return {
    async start(begun, stillHolds = async () => true) {
      const { userId, step, authenticatedAt, methods, returnTo, sessionId } = begun
      const id = randomBytes(32).toString('base64url')
      const row = pendingSignInTable.toRow({
        idHash: sha256(id),
        userId: Number(userId),
        step,
        authenticatedAt,
        methods: methods.join(' '),
        returnTo,
        sessionHash: sessionId,
        expiresAt: new Date(clock.now().getTime() + LIFETIME),
      })
      await changeWhile({ database, userId }, stillHolds, () =>
        database.kysely.insertInto('pending_sign_ins').values(row).execute(),
      )
      return serializeCookie({ name, value: id, maxAgeSeconds: LIFETIME / 1000, secure })
    },
    async find(cookieHeader) {
      const id = readCookie(cookieHeader, name)
      if (id === null || !ID.test(id)) return null
      const row = await database.kysely
        .selectFrom('pending_sign_ins')
        .selectAll()
        .where('id_hash', '=', sha256(id))
        .where('expires_at', '>', clock.now().getTime())
        .executeTakeFirst()
      if (!row) return null
      const { idHash, userId, methods, step, ...rest } = pendingSignInTable.fromRow(row)
      const { authenticatedAt, returnTo, sessionHash: sessionId } = rest
      return {
        authenticatedAt,
        returnTo,
        sessionId,
        id: idHash,
        userId: String(userId),
        methods: parseMethods(methods),
        step: step === 'enrolment' ? 'enrolment' : 'second-factor',
      }
    },
    async end(id) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom('pending_sign_ins')
        .where('id_hash', '=', id)
        .executeTakeFirst()
      return numDeletedRows > 0n
    },
    forgetCookie: () => serializeCookie({ name, value: '', maxAgeSeconds: 0, secure }),
    purge() {
      const now = (clock.settled?.() ?? clock.now()).getTime()
      return deleteInBatches(database, {
        table: 'pending_sign_ins',
        key: 'id_hash',
        where: (eb) => eb('expires_at', '<=', now),
      })
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
