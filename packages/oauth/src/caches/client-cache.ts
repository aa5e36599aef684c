import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { Clock } from '../clock.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import type { ClientRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ClientCache<Context = never> {
  /** Null when unknown or revoked. From memory, and without a promise, while the feed is fresh. */
  find(id: string): Awaitable<Client | null>
  /** By what the client itself says who it is, in the request that the context is of. For most that is the same. */
  findNamed(clientId: string, context: Context): Awaitable<Client | null>
}

/** Knows clients that are not looked for by their id; null when it is not one of those. */
export type ClientFinder<Context> = (
  clientId: string,
  context: Context,
) => Promise<Client | null> | null

export interface ClientCacheOptions<Context> {
  readonly feed: RevocationFeed
  readonly clock: Clock
  readonly finders: readonly ClientFinder<Context>[]
}

const REMEMBERED_CLIENTS = 5000

/** Client records hardly change, and the feed that carries revocations says when they do. */
export function createClientCache<Context>(
  repository: ClientRepository,
  { feed, clock, finders }: ClientCacheOptions<Context>,
): ClientCache<Context> {
  const known = createRecentCache<Client>(REMEMBERED_CLIENTS)
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
    if (remembered) return unlessOver(remembered)
    const changesBefore = changes
    const client = await repository.find(id)
    if (!client || client.revokedAt) return null
    // What was read before a change was announced must not be remembered after it. A client that nobody has used yet
    // may be evicted, which is not announced.
    const isUnused = client.settings.self_registered?.unused_until !== undefined
    if (changes === changesBefore && !isUnused) known.set(id, client)
    return unlessOver(client)
  }

  /** One that has registered itself and was never used is gone before its row is. */
  function unlessOver(client: Client): Client | null {
    const until = client.settings.self_registered?.unused_until
    return until !== undefined && until <= clock.now().getTime() ? null : client
  }

  function find(id: string): Awaitable<Client | null> {
    if (!isPossibleId(id)) return null
    const remembered = feed.isFresh() ? known.get(id) : undefined
    return remembered ? unlessOver(remembered) : read(id)
  }

  function findNamed(clientId: string, context: Context): Awaitable<Client | null> {
    for (const finder of finders) {
      const finding = finder(clientId, context)
      if (finding) return finding
    }
    return mapAwaitable(find(clientId), unlessByDocument)
  }

  return { find, findNamed }
}

/** Whoever has a document is known by its address alone: there it is looked at again and again. */
function unlessByDocument(client: Client | null): Client | null {
  return client?.settings.self_registered?.document === undefined ? client : null
}
