import {
  type Assignments,
  type Database,
  findTogether,
  type ParamBuilder,
} from '@tollgate/database'
import type { AuthorizationCodeRepository } from '../repositories.ts'
import { type CodeRow, codeTable, type OAuthTables, type TokenRow, tokenTable } from './tables.ts'
import { buildTokenAssignments } from './tokens.ts'

export function buildCodeAssignments(param: ParamBuilder<CodeRow>): Assignments {
  return Object.fromEntries(codeTable.columns.map((name) => [name, param(name)]))
}

export function prepareInsertCode(database: Database<OAuthTables>) {
  return database.statement<CodeRow>((db, param) =>
    db.insertInto('oauth_authorization_codes').values(buildCodeAssignments(param) as never),
  )
}

export function createCodeRepository(database: Database<OAuthTables>): AuthorizationCodeRepository {
  const insert = prepareInsertCode(database)
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
      values: (param) => buildTokenAssignments(param),
    },
    together: { ...tokenTable.paramTypes, hash: 'text', usedAt: 'bigint' },
  })
  return {
    async create(code) {
      await insert(codeTable.toRow(code))
    },
    async find(hash) {
      const row = await findByHash(hash)
      return row ? codeTable.fromRow(row) : null
    },
    async exchange(hash, at, token) {
      const used = { hash, usedAt: at.getTime() }
      const claimed = await exchange(Object.assign(tokenTable.toRow(token), used))
      return claimed !== null
    },
  }
}
