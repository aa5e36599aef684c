import { setTimeout as sleep } from 'node:timers/promises'
import type { Billing } from '@tollgate/billing'
import type { Database } from '@tollgate/database'
import type { Gate, UsageAlert } from '@tollgate/gate'
import type { AuthorizationServer, Clock } from '@tollgate/oauth'
import type { Sandbox } from '@tollgate/sandbox'
import type { DestinationStream, Logger } from 'pino'
import { createAuditChain } from './admin/audit/chain.ts'
import { deliverTo, logTo } from './admin/audit/stream.ts'
import { createAdminServices } from './admin/services.ts'
import { createApp } from './app.ts'
import { configuredProviders, createServiceBilling } from './billing.ts'
import type { Config } from './config/config.ts'
import type { LogArea } from './config/values.ts'
import { ConfigurationError } from './configuration-error.ts'
import type { ServiceContext } from './context.ts'
import { createCore, migrateCore, openDatabase, requireMigrated } from './core.ts'
import { claimDataFolder } from './demo/data-folder.ts'
import {
  type BothProviders,
  type DemoProviders,
  ensureCoupon,
  mailboxSettings,
  registerWebhooks,
  sandboxFileIn,
  sandboxProviders,
  startProviders,
} from './demo/providers.ts'
import { seedDemo } from './demo/seed.ts'
import { type DemoState, readStateFile } from './demo/state-file.ts'
import { createServiceGate, listenersOf, prepareGateTables } from './gate.ts'
import { createNodeServer, type Timeouts } from './http/node-server.ts'
import { checkClock, createReadiness, type Readiness } from './http/readiness.ts'
import { areaLogger, createLogger } from './logger.ts'
import { createMailer } from './mail/mailer.ts'
import { createDatabaseWait, createOutageDetector } from './outages.ts'
import { compareStripePrices, createStripeClient } from './plans/provider-prices.ts'
import { withProgress } from './progress.ts'
import { createRecovery } from './recovery/recovery.ts'
import { addHealthMetrics } from './statistics/health-metrics.ts'
import { createMetrics } from './statistics/metrics.ts'
import { createStatistics } from './statistics/statistics.ts'
import { countProviderCalls } from './telemetry/count-provider-calls.ts'
import { mirrorDurations, mirrorRegistry } from './telemetry/mirror-metrics.ts'
import { observeBilling, runJob } from './telemetry/observe-billing.ts'
import { connectTelemetry } from './telemetry/telemetry.ts'
import { createUpstream } from './upstream/upstream.ts'
import { completeDeletions } from './users/own-account.ts'
import type { PasswordOptions } from './users/passwords.ts'
import type { User } from './users/user.ts'
import type { WorkerLink } from './workers/link.ts'

/** Options for running the service inside your own process, for example in tests. */
export interface ServiceOptions {
  /**
   * The clock of sessions, tokens and limits. Billing in a demo uses the sandbox's clock.
   * @default the clock of the database
   */
  readonly clock?: Clock
  /**
   * Whether the sandbox's clock runs. If `false`, it stands still until it is moved.
   * @default true
   */
  readonly ticking?: boolean
  /**
   * Whether a demo stores its passwords, secrets and sandbox in the data folder. If `false`, they
   * are lost on close.
   * @default true
   */
  readonly keepDemo?: boolean
  /**
   * Whether a demo without a mail server sends its mail to a mailbox of the sandbox. If `false`, it
   * sends none.
   * @default true
   */
  readonly mailbox?: boolean
  /** Overrides the timeouts of connections, for tests. */
  readonly timeouts?: Partial<Timeouts>
  /** Parameters of password hashing, which tests set low for speed. */
  readonly passwords?: PasswordOptions
  /**
   * Destination of the log.
   * @default standard output
   */
  readonly logTo?: DestinationStream
}

/** A running service. */
export interface Service {
  /** Public base URL. */
  readonly url: string
  /** Port on which the service listens, even if any free port was requested. */
  readonly port: number
  /** The database with the tables of the service, oauth and billing. */
  readonly database: Database
  /** The authorization server: clients, tokens and events. */
  readonly oauth: AuthorizationServer<User>
  /** Subscriptions, charges and invoices of the users. */
  readonly billing: Billing
  /** The gate, which limits what people can do by plan. `null` if no plan has limits. */
  readonly gate: Gate | null
  /** The payment sandbox of a demo. `null` in production. */
  readonly sandbox: Sandbox<{ stripe: true; braintree: true }> | null
  /** The user and clients of a demo. `null` in production. */
  readonly demo: DemoState | null
  /**
   * Starts the shutdown: `/readyz` returns 503 while everything else is still served, so that a
   * load balancer stops sending requests. Resolves after the given time, or when `signal` is
   * aborted.
   */
  drain(milliseconds: number, signal?: AbortSignal): Promise<void>
  /**
   * Lets requests in progress finish, stores the sandbox's state, and closes everything. After
   * `graceMilliseconds` (default 10000) the remaining connections are closed.
   */
  close(graceMilliseconds?: number): Promise<void>
}

/** A running service with the internal parts that its commands and tests use. */
export type StartedService = Service &
  Omit<ServiceContext, 'config' | 'isLeaving'> & {
    /** Accepts no more connections. Resolves when all open ones are closed, or are idle for long. */
    retire(): Promise<void>
  }

interface StartOptions extends ServiceOptions {
  /** The link to the main process, if this process is a worker of `tollgate serve --workers`. */
  readonly worker?: WorkerLink
}

const GRACE = 10_000
/** Milliseconds between checks for accounts whose deletion was interrupted. */
const COMPLETION_INTERVAL = 60_000

/**
 * Starts the service: listens, migrates the database, and in a demo starts the payment sandbox and
 * creates a user and clients.
 * @throws ConfigurationError if the database or the data folder cannot be used.
 * @example
 * const service = await createService(await loadConfig(process.env))
 * console.log(service.url)
 */
export function createService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  return startService(config, options)
}

/** Starts the service with the parts and options that the command line and tests need. */
export async function startService(
  config: Config,
  options: StartOptions = {},
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
  options: StartOptions,
  closers: Array<() => unknown>,
  closeAll: () => Promise<void>,
): Promise<StartedService> {
  const outages = createOutageDetector()
  const { worker } = options
  const logger = createLogger(config.logLevel, options.logTo, outages).child(
    worker ? { worker: worker.number } : {},
  )
  const loggerOf = (area: LogArea) => areaLogger(logger, area, config.logAreas)
  const keepDemo = options.keepDemo ?? true
  const state = { leaving: false }

  let grace = GRACE
  const { host, port } = config
  const server = createNodeServer({ host, port, timeouts: options.timeouts ?? {} })
  closers.push(() => server.close(grace))
  // First of all, so that a port in use is reported before anything is changed.
  if (!worker?.listensWhenReady) await server.listen()
  closers.push(() => outages.close())
  const url = config.url ?? `http://localhost:${server.port}`
  if (config.mode === 'demo' && keepDemo) {
    closers.push(await claimDataFolder(config.dataDir, { port: server.port, url }))
  }
  const telemetry = await connectTelemetry(logger)
  const own = createMetrics(server.connections)
  const counted = worker ? worker.shareMetrics(own) : own
  const metrics = telemetry ? mirrorDurations(telemetry.meter, counted) : counted

  const onceAvailable = createDatabaseWait(config.databaseWaitSeconds, logger)
  const database = await onceAvailable(() => openDatabase(config, { logger: loggerOf('database') }))
  closers.push(() => database.close())
  const clock = options.clock ?? database.clock
  const readiness = createReadiness(database)
  outages.watch(logger, async () => (await readiness()) === 'ok')
  const { migrate, purgeEvery } = config.settings
  if (migrate) {
    await withProgress('Bringing the database up to date', () =>
      onceAvailable(() => migrateCore(database)),
    )
  } else {
    await onceAvailable(() => requireMigrated(database))
  }
  const core = createCore({
    config,
    database,
    url,
    clock,
    logger: loggerOf('oauth'),
    background: true,
    telemetry,
    ...(options.passwords && { passwords: options.passwords }),
  })
  const { users, teams, sessions, limits, factors, oauth } = core
  closers.push(() => oauth.close())
  if (config.mode === 'production' && (await onceAvailable(() => users.countDemo())) > 0) {
    throw new ConfigurationError(
      'This database contains the demo user. Use another database for production, or delete the rows with demo = 1 from the table users.',
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
      hasMailbox: (options.mailbox ?? true) && !config.smtp && !config.settings.mail?.send,
    })
    closers.push(() => started.close())
    providers = started
    sandbox = started.sandbox
    // Before the webhooks are registered, so that it sends no events.
    await ensureCoupon(sandbox)
    const local = `http://127.0.0.1:${server.port}`
    const kept = keepDemo ? readStateFile(config.dataDir).stripeWebhook : undefined
    stripeWebhook = await registerWebhooks(sandbox, local, kept)
  }

  const billingClock: Clock = sandbox?.clock ?? clock
  const statistics = createStatistics({ database, clock, billingClock, logger })
  closers.push(() => statistics.close())
  statistics.follow(oauth.events)
  const smtp = config.smtp ?? (sandbox?.mail ? mailboxSettings(sandbox.mail.url) : null)
  let gate: Gate | null = null
  const billing = createServiceBilling({
    config,
    database,
    providers:
      sandbox && stripeWebhook
        ? sandboxProviders(sandbox, stripeWebhook.secret, config.settings.currency)
        : configuredProviders(config),
    smtp,
    clock: billingClock,
    logger: loggerOf('billing'),
    observe: countProviderCalls(
      metrics.countProviderCall,
      observeBilling(loggerOf('billing'), telemetry),
    ),
    onMail: metrics.countMail,
    handlers: statistics.observe(config.settings.handlers),
    listeners: await listenersOf(config.settings, () => gate),
    url,
    fromRequest: core.fromRequest,
    background: true,
  })
  closers.push(() => billing.close())
  if (migrate) {
    await withProgress('Bringing the billing tables up to date', () =>
      onceAvailable(() => billing.migrate()),
    )
  }
  statistics.sampleFrom(billing)
  const mailer = createMailer({ config, smtp, onAttempt: metrics.countMail })
  const recovery = createRecovery({
    ...{ config, database, clock, url, users, teams, sessions, factors, limits, oauth, mailer },
    logger: loggerOf('oauth'),
    hasMail: mailer !== null,
  })
  closers.push(() => recovery.close())
  gate = await createServiceGate({
    ...{ settings: config.settings, database, clock: billingClock, oauth, billing, url },
    logger: loggerOf('oauth'),
    onAlert: (alert) => notifyOfAlert(alert, { users, recovery, settings: config.settings }),
  })
  if (gate) {
    const opened = gate
    closers.push(() => opened.close())
    await onceAvailable(() => prepareGateTables(opened, config.settings))
    // In the background, because a provider that is away must not delay the start.
    void warnOfUnknownPrices(config, logger)
  }
  const admin = createAdminServices({
    config,
    database,
    clock,
    users,
    teams,
    sessions,
    limits,
    recovery,
    factors,
    oauth,
    gate,
    billing: { rows: async () => billing, provider: async () => billing },
  })

  const auditChain = createAuditChain({
    database,
    clock,
    logger,
    secrets: config.secrets,
    publish: deliverTo(billing.deliveries),
    ...(config.settings.auditToLog && { chained: logTo(logger) }),
  })
  closers.push(() => auditChain.close())

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

  const checkDatabase = createReadiness(database, () => oauth.checkReady())
  const checkReady = async (): Promise<Readiness> =>
    state.leaving ? 'draining' : checkClock(await checkDatabase(), clock)
  addHealthMetrics(metrics.registry, {
    isReady: async () => (await checkReady()) === 'ok',
    clockSkew: () => (Date.now() - database.clock.now().getTime()) / 1000,
    connections: () => database.connections(),
    signingKeys: () => oauth.keys.list(),
    now: () => clock.now(),
    queues: () => billing.countQueues(),
  })
  // After the last metric was added, because instruments are made once.
  if (telemetry) mirrorRegistry(telemetry.meter, own.registry)

  const shared = {
    url,
    database,
    users,
    teams,
    sessions,
    limits,
    recovery,
    factors,
    upstream: createUpstream({ config, url, clock }),
    oauth,
    billing,
    gate,
    admin,
    auditChain,
    statistics,
    sandbox,
    demo,
    checkReady,
  }
  const context: ServiceContext = {
    ...shared,
    config,
    clock,
    logger,
    metrics,
    outages,
    telemetry,
    isLeaving: () => state.leaving,
  }
  const app = createApp(context)
  server.serve((request, env) => app.fetch(request, env))
  if (worker?.listensWhenReady) await server.listen()

  const purge = async () => {
    await clock.check?.()
    await Promise.all([
      sessions.purge(),
      teams.purge(),
      limits.purge(),
      recovery.purge(),
      billing.purge(),
      gate?.purge(),
      admin.requests.purge(),
      statistics.purge(),
      statistics.sample(),
    ])
  }
  if (purgeEvery !== false) {
    const purging = setInterval(() => {
      runJob(telemetry, { queue: 'purge', entry: null }, purge).catch((error) =>
        logger.error({ err: error }, 'Purge failed and will be retried'),
      )
    }, purgeEvery * 1000)
    purging.unref()
    closers.push(() => clearInterval(purging))
  }
  const completing = setInterval(() => {
    const job = { queue: 'deletions', entry: null }
    runJob(telemetry, job, () => completeDeletions(context, admin.billing, clock.now())).catch(
      (error) => logger.error({ err: error }, 'Deletions of accounts will be completed later'),
    )
  }, COMPLETION_INTERVAL)
  completing.unref()
  closers.push(() => clearInterval(completing))
  // Only now, because the sandbox catches up with events that fell due while it was stopped, and
  // sends them to this service.
  if (options.ticking ?? true) providers?.startClock()

  let closing: Promise<void> | null = null
  return {
    ...shared,
    clock,
    logger,
    metrics,
    outages,
    telemetry,
    port: server.port,
    retire: server.retire,
    async drain(milliseconds, signal) {
      state.leaving = true
      await sleep(milliseconds, undefined, signal ? { signal } : {}).catch(() => {})
    },
    close(graceMilliseconds = GRACE) {
      if (closing) return closing
      grace = graceMilliseconds
      state.leaving = true
      // The server first: requests in progress still need the rest.
      const [closeServer] = closers.splice(0, 1)
      closing = Promise.resolve(closeServer?.()).then(closeAll)
      return closing
    },
  }
}

/** Sends a mail to a person who has used a share of a quota. Teams get none. */
async function notifyOfAlert(
  { subject, meter, percent }: UsageAlert,
  {
    users,
    recovery,
    settings,
  }: Pick<ServiceContext, 'users' | 'recovery'> & Pick<Config, 'settings'>,
): Promise<void> {
  const user = subject.type === 'user' ? await users.findById(String(subject.id)) : null
  const name = settings.meters[meter]?.name ?? meter
  if (user) await recovery.notify(user, 'quota_alert', `${percent} ${name}`)
}

/** Warns of prices that do not exist at Stripe, so that subscriptions to them would fail. */
async function warnOfUnknownPrices(config: Config, logger: Logger): Promise<void> {
  const { stripe } = config
  if (!stripe) return
  try {
    const compared = await compareStripePrices(createStripeClient(stripe), config)
    for (const { id, name, differences } of compared) {
      if (differences !== null) continue
      logger.warn(
        `Stripe has no price ${id} (${name}), so subscriptions to this plan fail. Run tollgate plans push, or change its id in tollgate.config.ts.`,
      )
    }
  } catch (error) {
    logger.warn({ err: error }, 'The prices of the plans could not be read from Stripe')
  }
}
