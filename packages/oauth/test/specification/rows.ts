import { expect } from 'vitest'
import type { OAuthTables } from '../../src/storage/kysely/tables.ts'
import type { TestServer } from '../support.ts'

const TABLES = [
  'oauth_clients',
  'oauth_tokens',
  'oauth_authorization_codes',
  'oauth_interactions',
  'oauth_consents',
  'oauth_keys',
  'oauth_revocations',
] as const satisfies ReadonlyArray<keyof OAuthTables>

/** Reads every row of every table in a stable order, so that two results can be compared. */
export async function readAllRows(server: TestServer): Promise<Record<string, string[]>> {
  const entries = TABLES.map(async (table) => {
    const rows = await server.database.kysely.selectFrom(table).selectAll().execute()
    return [table, rows.map((row) => JSON.stringify(row)).sort()] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

export async function countRows(server: TestServer, table: keyof OAuthTables): Promise<number> {
  return (await readAllRows(server))[table]?.length ?? 0
}

/** Runs `act` and checks that no row was added, changed or removed. */
export async function expectNoChange<T>(server: TestServer, act: () => Promise<T>): Promise<T> {
  const before = await readAllRows(server)
  const result = await act()
  const after = await readAllRows(server)
  for (const table of TABLES) {
    const rows = { before: before[table] ?? [], after: after[table] ?? [] }
    expect({
      table,
      added: rows.after.filter((row) => !rows.before.includes(row)),
      removed: rows.before.filter((row) => !rows.after.includes(row)),
    }).toEqual({ table, added: [], removed: [] })
  }
  return result
}
