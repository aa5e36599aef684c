import { type Database, deleteBatch } from '@tollgate/database'
import { sql } from 'kysely'
import type { ActiveCounts } from '../repositories.ts'
import { UNUSED_CLIENT } from '../tickets.ts'
import type { OAuthTables } from './tables.ts'

const BATCH = 500

/**
 * Ends all tokens, codes, pending requests and consents, and returns how many were ended. Begins
 * with tickets, pending requests and codes, because a token could still be issued for each of them.
 */
export async function endAllRecords(
  database: Database<OAuthTables>,
  at: Date,
): Promise<ActiveCounts> {
  const living = await countActive(database, at)
  await deleteAll(database, 'oauth_tickets', 'hash', sql<boolean>`kind <> ${UNUSED_CLIENT}`)
  await deleteAll(database, 'oauth_interactions', 'hash')
  await deleteConsents(database)
  await deleteAll(database, 'oauth_authorization_codes', 'hash')
  await endTokens(database, at)
  return living
}

export async function countActive(
  database: Database<OAuthTables>,
  at: Date,
): Promise<ActiveCounts> {
  const now = at.getTime()
  const { rows } = await sql<{ [Name in keyof ActiveCounts]: number }>`select
    (select count(*) from oauth_tokens where revoked_at is null and live_until > ${now}) as ${sql.ref('tokens')},
    (select count(*) from oauth_tokens where revoked_at is null and live_until > ${now}
      and grant_type = 'personal_access') as ${sql.ref('personalAccessTokens')},
    (select count(*) from oauth_authorization_codes
      where used_at is null and expires_at > ${now}) as ${sql.ref('codes')},
    (select count(*) from oauth_interactions
      where decided_at is null and expires_at > ${now}) as ${sql.ref('interactions')},
    (select count(*) from oauth_consents) as ${sql.ref('consents')}`.execute(database.kysely)
  const counts = Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)])
  return Object.fromEntries(counts) as ActiveCounts
}

async function deleteAll(
  database: Database<OAuthTables>,
  table: 'oauth_tickets' | 'oauth_interactions' | 'oauth_authorization_codes',
  key: 'hash',
  condition = sql<boolean>`1 = 1`,
): Promise<void> {
  const where = () => condition
  for (;;) {
    const deleted = await deleteBatch(database, { table, key, where, limit: BATCH })
    if (deleted === 0) return
  }
}

/** Deletes in batches of users, because a consent has no single-column key. */
async function deleteConsents(database: Database<OAuthTables>): Promise<void> {
  for (;;) {
    const people = await database.kysely
      .selectFrom('oauth_consents')
      .select('user_id')
      .distinct()
      .limit(BATCH)
      .execute()
    if (people.length === 0) return
    const ids = people.map((each) => each.user_id)
    await database.kysely.deleteFrom('oauth_consents').where('user_id', 'in', ids).execute()
  }
}

/**
 * Ends the tokens with ids up to the largest one at the start. Tokens created later are not
 * affected.
 */
async function endTokens(database: Database<OAuthTables>, at: Date): Promise<void> {
  const tokens = database.kysely.selectFrom('oauth_tokens').select('id')
  const last = await tokens.orderBy('id', 'desc').limit(1).executeTakeFirst()
  if (!last) return
  for (let after = ''; ; ) {
    const batch = await tokens
      .where('id', '>', after)
      .where('id', '<=', last.id)
      .orderBy('id')
      .limit(BATCH)
      .execute()
    const ids = batch.map(({ id }) => id)
    if (ids.length === 0) return
    await database.kysely
      .updateTable('oauth_tokens')
      .set({ revoked_at: at.getTime(), live_until: at.getTime() })
      .where('id', 'in', ids)
      .where('revoked_at', 'is', null)
      .execute()
    after = ids.at(-1) ?? last.id
  }
}
