import { migrate } from '@tollgate/database'
import type { BraintreeBilling } from './braintree-only.ts'
import { type DriftReport, type SyncOptions, syncAll } from './consistency/sync.ts'
import type { BillingContext } from './context.ts'
import { type ProviderName, UserNotFound } from './errors.ts'
import { braintreeGateway } from './gateways/braintree/gateway.ts'
import type { Gateway } from './gateways/contract/gateway.ts'
import { stripeGateway } from './gateways/stripe/gateway.ts'
import { fromWebRequest, type HttpRequest, type Reply, toWebResponse } from './http/exchange.ts'
import { type BillingOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { createRoutes } from './routes.ts'
import { createLocks } from './storage/locks.ts'
import { billingMigrations } from './storage/migrations.ts'
import { operationRepository } from './storage/operations.ts'
import { subscriptionRepository } from './storage/subscriptions.ts'
import { taxRepository } from './storage/taxes.ts'
import { userRepository } from './storage/users.ts'
import { webhookRepository } from './storage/webhooks.ts'
import { BillableUser } from './users/billable-user.ts'
import { createInbox, type Inbox } from './webhooks/inbox.ts'

export interface Billing<User = Record<string, unknown>> {
  /** The user with that id, or UserNotFound. */
  user(id: string | number): Promise<BillableUser<User>>
  findUser(id: string | number): Promise<BillableUser<User> | null>
  /** The user a provider's customer belongs to. */
  findUserByCustomer(provider: ProviderName, id: string): Promise<BillableUser<User> | null>
  /**
   * For the start of the application: migrates, and then looks in the background for what is missing at
   * the providers. That is logged; a provider that is away for a moment stops nobody.
   */
  ready(): Promise<void>
  /** Adds the columns and tables; done on first use unless `migrate` is false. */
  migrate(): Promise<{ applied: string[] }>
  /** Brings every user's rows to the provider's state, and says what was different. */
  sync(options?: SyncOptions): Promise<DriftReport>
  /** How many subscriptions were active at that moment, by our rows. Looks at all of them. */
  countActive(at: Date): Promise<number>
  /** What is missing at the providers, in words; empty when all is well. */
  check(): Promise<string[]>
  /** Events on their way in, and those given up on. */
  readonly webhooks: Pick<Inbox, 'process' | 'deadLetters' | 'pending' | 'retry'>
  /** Deletes events that were done before, in small batches. */
  purgeWebhooks(before: Date): Promise<number>
  /** Every path, with `{invoice}` where an id goes. */
  readonly paths: readonly string[]
  handles(path: string): boolean
  handle(request: HttpRequest): Promise<Reply>
  /** The routes as one Web-standard handler. */
  fetch(request: Request): Promise<Response>
  /** Stops looking at the inbox, after what is under way. The database stays open. */
  close(): Promise<void>
}

/**
 * Attaches billing to the application's own user table.
 * @example
 * const billing = createBilling({ database, users: { table: 'users' }, stripe: { secret, webhookSecret } })
 * const user = await billing.user(id)
 * await user.newSubscription('main', 'monthly').create(cardToken)
 */
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User> & { readonly stripe?: never },
): BraintreeBilling<User>
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User>,
): Billing<User>
export function createBilling<User>(given: BillingOptions<User>): Billing<User> {
  const options = resolveOptions(given)
  const context = createContext(options)
  const inbox = createInbox(context, () => migrated())
  const routes = createRoutes(context, inbox)
  const runMigrations = () => migrate(options.database, billingMigrations(options.users))

  let migrating: Promise<unknown> | null = null
  const migrated = async () => {
    if (!options.migrate) return
    migrating ??= runMigrations().catch((error) => {
      migrating = null
      throw error
    })
    await migrating
  }

  const findUser = async (id: string | number) => {
    await migrated()
    const record = await context.users.find(id)
    return record ? new BillableUser<User>(context, record) : null
  }

  const handle = async (request: HttpRequest) => {
    await migrated()
    return routes.handle(request)
  }

  return {
    findUser,
    async user(id) {
      const user = await findUser(id)
      if (!user) throw new UserNotFound(`There is no user ${id}`)
      return user
    },
    async findUserByCustomer(provider, id) {
      await migrated()
      const record = await context.users.findByCustomer(provider, id)
      return record ? new BillableUser<User>(context, record) : null
    },
    migrate: runMigrations,
    async sync(how = {}) {
      await migrated()
      return syncAll(context, how)
    },
    async countActive(at) {
      await migrated()
      return context.subscriptions.countActive(at)
    },
    async ready() {
      await migrated()
      void warnOfMissing(context)
    },
    check: async () => (await Promise.all(checks(context))).flat(),
    webhooks: {
      process: async () => {
        await migrated()
        await inbox.process()
      },
      deadLetters: inbox.deadLetters,
      pending: inbox.pending,
      retry: inbox.retry,
    },
    async purgeWebhooks(before) {
      await migrated()
      let deleted = 0
      for (;;) {
        const count = await context.webhooks.purge(before, 500)
        deleted += count
        if (count < 500) return deleted
      }
    },
    paths: routes.paths,
    handles: routes.handles,
    handle,
    fetch: async (request) => toWebResponse(await handle(fromWebRequest(request))),
    close: () => inbox.stop(),
  }
}

function checks(context: BillingContext): Promise<string[]>[] {
  const providers = (['stripe', 'braintree'] as const).filter((name) => context.options[name])
  return providers.map(async (name) => (await context.gateway(name)).check())
}

async function warnOfMissing(context: BillingContext): Promise<void> {
  const { logger } = context.options
  const warn = (logger.warn ?? logger.error).bind(logger)
  for (const outcome of await Promise.allSettled(checks(context))) {
    if (outcome.status === 'fulfilled') for (const problem of outcome.value) warn(problem)
    else warn('A payment provider could not be checked', outcome.reason)
  }
}

function createContext(options: ResolvedOptions): BillingContext {
  const { database, users } = options
  return {
    options,
    users: userRepository(database, users),
    subscriptions: subscriptionRepository(database),
    operations: operationRepository(database),
    taxes: taxRepository(database),
    webhooks: webhookRepository(database),
    locks: createLocks(database, {
      lease: options.lockLeaseMs,
      // Long enough to outwait a holder that died, and the slow calls of one that lives.
      wait: options.lockLeaseMs + 45_000,
    }),
    gateway: createGateways(options),
  }
}

/** Each gateway is made once, when it is first needed. */
function createGateways(options: ResolvedOptions): (name: ProviderName) => Promise<Gateway> {
  const made = new Map<ProviderName, Promise<Gateway>>()
  const load = async (name: ProviderName) => {
    if (name === 'stripe' && options.stripe) return stripeGateway(options.stripe)
    if (name === 'braintree' && options.braintree) return braintreeGateway(options.braintree)
    throw new TypeError(`A user pays through ${name}, which is not configured`)
  }
  return (name) => {
    const gateway = made.get(name) ?? load(name)
    made.set(name, gateway)
    return gateway
  }
}
