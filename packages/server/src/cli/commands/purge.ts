import { createServiceBilling, NO_PROVIDER } from '../../billing.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import { EVENTS_KEPT, USAGE_KEPT, WEBHOOKS_KEPT } from '../../service.ts'
import type { Command, Outcome } from '../command.ts'
import { withCore } from '../open.ts'

export const purge: Command = {
  summary:
    'delete what has ended: tokens, codes, sessions, limits, old webhooks, usage, events, deliveries and mail',
  async run(_input, context) {
    const config = await context.config(['secret'])
    return withCore(
      config,
      async ({ oauth, sessions, limits }, database, found) => {
        // Sessions, limits and billing of an application are its own.
        if (found === 'application') return describe({ tokens: await oauth.purge() })
        const logger = createLogger('warn', process.stderr)
        const options = { config, database, logger, providers: NO_PROVIDER }
        const billing = createServiceBilling({ ...options, background: false })
        const counts = await withProgress('Purging', async (tell) => {
          const tokens = await oauth.purge()
          tell(`${tokens} rows of tokens and codes`)
          const ended = { sessions: await sessions.purge(), limits: await limits.purge() }
          tell(`${tokens + ended.sessions + ended.limits} rows`)
          const before = (kept: number) => new Date(database.clock.settled().getTime() - kept)
          const webhooks = await billing.purgeWebhooks(before(WEBHOOKS_KEPT))
          const usage = await billing.usage.purge(before(USAGE_KEPT))
          const events = await billing.events.purge(before(EVENTS_KEPT))
          const deliveries = await billing.deliveries.purge(before(EVENTS_KEPT))
          const notices = await billing.purgeNotices(before(EVENTS_KEPT))
          const codeAttempts = await billing.purgeCodeAttempts()
          return { tokens, ...ended, webhooks, usage, events, deliveries, notices, codeAttempts }
        })
        await billing.close()
        return describe(counts)
      },
      { alsoInApplications: true },
    )
  },
}

function describe(counts: Readonly<Record<string, number>>): Outcome {
  const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(14)}${count}`)
  return { json: counts, text: `Deleted rows:\n${lines.join('\n')}` }
}
