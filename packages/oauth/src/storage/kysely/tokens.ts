import {
  type Assignments,
  type Database,
  findTogether,
  insertTogether,
  type ParamBuilder,
} from '@tollgate/database'
import { sql } from 'kysely'
import type { Token, TokenRotation, TokenSelector } from '../records.ts'
import type { TokenRepository } from '../repositories.ts'
import { createRotatedToken, listRevocationsByRotation } from '../rotated-token.ts'
import { appendRevocation } from './revocations.ts'
import {
  type ClientRow,
  clientRow,
  clientTable,
  type OAuthTables,
  type TokenRow,
  tokenDetailsColumn,
  tokenTable,
  type UnchangedTokenRow,
  unchangedTokenColumns,
} from './tables.ts'

/** Number of rows to end per transaction when all tokens of a user are revoked. */
const BATCH = 500

export function createTokenRepository(database: Database<OAuthTables>): TokenRepository {
  const insert = insertTogether<TokenRow>(database, {
    table: 'oauth_tokens',
    columns: tokenTable.columns,
    key: ['id'],
  })
  const findById = findTogether<TokenRow>(database, { table: 'oauth_tokens', key: 'id' })
  const rotate = rotateToken(database)
  const rotateAndDetail = rotateToken(database, { setsDetails: true })
  return {
    async create(token) {
      const isNew = await insert(tokenTable.toRow(token))
      if (!isNew) throw new Error(`A token with the id ${token.id} already exists`)
    },
    async find(id) {
      const row = await findById(id)
      return row ? tokenTable.fromRow(row) : null
    },
    async listByUser(userId, at) {
      const rows = await database.kysely
        .selectFrom('oauth_tokens')
        .selectAll()
        .where('user_id', '=', userId)
        .where('revoked_at', 'is', null)
        .where('live_until', '>', at.getTime())
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute()
      return rows.map(tokenTable.fromRow)
    },
    async page({ userId, clientId, at, limit, after }) {
      let query = database.kysely
        .selectFrom('oauth_tokens')
        .selectAll()
        .where('revoked_at', 'is', null)
        .where('live_until', '>', at.getTime())
      if (userId !== null) query = query.where('user_id', '=', userId)
      if (clientId !== null) query = query.where('client_id', '=', clientId)
      if (after !== null) query = query.where('id', '<', after)
      const rows = await query.orderBy('id', 'desc').limit(limit).execute()
      return rows.map(tokenTable.fromRow)
    },
    async listWithClients(userId, at) {
      const rows = await database.kysely
        .selectFrom('oauth_tokens')
        .innerJoin('oauth_clients', 'oauth_clients.id', 'oauth_tokens.client_id')
        .selectAll('oauth_tokens')
        .select(
          clientTable.columns.map((name) => `oauth_clients.${name} as of_client_${name}` as const),
        )
        .where('oauth_tokens.user_id', '=', userId)
        .where('oauth_tokens.revoked_at', 'is', null)
        .where('oauth_tokens.live_until', '>', at.getTime())
        .orderBy('oauth_tokens.created_at', 'desc')
        .orderBy('oauth_tokens.id', 'desc')
        .execute()
      return rows.map((row) => {
        const values: Record<string, unknown> = row
        const client = Object.fromEntries(
          clientTable.columns.map((name) => [name, values[`of_client_${name}`]]),
        ) as unknown as ClientRow
        return { token: tokenTable.fromRow(row), client: clientRow.fromRow(client) }
      })
    },
    async rotate(rotation) {
      if (rotation.endsOldAccessTokens)
        return database.transaction((tx) => rotateAndEnd(tx, rotation))
      const write = rotation.details ? rotateAndDetail : rotate
      const row = await write(rotationParams(rotation))
      return row && createRotatedToken(unchangedTokenColumns.fromRow(row), rotation)
    },
    async markLateRepeat(id, generation) {
      const { numUpdatedRows } = await database.kysely
        .updateTable('oauth_tokens')
        .set({ late_generation: generation })
        .where('id', '=', id)
        .where('generation', '=', generation)
        .where('revoked_at', 'is', null)
        .where((eb) =>
          eb.or([eb('late_generation', 'is', null), eb('late_generation', '!=', generation - 1)]),
        )
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
    async recordUse(id, at, unlessAfter) {
      await database.kysely
        .updateTable('oauth_tokens')
        .set({ last_used_at: at.getTime() })
        .where('id', '=', id)
        .where((eb) =>
          eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', unlessAfter.getTime())]),
        )
        .execute()
    },
    async revoke(selector, at) {
      const revoked: Token[] = []
      for (;;) {
        const batch = await database.transaction((tx) => revokeBatch(tx, selector, at))
        revoked.push(...batch)
        if ('id' in selector || batch.length === 0) return revoked
      }
    },
  }
}

export function buildTokenAssignments(param: ParamBuilder<TokenRow>): Assignments {
  return Object.fromEntries(tokenTable.columns.map((name) => [name, param(name)]))
}

export function prepareInsertToken(database: Database<OAuthTables>) {
  return database.statement<TokenRow>((db, param) =>
    db.insertInto('oauth_tokens').values(buildTokenAssignments(param) as never),
  )
}

interface RotationParams {
  readonly id: string
  readonly clientId: string
  readonly version: number
  readonly generation: number
  readonly nextGeneration: number
  readonly issuedAt: number
  readonly expiresAt: number
  readonly refreshExpiresAt: number
  readonly liveUntil: number
  readonly details: string | null
}

function rotationParams(rotation: TokenRotation): RotationParams {
  const expiresAt = rotation.expiresAt.getTime()
  const refreshExpiresAt = rotation.refreshExpiresAt.getTime()
  return {
    id: rotation.id,
    clientId: rotation.clientId,
    version: rotation.clientSecretVersion,
    generation: rotation.generation,
    nextGeneration: rotation.nextGeneration,
    issuedAt: rotation.issuedAt.getTime(),
    expiresAt,
    refreshExpiresAt,
    liveUntil: Math.max(expiresAt, refreshExpiresAt),
    details: tokenDetailsColumn.toRow({ details: rotation.details ?? null }).details,
  }
}

/**
 * Rotates a refresh token with a single conditional write, which only one of many concurrent
 * callers can win.
 */
function rotateToken(database: Database<OAuthTables>, { setsDetails = false } = {}) {
  return database.updateOneReturning<RotationParams, UnchangedTokenRow>({
    table: 'oauth_tokens',
    key: (param) => ({ id: param('id') }),
    where: (eb, param) =>
      eb.and([
        eb('generation', '=', param('generation')),
        eb('client_id', '=', param('clientId')),
        eb('client_secret_version', '=', param('version')),
        eb('revoked_at', 'is', null),
        eb('refresh_expires_at', '>', param('issuedAt')),
      ]),
    set: (param) => ({
      generation: param('nextGeneration'),
      // Must come first: MariaDB evaluates assignments from left to right and would read the new
      // value.
      previous_expires_at: sql`refresh_expires_at`,
      issued_at: param('issuedAt'),
      expires_at: param('expiresAt'),
      refresh_expires_at: param('refreshExpiresAt'),
      // Never moves backwards: access tokens of older generations may still be valid.
      live_until: sql`case when live_until > ${param('liveUntil')} then live_until else ${param('liveUntil')} end`,
      ...(setsDetails && { details: param('details') }),
    }),
    returning: unchangedTokenColumns.columns,
    together: {
      id: 'text',
      clientId: 'text',
      version: 'bigint',
      generation: 'bigint',
      nextGeneration: 'bigint',
      issuedAt: 'bigint',
      expiresAt: 'bigint',
      refreshExpiresAt: 'bigint',
      liveUntil: 'bigint',
      details: 'text',
    },
  })
}

/**
 * Rotates a refresh token and announces the end of the old access tokens in one transaction, so
 * that a failed refresh ends nothing.
 */
async function rotateAndEnd(
  tx: Database<OAuthTables>,
  rotation: TokenRotation,
): Promise<Token | null> {
  const setsDetails = rotation.details !== undefined
  const row = await rotateToken(tx, { setsDetails })(rotationParams(rotation))
  if (!row) return null
  const token = createRotatedToken(unchangedTokenColumns.fromRow(row), rotation)
  await appendRevocation(tx, ...listRevocationsByRotation(rotation, token))
  return token
}

/**
 * Revokes one batch in the order in which grants are made: requests, codes, tokens. An approval or
 * exchange in progress holds a lock on the row it started from. Once that row is deleted here, the
 * result of the approval or exchange is visible.
 */
async function revokeBatch(
  tx: Database<OAuthTables>,
  selector: TokenSelector,
  at: Date,
): Promise<Token[]> {
  await deletePendingAuthorizationRequests(tx, selector)
  const ended = await revokeRows(tx, selector, at)
  if (ended.length === 0) return []
  // Read after the write has locked the rows: a concurrent refresh may have extended their life.
  const rows = await tx.kysely
    .selectFrom('oauth_tokens')
    .selectAll()
    .where('id', 'in', ended)
    .execute()
  const tokens = rows.map(tokenTable.fromRow)
  const notices = tokens.map(
    ({ id, liveUntil }) => ({ kind: 'token', subject: id, at, until: liveUntil }) as const,
  )
  await appendRevocation(tx, ...notices)
  // The feed announces the revocation from now on, so the rows may be purged.
  await tx.kysely
    .updateTable('oauth_tokens')
    .set({ live_until: at.getTime() })
    .where('id', 'in', ended)
    .execute()
  return tokens
}

async function revokeRows(
  tx: Database<OAuthTables>,
  selector: TokenSelector,
  at: Date,
): Promise<string[]> {
  let query = tx.kysely.selectFrom('oauth_tokens').select('id').where('revoked_at', 'is', null)
  if ('id' in selector) query = query.where('id', '=', selector.id)
  if ('userId' in selector) {
    const { userId } = selector
    query = query.where('user_id', userId === null ? 'is' : '=', userId)
  }
  if ('clientId' in selector) query = query.where('client_id', '=', selector.clientId)
  const ended: string[] = []
  for (const { id } of await query.orderBy('id').limit(BATCH).execute()) {
    const { numUpdatedRows } = await tx.kysely
      .updateTable('oauth_tokens')
      .set({ revoked_at: at.getTime() })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 1n) ended.push(id)
  }
  return ended
}

/**
 * Deletes the pending authorization requests and unused codes of a user, in the order in which
 * their own transactions take locks (to avoid deadlocks).
 */
export async function deletePendingAuthorizationRequests(
  tx: Database<OAuthTables>,
  selector: TokenSelector,
): Promise<void> {
  if (!isOfUser(selector)) return
  await deleteMatching(tx, 'oauth_interactions', selector)
  await waitForApprovals(tx, selector)
  await deleteMatching(tx, 'oauth_authorization_codes', selector)
}

type UserSelector = Exclude<TokenSelector, { readonly id: string }> & { readonly userId: string }

function isOfUser(selector: TokenSelector): selector is UserSelector {
  return 'userId' in selector && selector.userId !== null
}

async function deleteMatching(
  tx: Database<OAuthTables>,
  table: 'oauth_interactions' | 'oauth_authorization_codes',
  selector: UserSelector,
): Promise<void> {
  let query = tx.kysely.deleteFrom(table).where('user_id', '=', selector.userId)
  if ('clientId' in selector) query = query.where('client_id', '=', selector.clientId)
  await query.execute()
}

/**
 * Waits for approvals in progress that need no consent screen, so that their codes and tokens are
 * visible afterwards.
 */
async function waitForApprovals(tx: Database<OAuthTables>, selector: UserSelector): Promise<void> {
  let query = tx.kysely
    .updateTable('oauth_consents')
    .set({ updated_at: sql`updated_at` })
    .where('user_id', '=', selector.userId)
  if ('clientId' in selector) query = query.where('client_id', '=', selector.clientId)
  await query.execute()
}
