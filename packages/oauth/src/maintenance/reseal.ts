import { saveClient } from '../clients/save.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
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
  const { storage, clientSecrets } = context
  const client = await storage.clients.find(id)
  const sealed = client?.settings.sealed_secret
  if (!client || sealed === undefined || (await clientSecrets.isCurrent(sealed))) return false
  const secret = await clientSecrets.open(sealed)
  if (secret === null) {
    throw new Error(`The secret of client ${id} was sealed with a secret that is not given here`)
  }
  const settings = { ...client.settings, sealed_secret: await clientSecrets.close(secret) }
  try {
    await saveClient(client, { settings }, context)
    return true
  } catch (error) {
    if (isOAuthError(error, 'not_found')) return false
    throw error
  }
}
