import type { ServerContext } from '../context.ts'
import { randomSecret, sha256 } from '../crypto.ts'
import type { ClientSettings } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'

/** A new client secret, and the values that are stored instead of it. */
export interface NewSecret {
  /** The secret in plain text. `null` for clients that have none. */
  readonly secret: string | null
  readonly secretHash: string | null
  readonly settings: ClientSettings
}

/** Whether a client has a secret: it is confidential, and its authentication method uses one. */
export function hasOwnSecret({
  confidential,
  settings,
}: Pick<Client, 'confidential' | 'settings'>): boolean {
  return confidential && settings.token_endpoint_auth_method !== 'private_key_jwt'
}

/**
 * Creates a client secret. Only its hash is stored, except for clients that sign with the secret
 * (`client_secret_jwt`): theirs is also stored encrypted.
 */
export async function newSecret(
  client: Pick<Client, 'confidential' | 'settings'>,
  { clientSecrets }: Pick<ServerContext, 'clientSecrets'>,
): Promise<NewSecret> {
  const { settings } = client
  if (!hasOwnSecret(client)) return { secret: null, secretHash: null, settings }
  const secret = `tgs_${randomSecret()}`
  const secretHash = sha256(secret)
  if (settings.token_endpoint_auth_method !== 'client_secret_jwt') {
    return { secret, secretHash, settings }
  }
  const sealed_secret = await clientSecrets.close(secret)
  return { secret, secretHash, settings: { ...settings, sealed_secret } }
}
