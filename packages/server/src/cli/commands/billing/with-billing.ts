import type { Billing } from '@tollgate/billing'
import type { Config } from '../../../config/config.ts'
import { migrateCore } from '../../../core.ts'
import { serviceUrlIn } from '../../../demo/state-file.ts'
import { UsageError } from '../../command.ts'
import { withDatabase } from '../../open.ts'
import { openBilling } from '../../open-billing.ts'

/** Runs `work` with billing at the service's own address, on a database that is up to date. */
export function withBilling<T>(config: Config, work: (billing: Billing) => Promise<T>): Promise<T> {
  // A demo's sandbox is on this machine, and so is the address that it knows.
  const local = config.mode === 'production' ? null : serviceUrlIn(config.dataDir)
  const url = local ?? config.url
  if (url === null) throw new UsageError('Where is the service? Set TOLLGATE_URL')
  return withDatabase(config, async (database) => {
    await migrateCore(database)
    const { billing, close } = await openBilling(config, database, url)
    try {
      return await work(billing)
    } finally {
      await close()
    }
  })
}
