import type { Billing, SyncReport } from '@tollgate/billing'
import type { SubscriptionJson } from '../../admin/operations/subscriptions.ts'
import { withProgress } from '../../progress.ts'
import { type CommandContext, type CommandResult, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { withTables } from '../open.ts'
import { openBilling, withBilling } from '../open-billing.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { withOwner } from '../subscription.ts'
import { UsageError } from '../usage-error.ts'

export const billingSync = command({
  summary: 'update the billing data of all owners from the providers, and show the differences',
  withConfig: true,
  options: {
    dryRun: option.flag('only show the differences'),
    cancelDeletedUsers: option.flag('cancel subscriptions of deleted users'),
    cancelUnowned: option.flag('cancel subscriptions of customers that belong to no user'),
    since: option.date('<date>', 'only what changed since this date, such as 2026-05-01'),
    resume: option.flag('continue an interrupted run'),
    owner: option.text('<owner>', 'only this owner: a person, or another owner such as team:7'),
  },
  async run({ options: { dryRun, resume, since, owner, ...ended } }, context) {
    if (owner !== null) {
      const others = [dryRun, resume, since !== null, ...Object.values(ended)]
      if (others.includes(true)) throw new UsageError('--owner has no further options')
      return syncOwner(owner, context)
    }
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

/** Updates the subscriptions of one owner. */
function syncOwner(chosen: string, context: CommandContext): Promise<CommandResult> {
  return withOwner({ user: '', owner: chosen }, context, async ({ owner, label }, { perform }) => {
    const { data } = await perform<{ data: readonly SubscriptionJson[] }>('billing.sync', { owner })
    const lines = data.map(({ id, name, plan, states }) => `  ${id} ${name}: ${plan} (${states})`)
    const subscriptions = formatCount(data.length, 'subscription', 'subscriptions')
    return {
      json: data,
      text: [`Updated ${label}: ${subscriptions}`, ...lines].join('\n'),
    }
  })
}

function describe(report: SyncReport, dryRun: boolean): CommandResult {
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
