import type { ServerContext } from '../context.ts'
import { isPossibleId } from '../storage/possible-id.ts'
import type { Client } from '../storage/records.ts'
import { rowIdOfDocumentUrl } from './client.ts'
import { noSuchClient } from './save.ts'

/** Reads a client from the store by its `client_id`, deleted ones included. */
export async function findClient(id: string, { storage }: ServerContext): Promise<Client | null> {
  // The public id of a client with a metadata document is the URL of that document.
  const rowId = id.startsWith('https://') ? rowIdOfDocumentUrl(id) : id
  return isPossibleId(rowId) ? storage.clients.find(rowId) : null
}

/**
 * Reads a client from the store by its `client_id`.
 * @throws NotFound if there is no such client or it was deleted
 */
export async function requireClient(id: string, context: ServerContext): Promise<Client> {
  const client = await findClient(id, context)
  if (!client || client.revokedAt) throw noSuchClient()
  return client
}
