import type {
  AuthorizationCode,
  Client,
  ClientChange,
  Consent,
  Interaction,
  NewRevocation,
  Revocation,
  RevocationKind,
  StoredKey,
  Token,
} from '../repositories.ts'
import type { Kept } from '../rotated-token.ts'

/** Instants are milliseconds since 1970 UTC, lists are JSON, flags are 1 or 0, on every database. */
export interface OAuthTables {
  oauth_clients: ClientRow
  oauth_tokens: TokenRow
  oauth_authorization_codes: CodeRow
  oauth_interactions: InteractionRow
  oauth_consents: ConsentRow
  oauth_keys: KeyRow
  oauth_revocations: RevocationRow
}

export interface ClientRow {
  id: string
  user_id: string | null
  name: string
  /** 0 for public clients; whatever else stands here, a secret is needed. */
  confidential: number | null
  secret_hash: string | null
  secret_version: number
  redirect_uris: string
  grant_types: string
  /** 1: any defined scope. Only `scopes` counts for all others. */
  any_scope: number | null
  scopes: string | null
  first_party: number
  resource_server: number
  revoked_at: number | null
  created_at: number
  updated_at: number
}

export const CLIENT_COLUMNS = [
  'id',
  'user_id',
  'name',
  'confidential',
  'secret_hash',
  'secret_version',
  'redirect_uris',
  'grant_types',
  'any_scope',
  'scopes',
  'first_party',
  'resource_server',
  'revoked_at',
  'created_at',
  'updated_at',
] as const satisfies ReadonlyArray<keyof ClientRow>

export const clientRow = {
  toRow(client: Client): ClientRow {
    return {
      id: client.id,
      user_id: client.userId,
      name: client.name,
      confidential: client.confidential ? 1 : 0,
      secret_hash: client.secretHash,
      secret_version: client.secretVersion,
      redirect_uris: JSON.stringify(client.redirectUris),
      grant_types: JSON.stringify(client.grantTypes),
      any_scope: client.scopes === null ? 1 : 0,
      scopes: client.scopes === null ? null : JSON.stringify(client.scopes),
      first_party: client.firstParty ? 1 : 0,
      resource_server: client.resourceServer ? 1 : 0,
      revoked_at: toInstant(client.revokedAt),
      created_at: client.createdAt.getTime(),
      updated_at: client.updatedAt.getTime(),
    }
  },
  toChange(change: ClientChange): Partial<ClientRow> {
    const { name, redirectUris, secretHash, secretVersion, revokedAt, updatedAt } = change
    return {
      ...(name === undefined ? {} : { name }),
      ...(redirectUris === undefined ? {} : { redirect_uris: JSON.stringify(redirectUris) }),
      ...(secretHash === undefined ? {} : { secret_hash: secretHash }),
      ...(secretVersion === undefined ? {} : { secret_version: secretVersion }),
      ...(revokedAt === undefined ? {} : { revoked_at: toInstant(revokedAt) }),
      updated_at: updatedAt.getTime(),
    }
  },
  fromRow(row: ClientRow): Client {
    return {
      id: row.id,
      userId: row.user_id,
      name: row.name,
      // Permissions are written down: what is missing allows nothing.
      confidential: row.confidential !== 0,
      secretHash: row.secret_hash,
      secretVersion: row.secret_version,
      redirectUris: JSON.parse(row.redirect_uris),
      grantTypes: JSON.parse(row.grant_types),
      scopes: row.any_scope === 1 ? null : JSON.parse(row.scopes ?? '[]'),
      firstParty: row.first_party === 1,
      resourceServer: row.resource_server === 1,
      revokedAt: toDate(row.revoked_at),
      createdAt: new Date(row.created_at),
      updatedAt: new Date(row.updated_at),
    }
  },
}

export interface TokenRow {
  id: string
  client_id: string
  user_id: string | null
  grant_type: string
  name: string | null
  scopes: string
  generation: number
  client_secret_version: number
  issued_at: number
  expires_at: number
  refresh_expires_at: number | null
  previous_expires_at: number | null
  late_generation: number | null
  live_until: number
  revoked_at: number | null
  created_at: number
}

export const tokenRow = {
  toRow(token: Token): TokenRow {
    return {
      id: token.id,
      client_id: token.clientId,
      user_id: token.userId,
      grant_type: token.grantType,
      name: token.name,
      scopes: JSON.stringify(token.scopes),
      generation: token.generation,
      client_secret_version: token.clientSecretVersion,
      issued_at: token.issuedAt.getTime(),
      expires_at: token.expiresAt.getTime(),
      refresh_expires_at: toInstant(token.refreshExpiresAt),
      previous_expires_at: toInstant(token.previousExpiresAt),
      late_generation: token.lateGeneration,
      live_until: token.liveUntil.getTime(),
      revoked_at: toInstant(token.revokedAt),
      created_at: token.createdAt.getTime(),
    }
  },
  fromRow(row: TokenRow): Token {
    return {
      id: row.id,
      clientId: row.client_id,
      userId: row.user_id,
      grantType: row.grant_type,
      name: row.name,
      scopes: JSON.parse(row.scopes),
      generation: row.generation,
      clientSecretVersion: row.client_secret_version,
      issuedAt: new Date(row.issued_at),
      expiresAt: new Date(row.expires_at),
      refreshExpiresAt: toDate(row.refresh_expires_at),
      previousExpiresAt: toDate(row.previous_expires_at),
      lateGeneration: row.late_generation,
      liveUntil: new Date(row.live_until),
      revokedAt: toDate(row.revoked_at),
      createdAt: new Date(row.created_at),
    }
  },
}

/** What a rotation gives back: the rest is known to whoever asked for it. */
export const KEPT_COLUMNS = [
  'user_id',
  'grant_type',
  'name',
  'scopes',
  'previous_expires_at',
  'late_generation',
  'live_until',
  'created_at',
] as const satisfies ReadonlyArray<keyof TokenRow>

export type KeptRow = Pick<TokenRow, (typeof KEPT_COLUMNS)[number]>

export const keptRow = {
  fromRow(row: KeptRow): Kept {
    return {
      userId: row.user_id,
      grantType: row.grant_type,
      name: row.name,
      scopes: JSON.parse(row.scopes),
      previousExpiresAt: toDate(row.previous_expires_at),
      lateGeneration: row.late_generation,
      liveUntil: new Date(row.live_until),
      createdAt: new Date(row.created_at),
    }
  },
}

export interface CodeRow {
  hash: string
  token_id: string
  client_id: string
  user_id: string
  redirect_uri: string | null
  scopes: string
  code_challenge: string | null
  expires_at: number
  used_at: number | null
}

export const codeRow = {
  toRow(code: AuthorizationCode): CodeRow {
    return {
      hash: code.hash,
      token_id: code.tokenId,
      client_id: code.clientId,
      user_id: code.userId,
      redirect_uri: code.redirectUri,
      scopes: JSON.stringify(code.scopes),
      code_challenge: code.codeChallenge,
      expires_at: code.expiresAt.getTime(),
      used_at: toInstant(code.usedAt),
    }
  },
  fromRow(row: CodeRow): AuthorizationCode {
    return {
      hash: row.hash,
      tokenId: row.token_id,
      clientId: row.client_id,
      userId: row.user_id,
      redirectUri: row.redirect_uri,
      scopes: JSON.parse(row.scopes),
      codeChallenge: row.code_challenge,
      expiresAt: new Date(row.expires_at),
      usedAt: toDate(row.used_at),
    }
  },
}

export interface InteractionRow {
  hash: string
  client_id: string
  user_id: string
  session_id: string | null
  response_type: string
  redirect_to: string
  redirect_uri: string | null
  scopes: string
  state: string | null
  code_challenge: string | null
  created_at: number
  expires_at: number
  decided_at: number | null
}

export const interactionRow = {
  toRow(interaction: Interaction): InteractionRow {
    return {
      hash: interaction.hash,
      client_id: interaction.clientId,
      user_id: interaction.userId,
      session_id: interaction.sessionId,
      response_type: interaction.responseType,
      redirect_to: interaction.redirectTo,
      redirect_uri: interaction.redirectUri,
      scopes: JSON.stringify(interaction.scopes),
      state: interaction.state,
      code_challenge: interaction.codeChallenge,
      created_at: interaction.createdAt.getTime(),
      expires_at: interaction.expiresAt.getTime(),
      decided_at: toInstant(interaction.decidedAt),
    }
  },
  fromRow(row: InteractionRow): Interaction {
    return {
      hash: row.hash,
      clientId: row.client_id,
      userId: row.user_id,
      sessionId: row.session_id,
      responseType: row.response_type,
      redirectTo: row.redirect_to,
      redirectUri: row.redirect_uri,
      scopes: JSON.parse(row.scopes),
      state: row.state,
      codeChallenge: row.code_challenge,
      createdAt: new Date(row.created_at),
      expiresAt: new Date(row.expires_at),
      decidedAt: toDate(row.decided_at),
    }
  },
}

export interface ConsentRow {
  user_id: string
  client_id: string
  scopes: string
  updated_at: number
}

export const consentRow = {
  toRow(consent: Consent): ConsentRow {
    return {
      user_id: consent.userId,
      client_id: consent.clientId,
      scopes: JSON.stringify(consent.scopes),
      updated_at: consent.updatedAt.getTime(),
    }
  },
  fromRow(row: ConsentRow): Consent {
    return {
      userId: row.user_id,
      clientId: row.client_id,
      scopes: JSON.parse(row.scopes),
      updatedAt: new Date(row.updated_at),
    }
  },
}

export interface KeyRow {
  kid: string
  algorithm: string
  public_jwk: string
  sealed_private_jwk: string
  created_at: number
  active_from: number
}

export const keyRow = {
  toRow(key: StoredKey): KeyRow {
    return {
      kid: key.kid,
      algorithm: key.algorithm,
      public_jwk: key.publicJwk,
      sealed_private_jwk: key.sealedPrivateJwk,
      created_at: key.createdAt.getTime(),
      active_from: key.activeFrom.getTime(),
    }
  },
  fromRow(row: KeyRow): StoredKey {
    return {
      kid: row.kid,
      algorithm: row.algorithm,
      publicJwk: row.public_jwk,
      sealedPrivateJwk: row.sealed_private_jwk,
      createdAt: new Date(row.created_at),
      activeFrom: new Date(row.active_from),
    }
  },
}

export interface RevocationRow {
  id: number
  kind: string
  subject: string
  at: number
  until: number
  /** Both null where an older version wrote it. */
  mark: string | null
  written_at: number | null
}

export const revocationRow = {
  toRow(entry: NewRevocation): Omit<RevocationRow, 'id' | 'mark' | 'written_at'> {
    return {
      kind: entry.kind,
      subject: entry.subject,
      at: entry.at.getTime(),
      until: entry.until.getTime(),
    }
  },
  fromRow(row: RevocationRow): Revocation {
    return {
      id: row.id,
      kind: row.kind as RevocationKind,
      subject: row.subject,
      at: new Date(row.at),
      until: new Date(row.until),
      mark: row.mark,
      writtenAt: toDate(row.written_at),
    }
  },
}

function toInstant(date: Date | null): number | null {
  return date === null ? null : date.getTime()
}

function toDate(instant: number | null): Date | null {
  return instant === null ? null : new Date(instant)
}
