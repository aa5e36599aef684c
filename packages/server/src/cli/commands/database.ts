import type { Billing } from '@tollgate/billing'
import {
  type ClockRepair,
  type Database,
  hasTable,
  type MigrateOptions,
  migrate,
  type PlannedMigration,
  planMigrations,
} from '@tollgate/database'
import type { Gate } from '@tollgate/gate'
import { oauthMigrations } from '@tollgate/oauth'
import { createLocalOperation, type EndedCounts } from '../../admin/operations/maintenance.ts'
import { createServiceBilling, NO_PROVIDER } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { migrateCore } from '../../core.ts'
import { createServiceGate } from '../../gate.ts'
import { createLogger } from '../../logger.ts'
import { type Report, withProgress } from '../../progress.ts'
import { refuseForeignTables } from '../../storage/found-tables.ts'
import { serviceMigrations } from '../../storage/migrations.ts'
import { createApplicationAudit } from '../application/audit.ts'
import type { Application } from '../application/load.ts'
import { requirePart, withApplication } from '../application/open.ts'
import { type CommandContext, type CommandResult, type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { createLenientAudit } from '../lenient-audit.ts'
import { ALSO_IN_APPLICATIONS, withDatabase, withTables } from '../open.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { type AuditedDatabase, performAlone } from '../perform-alone.ts'
import { UsageError } from '../usage-error.ts'

/** The commands `migrate`, `purge` and others that work on the database. */
export const databaseCommands: Commands = {
  migrate: command({
    summary: 'bring the database up to date; safe to run concurrently',
    withConfig: true,
    options: {
      plan: option.flag('print the statements that would run, and change nothing'),
      offline: option.flag(
        'include migrations that require all other processes to be stopped; stop them first',
      ),
    },
    async run({ options: { offline, plan } }, context) {
      if (plan && offline) throw new UsageError('--plan changes nothing: leave out --offline')
      if (plan) return reportPlan(await planAll(context))
      const perform = (audited: AuditedDatabase, work: (report: Report) => Promise<string[]>) =>
        withProgress('Migrating', (report) =>
          performAlone<string[]>(context, audited, {
            name: 'settings.migrate',
            summary: 'Bring the database up to date',
            details: (applied) => ({ offline, ...(applied && { applied }) }),
            work: () => work(report),
          }),
        )
      if (context.application !== null) {
        return withAuditedApplication(context, async (application, audited) =>
          reportApplied(await perform(audited, () => migrateApplication(application, { offline }))),
        )
      }
      const config = await context.config([])
      return withDatabase(config, async (database) => {
        const audited = { database, audit: createLenientAudit(database, config) }
        const applied = await perform(audited, async (report) => {
          const core = await migrateCore(database)
          report('billing')
          const own = await withOfflineBilling(config, database, (billing) =>
            billing.migrate({ offline }),
          )
          const ofGate = await withOfflineGate(config, database, (gate) =>
            gate.migrate({ offline }),
          )
          return [...core, ...own.applied, ...(ofGate?.applied ?? [])]
        })
        return reportApplied(applied)
      })
    },
  }),
  'clock repair': command({
    summary: 'accept the current time of the database, although a later one is recorded',
    withConfig: true,
    async run(_input, context) {
      return withOwnDatabase(context, async (audited) => {
        const { database } = audited
        if (!(await hasTable(database, 'tollgate_clock'))) {
          throw new UsageError('No time is recorded in this database; is DATABASE_URL correct?')
        }
        const repaired = await performAlone<ClockRepair>(context, audited, {
          name: 'settings.repairClock',
          summary: 'Accept the current time of the database',
          details: (result) => ({ ...result }),
          work: () => database.clock.repair(),
        })
        const before = repaired.before?.toISOString() ?? null
        const now = repaired.now.toISOString()
        const recorded =
          before === null ? 'No time was recorded' : `The recorded time was ${before}`
        return {
          json: { before, now },
          text: `${recorded}. The time is now ${now}, according to the database's clock; running processes follow within seconds.\n${AFTER_REPAIR}`,
        }
      })
    },
  }),
  'restore-finish': command({
    summary:
      'after restoring a backup: revoke every token, code, session and cookie issued until now',
    withConfig: true,
    options: { yes: option.flag('skip the confirmation, for scripts') },
    run: ({ options }, context) =>
      withOperations(context, ALSO_IN_APPLICATIONS, async ({ oauth, sessions, found, perform }) => {
        // An application that uses the libraries has its own sessions, which this command does not
        // touch.
        const isService = found === 'service'
        const before = {
          ...(await oauth.countEverything()),
          sessions: isService ? await sessions.count() : 0,
        }
        if (!options.yes) await confirmRevocation(before, context)
        const ended = await withProgress('Ending everything', () =>
          perform<EndedCounts>('keys.endEverything', { sessions: isService }),
        )
        return {
          json: toJson(ended),
          text: `Ended:\n${formatCountLines(ended)}\n\n${AFTER_RESTORE}`,
        }
      }),
  }),
  purge: command({
    summary:
      'delete expired tokens, codes, sessions and limits, and old webhooks, usage, events, deliveries and mail',
    withConfig: true,
    async run(_input, context) {
      if (context.application !== null) {
        return withAuditedApplication(context, async (application, audited) =>
          reportPurged(
            await withProgress('Purging', () =>
              performAlone<Purged>(
                context,
                audited,
                purge(() => purgeApplication(application)),
              ),
            ),
          ),
        )
      }
      return withOperations(context, ALSO_IN_APPLICATIONS, async (opened) => {
        const counts = await withProgress('Purging', (report) => {
          const declared = purge(() => purgeService(opened, report))
          return opened.perform<Purged>(createLocalOperation(declared), {})
        })
        return reportPurged(counts)
      })
    },
  }),
}

/** Opens the database of the service or of the application, without creating or checking tables. */
async function withOwnDatabase<T>(
  context: CommandContext,
  work: (audited: AuditedDatabase) => Promise<T>,
): Promise<T> {
  if (context.application !== null) {
    return withAuditedApplication(context, (_application, audited) => work(audited))
  }
  const config = await context.config([])
  return withDatabase(config, (database) =>
    work({ database, audit: createLenientAudit(database, config) }),
  )
}

/** Opens an application's instances, without creating or checking tables. */
function withAuditedApplication<T>(
  context: CommandContext,
  work: (application: Application, audited: AuditedDatabase) => Promise<T>,
): Promise<T> {
  return withApplication(context, [], async (application) => {
    const { log: audit, settled } = createApplicationAudit(application)
    return work(application, { database: application.database, audit }).finally(settled)
  })
}

/** Numbers of deleted rows, by kind. */
type Purged = Readonly<Record<string, number>>

const purge = (work: () => Promise<Purged>) => ({
  name: 'settings.purge' as const,
  summary: 'Delete expired and old rows',
  details: (purged: Purged | null) => ({ ...purged }),
  work,
})

async function purgeService(
  { oauth, sessions, limits, config, database, found }: OpenOperations,
  report: Report,
): Promise<Purged> {
  const tokens = await oauth.purge()
  // In an application's database only the tables of oauth are ours to purge.
  if (found === 'application') return { tokens }
  report(`${tokens} rows of tokens and codes`)
  const ended = { sessions: await sessions.purge(), limits: await limits.purge() }
  report(`${tokens + ended.sessions + ended.limits} rows`)
  const ofBilling = await withOfflineBilling(config, database, (billing) => billing.purge())
  const ofGate = await withOfflineGate(config, database, (gate) => gate.purge())
  return { tokens, ...ended, ...ofBilling, ...(ofGate !== null && { quotas: ofGate }) }
}

/** Migrates the tables of the application's instances, and returns the applied migrations. */
async function migrateApplication(
  { database, oauth, billing }: Application,
  how: MigrateOptions,
): Promise<string[]> {
  return [
    ...(oauth ? (await migrate(database, oauthMigrations, how)).applied : []),
    ...(billing ? (await billing.migrate(how)).applied : []),
  ]
}

/** Lists the pending migrations of the service or of the application's instances. */
async function planAll(context: CommandContext): Promise<PlannedMigration[]> {
  if (context.application !== null) {
    return withApplication(context, [], async ({ database, oauth, billing }) => [
      ...(oauth ? await planMigrations(database, oauthMigrations) : []),
      ...(billing ? await billing.planMigrations() : []),
    ])
  }
  const config = await context.config([])
  return withTables(config, [], async (database) => {
    await refuseForeignTables(database)
    return [
      ...(await planMigrations(database, serviceMigrations)),
      ...(await planMigrations(database, oauthMigrations)),
      ...(await withOfflineBilling(config, database, (billing) => billing.planMigrations())),
      ...((await withOfflineGate(config, database, (gate) => gate.planMigrations())) ?? []),
    ]
  })
}

function reportPlan(planned: readonly PlannedMigration[]): CommandResult {
  const text = planned.map(({ set, id, needsOffline, statements }) => {
    const remark = needsOffline ? ' (needs --offline: stop all other processes first)' : ''
    const lines = statements.map((each) => (each.startsWith('--') ? each : `${each};`))
    return [`-- ${set} ${id}${remark}`, ...lines].join('\n')
  })
  const json = planned.map(({ needsOffline, ...each }) => ({
    ...each,
    needs_offline: needsOffline,
  }))
  return {
    json: { planned: json },
    text: planned.length === 0 ? 'The database is up to date' : text.join('\n\n'),
  }
}

function reportApplied(applied: readonly string[]): CommandResult {
  const text =
    applied.length === 0 ? 'The database is up to date' : `Applied:\n${applied.join('\n')}`
  return { json: { applied }, text }
}

/** Deletes the expired rows of the application's instances. */
async function purgeApplication(application: Application): Promise<Purged> {
  const { oauth, billing } = application
  if (oauth) await requirePart(application, 'oauth')
  if (billing) await requirePart(application, 'billing')
  return {
    ...(oauth && { tokens: await oauth.purge() }),
    ...(billing && { ...(await billing.purge()) }),
  }
}

function reportPurged(counts: Purged): CommandResult {
  const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(14)}${count}`)
  return { json: counts, text: `Deleted rows:\n${lines.join('\n')}` }
}

const AFTER_REPAIR = `Tokens that were issued while the clock was ahead expire that much later. If that is too long,
revoke them: tollgate restore-finish`

const AFTER_RESTORE = `Everyone has to sign in again, and applications have to ask for access again. Other changes since the
backup are lost: passwords, client secrets, removed users and clients. Repeat them, and run:
tollgate billing sync`

/** Runs `work` with billing that uses only our own tables and sends no requests to a provider. */
async function withOfflineBilling<T>(
  config: Config,
  database: Database,
  work: (billing: Billing) => Promise<T>,
): Promise<T> {
  const logger = createLogger('warn', process.stderr)
  const options = { config, database, logger, providers: NO_PROVIDER, background: false }
  const billing = createServiceBilling(options)
  try {
    return await work(billing)
  } finally {
    await billing.close()
  }
}

/** Runs `work` with the gate of the settings. `null` if no plan has limits. */
async function withOfflineGate<T>(
  { settings }: Config,
  database: Database,
  work: (gate: Gate) => Promise<T>,
): Promise<T | null> {
  const logger = createLogger('warn', process.stderr)
  const gate = await createServiceGate({ settings, database, logger })
  if (!gate) return null
  try {
    return await work(gate)
  } finally {
    await gate.close()
  }
}

async function confirmRevocation(counts: EndedCounts, context: CommandContext): Promise<void> {
  const question = `It is unknown what was revoked after the backup, so everything issued until now will be revoked:

${formatCountLines(counts)}

Running processes reject it within a second. This cannot be undone. Continue? Type yes: `
  const answer = context.json ? null : await context.ask(question)
  if (answer === null) {
    throw new UsageError(
      `This revokes everything issued until now, and there is no terminal to ask for confirmation:\n${formatCountLines(counts)}\nAdd --yes to do it.`,
    )
  }
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
}

function formatCountLines(counts: EndedCounts): string {
  const { personalAccessTokens } = counts
  const personal = `, of which ${formatCount(personalAccessTokens, 'is a personal access token', 'are personal access tokens')}`
  return [
    `${formatCount(counts.tokens, 'token with its refresh token', 'tokens with their refresh tokens')}${personal}`,
    `${formatCount(counts.codes, 'code', 'codes')} and ${formatCount(counts.interactions, 'open approval', 'open approvals')}`,
    `${formatCount(counts.consents, 'remembered approval', 'remembered approvals')} of applications`,
    `${formatCount(counts.sessions, 'session', 'sessions')}, and every cookie of cookie mode`,
    `${formatCount(counts.keys, 'signing key, which is', 'signing keys, which are')} replaced by a new one`,
  ]
    .map((line) => `  ${line}`)
    .join('\n')
}

function toJson(counts: EndedCounts): Record<string, number> {
  return {
    tokens: counts.tokens,
    personal_access_tokens: counts.personalAccessTokens,
    codes: counts.codes,
    open_approvals: counts.interactions,
    approvals: counts.consents,
    sessions: counts.sessions,
    keys: counts.keys,
  }
}
