import { createColumnDefinitions, createTable, type Database } from '@tollgate/database'
import type { Template } from '../../../test-support/create-test-database.ts'
import type { OwnerTable, ProviderName } from '../src/index.ts'
import { type StartBillingOptions, startBilling } from '../src/testing/index.ts'
import { type FlowTest, start } from './support.ts'

type IdType = 'integer' | 'string'

export const teamTable = (idType: IdType): OwnerTable => ({
  table: 'teams',
  idType,
  email: 'billing_email',
  name: 'title',
})

/** Creates an application's table of teams, as it is before billing adds its columns. */
export async function createTeams(database: Database, idType: IdType): Promise<void> {
  const columns = createColumnDefinitions(database)
  await createTable(database, 'teams', {
    columns: {
      id: idType === 'string' ? columns.string(255) : columns.integer,
      billing_email: columns.string(255).nullable(),
      title: columns.string(255).nullable(),
    },
    primaryKey: ['id'],
  })
}

const withTeams = (idType: IdType): Template => ({
  name: `billing, and teams with ids of the type ${idType}`,
  async fill(database) {
    await createTeams(database, idType)
    const test = await startBilling({ database, owners: { team: teamTable(idType) } })
    await test.close()
    await database.kysely.deleteFrom('users').execute()
  },
})

/** Starts a test with a user 1, as `start` does, and a table of teams. */
export function startTeams(
  provider: ProviderName,
  idType: IdType = 'integer',
  options: StartBillingOptions = {},
): Promise<FlowTest> {
  const owners = { team: teamTable(idType) }
  return start(provider, { owners, ...options }, withTeams(idType))
}

export async function createTeam(
  { database, billing }: Pick<FlowTest, 'database' | 'billing'>,
  id: string | number,
) {
  await database.kysely
    .insertInto('teams')
    .values({ id, billing_email: 'team@example.com', title: 'The Analysts' })
    .execute()
  return billing.owner('team', id)
}
