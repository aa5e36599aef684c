import type { Billing } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import {
  configuredProviders,
  createServiceBilling,
  NO_PROVIDER,
  type Providers,
} from '../billing.ts'
import type { Config } from '../config/config.ts'
import { connectProviders } from '../demo/connect-providers.ts'
import { createLogger } from '../logger.ts'
import type { BillingAccess } from '../users/end-account.ts'
import type { CommandContext } from './command.ts'

export interface OpenBilling {
  readonly billing: Billing
  close(): Promise<void>
}

/** Billing at the providers of the configuration, without a worker of its own. */
export async function openBilling(
  config: Config,
  database: Database,
  url?: string,
): Promise<OpenBilling> {
  const { providers, now, close } = await connectProviders(config)
  const clock = now ? { now } : database.clock
  const billing = create({ config, database, providers, clock }, url)
  return {
    billing,
    async close() {
      await billing.close()
      await close()
    },
  }
}

function create(
  parts: Pick<Parameters<typeof createServiceBilling>[0], 'config' | 'database' | 'clock'> & {
    readonly providers: Providers
  },
  url?: string,
): Billing {
  const logger = createLogger('warn', process.stderr)
  return createServiceBilling({ ...parts, logger, background: false, ...(url ? { url } : {}) })
}

/** For commands about one person: billing is opened when it is first needed, and the keys of a provider are as well. */
export async function withBillingAccess<T>(
  context: CommandContext,
  { config, database }: { readonly config: Config; readonly database: Database },
  work: (access: BillingAccess) => Promise<T>,
): Promise<T> {
  const opened: OpenBilling[] = []
  const once = (open: () => Promise<OpenBilling>) => {
    let billing: Promise<Billing> | null = null
    return () => {
      billing ??= open().then((made) => {
        opened.push(made)
        return made.billing
      })
      return billing
    }
  }
  const provider = once(async () =>
    openBilling(await context.config(['secret', 'provider_keys']), database),
  )
  const rows = once(async () => {
    const configured = configuredProviders(config)
    const providers = Object.keys(configured).length > 0 ? configured : NO_PROVIDER
    const billing = create({ config, database, providers, clock: database.clock })
    return { billing, close: () => billing.close() }
  })
  try {
    // A demo's rows go by the sandbox's clock.
    return await work({ provider, rows: config.mode === 'demo' ? provider : rows })
  } finally {
    for (const each of opened.reverse()) await each.close()
  }
}
