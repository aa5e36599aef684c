import type { ServerContext } from '../context.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import { deriveDocumentClientId } from './client.ts'
import { createNoSuchClientError } from './save.ts'

/** Reads a client from the store by its `client_id`, deleted ones included. */
export async function findClient(id: string, { storage }: ServerContext): Promise<Client | null> {
  const rowId = toStoredClientId(id)
  return isPossibleId(rowId) ? storage.clients.find(rowId) : null
}

/** Returns the id in the store. The public id of a client with a metadata document is its URL. */
export function toStoredClientId(id: string): string {
  return id.startsWith('https://') ? deriveDocumentClientId(id) : id
}

/** Largest number of ids per query. */
const MAX_IDS = 1000

/** Reads clients from the store by their `client_id`. See `Clients.findMany()`. */
export async function findClients(
  ids: readonly string[],
  { storage }: ServerContext,
): Promise<ReadonlyMap<string, Client>> {
  const rowIds = new Map(ids.map((id) => [id, toStoredClientId(id)]))
  const wanted = [...new Set(rowIds.values())].filter(isPossibleId)
  const found = new Map<string, Client>()
  for (let at = 0; at < wanted.length; at += MAX_IDS) {
    const clients = await storage.clients.findMany(wanted.slice(at, at + MAX_IDS))
    for (const client of clients) found.set(client.id, client)
  }
  return new Map(
    [...rowIds].flatMap(([id, rowId]) => {
      const client = found.get(rowId)
      return client ? [[id, client] as const] : []
    }),
  )
}

/**
 * Reads a client from the store by its `client_id`.
 * @throws NotFound if there is no such client or it was deleted
 */
export async function requireClient(id: string, context: ServerContext): Promise<Client> {
  const client = await findClient(id, context)
  if (!client || client.revokedAt) throw createNoSuchClientError()
  return client
}
