import { type ConditionalRow, type Database, insertWhile } from '@tollgate/database'
import type { AuthorizationCode, Token } from '../records.ts'
import type { ConsentRepository } from '../repositories.ts'
import { codeValues } from './codes.ts'
import {
  type CodeRow,
  type ConsentRow,
  codeTable,
  consentTable,
  type OAuthTables,
  type TokenRow,
  tokenTable,
} from './tables.ts'
import { forgetPending, tokenValues } from './tokens.ts'

interface Approval {
  readonly userId: string
  readonly clientId: string
  /** The scopes as they were read: a consent that has changed since is not this one. */
  readonly approved: string
}

/** What has to be as it was when it was read. */
const readBefore = consentTable.pick('user_id', 'client_id', 'scopes')

const approving: ConditionalRow<OAuthTables, Approval> = {
  table: 'oauth_consents',
  key: (param) => ({ user_id: param('userId'), client_id: param('clientId') }),
  where: (eb, param) => eb('scopes', '=', param('approved')),
}

export function consentRepository(database: Database<OAuthTables>): ConsentRepository {
  const findOne = database.statement<{ userId: string; clientId: string }, ConsentRow>(
    (db, param) =>
      db
        .selectFrom('oauth_consents')
        .selectAll()
        .where('user_id', '=', param('userId'))
        .where('client_id', '=', param('clientId')),
  )
  const insertCode = insertWhile<OAuthTables, Approval & CodeRow>(database, {
    row: approving,
    insert: { table: 'oauth_authorization_codes', values: (param) => codeValues(param) },
    together: { ...codeTable.paramTypes, userId: 'text', clientId: 'text', approved: 'text' },
  })
  const insertToken = insertWhile<OAuthTables, Approval & TokenRow>(database, {
    row: approving,
    insert: { table: 'oauth_tokens', values: (param) => tokenValues(param) },
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
      const read = readBefore.toRow(consent)
      const approval = { userId: read.user_id, clientId: read.client_id, approved: read.scopes }
      // Spreading a row and adding to it would take ten times as long.
      const storeCode = (made: AuthorizationCode, on?: Database) =>
        insertCode(Object.assign(codeTable.toRow(made), approval), on)
      const storeToken = (made: Token, on?: Database) =>
        insertToken(Object.assign(tokenTable.toRow(made), approval), on)
      if (code && token) {
        // The first insert holds the consent's row, so the second one finds it as well.
        return database.transaction(
          async (tx) =>
            (await storeCode(code, tx as Database)) && storeToken(token, tx as Database),
        )
      }
      if (code) return storeCode(code)
      if (token) return storeToken(token)
      // Such as response_type=id_token, which leaves nothing here.
      const [row] = (await findOne({ userId: read.user_id, clientId: read.client_id })).rows
      return row?.scopes === read.scopes
    },
    // The consent first: whoever is using it holds its row, and what came of that is found after.
    remove: (userId, clientId) =>
      database.transaction(async (tx) => {
        await tx.kysely
          .deleteFrom('oauth_consents')
          .where('user_id', '=', userId)
          .where('client_id', '=', clientId)
          .execute()
        await forgetPending(tx, { userId, clientId })
      }),
  }
}
