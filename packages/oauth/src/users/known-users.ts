import { createRecentCache } from '../caches/recent-cache.ts'
import { TemporarilyUnavailable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { withHookTimeout } from './hook-timeout.ts'
import type { UserProvider, UserProviders } from './providers.ts'

/** How long an answer of the application is used before it is asked again, in milliseconds. */
const ANSWER_LIFETIME = 1000
const CACHE_SIZE = 20_000
const MAX_BATCH_SIZE = 500

/** A cached answer of the application to the question whether a user exists. */
export interface CachedUser {
  readonly id: string
  lastAnswer: 'exists' | 'gone' | 'failed' | null
  /** When the application was last asked about the user, by the monotonic clock in milliseconds. */
  askedAt: number
  pending: Promise<boolean> | null
}

export interface UserExistenceCache {
  of(userId: string): CachedUser
  /**
   * Whether the application confirmed less than a second ago that the user exists. Does not ask the
   * application.
   */
  isCurrent(user: CachedUser): boolean
  /**
   * Whether the user exists, according to an answer at most one second old.
   * @throws TemporarilyUnavailable if the application does not answer
   */
  exists(user: CachedUser): Promise<boolean>
  /**
   * Whether the user exists. Always asks the application.
   * @throws TemporarilyUnavailable if the application does not answer
   */
  existsNow(userId: string): Promise<boolean>
}

export interface UserExistenceCacheOptions {
  readonly providers: Pick<UserProviders, 'all' | 'locate'>
  readonly logger: Logger
}

/**
 * Creates a cache of whether users still exist, because the application may not report that it has
 * deleted a user. Asks the application at most once per second for each user whose tokens are in
 * use, instead of on every request.
 */
export function createUserExistenceCache({
  providers,
  logger,
}: UserExistenceCacheOptions): UserExistenceCache {
  const seen = createRecentCache<CachedUser>(CACHE_SIZE)
  const finders = new Map(providers.all.map((provider) => [provider, createUserFinder(provider)]))

  /** Asks the application. `false` if the user's provider no longer exists. */
  async function find(key: string): Promise<boolean> {
    const located = providers.locate(key)
    return (located && (await finders.get(located.provider)?.(located.id))) ?? false
  }

  async function ask(user: CachedUser): Promise<boolean> {
    user.askedAt = performance.now()
    try {
      const exists = await withHookTimeout('users.findById()', find(user.id))
      user.lastAnswer = exists ? 'exists' : 'gone'
      return exists
    } catch (cause) {
      user.lastAnswer = 'failed'
      logger.error('The application failed to look up whether a user still exists', cause)
      throw unavailable(cause)
    } finally {
      user.pending = null
    }
  }

  async function exists(user: CachedUser): Promise<boolean> {
    if (user.pending) return user.pending
    if (performance.now() - user.askedAt < ANSWER_LIFETIME) {
      if (user.lastAnswer === 'failed') throw unavailable()
      return user.lastAnswer === 'exists'
    }
    user.pending = ask(user)
    return user.pending
  }

  function of(userId: string): CachedUser {
    const known = seen.get(userId)
    if (known) return known
    const added = createUncheckedUser(userId)
    seen.set(userId, added)
    return added
  }

  return {
    of,
    exists,
    isCurrent: (user) =>
      user.lastAnswer === 'exists' && performance.now() - user.askedAt < ANSWER_LIFETIME,
    existsNow: (userId) => ask(createUncheckedUser(userId)),
  }
}

function createUncheckedUser(id: string): CachedUser {
  return { id, lastAnswer: null, askedAt: Number.NEGATIVE_INFINITY, pending: null }
}

function createUserFinder({ users }: UserProvider): (id: string) => Promise<boolean> {
  return users.findByIds ? findTogether(users) : async (id) => (await users.findById(id)) != null
}

/** Combines the lookups made in one turn of the event loop into one call of `findByIds()`. */
function findTogether(users: UserProvider['users']): (id: string) => Promise<boolean> {
  let upcoming: { readonly ids: Set<string>; readonly found: Promise<ReadonlySet<string>> } | null =
    null

  async function findAll(ids: Set<string>): Promise<ReadonlySet<string>> {
    await new Promise((resolve) => setImmediate(resolve))
    if (upcoming?.ids === ids) upcoming = null
    const records = (await users.findByIds?.([...ids])) ?? []
    return new Set(records.map(({ id }) => String(id)))
  }

  return async (id) => {
    if (!upcoming || upcoming.ids.size >= MAX_BATCH_SIZE) {
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
