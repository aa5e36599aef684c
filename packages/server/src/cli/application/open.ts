import { readMigrations } from '@tollgate/database'
import { requireTables } from '../../storage/found-tables.ts'
import type { CommandContext } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import { type Application, loadApplication } from './load.ts'

/** The parts of an application whose tables a command uses. */
export type ApplicationPart = 'oauth' | 'billing'

/**
 * Loads the application that `--config` names, runs `work` with it, and closes its instances.
 * @throws UsageError if the module does not export one of the parts, or the tables of a part are
 * missing.
 */
export async function withApplication<T>(
  { application: file }: Pick<CommandContext, 'application'>,
  parts: readonly ApplicationPart[],
  work: (application: Application) => Promise<T>,
): Promise<T> {
  if (file === null) throw new TypeError('There is no --config')
  const application = await loadApplication(file)
  try {
    for (const part of parts) await requirePart(application, part)
    return await work(application)
  } finally {
    await application.oauth?.close()
    await application.billing?.close()
    await application.database.close()
  }
}

/**
 * Returns the authorization server or billing of the application, after checking its tables.
 * Commands create no tables, also if the application would.
 * @throws UsageError
 */
export async function requirePart<Name extends ApplicationPart>(
  application: Application,
  part: Name,
): Promise<NonNullable<Application[Name]>> {
  const { file, database, [part]: instance } = application
  if (!instance) throw new UsageError(`${file} exports no \`${part}\`, which this command needs`)
  const migrate = `tollgate --config ${file} migrate`
  if (!(await readMigrations(database)).has(part)) {
    throw new UsageError(
      `The database of ${file} has no ${part} tables of Tollgate, and none were created. Is it the right database? If so, run: ${migrate}`,
    )
  }
  await requireTables(database, [part], migrate)
  return instance as NonNullable<Application[Name]>
}
