import { sha256 } from '../crypto.ts'
import type { Client } from '../storage/records.ts'
import { joinRedirects } from './redirect-uris.ts'

/** Id of the built-in client of all personal access tokens. It is created on first use. */
export const PERSONAL_ACCESS_CLIENT_ID = 'personal-access'

/**
 * A client as returned by the JSON management routes and printed by the command line. Contains
 * neither the secret nor its hash.
 */
export interface ClientJson {
  /** The `client_id`. */
  readonly id: string
  /** The user who registered the client. `null` for clients of the application itself. */
  readonly user_id: string | null
  /** Name shown on the consent screen. */
  readonly name: string
  /** The redirect URIs, separated by commas. */
  readonly redirect: string
  /** Whether this is the client of personal access tokens. */
  readonly personal_access_client: boolean
  /** Whether the client may use the password grant. */
  readonly password_client: boolean
  /** Whether the client is confidential, meaning that it can keep a secret. */
  readonly confidential: boolean
  /** Whether the client was deleted. */
  readonly revoked: boolean
  /** When the client was registered, in ISO 8601 format. */
  readonly created_at: string
  /** When the client was last changed, in ISO 8601 format. */
  readonly updated_at: string
}

/**
 * Returns the public `client_id`: the URL of the client's metadata document if it has one,
 * otherwise its database id.
 */
export function getPublicClientId({ id, settings }: Client): string {
  return settings.self_registered?.document ?? id
}

/**
 * Derives the database id of a client from the URL of its metadata document. The URL itself may be
 * too long for the column, which holds 64 characters.
 */
export function deriveDocumentClientId(address: string): string {
  return `cimd_${sha256(address)}`
}

export function isPersonalAccessClient(client: Client): boolean {
  return client.grantTypes.includes('personal_access')
}

/**
 * Converts a client to the form that the JSON management routes return and the command line prints,
 * without its secret and hash.
 */
export function toClientJson(client: Client): ClientJson {
  return {
    id: client.id,
    user_id: client.userId,
    name: client.name,
    redirect: joinRedirects(client.redirectUris),
    personal_access_client: isPersonalAccessClient(client),
    password_client: client.grantTypes.includes('password'),
    confidential: client.confidential,
    revoked: client.revokedAt !== null,
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  }
}
