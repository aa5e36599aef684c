import type { Database } from '@tollgate/database'
import { migrateCore } from '../../../core.ts'
import { withProgress } from '../../../progress.ts'
import { type Command, dateOption, UsageError } from '../../command.ts'
import { withDatabase, withTables } from '../../open.ts'
import { openBilling } from '../../open-billing.ts'

export const billingSync: Command = {
  summary: "bring every user's billing to the providers' state, and show what was different",
  options: [
    { flags: '--dry-run', description: 'only show it' },
    { flags: '--cancel-deleted-users', description: 'end what runs on for users who are gone' },
    { flags: '--cancel-unowned', description: 'end what is charged to a customer of no user' },
    { flags: '--since <date>', description: 'only what has changed since, such as 2026-05-01' },
    { flags: '--resume', description: 'go on where the last run was stopped' },
  ],
  async run(input, context) {
    const { options } = input
    const dryRun = options.dryRun === true
    const resume = options.resume === true
    const since = dateOption(input, 'since')
    if (dryRun && resume) throw new UsageError('--dry-run keeps no place: leave out --resume')
    const wanted = {
      ...{ dryRun, resume },
      cancelDeletedUsers: options.cancelDeletedUsers === true,
      cancelUnowned: options.cancelUnowned === true,
      ...(since ? { since } : {}),
    }
    const config = await context.config(['providers'])
    const sync = async (database: Database) => {
      const { billing, close } = await openBilling(config, database)
      try {
        const report = await withProgress('Comparing', () => billing.sync(wanted))
        const lines = report.drift.flatMap(({ owner, provider, providerId, what, advice }) => [
          `  ${owner.type} ${owner.id}: ${provider} ${providerId}: ${what}`,
          ...(advice ? [`    ${advice}`] : []),
        ])
        const failures = report.failures.map(({ owner, error }) =>
          owner ? `  ${owner.type} ${owner.id}: ${error}` : `  ${error}`,
        )
        const verb = dryRun ? 'would be changed' : 'brought to the state of the provider'
        const text = [
          `${report.users} users compared, ${report.drift.length} differences ${verb}`,
          ...lines,
          ...(failures.length > 0 ? ['Could not be read:', ...failures] : []),
          ...(report.complete || dryRun ? [] : ['Go on with --resume']),
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
