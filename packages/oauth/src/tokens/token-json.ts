import { type ClientJson, toClientJson } from '../clients/client.ts'
import type { Client, Token } from '../storage/records.ts'

/** A token as shown by the JSON routes. Contains nothing that grants access. */
export interface TokenJson {
  /** Id of the token. */
  readonly id: string
  /** The user the token acts for. `null` if the client acts for itself. */
  readonly user_id: string | null
  /** The client that holds the token. */
  readonly client_id: string
  /** The client, if the list includes it. Otherwise `null`. */
  readonly client: ClientJson | null
  /** Name of a personal access token. `null` for other tokens. */
  readonly name: string | null
  /** The granted scopes. */
  readonly scopes: readonly string[]
  /** Whether the token was revoked. */
  readonly revoked: boolean
  /** When the grant was created, in ISO 8601 format. */
  readonly created_at: string
  /** When the token was last refreshed or revoked, in ISO 8601 format. */
  readonly updated_at: string
  /** When the current access token expires, in ISO 8601 format. */
  readonly expires_at: string
  /**
   * When a personal access token was last used, in ISO 8601 format, accurate to a day. `null` if it
   * was never used, and for other tokens.
   */
  readonly last_used_at: string | null
}

/**
 * Converts a token to the form that the JSON management routes return. The text of the token is not
 * included, because it is not stored.
 */
export function toTokenJson(token: Token, client: Client | null): TokenJson {
  return {
    id: token.id,
    user_id: token.userId,
    client_id: token.clientId,
    client: client ? toClientJson(client) : null,
    name: token.name,
    scopes: token.scopes,
    revoked: token.revokedAt !== null,
    created_at: token.createdAt.toISOString(),
    updated_at: (token.revokedAt ?? token.issuedAt).toISOString(),
    expires_at: token.expiresAt.toISOString(),
    last_used_at: token.lastUsedAt?.toISOString() ?? null,
  }
}
