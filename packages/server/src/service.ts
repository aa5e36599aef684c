import { mkdirSync } from 'node:fs'
import { type BillingOptions, createBilling } from '@tollgate/billing'
import { connect, migrate } from '@tollgate/database'
import {
  authorizationCode,
  type Clock,
  clientCredentials,
  createAuthorizationServer,
  implicit,
  password,
  refreshToken,
  systemClock,
} from '@tollgate/oauth'
import type { DestinationStream } from 'pino'
import { createApp } from './app.ts'
import { braintreeEnvironment } from './config/braintree-environment.ts'
import { type Config, ConfigurationError } from './config/environment.ts'
import type { BothProviders, ServiceContext } from './context.ts'
import { type DemoFacts, readFacts } from './demo/facts.ts'
import { startProviders, stateFileIn } from './demo/providers.ts'
import { seedDemo } from './demo/seed.ts'
import { ensureCoupon, registerWebhooks } from './demo/webhooks.ts'
import { createLogger, plainLogger } from './http/logger.ts'
import { createMetrics } from './http/metrics.ts'
import { listen } from './http/node-server.ts'
import { createLimits } from './limits/limits.ts'
import { createAuthorizationPages } from './pages/consent.tsx'
import { createSessions } from './sessions/sessions.ts'
import { serviceMigrations } from './storage/migrations.ts'
import { createPasswords } from './users/passwords.ts'
import type { User } from './users/user.ts'
import { createUsers } from './users/users.ts'

/** For tests and for those who run the service inside their own process. */
export interface ServiceOptions {
  /** Of sessions, tokens and limits. Billing of a demo goes by the sandbox's clock. */
  readonly clock?: Clock
  /** False: the sandbox's clock stands still until it is moved. Default true. */
  readonly ticking?: boolean
  /** False: the demo's passwords, secrets and sandbox are forgotten at the end. Default true. */
  readonly keepDemo?: boolean
  /** Where the log goes. Default: standard output. */
  readonly logTo?: DestinationStream
}

export interface Service extends Omit<ServiceContext, 'config' | 'isReady'> {
  readonly port: number
  /** Lets what is under way end, keeps the sandbox's state, and closes everything. */
  close(graceMilliseconds?: number): Promise<void>
}

const GRACE = 10_000
const PURGED_EVERY = 3600 * 1000

/**
 * Starts the whole service: it listens, migrates, and in a demo starts the payment providers and makes
 * a user and clients.
 * @example
 * const service = await createService(await loadConfig(process.env))
 * console.log(service.url)
 */
export async function createService(
  config: Config,
  options: ServiceOptions = {},
): Promise<Service> {
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
): Promise<Service> {
  const clock = options.clock ?? systemClock
  const logger = createLogger(config.logLevel, options.logTo)
  const keepDemo = options.keepDemo ?? true
  const state = { ready: false }

  // First of all, so that a taken port is known before anything is changed.
  let grace = GRACE
  const server = await listen(config)
  closers.push(() => server.close(grace))
  const url = config.url ?? `http://localhost:${server.port}`
  const metrics = createMetrics(server.connections)

  if (config.databaseUrl.startsWith(`sqlite:${config.dataDir}/`)) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  }
  const database = await connect(config.databaseUrl)
  closers.push(() => database.close())
  await migrate(database, serviceMigrations)

  const users = createUsers({ database, passwords: createPasswords(), clock })
  const sessions = createSessions({ database, clock, secure: url.startsWith('https:') })
  const limits = createLimits(database, clock)
  if (config.mode === 'production' && (await users.countDemo()) > 0) {
    throw new ConfigurationError(
      'This database holds the demo user. Use another database for production, or delete the rows of users where demo = 1.',
    )
  }

  const fromRequest = async (request: Request) => {
    const session = await sessions.find(request.headers.get('cookie'))
    return session ? { id: session.userId, sessionId: session.sessionId } : null
  }
  const oauth = createAuthorizationServer<User>({
    issuer: url,
    secret: config.secrets,
    database,
    users: {
      findById: users.findById,
      findByCredentials: users.findByCredentials,
      fromRequest,
    },
    scopes: config.settings.scopes,
    pages: createAuthorizationPages({ settings: config.settings, findUser: users.findById }),
    grants: [authorizationCode(), refreshToken(), password(), implicit(), clientCredentials()],
    accessTokensExpireIn: config.settings.accessTokensExpireIn,
    refreshTokensExpireIn: config.settings.refreshTokensExpireIn,
    clock,
    logger: plainLogger(logger),
  })
  closers.push(() => oauth.close())
  await oauth.ready()
  metrics.follow(oauth.events)

  let sandbox: BothProviders | null = null
  let stripeWebhook: DemoFacts['stripeWebhook'] | null = null
  if (config.mode === 'demo') {
    const providers = await startProviders({
      config,
      servicePort: server.port,
      stateFile: keepDemo ? stateFileIn(config.dataDir) : null,
      ticking: options.ticking ?? true,
    })
    closers.push(() => providers.close())
    sandbox = providers.sandbox
    const local = `http://127.0.0.1:${server.port}`
    const kept = keepDemo ? readFacts(config.dataDir).stripeWebhook : undefined
    stripeWebhook = await registerWebhooks(sandbox, local, kept)
    await ensureCoupon(sandbox)
  }

  const billing = createBilling({
    database,
    users: { table: 'users', idType: 'integer' },
    ...providersOf(config, sandbox, stripeWebhook),
    taxPercentage: (row) => config.settings.taxPercentage(asUser(row)),
    handlers: config.settings.handlers,
    invoice: config.settings.invoice,
    authenticate: async (request) => {
      const person = await fromRequest(request)
      return person ? Number(person.id) : null
    },
    clock: sandbox?.clock ?? clock,
    logger: plainLogger(logger),
  } as BillingOptions)
  closers.push(() => billing.close())
  await billing.migrate()

  const demo =
    stripeWebhook === null
      ? null
      : await seedDemo({
          dataDir: keepDemo ? config.dataDir : null,
          url,
          users,
          oauth,
          stripeWebhook,
        })

  const shared = { url, database, users, sessions, limits, oauth, billing, sandbox, demo }
  const context: ServiceContext = {
    ...shared,
    config,
    clock,
    logger,
    metrics,
    isReady: () => state.ready,
  }
  const app = createApp(context)
  server.serve((request, env) => app.fetch(request, env))

  const purging = setInterval(() => {
    Promise.all([sessions.purge(), limits.purge()]).catch((error) =>
      logger.error({ err: error }, 'Purge failed and will be tried again'),
    )
  }, PURGED_EVERY)
  purging.unref()
  closers.push(() => clearInterval(purging))
  state.ready = true

  let closing: Promise<void> | null = null
  return {
    ...shared,
    clock,
    logger,
    metrics,
    port: server.port,
    close(graceMilliseconds = GRACE) {
      grace = graceMilliseconds
      state.ready = false
      // The server first: what is under way still needs the rest.
      const [first] = closers.splice(0, 1)
      closing ??= Promise.resolve(first?.()).then(closeAll)
      return closing
    },
  }
}

function providersOf(
  config: Config,
  sandbox: BothProviders | null,
  stripeWebhook: DemoFacts['stripeWebhook'] | null,
): Pick<BillingOptions, 'stripe' | 'braintree'> {
  const { currency } = config.settings
  if (!sandbox) {
    return {
      ...(config.stripe ? { stripe: config.stripe } : {}),
      ...(config.braintree ? { braintree: braintreeEnvironment(config.braintree) } : {}),
    }
  }
  return {
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: stripeWebhook?.secret ?? '',
      currency,
      config: sandbox.stripe.config,
    },
    braintree: { ...sandbox.braintree.config, currency } as NonNullable<
      BillingOptions['braintree']
    >,
  }
}

/** Billing hands over the row as it is stored. */
function asUser(row: Record<string, unknown>): User {
  return {
    id: String(row.id),
    email: String(row.email),
    name: row.name === null ? null : String(row.name),
    operator: Number(row.operator) === 1,
    createdAt: new Date(Number(row.created_at)),
  }
}
