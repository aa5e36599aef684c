import type { Billing } from '@tollgate/billing'
import {
  configuredProviders,
  createServiceBilling,
  NO_PROVIDER,
  type Providers,
} from '../billing.ts'
import type { Config, Need } from '../config/config.ts'
import { migrateCore } from '../core.ts'
import { connectMailServer, connectProviders } from '../demo/connect-providers.ts'
import { serviceUrlIn } from '../demo/state-file.ts'
import { createServiceGate, listenersOf } from '../gate.ts'
import { createLogger } from '../logger.ts'
import type { ServiceDatabase } from '../storage/tables.ts'
import type { BillingAccess } from '../users/end-account.ts'
import { requirePart, withApplication } from './application/open.ts'
import type { CommandContext } from './command.ts'
import { withDatabase } from './open.ts'
import { UsageError } from './usage-error.ts'

export interface OpenBilling {
  readonly billing: Billing
  close(): Promise<void>
}

/** Opens billing with the configured providers, without background jobs. */
export async function openBilling(
  config: Config,
  database: ServiceDatabase,
  url?: string,
): Promise<OpenBilling> {
  const { providers, now, close } = await connectProviders(config)
  const clock = now ? { now } : database.clock
  const smtp = (await connectMailServer(config)) ?? undefined
  const { settings } = config
  const logger = createLogger('warn', process.stderr)
  const gate = await createServiceGate({ settings, database, clock, logger })
  const listeners = await listenersOf(settings, () => gate)
  const billing = create({ config, database, providers, clock, smtp, listeners }, url)
  return {
    billing,
    async close() {
      await billing.close()
      await gate?.close()
      await close()
    },
  }
}

function create(
  parts: Pick<
    Parameters<typeof createServiceBilling>[0],
    'config' | 'database' | 'clock' | 'smtp' | 'listeners'
  > & {
    readonly providers: Providers
  },
  url?: string,
): Billing {
  const logger = createLogger('warn', process.stderr)
  return createServiceBilling({ ...parts, logger, background: false, ...(url ? { url } : {}) })
}

/**
 * Runs `work` with billing that is opened when first used, so that provider keys are required only
 * if the person is a customer there. `needsUrl` says whether it works on webhooks, which arrive at
 * the address of the service.
 */
export async function withBillingAccess<T>(
  context: CommandContext,
  {
    config,
    database,
    needsUrl = false,
  }: { readonly config: Config; readonly database: ServiceDatabase; readonly needsUrl?: boolean },
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
  const provider = once(async () => {
    const opened = await context.config(['secret', 'provider_keys'])
    return openBilling(opened, database, needsUrl ? serviceUrl(opened) : undefined)
  })
  const rows = once(async () => {
    const configured = configuredProviders(config)
    const providers = Object.keys(configured).length > 0 ? configured : NO_PROVIDER
    const billing = create({ config, database, providers, clock: database.clock })
    return { billing, close: () => billing.close() }
  })
  try {
    // In a demo dates are those of the sandbox's clock, which only the provider connection knows.
    return await work({ provider, rows: config.mode === 'demo' ? provider : rows })
  } finally {
    for (const each of opened.reverse()) await each.close()
  }
}

/**
 * Runs `work` with an application's billing, or migrates the service's database and runs `work`
 * with billing that has the URL of the service and the settings in `needs`.
 */
export async function withBilling<T>(
  context: CommandContext,
  needs: readonly Need[],
  work: (billing: Billing) => Promise<T>,
): Promise<T> {
  if (context.application !== null) {
    return withApplication(context, [], async (application) =>
      work(await requirePart(application, 'billing')),
    )
  }
  const config = await context.config(needs)
  const url = serviceUrl(config)
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

/**
 * Returns the base URL of the service: in a demo, the one to which the sandbox sends webhooks.
 * @throws UsageError if it is unknown.
 */
export function serviceUrl(config: Config): string {
  const local = config.mode === 'production' ? null : serviceUrlIn(config.dataDir)
  const url = local ?? config.url
  if (url === null) throw new UsageError('The address of the service is unknown. Set TOLLGATE_URL')
  return url
}
