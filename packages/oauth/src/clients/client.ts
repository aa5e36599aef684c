import { sha256 } from '../crypto.ts'
import type { Client } from '../storage/records.ts'
import { joinRedirects } from './redirect-uris.ts'

/** Holds the personal access tokens of everybody; made on first use. */
export const PERSONAL_ACCESS_CLIENT = 'personal-access'

/** A client as the JSON routes and the command line show it: no secret, no hash. */
export interface ClientJson {
  /** Its `client_id`. */
  readonly id: string
  /** Who registered it; null for a client of the application itself. */
  readonly user_id: string | null
  /** What people read when they are asked to approve it. */
  readonly name: string
  /** Its redirect addresses, as text. */
  readonly redirect: string
  /** Whether personal access tokens hang on it. */
  readonly personal_access_client: boolean
  /** Whether it may use the password grant. */
  readonly password_client: boolean
  /** Whether it has a secret. */
  readonly confidential: boolean
  /** Whether it was deleted: it gets nothing any more. */
  readonly revoked: boolean
  /** When it was registered, ISO 8601. */
  readonly created_at: string
  /** When it was last changed, ISO 8601. */
  readonly updated_at: string
}

/** What the client calls itself: its id, or the address of its document, for which a row has no room. */
export function clientIdOf({ id, settings }: Client): string {
  return settings.self_registered?.document ?? id
}

/** The id of the row that stands for the client with a document at this address: a row has room for 64 characters. */
export function rowIdOf(address: string): string {
  return `cimd_${sha256(address)}`
}

export function isPersonalAccessClient(client: Client): boolean {
  return client.grantTypes.includes('personal_access')
}

/** Never the secret nor its hash. */
export function clientJson(client: Client): ClientJson {
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
