import {
  type DatabaseClock,
  type MigrateOptions,
  type MigrationSet,
  migrate,
  requireMigrations,
} from '@tollgate/database'
import { fetchFrom } from '@tollgate/http'
import type { Billing } from './billing.ts'
import { lookAhead } from './consistency/look-ahead.ts'
import { syncAll } from './consistency/sync/sync-all.ts'
import type { BillingContext } from './context.ts'
import { requireOwner } from './customers/require-owner.ts'
import { createDeliveries } from './deliveries/deliveries.ts'
import { createEventStream, listenersOf } from './events/event-stream.ts'
import { tellingOwners } from './events/of-customer.ts'
import type { BraintreeParts } from './gateways/braintree/gateway.ts'
import type { Capability } from './gateways/contract/parts.ts'
import { createNotices, purgeNotices } from './notices/notices.ts'
import {
  type BillingOptions,
  type ResolvedOptions,
  resolveOptions,
  workerSettings,
} from './options.ts'
import type { ProviderName } from './provider-name.ts'
import { createRoutes } from './routes.ts'
import { codeAttemptRepository } from './storage/code-attempts.ts'
import { disputeRepository } from './storage/disputes.ts'
import { createLocks } from './storage/locks.ts'
import { ownerMigrations } from './storage/migrations/owners.ts'
import { billingMigrations } from './storage/migrations.ts'
import { operationRepository } from './storage/operations.ts'
import { requireOwnerTable } from './storage/owner-tables.ts'
import { ownerRepository } from './storage/owners.ts'
import { eventRepository } from './storage/queues/events.ts'
import { purgeAll } from './storage/queues/queue.ts'
import { usageRepository } from './storage/queues/usage.ts'
import { subscriptionRepository } from './storage/subscriptions.ts'
import { syncRunRepository } from './storage/sync-runs.ts'
import { taxRepository } from './storage/taxes.ts'
import { transferRepository } from './storage/transfers.ts'
import { withTypedErrors } from './storage/typed-errors.ts'
import { webhookRepository } from './storage/webhooks.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import { createChargeWorker } from './usage/charges/charge-worker.ts'
import { createMeters } from './usage/meters.ts'
import { createUsageQueue } from './usage/usage-outbox.ts'
import { BillableUser } from './users/billable-user.ts'
import type { Logger } from './values/logger.ts'
import { isUser, type Owner, USER, userWith } from './values/owner.ts'
import { createEndpoints } from './webhooks/endpoints.ts'
import { createInbox } from './webhooks/inbox.ts'
import type { Without } from './without.ts'

/** Billing where Braintree alone is configured. */
export type BraintreeBilling<User = Record<string, unknown>> = Without<
  Exclude<Capability, BraintreeParts>,
  Billing<User>
>
/** A user where Braintree alone is configured. */
export type BraintreeUser<User = Record<string, unknown>> = Without<
  Exclude<Capability, BraintreeParts>,
  BillableUser<User>
>
/** A subscription where Braintree alone is configured. */
export type BraintreeSubscription = Without<Exclude<Capability, BraintreeParts>, Subscription>

/**
 * Attaches billing to the application's own user table.
 * @example
 * const billing = createBilling({ database, users: { table: 'users' }, stripe: { secret, webhookSecret } })
 * const user = await billing.user(id)
 * await user.newSubscription('main', 'monthly').create(cardToken)
 */
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User> & { readonly stripe?: never; readonly providers?: never },
): BraintreeBilling<User>
export function createBilling<User = Record<string, unknown>>(
  options: BillingOptions<User>,
): Billing<User>
export function createBilling<User>(given: BillingOptions<User>): Billing<User> {
  const resolved = resolveOptions(given)
  const options = { ...resolved, database: withTypedErrors(resolved.database) }
  const context = createContext(options, () => migrated())
  context.events.lookAround(() => lookAhead(context))
  for (const { name, usageCountedBy } of options.providers.all) {
    if (usageCountedBy !== 'us') continue
    context.usage.serve(
      name,
      createChargeWorker(context, name, () => migrated()),
    )
  }
  const notices = options.mail ? createNotices(context, options.mail, () => migrated()) : null
  if (notices) context.events.tell(notices.consumer)
  const deliveries = createDeliveries(
    options.deliveries,
    options.database,
    workerSettings(options, () => migrated()),
  )
  if (deliveries.consumer) context.events.tell(deliveries.consumer)
  const inbox = createInbox(context, () => migrated())
  const routes = createRoutes(context, inbox, () => migrated())
  const { database } = options
  const migrationSets = listMigrations(options)
  const runMigrations = async (how?: MigrateOptions) => {
    const applied: string[] = []
    for (const set of migrationSets) applied.push(...(await migrate(database, set, how)).applied)
    return { applied }
  }
  // Without its columns as they should be, wrong answers would be silent on some databases.
  const lookOrMigrate = async () => {
    if (options.migrate) await runMigrations()
    else for (const set of migrationSets) await requireMigrations(database, set)
    if (options.clock === database.clock) await database.clock.begin()
  }

  const stopWatching =
    options.clock === database.clock ? watchClock(database.clock, options.logger) : () => {}

  let migrating: Promise<unknown> | null = null
  const migrated = async () => {
    migrating ??= lookOrMigrate().catch((error) => {
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
    findUser: (id) => findOwner<User>(userWith(id)),
    user: (id) => owner<User>(userWith(id)),
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
      async replay(which) {
        await migrated()
        return inbox.replay(which)
      },
    },
    endpoints: createEndpoints(context),
    events: {
      process: async () => {
        await migrated()
        await context.events.process()
        await notices?.process()
        await deliveries.process()
      },
      deadLetters: context.events.deadLetters,
      pending: context.events.pending,
      retry: context.events.retry,
      purge: context.events.purge,
    },
    usage: {
      process: async () => {
        await migrated()
        await context.usage.process()
      },
      pending: context.usage.pending,
      refused: context.usage.refused,
      retry: context.usage.retry,
      async purge(before) {
        await migrated()
        return context.usage.purge(before)
      },
      ...createMeters({ ...options, ...context, providers: countingProviders(options) }),
    },
    notices,
    deliveries,
    async purgeWebhooks(before) {
      await migrated()
      return purgeAll((limit) => context.webhooks.purge(before, limit))
    },
    async purgeNotices(before) {
      await migrated()
      return purgeNotices(database, before)
    },
    async purgeCodeAttempts() {
      await migrated()
      return context.codeAttempts.purge(options.clock.now())
    },
    paths: routes.paths,
    handles: routes.handles,
    handle: routes.handle,
    fetch: (request) => fetchFrom(routes, request),
    close: async () => {
      stopWatching()
      await inbox.stop()
      await context.usage.stop()
      await context.events.stop()
      await notices?.stop()
      await deliveries.stop()
    },
  }
}

/** Logs when the clock that all processes share is not trusted here, and when it is again. */
function watchClock(clock: DatabaseClock, logger: Logger): () => void {
  return clock.onChange((problem) => {
    if (problem === null)
      (logger.warn ?? logger.error).call(logger, 'The time of this process is right again')
    else logger.error(`This process bills nothing until its time is right. ${problem}.`)
  })
}

function checks(context: BillingContext): Promise<string[]>[] {
  return context.options.providers.all.map(async ({ name }) =>
    (await context.gateway(name)).check(),
  )
}

async function warnOfMissing(context: BillingContext): Promise<void> {
  const { logger } = context.options
  const warn = (logger.warn ?? logger.error).bind(logger)
  for (const outcome of await Promise.allSettled(checks(context))) {
    if (outcome.status === 'fulfilled') for (const problem of outcome.value) warn(problem)
    else warn('A payment provider could not be checked', outcome.reason)
  }
}

/** That of the tables of billing, and one for each other table whose rows are billed. */
function listMigrations({ owners }: ResolvedOptions): MigrationSet[] {
  const others = [...owners].filter(([type]) => type !== USER)
  return [
    billingMigrations(requireOwnerTable(owners, USER)),
    ...others.map(([type, table]) => ownerMigrations(type, table)),
  ]
}

/** Those that count usage themselves. */
function countingProviders(options: ResolvedOptions): ProviderName[] {
  const { providers } = options
  return usageProviders(options).filter((name) => providers.find(name)?.usageCountedBy !== 'us')
}

function usageProviders({ providers }: ResolvedOptions): ProviderName[] {
  return providers.all.filter(({ can }) => can.includes('usage')).map(({ name }) => name)
}

function createContext(options: ResolvedOptions, ready: () => Promise<void>): BillingContext {
  const { database, owners, providers } = options
  const { statuses, standing } = providers
  const suspendsDisputed = options.disputes.access === 'suspend'
  const suspendsPaused = options.pauses.access === 'suspend'
  const meanings = { statuses, standing, suspendsDisputed, suspendsPaused }
  const events = createEventStream(
    eventRepository(database, owners),
    workerSettings(options, ready),
  )
  if (Object.keys(options.on).length > 0) events.tell(listenersOf(options.on))
  const ownerRows = ownerRepository(database, owners)
  const subscriptions = subscriptionRepository(database, meanings, owners)
  const usage = createUsageQueue({
    ...{ database, subscriptions, events, gateway: providers.gateway },
    owners: ownerRows,
    usage: usageRepository(database, owners),
    settings: workerSettings(options, ready),
    providers: usageProviders(options),
    counting: countingProviders(options),
  })
  return {
    options,
    owners: tellingOwners(ownerRows, events),
    subscriptions,
    operations: operationRepository(database, owners),
    taxes: taxRepository(database),
    disputes: disputeRepository(database),
    transfers: transferRepository(database),
    syncRuns: syncRunRepository(database),
    codeAttempts: codeAttemptRepository(database),
    webhooks: webhookRepository(database),
    events,
    usage,
    locks: createLocks(database, {
      lease: options.lockLeaseMs,
      // Long enough to outwait a holder that died, and the slow calls of one that lives.
      wait: options.lockLeaseMs + 45_000,
      check: () => options.clock.check?.() ?? null,
    }),
    gateway: options.providers.gateway,
  }
}
