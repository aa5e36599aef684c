import { client, redirectUri, scope, users } from '../fixtures.mjs'
import { openSql } from './sql.mjs'

/**
 * Clients, scopes, consents, codes and tokens as the documentation of the peers that bring no storage of
 * their own has them: a row each, found by its value, the client joined to what belongs to it.
 * @typedef {{ id: string, secret: string, redirectUri: string, scope: string }} Client
 */
export async function openTokenStore(store, databaseUrl) {
  if (store === 'memory') return openMemory()
  const sql = openSql(store, databaseUrl)
  await sql.execute(tables)
  await sql.query('INSERT INTO clients VALUES ($1, $2, $3, $4)', Object.values(registered))
  await sql.query('INSERT INTO scopes VALUES ($1)', [scope])
  for (const user of users)
    await sql.query('INSERT INTO consents VALUES ($1, $2, $3)', [user, client.id, scope])
  return openTables(sql)
}

const registered = { id: client.id, secret: client.secret, redirectUri, scope }

const tables = `
  CREATE TABLE clients (id TEXT PRIMARY KEY, secret TEXT NOT NULL, redirect_uri TEXT NOT NULL,
    scope TEXT NOT NULL);
  CREATE TABLE scopes (name TEXT PRIMARY KEY);
  CREATE TABLE consents (user_id TEXT, client_id TEXT, scope TEXT NOT NULL,
    PRIMARY KEY (user_id, client_id));
  CREATE TABLE codes (code TEXT PRIMARY KEY, client_id TEXT NOT NULL, user_id TEXT NOT NULL,
    scope TEXT NOT NULL, redirect_uri TEXT NOT NULL, challenge TEXT, expires_at BIGINT NOT NULL);
  CREATE TABLE tokens (access_token TEXT PRIMARY KEY, access_expires_at BIGINT NOT NULL,
    refresh_token TEXT UNIQUE, refresh_expires_at BIGINT, client_id TEXT NOT NULL, user_id TEXT,
    scope TEXT NOT NULL, code TEXT);`

const ofClient = 'clients.secret, clients.redirect_uri AS registered_uri'
const selectToken = `SELECT tokens.*, ${ofClient} FROM tokens
  JOIN clients ON clients.id = tokens.client_id WHERE`
const selectCode = `SELECT codes.*, ${ofClient} FROM codes
  JOIN clients ON clients.id = codes.client_id WHERE code = $1`

function openTables(sql) {
  const first = async (text, values) => (await sql.query(text, values))[0] ?? null
  return {
    findClient: (id) =>
      first('SELECT id, secret, redirect_uri AS "redirectUri", scope FROM clients WHERE id = $1', [
        id,
      ]),
    findScopes: (names) => {
      const placeholders = names.map((_, index) => `$${index + 1}`)
      return sql.query(`SELECT name FROM scopes WHERE name IN (${placeholders})`, names)
    },
    hasConsent: async (userId, clientId) =>
      (await first('SELECT scope FROM consents WHERE user_id = $1 AND client_id = $2', [
        userId,
        clientId,
      ])) !== null,
    insertCode: (c) =>
      sql.query('INSERT INTO codes VALUES ($1, $2, $3, $4, $5, $6, $7)', [
        c.code,
        c.clientId,
        c.userId,
        c.scope,
        c.redirectUri,
        c.challenge,
        c.expiresAt,
      ]),
    findCode: async (code) => toCode(await first(selectCode, [code])),
    expireCode: (code) => sql.query('UPDATE codes SET expires_at = 0 WHERE code = $1', [code]),
    takeCode: async (code) =>
      (await first('DELETE FROM codes WHERE code = $1 RETURNING code', [code])) !== null,
    insertToken: (t) =>
      sql.query('INSERT INTO tokens VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', [
        t.accessToken,
        t.accessExpiresAt,
        t.refreshToken ?? null,
        t.refreshExpiresAt ?? null,
        t.clientId,
        t.userId ?? null,
        t.scope,
        t.code ?? null,
      ]),
    addRefreshToken: (accessToken, refreshToken, expiresAt) =>
      sql.query(
        'UPDATE tokens SET refresh_token = $2, refresh_expires_at = $3 WHERE access_token = $1',
        [accessToken, refreshToken, expiresAt],
      ),
    findByAccess: async (token) =>
      toToken(await first(`${selectToken} access_token = $1`, [token])),
    findByRefresh: async (token) =>
      toToken(await first(`${selectToken} refresh_token = $1`, [token])),
    expireToken: (accessToken) =>
      sql.query(
        'UPDATE tokens SET access_expires_at = 0, refresh_expires_at = 0 WHERE access_token = $1',
        [accessToken],
      ),
    takeByRefresh: async (token) =>
      (await first('DELETE FROM tokens WHERE refresh_token = $1 RETURNING access_token', [
        token,
      ])) !== null,
  }
}

const toClient = (row) => ({
  id: row.client_id,
  secret: row.secret,
  redirectUri: row.registered_uri,
  scope: row.scope,
})

const toCode = (row) =>
  row && {
    code: row.code,
    client: toClient(row),
    userId: row.user_id,
    scope: row.scope,
    redirectUri: row.redirect_uri,
    challenge: row.challenge,
    expiresAt: Number(row.expires_at),
  }

const toToken = (row) =>
  row && {
    accessToken: row.access_token,
    accessExpiresAt: Number(row.access_expires_at),
    refreshToken: row.refresh_token,
    refreshExpiresAt: row.refresh_expires_at === null ? null : Number(row.refresh_expires_at),
    client: toClient(row),
    userId: row.user_id,
    scope: row.scope,
    code: row.code,
  }

function openMemory() {
  const clients = new Map([[client.id, registered]])
  const scopes = new Map([[scope, { name: scope }]])
  const consents = new Set(users.map((user) => `${user} ${client.id}`))
  const codes = new Map()
  const byAccess = new Map()
  const byRefresh = new Map()
  return {
    findClient: async (id) => clients.get(id) ?? null,
    findScopes: async (names) => names.flatMap((name) => scopes.get(name) ?? []),
    hasConsent: async (userId, clientId) => consents.has(`${userId} ${clientId}`),
    insertCode: async (c) => void codes.set(c.code, { ...c, client: clients.get(c.clientId) }),
    findCode: async (code) => codes.get(code) ?? null,
    expireCode: async (code) => {
      codes.get(code).expiresAt = 0
    },
    takeCode: async (code) => codes.delete(code),
    insertToken: async (t) => {
      const token = { ...t, client: clients.get(t.clientId) }
      byAccess.set(t.accessToken, token)
      if (t.refreshToken) byRefresh.set(t.refreshToken, token)
    },
    addRefreshToken: async (accessToken, refreshToken, refreshExpiresAt) => {
      const token = byAccess.get(accessToken)
      Object.assign(token, { refreshToken, refreshExpiresAt })
      byRefresh.set(refreshToken, token)
    },
    findByAccess: async (token) => byAccess.get(token) ?? null,
    findByRefresh: async (token) => byRefresh.get(token) ?? null,
    expireToken: async (accessToken) => {
      Object.assign(byAccess.get(accessToken), { accessExpiresAt: 0, refreshExpiresAt: 0 })
    },
    takeByRefresh: async (token) => {
      const found = byRefresh.get(token)
      if (found) byAccess.delete(found.accessToken)
      return byRefresh.delete(token)
    },
  }
}
