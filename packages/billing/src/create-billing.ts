import {
  type DatabaseClock,
  type MigrateOptions,
  type MigrationSet,
  migrate,
  type PlannedMigration,
  planMigrations,
  requireMigrations,
} from '@tollgate/database'
import { respondToWebRequest } from '@tollgate/http'
import { RESUME_BY_KIND } from './assemble-features.ts'
import { BillableUser } from './billable-user.ts'
import type { Billing } from './billing.ts'
import type { BraintreeParts } from './braintree-provider.ts'
import type { BillingContext } from './core/context.ts'
import { createAuditEvents } from './core/events/audit-events.ts'
import { createEventStream, createListenerConsumer } from './core/events/event-stream.ts'
import { createCodeAttemptRepository } from './core/storage/code-attempts.ts'
import { createDisputeRepository } from './core/storage/disputes.ts'
import { createEventRepository } from './core/storage/events.ts'
import { createLocks } from './core/storage/locks.ts'
import { billingMigrations, ownerMigrations } from './core/storage/migrations.ts'
import { createOperationRepository } from './core/storage/operations.ts'
import { requireOwnerTable } from './core/storage/owner-tables.ts'
import { createOwnerRepository } from './core/storage/owners.ts'
import { createSubscriptionRepository } from './core/storage/subscriptions.ts'
import { createSyncRunRepository } from './core/storage/sync-runs.ts'
import { createTaxRepository } from './core/storage/taxes.ts'
import { createTransferRepository } from './core/storage/transfers.ts'
import { withTypedErrors } from './core/storage/typed-errors.ts'
import { createWebhookRepository } from './core/storage/webhooks.ts'
import { recordTimedEvents } from './core/timed-events.ts'
import { requireOwner } from './core/user-scope.ts'
import type { Logger } from './core/values/logger.ts'
import { isUser, type Owner, USER_OWNER_TYPE, userOwner } from './core/values/owner.ts'
import type { ProviderName } from './core/values/provider-name.ts'
import { createCatalogs } from './features/catalog/read-catalog.ts'
import { withCustomerEvents } from './features/customers/events.ts'
import { listDisputes } from './features/disputes/list-disputes.ts'
import { openGuestCheckout } from './features/guest-checkout/guest.ts'
import { findInvoices } from './features/invoice-search/find-invoices.ts'
import { createMailQueue } from './features/mail/notices.ts'
import { createDeliveries } from './features/outgoing-webhooks/deliveries.ts'
import { listSubscriptions } from './features/subscription-list/list-subscriptions.ts'
import { syncAllOwners } from './features/sync/sync-all.ts'
import { createUsageChargeWorker } from './features/usage/charges/charge-worker.ts'
import { createMeters } from './features/usage/meters.ts'
import { createUsageQueue } from './features/usage/usage-outbox.ts'
import { createUsageRepository } from './features/usage/usage-rows.ts'
import { createEndpoints } from './features/webhooks/endpoints.ts'
import { createWebhookInbox } from './features/webhooks/inbox.ts'
import { type BillingOptions, createWorkerSettings, type ResolvedOptions } from './options.ts'
import type { Capability } from './providers/gateway-parts.ts'
import { countQueues, processQueues, purgeQueues } from './queues.ts'
import { resolveOptions } from './resolve-options.ts'
import { createRoutes } from './routes.ts'
import type { SdkBilling, SdkUser } from './sdk-billing.ts'
import type { Subscription } from './subscription.ts'
import type { Without } from './without.ts'

/**
 * The type of billing if Braintree is the only configured provider. Methods that Braintree does not
 * support are missing.
 */
export type BraintreeBilling<User = Record<string, unknown>> = Without<
  Exclude<Capability, BraintreeParts>,
  SdkBilling<'braintree', User>
>
/** The type of a user if Braintree is the only configured provider. */
export type BraintreeUser<User = Record<string, unknown>> = Without<
  Exclude<Capability, BraintreeParts>,
  SdkUser<'braintree', User>
>
/** The type of a subscription if Braintree is the only configured provider. */
export type BraintreeSubscription = Without<Exclude<Capability, BraintreeParts>, Subscription>

/**
 * Attaches billing to the application's own user table. Configure Stripe, Braintree or both; their
 * keys come from the provider's dashboard.
 * @throws TypeError if an option is missing or invalid. No request is sent and no table is read
 * yet.
 * @example
 * import { createBilling } from '@tollgate/billing'
 * import { connect } from '@tollgate/database'
 *
 * const billing = createBilling({
 *   database: await connect('postgres://…'),
 *   users: { table: 'users' },
 *   stripe: { secret: process.env.STRIPE_SECRET, webhookSecret: process.env.STRIPE_WEBHOOK_SECRET },
 * })
 * const user = await billing.user(id)
 * await user.newSubscription('main', 'monthly').create(cardToken)
 */
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User> & { readonly stripe?: never; readonly providers?: never },
): BraintreeBilling<User>
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User> & { readonly braintree?: never; readonly providers?: never },
): SdkBilling<'stripe', User>
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User> & { readonly providers?: never },
): SdkBilling<'stripe' | 'braintree', User>
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User>,
): Billing<User>
// The overloads above derive the result type from the configured providers.
export function createBilling<User>(given: BillingOptions<User>): unknown {
  const resolved = resolveOptions(given)
  const options = { ...resolved, database: withTypedErrors(resolved.database) }
  const context = createContext(options, () => migrated())
  context.events.setTimedEvents(() => recordTimedEvents(context))
  for (const { name, usageCountedBy } of options.providers.all) {
    if (usageCountedBy !== 'us') continue
    context.usage.serve(
      name,
      createUsageChargeWorker(context, name, () => migrated()),
    )
  }
  const notices = options.mail ? createMailQueue(context, options.mail, () => migrated()) : null
  if (notices) context.events.addConsumer(notices.consumer)
  const deliveries = createDeliveries(
    options.deliveries,
    options.database,
    createWorkerSettings(options, () => migrated()),
  )
  if (deliveries.consumer) context.events.addConsumer(deliveries.consumer)
  const inbox = createWebhookInbox(context, () => migrated())
  const queues = { context, inbox, notices, deliveries }
  const routes = createRoutes(context, inbox, () => migrated())
  const { database } = options
  const migrationSets = listMigrations(options)
  const runMigrations = async (how?: MigrateOptions) => {
    const applied: string[] = []
    for (const set of migrationSets) applied.push(...(await migrate(database, set, how)).applied)
    return { applied }
  }
  // A missing or differently typed column gives wrong results, and some databases do not report it.
  const checkOrMigrate = async () => {
    if (options.migrate) await runMigrations()
    else for (const set of migrationSets) await requireMigrations(database, set)
    if (options.clock === database.clock) await database.clock.begin()
  }

  const stopWatching =
    options.clock === database.clock ? watchClock(database.clock, options.logger) : () => {}

  let migrating: Promise<unknown> | null = null
  const migrated = async () => {
    migrating ??= checkOrMigrate().catch((error) => {
      migrating = null
      throw error
    })
    await migrating
  }

  const findOwner = async <Row>(owner: Owner) => {
    await migrated()
    const record = await context.owners.find(owner)
    return record ? new BillableUser<Row>(context, record) : null
  }
  const owner = async <Row>(wanted: Owner) => {
    await migrated()
    return new BillableUser<Row>(context, await requireOwner(context, wanted))
  }
  const findByCustomer = async (provider: ProviderName, id: string) => {
    await migrated()
    return context.owners.findByCustomer(provider, id)
  }

  return {
    findUser: (id) => findOwner<User>(userOwner(id)),
    user: (id) => owner<User>(userOwner(id)),
    async findUserByCustomer(provider, id) {
      const record = await findByCustomer(provider, id)
      return record && isUser(record.owner) ? new BillableUser<User>(context, record) : null
    },
    owner: (type, id) => owner({ type, id }),
    findOwner: (type, id) => findOwner({ type, id }),
    async findOwnerByCustomer(provider, id) {
      const record = await findByCustomer(provider, id)
      return record && new BillableUser(context, record)
    },
    migrate: runMigrations,
    async planMigrations() {
      const planned: PlannedMigration[] = []
      for (const set of migrationSets) planned.push(...(await planMigrations(database, set)))
      return planned
    },
    async sync(how = {}) {
      await migrated()
      return syncAllOwners(context, how)
    },
    async subscriptions(wanted = {}) {
      await migrated()
      return listSubscriptions(context, wanted)
    },
    async disputes(wanted = {}) {
      await migrated()
      return listDisputes(context, wanted)
    },
    async findInvoices(number) {
      await migrated()
      return findInvoices(context, number)
    },
    catalog: createCatalogs(context),
    guestCheckout: async (items, options) => openGuestCheckout(context, items, options),
    async countActive(at) {
      await migrated()
      return context.subscriptions.countActive(at)
    },
    async countByPrice() {
      await migrated()
      return context.subscriptions.countByPrice(context.options.clock.now())
    },
    async ready() {
      await migrated()
      void logProviderProblems(context)
    },
    check: async () => (await Promise.all(runProviderChecks(context))).flat(),
    async process() {
      await migrated()
      await processQueues(queues)
    },
    async purge(how = {}) {
      await migrated()
      return purgeQueues(queues, how)
    },
    async countQueues() {
      await migrated()
      return countQueues(queues)
    },
    webhooks: {
      deadLetters: inbox.deadLetters,
      pending: inbox.pending,
      page: inbox.page,
      find: inbox.find,
      retry: inbox.retry,
      async replay(which) {
        await migrated()
        return inbox.replay(which)
      },
    },
    endpoints: createEndpoints(context),
    events: {
      deadLetters: context.events.deadLetters,
      pending: context.events.pending,
      retry: context.events.retry,
      ...createAuditEvents(options.logger),
    },
    usage: {
      pending: context.usage.pending,
      refused: context.usage.refused,
      retry: context.usage.retry,
      ...createMeters({ ...options, ...context, providers: listUsageCountingProviders(options) }),
    },
    notices,
    deliveries,
    paths: routes.paths,
    handles: routes.handles,
    handle: routes.handle,
    fetch: (request) => respondToWebRequest(routes, request),
    close: async () => {
      stopWatching()
      await inbox.stop()
      await context.usage.stop()
      await context.events.stop()
      await notices?.stop()
      await deliveries.stop()
    },
  } satisfies Billing<User>
}

/**
 * Logs when this process's clock deviates too far from the shared database clock, and when it no
 * longer does.
 */
function watchClock(clock: DatabaseClock, logger: Logger): () => void {
  return clock.onChange((problem) => {
    if (problem === null)
      (logger.warn ?? logger.error).call(
        logger,
        'The clock of this process is trusted again, and billing continues',
      )
    else
      logger.error(`Billing is stopped in this process until its clock can be trusted. ${problem}.`)
  })
}

function runProviderChecks(context: BillingContext): Promise<string[]>[] {
  return context.options.providers.all.map(async ({ name }) =>
    (await context.gateway(name)).check(),
  )
}

async function logProviderProblems(context: BillingContext): Promise<void> {
  const { logger } = context.options
  const warn = (logger.warn ?? logger.error).bind(logger)
  for (const outcome of await Promise.allSettled(runProviderChecks(context))) {
    if (outcome.status === 'fulfilled') for (const problem of outcome.value) warn(problem)
    else warn('A payment provider could not be checked', outcome.reason)
  }
}

/**
 * Lists one migration set for billing's tables and the user table, and one for the table of each
 * other owner type.
 */
function listMigrations({ owners }: ResolvedOptions): MigrationSet[] {
  const others = [...owners].filter(([type]) => type !== USER_OWNER_TYPE)
  return [
    billingMigrations({
      ...requireOwnerTable(owners, USER_OWNER_TYPE),
      otherOwners: others.length > 0,
    }),
    ...others.map(([type, table]) => ownerMigrations(type, table)),
  ]
}

/** Returns the providers that count metered usage themselves, so that billing does not have to. */
function listUsageCountingProviders(options: ResolvedOptions): ProviderName[] {
  const { providers } = options
  return listUsageProviders(options).filter((name) => providers.find(name)?.usageCountedBy !== 'us')
}

function listUsageProviders({ providers }: ResolvedOptions): ProviderName[] {
  return providers.all.filter(({ can }) => can.includes('usage')).map(({ name }) => name)
}

function createContext(options: ResolvedOptions, ready: () => Promise<void>): BillingContext {
  const { database, owners, providers } = options
  const { statuses, standing } = providers
  const suspendsDisputed = options.disputes.access === 'suspend'
  const suspendsPaused = options.pauses.access === 'suspend'
  const meanings = { statuses, standing, suspendsDisputed, suspendsPaused }
  const events = createEventStream(
    createEventRepository(database, owners),
    createWorkerSettings(options, ready),
  )
  if (Object.keys(options.on).length > 0) events.addConsumer(createListenerConsumer(options.on))
  const ownerRows = createOwnerRepository(database, owners)
  const subscriptions = createSubscriptionRepository(database, meanings, owners)
  const usage = createUsageQueue({
    ...{ database, subscriptions, events, gateway: providers.gateway },
    owners: ownerRows,
    usage: createUsageRepository(database, owners),
    settings: createWorkerSettings(options, ready),
    providers: listUsageProviders(options),
    counting: listUsageCountingProviders(options),
  })
  return {
    options,
    owners: withCustomerEvents(ownerRows, events),
    subscriptions,
    operations: createOperationRepository(database, owners),
    taxes: createTaxRepository(database),
    disputes: createDisputeRepository(database),
    transfers: createTransferRepository(database),
    syncRuns: createSyncRunRepository(database),
    codeAttempts: createCodeAttemptRepository(database),
    webhooks: createWebhookRepository(database),
    events,
    usage,
    locks: createLocks(database, {
      lease: options.lockLeaseMs,
      // Longer than the lease of a process that died plus the slow provider calls of one that is
      // alive.
      wait: options.lockLeaseMs + 45_000,
      check: () => options.clock.check?.() ?? null,
    }),
    resumes: RESUME_BY_KIND,
    gateway: options.providers.gateway,
  }
}
