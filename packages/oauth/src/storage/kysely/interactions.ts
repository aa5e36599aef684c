import { type Database, upsert } from '@tollgate/database'
import { mergeConsents } from '../merge-consents.ts'
import type { Approval, Consent } from '../records.ts'
import type { InteractionRepository } from '../repositories.ts'
import { prepareInsertCode } from './codes.ts'
import {
  codeTable,
  consentTable,
  type InteractionRow,
  interactionTable,
  type OAuthTables,
  tokenTable,
} from './tables.ts'
import { prepareInsertToken } from './tokens.ts'

export function createInteractionRepository(
  database: Database<OAuthTables>,
): InteractionRepository {
  const addCode = prepareInsertCode(database)
  const addToken = prepareInsertToken(database)
  const decide = database.updateOneReturning<{ hash: string; at: number }, InteractionRow>({
    table: 'oauth_interactions',
    key: (param) => ({ hash: param('hash') }),
    where: (eb, param) =>
      eb.and([eb('decided_at', 'is', null), eb('expires_at', '>', param('at'))]),
    set: (param) => ({ decided_at: param('at') }),
    returning: ['hash'],
  })

  async function makeRoom(tx: Database<OAuthTables>, userId: string, limit: number): Promise<void> {
    const oldest = await tx.kysely
      .selectFrom('oauth_interactions')
      .select('created_at')
      .where('user_id', '=', userId)
      .orderBy('created_at', 'desc')
      .limit(1)
      .offset(limit - 1)
      .executeTakeFirst()
    if (!oldest) return
    await tx.kysely
      .deleteFrom('oauth_interactions')
      .where('user_id', '=', userId)
      .where('created_at', '<=', oldest.created_at)
      .execute()
  }

  return {
    async create(interaction, limit) {
      await makeRoom(database, interaction.userId, limit)
      await database.kysely
        .insertInto('oauth_interactions')
        .values(interactionTable.toRow(interaction))
        .execute()
    },
    async find(hash) {
      const row = await database.kysely
        .selectFrom('oauth_interactions')
        .selectAll()
        .where('hash', '=', hash)
        .executeTakeFirst()
      return row ? interactionTable.fromRow(row) : null
    },
    approve: (hash: string, approval: Approval) =>
      database.transaction(async (tx) => {
        if (!(await decide({ hash, at: approval.at.getTime() }, tx))) return false
        if (approval.consent) await rememberConsent(tx, approval.consent)
        if (approval.code) await addCode(codeTable.toRow(approval.code), tx)
        if (approval.token) await addToken(tokenTable.toRow(approval.token), tx)
        return true
      }),
    async deny(hash, at) {
      return (await decide({ hash, at: at.getTime() })) !== null
    },
  }
}

async function rememberConsent(tx: Database<OAuthTables>, consent: Consent): Promise<void> {
  const before = await tx.kysely
    .selectFrom('oauth_consents')
    .selectAll()
    .where('user_id', '=', consent.userId)
    .where('client_id', '=', consent.clientId)
    .executeTakeFirst()
  const merged = mergeConsents(before ? consentTable.fromRow(before) : null, consent)
  const row = consentTable.toRow({ ...merged, declined: merged.declined ?? null })
  await upsert(tx, 'oauth_consents', { ...row }, ['user_id', 'client_id'])
}
