import { randomUUID } from 'node:crypto'
import { scope } from '../fixtures.mjs'
import { openSql } from '../storage/sql.mjs'

/**
 * Stores this many live tokens of a thousand users directly, because issuing a million one by one
 * would take longer than the benchmark.
 */
export async function fillTokens({ store, fill }, { storage, databaseUrl }, clientId) {
  if (storage) return fillMemory(storage, fill, clientId)
  const sql = openSql(store, databaseUrl)
  const now = Date.now()
  const year = 365 * 86_400_000
  const insert = ({ id, series }) => `INSERT INTO oauth_tokens
    (id, client_id, user_id, grant_type, name, scopes, generation, client_secret_version,
      issued_at, expires_at, refresh_expires_at, live_until, revoked_at, created_at)
    SELECT ${id}, '${clientId}', 'filler-' || n % 1000, 'authorization_code', NULL, '["${scope}"]',
      0, 1, ${now}, ${now + year}, ${now + year}, ${now + year} + n, NULL, ${now} FROM ${series}`
  await sql.execute(insert(dialects[store](fill)))
  for (const statement of tidy[store]) await sql.execute(statement)
}

const dialects = {
  postgres: (count) => ({
    id: `replace(gen_random_uuid()::text, '-', '')`,
    series: `generate_series(1, ${count}) AS n`,
  }),
  sqlite: (count) => ({
    id: 'lower(hex(randomblob(16)))',
    series: `(WITH RECURSIVE s(n) AS
      (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s)`,
  }),
}

const tidy = {
  postgres: ['VACUUM ANALYZE oauth_tokens', 'CHECKPOINT'],
  sqlite: ['ANALYZE', 'PRAGMA wal_checkpoint(TRUNCATE)'],
}

async function fillMemory({ tokens }, count, clientId) {
  const now = Date.now()
  const end = now + 365 * 86_400_000
  for (let n = 0; n < count; n++) {
    await tokens.create({
      id: randomUUID().replaceAll('-', ''),
      clientId,
      userId: `filler-${n % 1000}`,
      grantType: 'authorization_code',
      name: null,
      scopes: [scope],
      generation: 0,
      clientSecretVersion: 1,
      issuedAt: new Date(now),
      expiresAt: new Date(end),
      refreshExpiresAt: new Date(end),
      previousExpiresAt: null,
      lateGeneration: null,
      liveUntil: new Date(end + n),
      revokedAt: null,
      createdAt: new Date(now),
      lastUsedAt: null,
      details: null,
    })
  }
}
