import type { ServerContext } from '../context.ts'
import { NotFound } from '../errors.ts'
import { SECONDS_PER_YEAR } from '../lifetimes.ts'
import type { Client, NewRevocation } from '../storage/records.ts'
import type { ClientChange } from '../storage/repositories.ts'

/** The fields of a client that `saveClient()` can change. It sets `updatedAt` itself. */
export type ClientFields = Omit<ClientChange, 'updatedAt'>

/**
 * How long entries stay in the feed, in milliseconds. No token outlives the first value; changes
 * reach every process within a second.
 */
const NOTICE_LIFETIME = { client: 100 * SECONDS_PER_YEAR * 1000, 'client-changed': 3600 * 1000 }
/** How often to retry when a concurrent request changed the client between read and write. */
const MAX_ATTEMPTS = 10

/**
 * Thrown if a client was changed by another request since it was read. Writing would undo that
 * change.
 */
export class ClientChanged extends Error {
  override readonly name = 'ClientChanged'
}

/**
 * Writes the changed fields and announces the change to every process. Derive `fields` from the
 * same `client` that you pass, because some fields are valid only together with others.
 * @throws ClientChanged if the client has changed since it was read, unless it is being deleted
 * @throws NotFound if the client does not exist or was deleted
 */
export async function saveClient(
  client: Client,
  fields: ClientFields,
  { options, storage, feed }: ServerContext,
  kind: 'client' | 'client-changed' = 'client-changed',
): Promise<Client> {
  const at = options.clock.now()
  const until = new Date(at.getTime() + NOTICE_LIFETIME[kind])
  const notice: NewRevocation = { kind, subject: client.id, at, until }
  const since = kind === 'client' ? undefined : client.updatedAt
  const change = {
    ...withoutEndedSecret(fields, at),
    updatedAt: since ? nextUpdatedAt(since, at) : at,
  }
  if (!(await storage.clients.update(client.id, change, notice, since))) {
    const row = since ? await storage.clients.find(client.id) : null
    // A concurrent request has just deleted the client, and takes precedence.
    if (!row || row.revokedAt) throw createNoSuchClientError()
    throw new ClientChanged('The client has changed since it was read')
  }
  feed.note(notice)
  return { ...client, ...change }
}

/**
 * Reads a client, calls `decide` for the fields to change, and writes them. Repeats all three steps
 * if the client was changed concurrently. `decide` returns `null` to change nothing.
 * @throws NotFound if the client does not exist or was deleted
 */
export async function changeClient(
  id: string,
  decide: (client: Client) => ClientFields | null | Promise<ClientFields | null>,
  context: ServerContext,
): Promise<Client> {
  for (let tries = 1; ; tries += 1) {
    const client = await context.storage.clients.find(id)
    if (!client || client.revokedAt) throw createNoSuchClientError()
    const fields = await decide(client)
    if (fields === null) return client
    try {
      return await saveClient(client, fields, context)
    } catch (error) {
      if (!(error instanceof ClientChanged) || tries === MAX_ATTEMPTS) throw error
    }
  }
}

/** Removes a previous secret that has ended, so that its hash is not stored any longer. */
function withoutEndedSecret(fields: ClientFields, at: Date): ClientFields {
  if (fields.settings?.previous_secret === undefined) return fields
  const { previous_secret: previous, ...settings } = fields.settings
  return previous.until > at.getTime() ? fields : { ...fields, settings }
}

/**
 * Makes `updatedAt` strictly increasing, even for two changes in one millisecond or after the clock
 * was set back.
 */
function nextUpdatedAt(before: Date, at: Date): Date {
  return new Date(Math.max(at.getTime(), before.getTime() + 1))
}

export function createNoSuchClientError(): NotFound {
  return new NotFound('There is no such client.')
}
