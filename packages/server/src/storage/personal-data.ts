import { TEAM } from './found-tables.ts'
import { deleteGateData } from './gate-data.ts'
import type { ServiceDatabase } from './tables.ts'

const BATCH = 500

/** Tables with second factors and unfinished sign-ins, each with a column `user_id`. */
export const FACTOR_TABLES = [
  'pending_sign_ins',
  'passkeys',
  'totp_factors',
  'recovery_codes',
  'factor_resets',
] as const

/** Deletes the second factors of a person, unfinished sign-ins, and links with other providers. */
export async function deleteSignInWays(database: ServiceDatabase, userId: string): Promise<void> {
  for (const table of [...FACTOR_TABLES, 'linked_identities'] as const) {
    await database.kysely.deleteFrom(table).where('user_id', '=', Number(userId)).execute()
  }
}

/**
 * Deletes the personal data of a person: the second factors, the links with other providers, and the data in the audit log, in
 * short statements.
 */
export async function deletePersonalData(database: ServiceDatabase, userId: string): Promise<void> {
  await deleteSignInWays(database, userId)
  await deleteGateData(database, `user:${userId}`)
  await deleteAuditData(database, userId)
}

/** Deletes the personal data of a team: in the audit log, and what the gate has counted. */
export async function deleteTeamData(database: ServiceDatabase, teamId: string): Promise<void> {
  await deleteGateData(database, `${TEAM}:${teamId}`)
  await deleteAuditData(database, `${TEAM}:${teamId}`)
}

async function deleteAuditData(database: ServiceDatabase, owner: string): Promise<void> {
  for (;;) {
    const rows = await database.kysely
      .selectFrom('audit_personal')
      .select('entry_id')
      .where('person', '=', owner)
      .limit(BATCH)
      .execute()
    if (rows.length === 0) return
    await database.kysely
      .deleteFrom('audit_personal')
      .where('person', '=', owner)
      .where(
        'entry_id',
        'in',
        rows.map(({ entry_id }) => entry_id),
      )
      .execute()
  }
}

/** Deletes the mail to a person and the links in it. */
export async function deleteAccountMail(database: ServiceDatabase, userId: string): Promise<void> {
  for (const table of ['account_mails', 'account_links'] as const) {
    await database.kysely.deleteFrom(table).where('user_id', '=', Number(userId)).execute()
  }
}
