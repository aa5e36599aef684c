import type { ServerContext } from '../context.ts'
import { NotFound } from '../errors.ts'
import { YEAR } from '../lifetimes.ts'
import type { Client, NewRevocation } from '../storage/records.ts'
import type { ClientChange } from '../storage/repositories.ts'

/** How long the news is kept: no token outlives the first, and every process reads within a second. */
const NEWS_KEPT = { client: 100 * YEAR * 1000, 'client-changed': 3600 * 1000 }

/** Writes what changes and tells every process. */
export async function saveClient(
  client: Client,
  fields: Omit<ClientChange, 'updatedAt'>,
  { options, storage, feed }: ServerContext,
  kind: 'client' | 'client-changed' = 'client-changed',
): Promise<Client> {
  const at = options.clock.now()
  const until = new Date(at.getTime() + NEWS_KEPT[kind])
  const notice: NewRevocation = { kind, subject: client.id, at, until }
  const change = { ...fields, updatedAt: at }
  // Somebody else has just revoked it, or rotated its secret: theirs was first and stands.
  if (!(await storage.clients.update(client.id, change, notice))) throw noSuchClient()
  feed.note(notice)
  return { ...client, ...change }
}

export function noSuchClient(): NotFound {
  return new NotFound('There is no such client.')
}
