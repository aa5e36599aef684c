import type { Database } from '@tollgate/database'
import type { ServiceTables } from './tables.ts'

const BATCH = 500

/**
 * Deletes the links of a person with other providers, and the personal data in the audit log, in
 * short statements.
 */
export async function deletePersonalData(
  database: Database<ServiceTables>,
  userId: string,
): Promise<void> {
  await database.kysely
    .deleteFrom('linked_identities')
    .where('user_id', '=', Number(userId))
    .execute()
  for (;;) {
    const rows = await database.kysely
      .selectFrom('audit_personal')
      .select('entry_id')
      .where('person', '=', userId)
      .limit(BATCH)
      .execute()
    if (rows.length === 0) return
    await database.kysely
      .deleteFrom('audit_personal')
      .where('person', '=', userId)
      .where(
        'entry_id',
        'in',
        rows.map(({ entry_id }) => entry_id),
      )
      .execute()
  }
}
