import type { Database } from '@tollgate/database'
import { migrateCore } from '../../../core.ts'
import { withProgress } from '../../../progress.ts'
import type { Command } from '../../command.ts'
import { withDatabase, withTables } from '../../open.ts'
import { openBilling } from '../../open-billing.ts'

export const billingSync: Command = {
  summary: "bring every user's billing to the providers' state, and show what was different",
  options: [
    { flags: '--dry-run', description: 'only show it' },
    { flags: '--cancel-deleted-users', description: 'end what runs on for users who are gone' },
  ],
  async run({ options }, context) {
    const dryRun = options.dryRun === true
    const cancelDeletedUsers = options.cancelDeletedUsers === true
    const config = await context.config(['providers'])
    const sync = async (database: Database) => {
      const { billing, close } = await openBilling(config, database)
      try {
        const report = await withProgress('Comparing', () =>
          billing.sync({ dryRun, cancelDeletedUsers }),
        )
        const lines = report.drift.map(
          ({ owner, provider, providerId, what }) =>
            `  ${owner.type} ${owner.id}: ${provider} ${providerId}: ${what}`,
        )
        const failures = report.failures.map(
          ({ owner, error }) => `  ${owner.type} ${owner.id}: ${error}`,
        )
        const verb = dryRun ? 'would be changed' : 'brought to the state of the provider'
        const text = [
          `${report.users} users compared, ${report.drift.length} differences ${verb}`,
          ...lines,
          ...(failures.length > 0 ? ['Could not be read:', ...failures] : []),
        ]
        const exitCode = failures.length > 0 ? 1 : 0
        return { json: { dry_run: dryRun, ...report }, text: text.join('\n'), exitCode }
      } finally {
        await close()
      }
    }
    if (dryRun) return withTables(config, ['service', 'billing'], sync)
    return withDatabase(config, async (database) => {
      await migrateCore(database)
      return sync(database)
    })
  },
}
