import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { Clock } from '../clock.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import type { ClientRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ClientCache<Context = never> {
  /**
   * Finds a client by its database id. `null` if it is unknown or revoked. Returns a cached client
   * without a promise, as long as the revocation feed was read within the last second.
   */
  find(id: string): Awaitable<Client | null>
  /**
   * Finds a client by the `client_id` that it sent in a request. For most clients this is the
   * database id. Features provide finders for other clients, such as those whose `client_id` is a
   * URL.
   */
  findNamed(clientId: string, context: Context): Awaitable<Client | null>
}

/**
 * Finds clients whose `client_id` is not their database id, such as clients identified by the URL
 * of a metadata document. Returns `null` for ids of another form, and a promise of `null` if there
 * is no such client.
 */
export type ClientFinder<Context> = (
  clientId: string,
  context: Context,
) => Promise<Client | null> | null

export interface ClientCacheOptions<Context> {
  readonly feed: RevocationFeed
  readonly clock: Clock
  readonly finders: readonly ClientFinder<Context>[]
}

const CACHE_SIZE = 5000

/**
 * Creates a cache of clients. Changed clients are dropped from the cache when the revocation feed
 * announces the change.
 */
export function createClientCache<Context>(
  repository: ClientRepository,
  { feed, clock, finders }: ClientCacheOptions<Context>,
): ClientCache<Context> {
  const known = createRecentCache<Client>(CACHE_SIZE)
  let changes = 0
  const drop = (id: string) => {
    changes += 1
    known.delete(id)
  }
  feed.onNotice('client', drop)
  feed.onNotice('client-changed', drop)
  feed.onBreak(() => {
    changes += 1
    known.clear()
  })

  async function read(id: string): Promise<Client | null> {
    if (!feed.isFresh()) await feed.sync()
    const remembered = known.get(id)
    if (remembered) return unlessExpired(remembered)
    const changesBefore = changes
    const client = await repository.find(id)
    if (!client || client.revokedAt) return null
    // Must not cache what was read before a change was announced. Unused clients are not cached
    // either, because their eviction is not announced.
    const isUnused = client.settings.self_registered?.unused_until !== undefined
    if (changes === changesBefore && !isUnused) known.set(id, client)
    return unlessExpired(client)
  }

  /** Returns `null` for an unused client that has expired but is not deleted yet. */
  function unlessExpired(client: Client): Client | null {
    const until = client.settings.self_registered?.unused_until
    return until !== undefined && until <= clock.now().getTime() ? null : client
  }

  function find(id: string): Awaitable<Client | null> {
    if (!isPossibleId(id)) return null
    const remembered = feed.isFresh() ? known.get(id) : undefined
    return remembered ? unlessExpired(remembered) : read(id)
  }

  function findNamed(clientId: string, context: Context): Awaitable<Client | null> {
    for (const finder of finders) {
      const finding = finder(clientId, context)
      if (finding) return finding
    }
    return mapAwaitable(find(clientId), ignoreDocumentClient)
  }

  return { find, findNamed }
}

/**
 * Returns `null` for a client with a metadata document: only its URL is a valid `client_id`, whose
 * lookup also refreshes the document.
 */
function ignoreDocumentClient(client: Client | null): Client | null {
  return client?.settings.self_registered?.document === undefined ? client : null
}
