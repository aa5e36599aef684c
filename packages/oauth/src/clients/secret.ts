import { type Clock, systemClock } from '../clock.ts'
import type { ServerContext } from '../context.ts'
import { areSecretsEqual, createRandomSecret, sha256 } from '../crypto.ts'
import type { ClientSettings, PreviousSecret } from '../storage/client-settings.ts'
import type { Client } from '../storage/records.ts'

/**
 * A client with its new secret. The secret is available only here, because only its hash is stored.
 */
export interface CreatedClient {
  /** The stored client. */
  readonly client: Client
  /** The client secret. Cannot be read again later. `null` for clients that have none. */
  readonly secret: string | null
}

/** Information about the secret of a client, without the secret itself. */
export interface SecretInfo {
  /** Whether the client authenticates with a secret, which can be rotated. */
  readonly hasSecret: boolean
  /**
   * When the old secret of a planned rotation stops working. `null` if only the current secret
   * authenticates.
   */
  readonly previousUntil: Date | null
}

/** A new secret and what is stored for it. */
export interface NewSecret {
  /** The secret in plain text. `null` for clients that have none. */
  readonly secret: string | null
  readonly secretHash: string | null
  readonly settings: ClientSettings
}

/** Whether a client has a secret: it is confidential, and its authentication method uses one. */
export function hasClientSecret({
  confidential,
  settings,
}: Pick<Client, 'confidential' | 'settings'>): boolean {
  return confidential && settings.token_endpoint_auth_method !== 'private_key_jwt'
}

/**
 * Creates a client secret. Only its hash is stored, except for clients that sign with the secret
 * (`client_secret_jwt`): theirs is also stored encrypted.
 */
export async function createClientSecret(
  client: Pick<Client, 'confidential' | 'settings'>,
  { clientSecrets }: Pick<ServerContext, 'clientSecrets'>,
): Promise<NewSecret> {
  const { settings } = client
  if (!hasClientSecret(client)) return { secret: null, secretHash: null, settings }
  const secret = `tgs_${createRandomSecret()}`
  const secretHash = sha256(secret)
  if (settings.token_endpoint_auth_method !== 'client_secret_jwt') {
    return { secret, secretHash, settings }
  }
  const sealed_secret = await clientSecrets.close(secret)
  return { secret, secretHash, settings: { ...settings, sealed_secret } }
}

/**
 * Returns the secret that a planned rotation has replaced, if it still authenticates. Compares its
 * expiry with the clock on every call, so that a cached client does not keep it valid for longer.
 */
export function findPreviousSecret(
  { settings: { previous_secret: previous } }: Pick<Client, 'settings'>,
  clock: Clock,
): PreviousSecret | null {
  return previous !== undefined && previous.until > clock.now().getTime() ? previous : null
}

/**
 * Whether this is the secret of the client: the current one, or the previous one until it expires.
 */
export function isSecretOf(client: Client, secret: string, clock: Clock): boolean {
  if (!client.confidential || client.secretHash === null) return false
  const hash = sha256(secret)
  const previous = findPreviousSecret(client, clock)
  const isCurrent = areSecretsEqual(hash, client.secretHash)
  const isPrevious = previous !== null && areSecretsEqual(hash, previous.hash)
  return isCurrent || isPrevious
}

/**
 * Describes the secret of a client without revealing it. `clock` decides whether the previous
 * secret has expired.
 * @default systemClock
 * @example
 * ```ts
 * const client = await oauth.clients.find(id)
 * const { previousUntil } = client ? describeClientSecret(client) : { previousUntil: null }
 * ```
 */
export function describeClientSecret(client: Client, clock: Clock = systemClock): SecretInfo {
  const previous = findPreviousSecret(client, clock)
  return {
    hasSecret: hasClientSecret(client),
    previousUntil: previous && new Date(previous.until),
  }
}
