import { type ClientJson, clientJson } from '../clients/client.ts'
import type { Client, Token } from '../storage/repositories.ts'

export interface TokenJson {
  readonly id: string
  readonly user_id: string | null
  readonly client_id: string
  readonly client: ClientJson | null
  readonly name: string | null
  readonly scopes: readonly string[]
  readonly revoked: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly expires_at: string
}

/** Never the token itself: it was shown once, and is not stored. */
export function tokenJson(token: Token, client: Client | null): TokenJson {
  return {
    id: token.id,
    user_id: token.userId,
    client_id: token.clientId,
    client: client ? clientJson(client) : null,
    name: token.name,
    scopes: token.scopes,
    revoked: token.revokedAt !== null,
    created_at: token.createdAt.toISOString(),
    updated_at: (token.revokedAt ?? token.issuedAt).toISOString(),
    expires_at: token.expiresAt.toISOString(),
  }
}
