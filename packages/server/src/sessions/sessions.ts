import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@tollgate/oauth'
import {
  deleteInBatches,
  type ServiceDatabase,
  type SessionRow,
  sessionTable,
} from '../storage/tables.ts'
import { changeWhile, type StillHolds } from './account-lock.ts'
import { readCookie, serializeCookie } from './cookie.ts'
import { parseMethods } from './methods.ts'
import { createPendingSignIns, type PendingSignIns } from './pending-sign-ins.ts'

/** A valid session and its user. */
export interface SignedInSession {
  readonly userId: string
  /** Hash of the cookie's value, which identifies the session in the database. */
  readonly sessionId: string
  /** When the person signed in. A second factor that is added later does not change it. */
  readonly authenticatedAt: Date
  /** The methods of the sign-in (`amr`), such as `['pwd']`. */
  readonly methods: readonly string[]
}

/** How and when a person signed in. */
export interface Authentication {
  /** The methods of the sign-in (`amr`), such as `['pwd']`. */
  readonly methods: readonly string[]
  /** When the person signed in. @default now */
  readonly authenticatedAt?: Date
}

/** Network address and browser from which a session was started. */
export interface SessionPlace {
  readonly address: string | null
  /** Description of the browser: see `describeBrowser()`. */
  readonly browser: string | null
}

/** A session as its owner sees it. */
export interface OwnSession extends SessionPlace {
  /** Hash of the cookie's value, which identifies the session in the database. */
  readonly id: string
  readonly startedAt: Date
  /** Time of the last request, accurate to ten minutes. */
  readonly seenAt: Date
}

export interface Sessions {
  /** Sign-ins that wait for their second factor. */
  readonly pending: PendingSignIns
  /**
   * Starts a session with a new id. Returns it with the `Set-Cookie` header. The caller ends the
   * browser's previous session.
   * @throws SignInEnded if `stillHolds` returns `false`, or the account is gone.
   */
  start(
    userId: string,
    place: SessionPlace & Authentication,
    stillHolds?: StillHolds,
  ): Promise<{ readonly sessionId: string; readonly cookie: string }>
  /**
   * Runs `change` in a transaction in which the session or pending sign-in `id` cannot be ended. For
   * whatever must not be left behind by a request that a new password has overtaken (threat Q11).
   * @throws SignInEnded if it was ended before.
   */
  whileOpen<T>(userId: string, id: string, change: () => Promise<T>): Promise<T>
  /** Whether the person has an open session or a pending sign-in with this id. */
  isOpen(userId: string, id: string): Promise<boolean>
  /** Lists the person's open sessions, most recently used first. */
  list(userId: string): Promise<OwnSession[]>
  /** Ends a session of this person. Returns `false` if the person has no session with this id. */
  endOwn(userId: string, sessionId: string): Promise<boolean>
  find(cookieHeader: string | null): Promise<SignedInSession | null>
  /**
   * Ends the session in the `Cookie` header. Returns the `Set-Cookie` header that deletes the
   * cookie.
   */
  end(cookieHeader: string | null): Promise<{ readonly cookie: string }>
  /**
   * Ends all sessions and pending sign-ins of a person, for example after a change of password.
   * Returns the ids of the sessions.
   */
  endAll(userId: string): Promise<string[]>
  /**
   * Ends the sessions of all people, for example after a backup was restored. Returns the number of
   * sessions.
   */
  endEveryone(): Promise<number>
  count(): Promise<number>
  purge(): Promise<number>
}

const DAY = 24 * 3600 * 1000
/** Maximum lifetime of a session. */
const MAX_LIFETIME = 30 * DAY
/** Maximum time between two requests of a session. */
const MAX_IDLE = 7 * DAY
/** Interval at which the last use is stored, to avoid a write on each request. */
const UPDATE_INTERVAL = 10 * 60 * 1000
const ID = /^[\w-]{43}$/

const alwaysHolds: StillHolds = async () => true

/** The name of the cookie with the session. */
export function sessionCookieName(secure: boolean): string {
  // Another subdomain cannot set a `__Host-` cookie.
  return secure ? '__Host-tollgate_session' : 'tollgate_session'
}

export function createSessions(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
  readonly secure: boolean
  /**
   * Whether sessions without a second factor count as signed out.
   * @default false
   */
  readonly requiresMfa?: boolean
}): Sessions {
  const { clock, secure, requiresMfa = false, database } = options
  const name = sessionCookieName(secure)
  const byHash = database.statement<{ hash: string }, SessionRow>((db, param) =>
    db.selectFrom('sessions').selectAll().where('id_hash', '=', param('hash')),
  )

  function hashOf(cookieHeader: string | null): string | null {
    const id = readCookie(cookieHeader, name)
    return id !== null && ID.test(id) ? sha256(id) : null
  }

  async function remove(hash: string): Promise<void> {
    await database.kysely.deleteFrom('sessions').where('id_hash', '=', hash).execute()
  }

  async function isOpen(userId: string, id: string): Promise<boolean> {
    for (const table of ['sessions', 'pending_sign_ins'] as const) {
      const row = await database.kysely
        .selectFrom(table)
        .select('id_hash')
        .where('id_hash', '=', id)
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      if (row) return true
    }
    return false
  }

  const removeWhere = (where: Parameters<typeof deleteInBatches>[1]['where']) =>
    deleteInBatches(database, { table: 'sessions', key: 'id_hash', where })

  const pending = createPendingSignIns(options)

  return {
    pending,
    async start(userId, place, stillHolds = alwaysHolds) {
      const { address, browser, methods, authenticatedAt } = place
      const id = randomBytes(32).toString('base64url')
      const now = clock.now()
      const signedInAt = authenticatedAt ?? now
      const session = sessionTable.toRow({
        idHash: sha256(id),
        userId: Number(userId),
        createdAt: now,
        seenAt: now,
        expiresAt: new Date(signedInAt.getTime() + MAX_LIFETIME),
        address: address?.slice(0, 64) ?? null,
        browser: browser?.slice(0, 100) ?? null,
        authenticatedAt: signedInAt,
        methods: methods.join(' '),
      })
      await changeWhile({ database, userId }, stillHolds, () =>
        database.kysely.insertInto('sessions').values(session).execute(),
      )
      const cookie = serializeCookie({
        name,
        value: id,
        maxAgeSeconds: MAX_LIFETIME / 1000,
        secure,
      })
      return { sessionId: session.id_hash, cookie }
    },
    whileOpen: (userId, id, change) =>
      changeWhile({ database, userId }, () => isOpen(userId, id), change),
    isOpen,
    async list(userId) {
      const now = clock.now().getTime()
      const rows = await database.kysely
        .selectFrom('sessions')
        .selectAll()
        .where('user_id', '=', Number(userId))
        .where('expires_at', '>', now)
        .where('seen_at', '>', now - MAX_IDLE)
        .orderBy('seen_at', 'desc')
        .orderBy('id_hash')
        .execute()
      return rows.map(sessionTable.fromRow).map(({ idHash: id, createdAt: startedAt, ...rest }) => {
        const { seenAt, address, browser } = rest
        return { id, startedAt, seenAt, address, browser }
      })
    },
    async endOwn(userId, sessionId) {
      const { numDeletedRows } = await database.kysely
        .deleteFrom('sessions')
        .where('id_hash', '=', sessionId)
        .where('user_id', '=', Number(userId))
        .executeTakeFirst()
      return Number(numDeletedRows) > 0
    },
    async find(cookieHeader) {
      const hash = hashOf(cookieHeader)
      if (hash === null) return null
      const [row] = (await byHash({ hash })).rows
      const now = clock.now().getTime()
      if (!row || row.expires_at <= now || row.seen_at + MAX_IDLE <= now) return null
      const methods = parseMethods(row.methods)
      if (requiresMfa && !methods.includes('mfa')) return null
      if (row.seen_at + UPDATE_INTERVAL <= now) {
        await database.kysely
          .updateTable('sessions')
          .set({ seen_at: now })
          .where('id_hash', '=', hash)
          .execute()
      }
      return {
        userId: String(row.user_id),
        sessionId: hash,
        authenticatedAt: new Date(row.authenticated_at),
        methods,
      }
    },
    async end(cookieHeader) {
      const cookie = serializeCookie({ name, value: '', maxAgeSeconds: 0, secure })
      const hash = hashOf(cookieHeader)
      if (hash !== null) await remove(hash)
      return { cookie }
    },
    async endAll(userId) {
      await database.kysely
        .deleteFrom('pending_sign_ins')
        .where('user_id', '=', Number(userId))
        .execute()
      const rows = await database.kysely
        .selectFrom('sessions')
        .select('id_hash')
        .where('user_id', '=', Number(userId))
        .execute()
      for (const row of rows) await remove(row.id_hash)
      return rows.map((row) => row.id_hash)
    },
    async endEveryone() {
      await database.kysely.deleteFrom('pending_sign_ins').execute()
      return removeWhere((eb) => eb('id_hash', 'is not', null))
    },
    async count() {
      const { count } = await database.kysely
        .selectFrom('sessions')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('expires_at', '>', clock.now().getTime())
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    async purge() {
      const now = (clock.settled?.() ?? clock.now()).getTime()
      await pending.purge()
      return removeWhere((eb) => eb('expires_at', '<=', now))
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
