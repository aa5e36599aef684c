import type { Billing, SyncReport } from '@tollgate/billing'
import { withProgress } from '../../progress.ts'
import { command, type Outcome } from '../command.ts'
import { formatCount } from '../count.ts'
import { withTables } from '../open.ts'
import { openBilling, withBilling } from '../open-billing.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

export const billingSync = command({
  summary: 'update the billing data of all users from the providers, and show the differences',
  withConfig: true,
  options: {
    dryRun: option.flag('only show the differences'),
    cancelDeletedUsers: option.flag('cancel subscriptions of deleted users'),
    cancelUnowned: option.flag('cancel subscriptions of customers that belong to no user'),
    since: option.date('<date>', 'only what changed since this date, such as 2026-05-01'),
    resume: option.flag('continue an interrupted run'),
  },
  async run({ options: { dryRun, resume, since, ...ended } }, context) {
    if (dryRun && resume) throw new UsageError('--dry-run cannot be resumed: leave out --resume')
    if (dryRun) {
      const wanted = { dryRun, ...ended, ...(since ? { since } : {}) }
      const compare = (billing: Billing) => withProgress('Comparing', () => billing.sync(wanted))
      if (context.application !== null) {
        return describe(await withBilling(context, [], compare), dryRun)
      }
      const config = await context.config(['providers'])
      return withTables(config, ['service', 'billing'], async (database) => {
        const { billing, close } = await openBilling(config, database)
        try {
          return describe(await compare(billing), dryRun)
        } finally {
          await close()
        }
      })
    }
    // Missing settings of the providers are reported before the database is opened.
    await context.requireSettings(['providers'])
    return withOperations(context, {}, async ({ perform }) => {
      const wanted = { resume, ...ended, ...(since ? { since } : {}) }
      return describe(
        await withProgress('Comparing', () => perform<SyncReport>('billing.syncAll', wanted)),
        dryRun,
      )
    })
  },
})

function describe(report: SyncReport, dryRun: boolean): Outcome {
  const lines = report.drift.flatMap(({ owner, provider, providerId, what, advice }) => [
    `  ${owner.type} ${owner.id}: ${provider} ${providerId}: ${what}`,
    ...(advice ? [`    ${advice}`] : []),
  ])
  const failures = report.failures.map(({ owner, error }) =>
    owner ? `  ${owner.type} ${owner.id}: ${error}` : `  ${error}`,
  )
  const users = formatCount(report.users, 'user', 'users')
  const differences = formatCount(report.drift.length, 'difference', 'differences')
  const verb = dryRun ? 'found; nothing was changed' : 'resolved'
  const text = [
    `${users} compared; ${differences} ${verb}`,
    ...lines,
    ...(failures.length > 0 ? ['Could not be compared:', ...failures] : []),
    ...(report.complete || dryRun ? [] : ['Continue with --resume']),
  ]
  const exitCode = failures.length > 0 ? 1 : 0
  return { json: { dry_run: dryRun, ...report }, text: text.join('\n'), exitCode }
}
