import { randomUUID } from 'node:crypto'
import { client, scope, users } from '../fixtures.mjs'
import { openSql, openSqliteFile } from '../storage/sql.mjs'

/**
 * Storage of the minimum that the protocol requires, with one statement per step. An access token
 * and its refresh token share a row; rotation is one conditional write and one insert.
 */
export async function openLimitStorage({ store, fill }, databaseUrl) {
  if (store === 'memory') return openMemory(fill)
  const storage = store === 'postgres' ? openPostgres(databaseUrl) : openSqlite(databaseUrl)
  if (fill) await storage.fill(fill)
  for (const user of users) await storage.addConsent(user, client.id, scope)
  return storage
}

const tables = `
  CREATE TABLE IF NOT EXISTS consents (user_id TEXT, client_id TEXT, scope TEXT,
    PRIMARY KEY (user_id, client_id));
  CREATE TABLE IF NOT EXISTS codes (hash TEXT PRIMARY KEY, client_id TEXT NOT NULL,
    user_id TEXT NOT NULL, scope TEXT NOT NULL, redirect_uri TEXT NOT NULL,
    challenge TEXT NOT NULL, expires_at BIGINT NOT NULL, used_at BIGINT);
  CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, access_hash TEXT UNIQUE,
    refresh_hash TEXT UNIQUE, client_id TEXT NOT NULL, user_id TEXT, scope TEXT NOT NULL,
    expires_at BIGINT NOT NULL, used_at BIGINT, revoked_at BIGINT);
  CREATE INDEX IF NOT EXISTS tokens_expiry ON tokens (expires_at);`

const insertToken = `INSERT INTO tokens
  (id, access_hash, refresh_hash, client_id, user_id, scope, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`
const insertCode = `INSERT INTO codes
  (hash, client_id, user_id, scope, redirect_uri, challenge, expires_at)
  SELECT $1, $2, $3, $4, $5, $6, $7 FROM consents
  WHERE user_id = $3 AND client_id = $2 AND scope = $4 RETURNING hash`
const useCode = `UPDATE codes SET used_at = $2 WHERE hash = $1 AND used_at IS NULL
  AND client_id = $3 AND redirect_uri = $4 AND challenge = $5 AND expires_at > $2
  RETURNING user_id, scope`
const useRefresh = `UPDATE tokens SET used_at = $2 WHERE refresh_hash = $1 AND used_at IS NULL
  AND revoked_at IS NULL AND client_id = $3 RETURNING user_id, scope`
const findAccess = `SELECT client_id, user_id, scope, expires_at FROM tokens
  WHERE access_hash = $1 AND revoked_at IS NULL`
const insertConsent = 'INSERT INTO consents VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'

const fillWith = (id, series) => `INSERT INTO tokens
  (id, access_hash, refresh_hash, client_id, user_id, scope, expires_at)
  SELECT ${id}, ${id}, ${id}, '${client.id}', 'user-' || n % 1000, '${scope}',
  ${Date.now() + 86400_000} + n FROM ${series}`

const tokenValues = (t) => [t.id, t.accessHash, t.refreshHash, t.clientId, t.userId, t.scope, t.exp]
const codeValues = (c) => [
  c.hash,
  c.clientId,
  c.userId,
  c.scope,
  c.redirectUri,
  c.challenge,
  c.expiresAt,
]

function openPostgres(databaseUrl) {
  const sql = openSql('postgres', databaseUrl)
  const ready = sql.execute(tables)
  // A single round trip: the insert happens only if the conditional write did.
  const successor = (use, first) => `WITH used AS (${use}) INSERT INTO tokens
    (id, access_hash, refresh_hash, client_id, user_id, scope, expires_at)
    SELECT $${first}, $${first + 1}, $${first + 2}, $3, user_id, scope, $${first + 3}
    FROM used RETURNING user_id, scope`
  const typed = insertCode.replace(
    'SELECT $1, $2, $3, $4',
    'SELECT $1, $2::text, $3::text, $4::text',
  )
  const exchange = successor(useCode, 6).replaceAll('$2', '$2::bigint')
  const rotate = successor(useRefresh, 4).replaceAll('$2', '$2::bigint')
  return {
    async fill(count) {
      await ready
      await sql.query(fillWith('gen_random_uuid()::text', `generate_series(1, ${count}) AS n`))
      await sql.execute('VACUUM ANALYZE tokens')
      await sql.execute('CHECKPOINT')
    },
    async addConsent(...values) {
      await ready
      await sql.query(insertConsent, values)
    },
    insertToken: (token) => sql.query(insertToken, tokenValues(token)),
    async insertCode(code) {
      return (await sql.query(typed, codeValues(code))).length === 1
    },
    async exchange(code, t) {
      const use = [code.hash, Date.now(), t.clientId, code.redirectUri, code.challenge]
      const values = [...use, t.id, t.accessHash, t.refreshHash, t.exp]
      return (await sql.query(exchange, values))[0]
    },
    async rotate(hash, t) {
      const values = [hash, Date.now(), t.clientId, t.id, t.accessHash, t.refreshHash, t.exp]
      return (await sql.query(rotate, values))[0]
    },
    async findAccess(hash) {
      return (await sql.query(findAccess, [hash]))[0]
    },
  }
}

function openSqlite(databaseUrl) {
  const database = openSqliteFile(databaseUrl)
  database.exec(tables)
  const prepare = (text) => database.prepare(text.replace(/\$(\d+)/g, '?$1'))
  const insert = prepare(insertToken)
  const code = prepare(insertCode)
  const consent = prepare(insertConsent)
  const find = prepare(findAccess)
  const followUp = (use) =>
    database.transaction((values, t) => {
      const [used] = use.all(values)
      if (used) insert.run(tokenValues({ ...t, userId: used.user_id, scope: used.scope }))
      return used
    })
  const exchange = followUp(prepare(useCode))
  const rotate = followUp(prepare(useRefresh))
  return {
    fill(count) {
      const series = `(WITH RECURSIVE s(n) AS
        (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s)`
      database.exec(fillWith('hex(randomblob(16))', series))
      database.exec('ANALYZE')
      database.pragma('wal_checkpoint(TRUNCATE)')
    },
    addConsent: (...values) => consent.run(values),
    insertToken: (token) => insert.run(tokenValues(token)),
    insertCode: (values) => code.all(codeValues(values)).length === 1,
    exchange: (c, t) => exchange([c.hash, Date.now(), t.clientId, c.redirectUri, c.challenge], t),
    rotate: (hash, t) => rotate([hash, Date.now(), t.clientId], t),
    findAccess: (hash) => find.get([hash]),
  }
}

function openMemory(fill = 0) {
  const byAccess = new Map()
  const byRefresh = new Map()
  const codes = new Map()
  const consents = new Map(users.map((user) => [`${user} ${client.id}`, scope]))
  const insert = (token) => {
    byAccess.set(token.accessHash ?? token.id, token)
    if (token.refreshHash) byRefresh.set(token.refreshHash, token)
  }
  const exp = Date.now() + 365 * 86_400_000
  for (let n = 0; n < fill; n++) {
    const userId = `filler-${n % 1000}`
    insert({ id: randomUUID(), refreshHash: randomUUID(), clientId: client.id, userId, scope, exp })
  }
  const follow = ({ userId, scope }, token) => {
    token.userId = userId
    token.scope = scope
    insert(token)
    return { user_id: userId, scope }
  }
  return {
    insertToken: insert,
    insertCode(code) {
      if (consents.get(`${code.userId} ${code.clientId}`) !== code.scope) return false
      codes.set(code.hash, code)
      return true
    },
    exchange(code, token) {
      const used = codes.get(code.hash)
      if (!used || used.clientId !== token.clientId || used.expiresAt < Date.now()) return undefined
      if (used.redirectUri !== code.redirectUri || used.challenge !== code.challenge)
        return undefined
      codes.delete(code.hash)
      return follow(used, token)
    },
    rotate(hash, token) {
      const used = byRefresh.get(hash)
      if (!used || used.clientId !== token.clientId) return undefined
      byRefresh.delete(hash)
      return follow(used, token)
    },
    findAccess(hash) {
      const token = byAccess.get(hash)
      return token && { client_id: token.clientId, scope: token.scope, expires_at: token.exp }
    },
  }
}
