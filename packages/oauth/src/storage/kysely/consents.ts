import { type ConditionalRow, type Database, insertWhile } from '@tollgate/database'
import type { AuthorizationCode, Token } from '../records.ts'
import type { ConsentRepository } from '../repositories.ts'
import { buildCodeAssignments } from './codes.ts'
import {
  type CodeRow,
  type ConsentRow,
  codeTable,
  consentTable,
  type OAuthTables,
  type TokenRow,
  tokenTable,
} from './tables.ts'
import { buildTokenAssignments, deletePendingAuthorizationRequests } from './tokens.ts'

interface ConsentCheck {
  readonly userId: string
  readonly clientId: string
  /**
   * The scopes of the consent as they were read. If they have changed since, the approval no longer
   * applies.
   */
  readonly approved: string
}

/** The columns that must not have changed since the consent was read. */
const unchangedColumns = consentTable.pick('user_id', 'client_id', 'scopes')

const unchangedConsent: ConditionalRow<OAuthTables, ConsentCheck> = {
  table: 'oauth_consents',
  key: (param) => ({ user_id: param('userId'), client_id: param('clientId') }),
  where: (eb, param) => eb('scopes', '=', param('approved')),
}

export function createConsentRepository(database: Database<OAuthTables>): ConsentRepository {
  const findOne = database.statement<{ userId: string; clientId: string }, ConsentRow>(
    (db, param) =>
      db
        .selectFrom('oauth_consents')
        .selectAll()
        .where('user_id', '=', param('userId'))
        .where('client_id', '=', param('clientId')),
  )
  const insertCode = insertWhile<OAuthTables, ConsentCheck & CodeRow>(database, {
    row: unchangedConsent,
    insert: { table: 'oauth_authorization_codes', values: (param) => buildCodeAssignments(param) },
    together: { ...codeTable.paramTypes, userId: 'text', clientId: 'text', approved: 'text' },
  })
  const insertToken = insertWhile<OAuthTables, ConsentCheck & TokenRow>(database, {
    row: unchangedConsent,
    insert: { table: 'oauth_tokens', values: (param) => buildTokenAssignments(param) },
  })
  return {
    async find(userId, clientId) {
      const [row] = (await findOne({ userId, clientId })).rows
      return row ? consentTable.fromRow(row) : null
    },
    async listByUser(userId) {
      const rows = await database.kysely
        .selectFrom('oauth_consents')
        .selectAll()
        .where('user_id', '=', userId)
        .orderBy('updated_at', 'desc')
        .execute()
      return rows.map(consentTable.fromRow)
    },
    async use(consent, { code, token }) {
      const read = unchangedColumns.toRow(consent)
      const approval = { userId: read.user_id, clientId: read.client_id, approved: read.scopes }
      // `Object.assign`, because spreading a row into a new object takes ten times as long.
      const storeCode = (made: AuthorizationCode, on?: Database) =>
        insertCode(Object.assign(codeTable.toRow(made), approval), on)
      const storeToken = (made: Token, on?: Database) =>
        insertToken(Object.assign(tokenTable.toRow(made), approval), on)
      if (code && token) {
        // The first insert locks the row of the consent, so the second insert is certain to find
        // it.
        return database.transaction(
          async (tx) => (await storeCode(code, tx)) && storeToken(token, tx),
        )
      }
      if (code) return storeCode(code)
      if (token) return storeToken(token)
      // Nothing to store, such as for `response_type=id_token`.
      const [row] = (await findOne({ userId: read.user_id, clientId: read.client_id })).rows
      return row?.scopes === read.scopes
    },
    // Deletes the consent first: a concurrent approval holds its row lock, so what that approval
    // stored is visible to `deletePendingRequests()`.
    remove: (userId, clientId) =>
      database.transaction(async (tx) => {
        await tx.kysely
          .deleteFrom('oauth_consents')
          .where('user_id', '=', userId)
          .where('client_id', '=', clientId)
          .execute()
        await deletePendingAuthorizationRequests(tx, { userId, clientId })
      }),
  }
}
