import {
  type Database,
  type DeleteBatch,
  deleteBatch,
  isUnavailable,
  migrate,
  requireMigrations,
} from '@tollgate/database'
import type { Storage } from '../repositories.ts'
import { UNUSED_CLIENT } from '../tickets.ts'
import { createClientRepository, purgeUnusedClients } from './clients.ts'
import { createCodeRepository } from './codes.ts'
import { createConsentRepository } from './consents.ts'
import { countActive, endAllRecords } from './end-all.ts'
import { createInteractionRepository } from './interactions.ts'
import { createKeyRepository } from './keys.ts'
import { createLimitRepository } from './limits.ts'
import { oauthMigrations } from './migrations.ts'
import { createRevocationRepository, purgeRevocations } from './revocations.ts'
import { createLogoutRepository, createSessionRepository } from './sessions.ts'
import type { OAuthTables } from './tables.ts'
import { createTicketRepository } from './tickets.ts'
import { createTokenRepository } from './tokens.ts'

/** The column of each table that holds its expiry. Every such column is indexed. */
const EXPIRY_COLUMNS = [
  { table: 'oauth_tokens', key: 'id', column: 'live_until' },
  { table: 'oauth_authorization_codes', key: 'hash', column: 'expires_at' },
  { table: 'oauth_interactions', key: 'hash', column: 'expires_at' },
  { table: 'oauth_sessions', key: 'sid', column: 'live_until' },
  { table: 'oauth_logouts', key: 'id', column: 'expires_at' },
] as const

/** Tables whose rows are useless once they have expired. */
const EXPIRING_TABLES = [
  { table: 'oauth_tickets', key: 'hash' },
  { table: 'oauth_limits', key: 'name' },
] as const

/**
 * Stores the state of the server in SQLite, Postgres, MySQL or MariaDB.
 * @example
 * ```ts
 * const storage = kyselyStorage(await connect('postgres://localhost/app'))
 * await storage.migrate()
 * ```
 */
export function kyselyStorage(connected: Database): Storage {
  const database: Database<OAuthTables> = connected
  return {
    timeout: database.timeout,
    afterCommit: (run) => database.afterCommit(run),
    clock: database.clock,
    clients: createClientRepository(database),
    tokens: createTokenRepository(database),
    codes: createCodeRepository(database),
    interactions: createInteractionRepository(database),
    consents: createConsentRepository(database),
    tickets: createTicketRepository(database),
    limits: createLimitRepository(database),
    sessions: createSessionRepository(database),
    logouts: createLogoutRepository(database),
    keys: createKeyRepository(database),
    revocations: createRevocationRepository(database),
    async migrate() {
      await migrate(database, oauthMigrations)
    },
    requireMigrations: () => requireMigrations(database, oauthMigrations),
    async purge(before, limit) {
      let deleted = await purgeRevocations(database, before, limit)
      for (const { table, key, column } of EXPIRY_COLUMNS) {
        const where: DeleteBatch['where'] = (eb) => eb(column, '<', before.getTime())
        deleted += await deleteBatch(database, { table, key, where, limit })
      }
      return deleted
    },
    async purgeExpired(before, limit) {
      let deleted = await purgeUnusedClients(database, before, limit)
      for (const { table, key } of EXPIRING_TABLES) {
        const where: DeleteBatch['where'] = (eb) => {
          const ended = eb('expires_at', '<', before.getTime())
          return table === 'oauth_tickets'
            ? eb.and([ended, eb('kind', '!=', UNUSED_CLIENT)])
            : ended
        }
        deleted += await deleteBatch(database, { table, key, where, limit })
      }
      return deleted
    },
    endAll: (at) => endAllRecords(database, at),
    countActive: (at) => countActive(database, at),
    isUnavailable,
  }
}
