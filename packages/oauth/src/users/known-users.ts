import { createRecentCache } from '../caches/recent-cache.ts'
import { TemporarilyUnavailable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { withinPatience } from './patience.ts'
import type { Users } from './users.ts'

/** An answer may be relied on for so long, and is not asked for again before. In milliseconds. */
const GOOD_FOR = 1000
const REMEMBERED_USERS = 20_000
const MOST_AT_ONCE = 500

/** What the application last said of a person. */
export interface KnownUser {
  readonly id: string
  said: 'exists' | 'gone' | 'failed' | null
  /** When it was asked, by monotonic time. */
  askedAt: number
  asking: Promise<boolean> | null
}

export interface KnownUsers {
  of(userId: string): KnownUser
  /** Whether the person existed less than a second ago: without a question and without a promise. */
  isCurrent(user: KnownUser): boolean
  /** Whether the person exists, by an answer that is at most a second old. Fails closed. */
  exists(user: KnownUser): Promise<boolean>
  /** The same, asked now. */
  existsNow(userId: string): Promise<boolean>
}

export interface KnownUsersOptions {
  readonly users: Pick<Users, 'findById' | 'findByIds'>
  readonly logger: Logger
}

/**
 * Tokens outlive people, and the application may forget to say that one is gone. So it is asked, once a
 * second at most for each person whose tokens are in use, and never once for each request.
 */
export function createKnownUsers({ users, logger }: KnownUsersOptions): KnownUsers {
  const seen = createRecentCache<KnownUser>(REMEMBERED_USERS)
  const find = users.findByIds ? findTogether(users) : async (id: string) => found(users, id)

  async function ask(user: KnownUser): Promise<boolean> {
    user.askedAt = performance.now()
    try {
      const exists = await withinPatience('users.findById()', find(user.id))
      user.said = exists ? 'exists' : 'gone'
      return exists
    } catch (cause) {
      user.said = 'failed'
      logger.error('The application could not say whether a user still exists', cause)
      throw unavailable(cause)
    } finally {
      user.asking = null
    }
  }

  async function exists(user: KnownUser): Promise<boolean> {
    if (user.asking) return user.asking
    if (performance.now() - user.askedAt < GOOD_FOR) {
      if (user.said === 'failed') throw unavailable()
      return user.said === 'exists'
    }
    user.asking = ask(user)
    return user.asking
  }

  function of(userId: string): KnownUser {
    const known = seen.get(userId) ?? neverAsked(userId)
    seen.set(userId, known)
    return known
  }

  return {
    of,
    exists,
    isCurrent: (user) => user.said === 'exists' && performance.now() - user.askedAt < GOOD_FOR,
    existsNow: (userId) => ask(neverAsked(userId)),
  }
}

function neverAsked(id: string): KnownUser {
  return { id, said: null, askedAt: Number.NEGATIVE_INFINITY, asking: null }
}

async function found(users: Pick<Users, 'findById'>, id: string): Promise<boolean> {
  return (await users.findById(id)) != null
}

/** Those asked for in the same turn of the event loop go in one question. */
function findTogether(users: Pick<Users, 'findByIds'>): (id: string) => Promise<boolean> {
  let upcoming: { readonly ids: Set<string>; readonly found: Promise<ReadonlySet<string>> } | null =
    null

  async function findAll(ids: Set<string>): Promise<ReadonlySet<string>> {
    await new Promise((resolve) => setImmediate(resolve))
    if (upcoming?.ids === ids) upcoming = null
    const records = (await users.findByIds?.([...ids])) ?? []
    return new Set(records.map(({ id }) => String(id)))
  }

  return async (id) => {
    if (!upcoming || upcoming.ids.size >= MOST_AT_ONCE) {
      const ids = new Set<string>()
      upcoming = { ids, found: findAll(ids) }
    }
    upcoming.ids.add(id)
    return (await upcoming.found).has(id)
  }
}

function unavailable(cause?: unknown): TemporarilyUnavailable {
  return new TemporarilyUnavailable('The service cannot check users right now', { cause })
}
