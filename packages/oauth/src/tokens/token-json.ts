import { type ClientJson, clientJson } from '../clients/client.ts'
import type { Client, Token } from '../storage/records.ts'

/** A token as the JSON routes show it: nothing that opens anything. */
export interface TokenJson {
  /** Names the token. */
  readonly id: string
  /** Whose it is; null for a client's own. */
  readonly user_id: string | null
  /** Who holds it. */
  readonly client_id: string
  /** The client, where the list names it. */
  readonly client: ClientJson | null
  /** What its owner calls it; null for all but personal ones. */
  readonly name: string | null
  /** What it may do. */
  readonly scopes: readonly string[]
  /** Whether it was revoked. */
  readonly revoked: boolean
  /** ISO 8601. */
  readonly created_at: string
  /** ISO 8601. */
  readonly updated_at: string
  /** ISO 8601. */
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
