import { changeClient } from '../clients/save.ts'
import { findPreviousSecret } from '../clients/secret.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import type { ClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'

/**
 * Encrypts all stored secrets with the first of the server's secrets. Returns how many rows were
 * changed.
 */
export async function resealStoredSecrets(context: ServerContext): Promise<number> {
  let resealed = await context.keys.reseal()
  for (const { id } of await outdatedClients(context)) {
    if (await resealClient(id, context)) resealed += 1
  }
  return resealed
}

/**
 * Counts the rows that `resealStoredSecrets()` would change. If the count is 0, older secrets of
 * the server can be removed.
 */
export async function countRowsToReseal(context: ServerContext): Promise<number> {
  return (await context.keys.toReseal()) + (await outdatedClients(context)).length
}

/**
 * Lists the clients whose secret is encrypted with an older secret of the server. Only clients that
 * sign with their secret have an encrypted secret.
 */
async function outdatedClients(context: ServerContext): Promise<Client[]> {
  const outdated: Client[] = []
  for (const client of await context.storage.clients.list()) {
    if (!client.revokedAt && (await hasOutdatedSecret(client, context))) outdated.push(client)
  }
  return outdated
}

async function hasOutdatedSecret(
  client: Client,
  { clientSecrets, clock }: ServerContext,
): Promise<boolean> {
  const { sealed_secret } = client.settings
  for (const sealed of [sealed_secret, findPreviousSecret(client, clock)?.sealed]) {
    if (sealed !== undefined && !(await clientSecrets.isCurrent(sealed))) return true
  }
  return false
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

/** Returns the settings with the secrets encrypted again. `null` if nothing has to be changed. */
async function resealedSettings(
  client: Client,
  context: ServerContext,
): Promise<ClientSettings | null> {
  if (!(await hasOutdatedSecret(client, context))) return null
  const { sealed_secret: sealed, previous_secret: __, ...others } = client.settings
  const previous = findPreviousSecret(client, context.clock)
  return {
    ...others,
    ...(sealed !== undefined && { sealed_secret: await sealAgain(sealed, client, context) }),
    ...(previous && {
      previous_secret: {
        ...previous,
        ...(previous.sealed !== undefined && {
          sealed: await sealAgain(previous.sealed, client, context),
        }),
      },
    }),
  }
}

async function sealAgain(
  sealed: string,
  { id }: Client,
  { clientSecrets }: ServerContext,
): Promise<string> {
  const secret = await clientSecrets.open(sealed)
  if (secret !== null) return clientSecrets.close(secret)
  throw new Error(
    `The secret of client ${id} was encrypted with a server secret that is not given here`,
  )
}
