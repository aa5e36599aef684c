import { setTimeout as sleep } from 'node:timers/promises'
import type { Billing } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Sandbox } from '@tollgate/sandbox'
import type { DestinationStream } from 'pino'
import { createApp } from './app.ts'
import { configuredProviders, createServiceBilling } from './billing.ts'
import type { Config } from './config/config.ts'
import { ConfigurationError } from './configuration-error.ts'
import type { ServiceContext } from './context.ts'
import { createCore, migrateCore, openDatabase } from './core.ts'
import { occupyDataFolder } from './demo/data-folder.ts'
import type { BothProviders } from './demo/providers.ts'
import {
  type DemoProviders,
  sandboxFileIn,
  sandboxProviders,
  startProviders,
} from './demo/providers.ts'
import { seedDemo } from './demo/seed.ts'
import { type DemoState, readStateFile } from './demo/state-file.ts'
import { ensureCoupon, registerWebhooks } from './demo/webhooks.ts'
import { listen, type Timeouts } from './http/node-server.ts'
import { createReadiness } from './http/readiness.ts'
import { createLogger } from './logger.ts'
import { createOutages } from './outages.ts'
import { withProgress } from './progress.ts'
import { createMetrics } from './statistics/metrics.ts'
import { createStatistics } from './statistics/statistics.ts'
import type { PasswordOptions } from './users/passwords.ts'
import type { User } from './users/user.ts'
import { createDatabaseWait } from './wait-for-database.ts'

/** For tests and for those who run the service inside their own process. */
export interface ServiceOptions {
  /** The clock of sessions, tokens and limits. Billing of a demo goes by the sandbox's. Default: the database's. */
  readonly clock?: Clock
  /** False: the sandbox's clock stands still until it is moved. Default true. */
  readonly ticking?: boolean
  /** False: the demo's passwords, secrets and sandbox are forgotten at the end. Default true. */
  readonly keepDemo?: boolean
  /** For tests that do not want to wait for them. */
  readonly timeouts?: Partial<Timeouts>
  /** How passwords are hashed; tests make it cheap. */
  readonly passwords?: PasswordOptions
  /** Where the log goes. Default: standard output. */
  readonly logTo?: DestinationStream
}

/** A service that runs. */
export interface Service {
  /** Public base URL. */
  readonly url: string
  /** Where it listens, also when a free port was asked for. */
  readonly port: number
  /** The service's own tables, and those of oauth and billing. */
  readonly database: Database
  /** Clients, tokens and events. */
  readonly oauth: AuthorizationServer<User>
  /** Subscriptions, charges and invoices of its users. */
  readonly billing: Billing
  /** The payment providers of a demo; null in production. */
  readonly sandbox: Sandbox<{ stripe: true; braintree: true }> | null
  /** What the demo made; null in production. */
  readonly demo: DemoState | null
  /**
   * Says 503 at `/readyz` and serves everything for as long as given, so that a balancer sends
   * elsewhere before this process is gone. Ends early when `signal` is aborted.
   */
  drain(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Lets what is under way end, keeps the sandbox's state, and closes everything. */
  close(graceMilliseconds?: number): Promise<void>
}

/** What our own commands and tests know of it besides. */
export type StartedService = Service & Omit<ServiceContext, 'config' | 'isLeaving'>

const GRACE = 10_000
const PURGED_EVERY = 3600 * 1000
/** Providers repeat an event for some days; one that is done is known for longer. */
export const WEBHOOKS_KEPT = 30 * 24 * 3600 * 1000
/** Longer than usage may be reported: what is forgotten would count again. */
export const USAGE_KEPT = 90 * 24 * 3600 * 1000
/** An event is told once for as long as its row is there, and a card expires all month. */
export const EVENTS_KEPT = 45 * 24 * 3600 * 1000

/**
 * Starts the whole service: it listens, migrates, and in a demo starts the payment providers and makes
 * a user and clients.
 * @example
 * const service = await createService(await loadConfig(process.env))
 * console.log(service.url)
 */
export function createService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  return startService(config, options)
}

export async function startService(
  config: Config,
  options: ServiceOptions = {},
): Promise<StartedService> {
  const closers: Array<() => unknown> = []
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each()
  }
  try {
    return await start(config, options, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function start(
  config: Config,
  options: ServiceOptions,
  closers: Array<() => unknown>,
  closeAll: () => Promise<void>,
): Promise<StartedService> {
  const outages = createOutages()
  const logger = createLogger(config.logLevel, options.logTo, outages)
  const keepDemo = options.keepDemo ?? true
  const state = { leaving: false }

  // First of all, so that a taken port is known before anything is changed.
  let grace = GRACE
  const { host, port } = config
  const server = await listen({ host, port, timeouts: options.timeouts ?? {} })
  closers.push(() => server.close(grace))
  closers.push(() => outages.close())
  const url = config.url ?? `http://localhost:${server.port}`
  if (config.mode === 'demo' && keepDemo) {
    closers.push(await occupyDataFolder(config.dataDir, { port: server.port, url }))
  }
  const metrics = createMetrics(server.connections)

  const onceAvailable = createDatabaseWait(config.databaseWaitSeconds, logger)
  const database = await onceAvailable(() => openDatabase(config, { logger }))
  closers.push(() => database.close())
  const clock = options.clock ?? database.clock
  const readiness = createReadiness(database)
  outages.watch(logger, async () => (await readiness()) === 'ok')
  await withProgress('Bringing the database up to date', () =>
    onceAvailable(() => migrateCore(database)),
  )
  const core = createCore({
    config,
    database,
    url,
    clock,
    logger,
    background: true,
    ...(options.passwords && { passwords: options.passwords }),
  })
  const { users, sessions, limits, oauth } = core
  closers.push(() => oauth.close())
  if (config.mode === 'production' && (await onceAvailable(() => users.countDemo())) > 0) {
    throw new ConfigurationError(
      'This database holds the demo user. Use another database for production, or delete the rows of users where demo = 1.',
    )
  }
  await onceAvailable(() => oauth.ready())
  metrics.follow(oauth.events)

  let providers: DemoProviders | null = null
  let sandbox: BothProviders | null = null
  let stripeWebhook: DemoState['stripeWebhook'] | null = null
  if (config.mode === 'demo') {
    const started = await startProviders({
      config,
      servicePort: server.port,
      stateFile: keepDemo ? sandboxFileIn(config.dataDir) : null,
    })
    closers.push(() => started.close())
    providers = started
    sandbox = started.sandbox
    // Before anybody listens for its events.
    await ensureCoupon(sandbox)
    const local = `http://127.0.0.1:${server.port}`
    const kept = keepDemo ? readStateFile(config.dataDir).stripeWebhook : undefined
    stripeWebhook = await registerWebhooks(sandbox, local, kept)
  }

  const billingClock: Clock = sandbox?.clock ?? clock
  const statistics = createStatistics({ database, clock, billingClock, logger })
  closers.push(() => statistics.close())
  statistics.follow(oauth.events)
  const billing = createServiceBilling({
    config,
    database,
    providers:
      sandbox && stripeWebhook
        ? sandboxProviders(sandbox, stripeWebhook.secret, config.settings.currency)
        : configuredProviders(config),
    clock: billingClock,
    logger,
    handlers: statistics.observe(config.settings.handlers),
    url,
    fromRequest: core.fromRequest,
    background: true,
  })
  closers.push(() => billing.close())
  await withProgress('Bringing the tables of billing up to date', () =>
    onceAvailable(() => billing.migrate()),
  )
  statistics.sampleFrom(billing)

  const demo =
    sandbox && stripeWebhook
      ? await seedDemo({
          dataDir: keepDemo ? config.dataDir : null,
          url,
          users,
          oauth,
          stripeWebhook,
          withClients: !config.settings.fapi2,
          sandbox,
        })
      : null

  const shared = {
    url,
    database,
    users,
    sessions,
    limits,
    oauth,
    billing,
    statistics,
    sandbox,
    demo,
  }
  const context: ServiceContext = {
    ...shared,
    config,
    clock,
    logger,
    metrics,
    outages,
    isLeaving: () => state.leaving,
  }
  const app = createApp(context)
  server.serve((request, env) => app.fetch(request, env))

  const purge = async () => {
    await clock.check?.()
    const settled = billingClock.settled?.() ?? billingClock.now()
    const before = (kept: number) => new Date(settled.getTime() - kept)
    await Promise.all([
      sessions.purge(),
      limits.purge(),
      billing.purgeWebhooks(before(WEBHOOKS_KEPT)),
      billing.usage.purge(before(USAGE_KEPT)),
      billing.events.purge(before(EVENTS_KEPT)),
      billing.deliveries.purge(before(EVENTS_KEPT)),
      billing.purgeNotices(before(EVENTS_KEPT)),
      billing.purgeCodeAttempts(),
      statistics.purge(),
      statistics.sample(),
    ])
  }
  const purging = setInterval(() => {
    purge().catch((error) => logger.error({ err: error }, 'Purge failed and will be tried again'))
  }, PURGED_EVERY)
  purging.unref()
  closers.push(() => clearInterval(purging))
  // Not earlier: what fell due since the last time sends webhooks, and they come back to this service.
  if (options.ticking ?? true) providers?.keepTime()

  let closing: Promise<void> | null = null
  return {
    ...shared,
    clock,
    logger,
    metrics,
    outages,
    port: server.port,
    async drain(milliseconds, signal) {
      state.leaving = true
      await sleep(milliseconds, undefined, signal ? { signal } : {}).catch(() => {})
    },
    close(graceMilliseconds = GRACE) {
      if (closing) return closing
      grace = graceMilliseconds
      state.leaving = true
      // The server first: what is under way still needs the rest.
      const [closeServer] = closers.splice(0, 1)
      closing = Promise.resolve(closeServer?.()).then(closeAll)
      return closing
    },
  }
}
