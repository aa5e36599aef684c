import { changeClient } from '../clients/save.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import type { ClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'

/** Seals all that is stored with the first of the secrets; says how much there was to do. */
export async function reseal(context: ServerContext): Promise<number> {
  let resealed = await context.keys.reseal()
  for (const { id } of await outdatedClients(context)) {
    if (await resealClient(id, context)) resealed += 1
  }
  return resealed
}

/** How much `reseal()` has to do before the older secrets may go. */
export async function toReseal(context: ServerContext): Promise<number> {
  return (await context.keys.toReseal()) + (await outdatedClients(context)).length
}

/** Only clients that sign with their secret have one that is sealed. */
async function outdatedClients({ storage, clientSecrets }: ServerContext): Promise<Client[]> {
  const outdated: Client[] = []
  for (const client of await storage.clients.list()) {
    const sealed = client.settings.sealed_secret
    if (sealed === undefined || client.revokedAt) continue
    if (!(await clientSecrets.isCurrent(sealed))) outdated.push(client)
  }
  return outdated
}

/** Read again just before it is written: its other settings may have changed since. */
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

/** Null when there is nothing to do. */
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
