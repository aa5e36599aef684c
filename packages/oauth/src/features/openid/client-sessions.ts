import { createRecentCache } from '../../caches/recent-cache.ts'
import type { ServerContext } from '../../context.ts'
import { YEAR } from '../../lifetimes.ts'
import type { SignInDetails } from '../../storage/details.ts'
import type { Client, SessionSelector } from '../../storage/records.ts'

/** Remembers which clients took part in a session, because they have to be told of its end. */
export interface ClientSessions {
  /** A client gets an ID token: its first of this session, or one more when it refreshes. */
  note(told: ToldClient): Promise<void>
  /** Puts a logout for each client into the queue. */
  end(selector: SessionSelector): Promise<void>
}

export interface ToldClient {
  readonly client: Client
  readonly userId: string
  readonly signIn: SignInDetails | undefined
  /** False when a token is refreshed: a session that has ended does not come back by it. */
  readonly isFirst: boolean
}

/** Nobody's session is that long without another ID token. */
const KEPT = YEAR * 1000
/** Noting each ID token would be a write for each. */
const NOTED_EVERY = 3600 * 1000
const REMEMBERED = 10_000
const BATCH = 200

export function createClientSessions(
  giveUpAfter: number,
  context: ServerContext,
  onQueued: () => void,
): ClientSessions {
  const { feed, clock, logger } = context
  const { sessions } = context.storage
  /** Session → client → when it was last written down here. */
  const noted = createRecentCache<Map<string, number>>(REMEMBERED)

  async function end(selector: SessionSelector): Promise<void> {
    const dueAt = clock.now()
    const when = { dueAt, expiresAt: new Date(dueAt.getTime() + giveUpAfter * 1000) }
    let total = 0
    for (;;) {
      const ended = await sessions.end(selector, when, BATCH)
      total += ended
      if (ended < BATCH) break
    }
    if (total > 0) onQueued()
  }

  /** Another process may end a session just before a client is written down here. */
  feed.onNotice('session', (sessionId) => {
    if (!noted.get(sessionId)) return
    noted.delete(sessionId)
    end({ sessionId }).catch((error) =>
      logger.error('The clients of a session could not be told of its end', error),
    )
  })
  // Who is signed in by the same session again has to be written down again.
  feed.onNotice('user', noted.clear)
  feed.onNotice('everyone', noted.clear)

  /** Whether it was noted so lately that it need not be again. */
  function isNoted(sessionId: string, name: string, now: number): boolean {
    const before = noted.get(sessionId)?.get(name)
    return before !== undefined && now - before < NOTED_EVERY
  }

  /** Only what was written is: a client that is not would never be told. */
  function remember(sessionId: string, name: string, now: number): void {
    noted.set(sessionId, (noted.get(sessionId) ?? new Map<string, number>()).set(name, now))
  }

  return {
    end,
    async note({ client, userId, signIn, isFirst }) {
      const { sid, session } = signIn ?? {}
      if (sid === undefined || session === undefined) return
      const now = clock.now()
      if (isNoted(session, client.id, now.getTime())) return
      const liveUntil = new Date(now.getTime() + KEPT)
      if (!isFirst) {
        // Perhaps of a session that has ended: that it was refreshed does not mean that it is written down.
        const refreshed = `refreshed ${client.id}`
        if (isNoted(session, refreshed, now.getTime())) return
        await sessions.touch(sid, now, liveUntil)
        remember(session, refreshed, now.getTime())
        return
      }
      const row = { sid, sessionId: session, clientId: client.id, userId }
      const isNew = await sessions.add({ ...row, createdAt: now, seenAt: now, liveUntil })
      if (!isNew) await sessions.touch(sid, now, liveUntil)
      remember(session, client.id, now.getTime())
      // It may have ended while the code was on its way; an end not known here yet comes by the feed.
      if (!feed.isRevoked('session', session)) return
      noted.delete(session)
      await end({ sessionId: session })
    },
  }
}
