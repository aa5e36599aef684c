import type { ServerContext } from '../context.ts'
import { NotFound } from '../errors.ts'
import { YEAR } from '../lifetimes.ts'
import type { Client, NewRevocation } from '../storage/records.ts'
import type { ClientChange } from '../storage/repositories.ts'

/** What changes of a client; when is for `saveClient()` to say. */
export type ClientFields = Omit<ClientChange, 'updatedAt'>

/** How long the news is kept: no token outlives the first, and every process reads within a second. */
const NEWS_KEPT = { client: 100 * YEAR * 1000, 'client-changed': 3600 * 1000 }
/** Each try that led to nothing means that somebody else has changed it. */
const MOST_TRIES = 10

/** Somebody else has changed the client since it was read, and would be undone. */
export class ClientChanged extends Error {
  override readonly name = 'ClientChanged'
}

/**
 * Writes what changes and tells every process. Settings are written as a whole, so they must be those that were read
 * here: ClientChanged otherwise.
 */
export async function saveClient(
  client: Client,
  fields: ClientFields,
  { options, storage, feed }: ServerContext,
  kind: 'client' | 'client-changed' = 'client-changed',
): Promise<Client> {
  const at = options.clock.now()
  const until = new Date(at.getTime() + NEWS_KEPT[kind])
  const notice: NewRevocation = { kind, subject: client.id, at, until }
  const since = fields.settings === undefined ? undefined : client.updatedAt
  const change = { ...fields, updatedAt: since ? afterwards(since, at) : at }
  if (!(await storage.clients.update(client.id, change, notice, since))) {
    const row = since ? await storage.clients.find(client.id) : null
    // Somebody else has just revoked it, or rotated its secret: theirs was first and stands.
    if (!row || row.revokedAt) throw noSuchClient()
    throw new ClientChanged('The client has changed since it was read')
  }
  feed.note(notice)
  return { ...client, ...change }
}

/** Reads the client and writes what is decided then; again where somebody else was faster. Null: nothing to do. */
export async function changeClient(
  id: string,
  decide: (client: Client) => ClientFields | null | Promise<ClientFields | null>,
  context: ServerContext,
): Promise<Client> {
  for (let tries = 1; ; tries += 1) {
    const client = await context.storage.clients.find(id)
    if (!client || client.revokedAt) throw noSuchClient()
    const fields = await decide(client)
    if (fields === null) return client
    try {
      return await saveClient(client, fields, context)
    } catch (error) {
      if (!(error instanceof ClientChanged) || tries === MOST_TRIES) throw error
    }
  }
}

/** Two changes in one millisecond, or by a clock that went back, are still two. */
function afterwards(before: Date, at: Date): Date {
  return new Date(Math.max(at.getTime(), before.getTime() + 1))
}

export function noSuchClient(): NotFound {
  return new NotFound('There is no such client.')
}
