import { createHash, randomBytes } from 'node:crypto'
import { type Database, deleteBatch } from '@tollgate/database'
import type { Clock } from '@tollgate/oauth'
import { type ServiceTables, type SessionRow, sessionTable } from '../storage/tables.ts'
import { readCookie, serializeCookie } from './cookie.ts'

/** Who is signed in, by which session. */
export interface SignedInSession {
  readonly userId: string
  /** The stored hash: it names the session and opens nothing. */
  readonly sessionId: string
  /** When it began, which takes a password. */
  readonly startedAt: Date
}

/** From where somebody signs in. */
export interface SessionPlace {
  readonly address: string | null
  /** In words, by `describeBrowser()`. */
  readonly browser: string | null
}

/** A session as its owner sees it. */
export interface OwnSession extends SessionPlace {
  /** The stored hash: it names the session and opens nothing. */
  readonly id: string
  readonly startedAt: Date
  /** To within ten minutes. */
  readonly seenAt: Date
}

export interface Sessions {
  /** A new session under a new id, and the `Set-Cookie` header. The one the browser came with is for the caller to end. */
  start(
    userId: string,
    place: SessionPlace,
  ): Promise<{ readonly sessionId: string; readonly cookie: string }>
  /** Those of a person that are open, the last used first. */
  list(userId: string): Promise<OwnSession[]>
  /** Ends one that belongs to this person; false when there is none. */
  endOwn(userId: string, sessionId: string): Promise<boolean>
  find(cookieHeader: string | null): Promise<SignedInSession | null>
  /** Ends the session on the server; gives the header that clears the cookie. */
  end(cookieHeader: string | null): Promise<{ readonly cookie: string }>
  /** After a change of password. The ids of what ended. */
  endAll(userId: string): Promise<string[]>
  /** After a restored backup. How many. */
  endEveryone(): Promise<number>
  count(): Promise<number>
  purge(): Promise<number>
}

const DAY = 24 * 3600 * 1000
/** A session ends after so long, however busy. */
const LONGEST = 30 * DAY
/** And when nobody has used it for so long. */
const IDLE = 7 * DAY
/** Noting each request would be a write for each page. */
const NOTED_EVERY = 10 * 60 * 1000
const PURGED_AT_ONCE = 500
const ID = /^[\w-]{43}$/

export function createSessions(options: {
  readonly database: Database
  readonly clock: Clock
  readonly secure: boolean
}): Sessions {
  const { clock, secure } = options
  const database = options.database as unknown as Database<ServiceTables>
  // A `__Host-` cookie cannot be planted by a neighbouring host.
  const name = secure ? '__Host-tollgate_session' : 'tollgate_session'
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

  return {
    async start(userId, { address, browser }) {
      const id = randomBytes(32).toString('base64url')
      const now = clock.now()
      const session = sessionTable.toRow({
        idHash: sha256(id),
        userId: Number(userId),
        createdAt: now,
        seenAt: now,
        expiresAt: new Date(now.getTime() + LONGEST),
        address: address?.slice(0, 64) ?? null,
        browser: browser?.slice(0, 100) ?? null,
      })
      await database.kysely.insertInto('sessions').values(session).execute()
      const cookie = serializeCookie({ name, value: id, maxAgeSeconds: LONGEST / 1000, secure })
      return { sessionId: session.id_hash, cookie }
    },
    async list(userId) {
      const now = clock.now().getTime()
      const rows = await database.kysely
        .selectFrom('sessions')
        .selectAll()
        .where('user_id', '=', Number(userId))
        .where('expires_at', '>', now)
        .where('seen_at', '>', now - IDLE)
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
      if (!row || row.expires_at <= now || row.seen_at + IDLE <= now) return null
      if (row.seen_at + NOTED_EVERY <= now) {
        await database.kysely
          .updateTable('sessions')
          .set({ seen_at: now })
          .where('id_hash', '=', hash)
          .execute()
      }
      return {
        userId: String(row.user_id),
        sessionId: hash,
        startedAt: new Date(row.created_at),
      }
    },
    async end(cookieHeader) {
      const cookie = serializeCookie({ name, value: '', maxAgeSeconds: 0, secure })
      const hash = hashOf(cookieHeader)
      if (hash !== null) await remove(hash)
      return { cookie }
    },
    async endAll(userId) {
      const rows = await database.kysely
        .selectFrom('sessions')
        .select('id_hash')
        .where('user_id', '=', Number(userId))
        .execute()
      for (const row of rows) await remove(row.id_hash)
      return rows.map((row) => row.id_hash)
    },
    async endEveryone() {
      let total = 0
      for (;;) {
        const deleted = await deleteBatch(options.database, {
          table: 'sessions',
          key: 'id_hash',
          where: (eb) => eb('id_hash', 'is not', null),
          limit: PURGED_AT_ONCE,
        })
        total += deleted
        if (deleted === 0) return total
      }
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
      let total = 0
      for (;;) {
        const deleted = await deleteBatch(options.database, {
          table: 'sessions',
          key: 'id_hash',
          where: (eb) => eb('expires_at', '<=', now),
          limit: PURGED_AT_ONCE,
        })
        total += deleted
        if (deleted < PURGED_AT_ONCE) return total
      }
    },
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
