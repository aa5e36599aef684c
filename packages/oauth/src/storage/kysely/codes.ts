import type { Assignments, Database, ParamBuilder } from '@tollgate/database'
import type { AuthorizationCodeRepository } from '../repositories.ts'
import { type CodeRow, codeRow, type OAuthTables, type TokenRow, tokenRow } from './tables.ts'
import { tokenValues } from './tokens.ts'

const CODE_COLUMNS = [
  'hash',
  'token_id',
  'client_id',
  'user_id',
  'redirect_uri',
  'scopes',
  'code_challenge',
  'expires_at',
  'used_at',
] as const satisfies ReadonlyArray<keyof CodeRow>

export function codeValues(param: ParamBuilder<CodeRow>): Assignments {
  return Object.fromEntries(CODE_COLUMNS.map((name) => [name, param(name)]))
}

export function insertCode(database: Database<OAuthTables>) {
  return database.statement<CodeRow>((db, param) =>
    db.insertInto('oauth_authorization_codes').values(codeValues(param) as never),
  )
}

export function codeRepository(database: Database<OAuthTables>): AuthorizationCodeRepository {
  const insert = insertCode(database)
  const findByHash = database.statement<{ hash: string }, CodeRow>((db, param) =>
    db.selectFrom('oauth_authorization_codes').selectAll().where('hash', '=', param('hash')),
  )
  const exchange = database.claimThenInsert<
    TokenRow & { hash: string; usedAt: number },
    { hash: string }
  >({
    claim: {
      table: 'oauth_authorization_codes',
      key: (param) => ({ hash: param('hash') }),
      where: (eb) => eb('used_at', 'is', null),
      set: (param) => ({ used_at: param('usedAt') }),
      returning: ['hash'],
    },
    insert: {
      table: 'oauth_tokens',
      values: (param) => tokenValues(param),
    },
  })
  return {
    async create(code) {
      await insert(codeRow.toRow(code))
    },
    async find(hash) {
      const [row] = (await findByHash({ hash })).rows
      return row ? codeRow.fromRow(row) : null
    },
    async exchange(hash, at, token) {
      const claimed = await exchange({ ...tokenRow.toRow(token), hash, usedAt: at.getTime() })
      return claimed !== null
    },
  }
}
