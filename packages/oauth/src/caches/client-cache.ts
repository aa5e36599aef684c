import type { Awaitable } from '../awaitable.ts'
import type { RevocationFeed } from '../revocations/feed.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import type { ClientRepository } from '../storage/repositories.ts'
import { createRecentCache } from './recent-cache.ts'

export interface ClientCache {
  /** Null when unknown or revoked. From memory, and without a promise, while the feed is fresh. */
  find(id: string): Awaitable<Client | null>
}

const REMEMBERED_CLIENTS = 5000

/** Client records hardly change, and the feed that carries revocations says when they do. */
export function createClientCache(repository: ClientRepository, feed: RevocationFeed): ClientCache {
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
    if (remembered) return remembered
    const changesBefore = changes
    const client = await repository.find(id)
    if (!client || client.revokedAt) return null
    // What was read before a change was announced must not be remembered after it.
    if (changes === changesBefore) known.set(id, client)
    return client
  }

  return {
    find(id) {
      if (!isPossibleId(id)) return null
      return (feed.isFresh() ? known.get(id) : undefined) ?? read(id)
    },
  }
}
