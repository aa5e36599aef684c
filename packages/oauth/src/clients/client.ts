import type { Client } from '../storage/repositories.ts'
import { joinRedirects } from './redirect-uris.ts'

/** Holds the personal access tokens of everybody; made on first use. */
export const PERSONAL_ACCESS_CLIENT = 'personal-access'

export interface ClientJson {
  readonly id: string
  readonly user_id: string | null
  readonly name: string
  readonly redirect: string
  readonly personal_access_client: boolean
  readonly password_client: boolean
  readonly confidential: boolean
  readonly revoked: boolean
  readonly created_at: string
  readonly updated_at: string
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
