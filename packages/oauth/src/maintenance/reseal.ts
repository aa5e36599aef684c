import { changeClient } from '../clients/save.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import type { ClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'

/**
 * Encrypts all stored secrets with the first of the server's secrets. Returns how many rows were
 * changed.
 */
export async function reseal(context: ServerContext): Promise<number> {
  let resealed = await context.keys.reseal()
  for (const { id } of await outdatedClients(context)) {
    if (await resealClient(id, context)) resealed += 1
  }
  return resealed
}

/**
 * Counts the rows that `reseal()` would change. If the count is 0, older secrets of the server can
 * be removed.
 */
export async function toReseal(context: ServerContext): Promise<number> {
  return (await context.keys.toReseal()) + (await outdatedClients(context)).length
}

/**
 * Lists the clients whose secret is encrypted with an older secret. Only clients that sign with
 * their secret have an encrypted one.
 */
async function outdatedClients({ storage, clientSecrets }: ServerContext): Promise<Client[]> {
  const outdated: Client[] = []
  for (const client of await storage.clients.list()) {
    const sealed = client.settings.sealed_secret
    if (sealed === undefined || client.revokedAt) continue
    if (!(await clientSecrets.isCurrent(sealed))) outdated.push(client)
  }
  return outdated
}

/**
 * Encrypts the secret of one client again. Reads the client just before writing, because its other
 * settings may have changed.
 */
async function resealClient(id: string, context: ServerContext): Promise<boolean> {
  let resealed = false
  const decide = async (client: Client) => {
    const settings = await resealedSettings(client, context)
    resealed = settings !== null
    return settings && { settings }
  }
  try {
    await changeClient(id, decide, context)
    return resealed
  } catch (error) {
    if (isOAuthError(error, 'not_found')) return false
    throw error
  }
}

/** Returns the settings with the secret encrypted again. `null` if nothing has to be changed. */
async function resealedSettings(
  { id, settings }: Client,
  { clientSecrets }: ServerContext,
): Promise<ClientSettings | null> {
  const { sealed_secret: sealed } = settings
  if (sealed === undefined || (await clientSecrets.isCurrent(sealed))) return null
  const secret = await clientSecrets.open(sealed)
  if (secret === null) {
    throw new Error(`The secret of client ${id} was sealed with a secret that is not given here`)
  }
  return { ...settings, sealed_secret: await clientSecrets.close(secret) }
}
