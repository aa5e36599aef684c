import { createServiceBilling, NO_PROVIDER } from '../../billing.ts'
import { migrateCore } from '../../core.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import type { Command } from '../command.ts'
import { withDatabase } from '../open.ts'

export const migrateCommand: Command = {
  summary: 'bring the database up to date; several may run at once, one works',
  options: [
    {
      flags: '--offline',
      description:
        'every other process is stopped: take steps, too, that cannot be taken beside one',
    },
  ],
  async run({ options: given }, context) {
    const config = await context.config([])
    return withDatabase(config, async (database) => {
      const logger = createLogger('warn', process.stderr)
      const applied = await withProgress('Migrating', async (tell) => {
        const core = await migrateCore(database)
        tell('billing')
        const options = { config, database, logger, providers: NO_PROVIDER }
        const billing = createServiceBilling({ ...options, background: false })
        const own = await billing.migrate({ offline: given.offline === true })
        await billing.close()
        return [...core, ...own.applied]
      })
      const text =
        applied.length === 0 ? 'The database is up to date' : `Applied:\n${applied.join('\n')}`
      return { json: { applied }, text }
    })
  },
}
