import { systemClock } from '@tollgate/oauth'
import { createServiceBilling, NO_PROVIDER } from '../../billing.ts'
import { createLogger } from '../../logger.ts'
import { withProgress } from '../../progress.ts'
import { WEBHOOKS_KEPT } from '../../service.ts'
import type { Command } from '../command.ts'
import { withCore } from '../open.ts'

export const purge: Command = {
  summary: 'delete what has ended: tokens, codes, sessions, limits, old webhooks',
  async run(_input, context) {
    const config = await context.config(['secret'])
    return withCore(config, async ({ oauth, sessions, limits }, database) => {
      const logger = createLogger('warn', process.stderr)
      const options = { config, database, clock: systemClock, logger, providers: NO_PROVIDER }
      const billing = createServiceBilling({ ...options, background: false })
      const counts = await withProgress('Purging', async (tell) => {
        const tokens = await oauth.purge()
        tell(`${tokens} rows of tokens and codes`)
        const ended = { sessions: await sessions.purge(), limits: await limits.purge() }
        tell(`${tokens + ended.sessions + ended.limits} rows`)
        const webhooks = await billing.purgeWebhooks(new Date(Date.now() - WEBHOOKS_KEPT))
        return { tokens, ...ended, webhooks }
      })
      await billing.close()
      const lines = Object.entries(counts).map(([name, count]) => `${name.padEnd(10)}${count}`)
      return { json: counts, text: `Deleted rows:\n${lines.join('\n')}` }
    })
  },
}
