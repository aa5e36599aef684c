import { createRecentCache } from '../../caches/recent-cache.ts'
import type { ServerContext } from '../../context.ts'
import { SECONDS_PER_YEAR } from '../../lifetimes.ts'
import type { SignInDetails } from '../../storage/details.ts'
import type { Client, SessionSelector } from '../../storage/records.ts'

/**
 * Records which clients took part in a session of the application. Those clients are notified when
 * it ends.
 */
export interface ClientSessions {
  /**
   * Records that a client gets an ID token for a session: the first one, or another one on refresh.
   */
  record(sessionClient: SessionClient): Promise<void>
  /** Queues a logout for each client of the ended sessions. */
  end(selector: SessionSelector): Promise<void>
}

export interface SessionClient {
  readonly client: Client
  readonly userId: string
  readonly signIn: SignInDetails | undefined
  /**
   * Whether this is the first ID token of the client in this session. `false` on refresh, which
   * must not record a session that has already ended.
   */
  readonly isFirst: boolean
}

/** Longest time, in milliseconds, that a session is kept without another ID token. */
const MAX_SESSION_AGE = SECONDS_PER_YEAR * 1000
/** Minimum time in milliseconds between two updates of a row, to avoid one write per ID token. */
const TOUCH_INTERVAL = 3600 * 1000
const CACHE_SIZE = 10_000
const BATCH_SIZE = 200

export function createClientSessions(
  giveUpAfter: number,
  context: ServerContext,
  onQueued: () => void,
): ClientSessions {
  const { feed, clock, logger } = context
  const { sessions } = context.storage
  /** When this process last wrote a client's row, by session and client. */
  const recorded = createRecentCache<Map<string, number>>(CACHE_SIZE)

  async function end(selector: SessionSelector): Promise<void> {
    const dueAt = clock.now()
    const when = { dueAt, expiresAt: new Date(dueAt.getTime() + giveUpAfter * 1000) }
    let total = 0
    for (;;) {
      const ended = await sessions.end(selector, when, BATCH_SIZE)
      total += ended
      if (ended < BATCH_SIZE) break
    }
    if (total > 0) onQueued()
  }

  /**
   * Another process may end a session just before this one records a client, whose logout would
   * then be missing.
   */
  feed.onNotice('session', (sessionId) => {
    if (!recorded.get(sessionId)) return
    recorded.delete(sessionId)
    end({ sessionId }).catch((error) =>
      logger.error('The clients of a session could not be notified that it has ended', error),
    )
  })
  // A new sign-in in the same session has to be recorded again.
  feed.onNotice('user', recorded.clear)
  feed.onNotice('everyone', recorded.clear)

  /** Whether the row was written so recently that no write is needed. */
  function isRecorded(sessionId: string, name: string, now: number): boolean {
    const before = recorded.get(sessionId)?.get(name)
    return before !== undefined && now - before < TOUCH_INTERVAL
  }

  /**
   * Remembers that the row was written. Must not be called before the write, because a client that
   * is not recorded would never be notified.
   */
  function remember(sessionId: string, name: string, now: number): void {
    recorded.set(sessionId, (recorded.get(sessionId) ?? new Map<string, number>()).set(name, now))
  }

  return {
    end,
    async record({ client, userId, signIn, isFirst }) {
      const { sid, session } = signIn ?? {}
      if (sid === undefined || session === undefined) return
      const now = clock.now()
      if (isRecorded(session, client.id, now.getTime())) return
      const liveUntil = new Date(now.getTime() + MAX_SESSION_AGE)
      if (!isFirst) {
        // The session may already have ended, so a refresh does not count as a recorded row.
        const refreshed = `refreshed ${client.id}`
        if (isRecorded(session, refreshed, now.getTime())) return
        await sessions.touch(sid, now, liveUntil)
        remember(session, refreshed, now.getTime())
        return
      }
      const row = { sid, sessionId: session, clientId: client.id, userId }
      const isNew = await sessions.add({ ...row, createdAt: now, seenAt: now, liveUntil })
      if (!isNew) await sessions.touch(sid, now, liveUntil)
      remember(session, client.id, now.getTime())
      // The session may have ended before the code was exchanged. If this process does not know
      // yet, the revocation feed will report it.
      if (!feed.isRevoked('session', session)) return
      recorded.delete(session)
      await end({ sessionId: session })
    },
  }
}
