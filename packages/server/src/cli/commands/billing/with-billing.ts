import type { Billing } from '@tollgate/billing'
import { createServiceBilling } from '../../../billing.ts'
import type { Config } from '../../../config/config.ts'
import { migrateCore } from '../../../core.ts'
import { connectProviders } from '../../../demo/connect-providers.ts'
import { serviceUrlIn } from '../../../demo/state-file.ts'
import { createLogger } from '../../../logger.ts'
import { UsageError } from '../../command.ts'
import { withDatabase } from '../../open.ts'

/** Runs `work` with billing at the service's own address, on a database that is up to date. */
export function withBilling<T>(config: Config, work: (billing: Billing) => Promise<T>): Promise<T> {
  // A demo's sandbox is on this machine, and so is the address that it knows.
  const local = config.mode === 'production' ? null : serviceUrlIn(config.dataDir)
  const url = local ?? config.url
  if (url === null) throw new UsageError('Where is the service? Set TOLLGATE_URL')
  return withDatabase(config, async (database) => {
    await migrateCore(database)
    const { providers, now, close } = await connectProviders(config)
    const clock = now ? { now } : database.clock
    const logger = createLogger('warn', process.stderr)
    const shared = { config, database, providers, clock, logger, url }
    const billing = createServiceBilling({ ...shared, background: false })
    try {
      return await work(billing)
    } finally {
      await billing.close()
      await close()
    }
  })
}
