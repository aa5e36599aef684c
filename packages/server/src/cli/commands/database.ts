import type { Billing } from '@tollgate/billing'
import { type Database, hasTable } from '@tollgate/database'
import type { Ended } from '../../admin/operations/maintenance.ts'
import { createServiceBilling, NO_PROVIDER } from '../../billing.ts'
import type { Config } from '../../config/config.ts'
import { migrateCore } from '../../core.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import { type CommandContext, type Commands, command } from '../command.ts'
import { formatCount } from '../count.ts'
import { ALSO_IN_APPLICATIONS, withCore, withDatabase } from '../open.ts'
import { withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { UsageError } from '../usage-error.ts'

/** The commands `migrate`, `purge` and others that work on the database. */
export const databaseCommands: Commands = {
  migrate: command({
    summary: 'bring the database up to date; safe to run concurrently',
    options: {
      offline: option.flag(
        'include migrations that require all other processes to be stopped; stop them first',
      ),
    },
    async run({ options: { offline } }, context) {
      const config = await context.config([])
      return withDatabase(config, async (database) => {
        const applied = await withProgress('Migrating', async (report) => {
          const core = await migrateCore(database)
          report('billing')
          const own = await withRows(config, database, (billing) => billing.migrate({ offline }))
          return [...core, ...own.applied]
        })
        const text =
          applied.length === 0 ? 'The database is up to date' : `Applied:\n${applied.join('\n')}`
        return { json: { applied }, text }
      })
    },
  }),
  'clock repair': command({
    summary: 'accept the current time of the database, although a later one is recorded',
    async run(_input, context) {
      const config = await context.config([])
      return withDatabase(config, async (database) => {
        if (!(await hasTable(database, 'tollgate_clock'))) {
          throw new UsageError('No time is recorded in this database; is DATABASE_URL correct?')
        }
        const repaired = await database.clock.repair()
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
          perform<Ended>('keys.endEverything', { sessions: isService }),
        )
        return { json: toJson(ended), text: `Ended:\n${linesOf(ended)}\n\n${AFTER_RESTORE}` }
      }),
  }),
  purge: command({
    summary:
      'delete expired tokens, codes, sessions and limits, and old webhooks, usage, events, deliveries and mail',
    run: (_input, context) =>
      withCore(
        context,
        ALSO_IN_APPLICATIONS,
        async ({ oauth, sessions, limits, config, database, found }) => {
          const counts = await withProgress('Purging', async (report) => {
            const tokens = await oauth.purge()
            // In an application's database only the tables of oauth are ours to purge.
            if (found === 'application') return { tokens }
            report(`${tokens} rows of tokens and codes`)
            const ended = { sessions: await sessions.purge(), limits: await limits.purge() }
            report(`${tokens + ended.sessions + ended.limits} rows`)
            const ofBilling = await withRows(config, database, (billing) => billing.purge())
            return { tokens, ...ended, ...ofBilling }
          })
          const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(14)}${count}`)
          return { json: counts, text: `Deleted rows:\n${lines.join('\n')}` }
        },
      ),
  }),
}

const AFTER_REPAIR = `Tokens that were issued while the clock was ahead expire that much later. If that is too long,
revoke them: tollgate restore-finish`

const AFTER_RESTORE = `Everyone has to sign in again, and applications have to ask for access again. Other changes since the
backup are lost: passwords, client secrets, removed users and clients. Repeat them, and run:
tollgate billing sync`

/** Runs `work` with billing that uses only our own tables and sends no requests to a provider. */
async function withRows<T>(
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

async function confirmRevocation(counts: Ended, context: CommandContext): Promise<void> {
  const question = `It is unknown what was revoked after the backup, so everything issued until now will be revoked:

${linesOf(counts)}

Running processes reject it within a second. This cannot be undone. Continue? Type yes: `
  const answer = context.json ? null : await context.ask(question)
  if (answer === null) {
    throw new UsageError(
      `This revokes everything issued until now, and there is no terminal to ask for confirmation:\n${linesOf(counts)}\nAdd --yes to do it.`,
    )
  }
  if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was changed.')
}

function linesOf(counts: Ended): string {
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

function toJson(counts: Ended): Record<string, number> {
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
