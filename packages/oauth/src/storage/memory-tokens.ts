import type { Token } from './records.ts'

/** The columns of a token that hold a date. */
type Moment =
  | 'issuedAt'
  | 'expiresAt'
  | 'refreshExpiresAt'
  | 'previousExpiresAt'
  | 'liveUntil'
  | 'revokedAt'
  | 'createdAt'
  | 'lastUsedAt'

/**
 * A stored row. Dates are kept as numbers, because a Date takes 112 bytes and slows down garbage
 * collection.
 */
type KeptToken = Omit<Token, 'id' | Moment> & {
  readonly [Name in Moment]: number | Extract<Token[Name], null>
}

/**
 * Stores tokens by id. Every read creates new Date objects, so callers cannot change a stored row.
 */
export class MemoryTokens {
  readonly #rows = new Map<string, KeptToken>()
  #lastScopes: readonly string[] = []

  has(id: string): boolean {
    return this.#rows.has(id)
  }

  get(id: string): Token | undefined {
    const row = this.#rows.get(id)
    return row && fromRow(id, row)
  }

  /** Adds the token, or replaces the token with the same id. */
  set(token: Token): void {
    this.#rows.set(token.id, toRow(token, this.#shareScopes(token.scopes)))
  }

  delete(id: string): void {
    this.#rows.delete(id)
  }

  all(): Token[] {
    return Array.from(this.#rows, ([id, row]) => fromRow(id, row))
  }

  /** Shares one array between consecutive tokens with equal scopes, to save memory. */
  #shareScopes(scopes: readonly string[]): readonly string[] {
    const last = this.#lastScopes
    if (scopes.length !== last.length || scopes.some((name, at) => name !== last[at])) {
      this.#lastScopes = [...scopes]
    }
    return this.#lastScopes
  }
}

function toRow(token: Token, scopes: readonly string[]): KeptToken {
  return {
    clientId: token.clientId,
    userId: token.userId,
    grantType: token.grantType,
    name: token.name,
    scopes,
    generation: token.generation,
    clientSecretVersion: token.clientSecretVersion,
    issuedAt: token.issuedAt.getTime(),
    expiresAt: token.expiresAt.getTime(),
    refreshExpiresAt: toNumber(token.refreshExpiresAt),
    previousExpiresAt: toNumber(token.previousExpiresAt),
    lateGeneration: token.lateGeneration,
    liveUntil: token.liveUntil.getTime(),
    revokedAt: toNumber(token.revokedAt),
    createdAt: token.createdAt.getTime(),
    lastUsedAt: toNumber(token.lastUsedAt),
    details: token.details,
  }
}

function fromRow(id: string, row: KeptToken): Token {
  return {
    id,
    clientId: row.clientId,
    userId: row.userId,
    grantType: row.grantType,
    name: row.name,
    scopes: row.scopes,
    generation: row.generation,
    clientSecretVersion: row.clientSecretVersion,
    issuedAt: new Date(row.issuedAt),
    expiresAt: new Date(row.expiresAt),
    refreshExpiresAt: toDate(row.refreshExpiresAt),
    previousExpiresAt: toDate(row.previousExpiresAt),
    lateGeneration: row.lateGeneration,
    liveUntil: new Date(row.liveUntil),
    revokedAt: toDate(row.revokedAt),
    createdAt: new Date(row.createdAt),
    lastUsedAt: toDate(row.lastUsedAt),
    details: row.details,
  }
}

function toNumber(moment: Date | null): number | null {
  return moment?.getTime() ?? null
}

function toDate(moment: number | null): Date | null {
  return moment === null ? null : new Date(moment)
}
