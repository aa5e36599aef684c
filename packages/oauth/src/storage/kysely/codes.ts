import {
  type Assignments,
  type Database,
  findTogether,
  type ParamBuilder,
  type ParamTypes,
} from '@tollgate/database'
import type { AuthorizationCodeRepository } from '../repositories.ts'
import { type CodeRow, codeRow, type OAuthTables, type TokenRow, tokenRow } from './tables.ts'
import { TOKEN_TYPES, tokenValues } from './tokens.ts'

/** As parameters. */
export const CODE_TYPES = {
  hash: 'text',
  token_id: 'text',
  client_id: 'text',
  user_id: 'text',
  redirect_uri: 'text',
  scopes: 'text',
  code_challenge: 'text',
  expires_at: 'bigint',
  used_at: 'bigint',
} as const satisfies ParamTypes<CodeRow>

const CODE_COLUMNS = Object.keys(CODE_TYPES) as ReadonlyArray<keyof CodeRow>

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
  const findByHash = findTogether<CodeRow>(database, {
    table: 'oauth_authorization_codes',
    key: 'hash',
  })
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
    together: { ...TOKEN_TYPES, hash: 'text', usedAt: 'bigint' },
  })
  return {
    async create(code) {
      await insert(codeRow.toRow(code))
    },
    async find(hash) {
      const row = await findByHash(hash)
      return row ? codeRow.fromRow(row) : null
    },
    async exchange(hash, at, token) {
      const used = { hash, usedAt: at.getTime() }
      const claimed = await exchange(Object.assign(tokenRow.toRow(token), used))
      return claimed !== null
    },
  }
}
