import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createColumnDefinitions, type Database } from '@tollgate/database'
// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the sandbox is missing
/** @ts-ignore The sandbox is not installed where only the gateway contract is used: its types are `any` there. */
import type { Sandbox, SandboxClock } from '@tollgate/sandbox'
import { sql } from 'kysely'
import { nodeListener } from '../adapters/node.ts'
import type { BillableUser } from '../billable-user.ts'
import type { Billing } from '../billing.ts'
import { createBilling } from '../create-billing.ts'
import type { BillingOptions } from '../options.ts'
import type { BraintreeOptions } from '../providers/braintree/options.ts'
import { STRIPE_MANIFEST } from '../stripe-provider.ts'

/**
 * Options of `startBilling()`: its own options, and those of `createBilling()` except the providers
 * and the clock. All are optional.
 */
export interface StartBillingOptions
  extends Partial<Omit<BillingOptions, 'stripe' | 'braintree' | 'clock'>> {
  /** Time at which the sandbox clock starts. @default the current time */
  readonly now?: Date
  /**
   * Plans by id. `amount` is in cents, `months` is the billing interval.
   * @default `monthly`, `pro`, `quarterly`, `halfyearly` and `yearly`
   */
  readonly prices?: Readonly<Record<string, { readonly amount: number; readonly months: number }>>
  /** Prices of metered usage at Braintree, by the meter's name. */
  readonly metered?: BraintreeOptions['metered']
  /**
   * Whether webhooks are delivered to this billing. From Stripe, only the event types that billing
   * needs are delivered or, if you configure `handlers`, all event types.
   * @default true
   */
  readonly webhooks?: boolean
  /**
   * Stripe's retry schedule for failed payments, and what happens to the subscription after the
   * last retry.
   * @default retries after 3, 5 and 7 days, then cancels
   */
  readonly dunning?: {
    readonly retryAfterDays?: readonly number[]
    readonly afterLastRetry?: 'cancel' | 'unpaid' | 'past_due'
  }
}

/**
 * Result of `startBilling()`: billing on both providers of the sandbox, with a clock that only
 * moves with `advance()`.
 */
export interface BillingTest {
  /** The sandbox of both providers, which share one clock. */
  readonly sandbox: Sandbox<{ stripe: true; braintree: true }>
  /** The database: SQLite in memory, unless the option `database` is given. */
  readonly database: Database
  /** The billing under test, connected to the sandbox. */
  readonly billing: Billing
  /** A user that exists from the start. */
  readonly user: BillableUser
  /** Adds a user to the application's table. */
  createUser(attributes?: {
    readonly email?: string
    readonly name?: string
  }): Promise<BillableUser>
  /**
   * Advances the clock. Renewals, trial ends and webhooks that fall due are processed before the
   * promise resolves.
   */
  advance(by: Parameters<SandboxClock['advance']>[0]): Promise<void>
  /** Delivers all due webhooks, and processes all queues. */
  settle(): Promise<void>
  /**
   * Creates a second billing on the same database, as another process would have. `close()` closes
   * it too.
   */
  another(options?: Partial<BillingOptions>): Billing
  /**
   * Stops billing and the sandbox, and closes the database unless it was given by the option
   * `database`.
   */
  close(): Promise<void>
}

const PRICES = {
  monthly: { amount: 1000, months: 1 },
  pro: { amount: 2500, months: 1 },
  quarterly: { amount: 2700, months: 3 },
  halfyearly: { amount: 5200, months: 6 },
  yearly: { amount: 10_000, months: 12 },
} as const

/**
 * Starts billing against a local sandbox of Stripe and Braintree, for an application's tests: no
 * network, no API keys, no waiting. Requires the package `@tollgate/sandbox`.
 * @example
 * import { startBilling } from '@tollgate/billing/testing'
 *
 * const { user, advance, close } = await startBilling({ defaultProvider: 'stripe' })
 * await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
 * await advance({ days: 15 })
 * expect((await user.subscription('main')).onTrial()).toBe(false)
 * await close()
 */
export async function startBilling(options: StartBillingOptions = {}): Promise<BillingTest> {
  const { now, prices = PRICES, webhooks = true, metered = {}, dunning = {}, ...rest } = options
  const { startSandbox } = await importSandbox()
  // The option type depends only on which providers run; the dunning settings do not change that.
  const sandbox = (await startSandbox({
    stripe: { dunning },
    braintree: true,
    ...(now ? { now } : {}),
  })) as unknown as BillingTest['sandbox']
  definePrices(sandbox, prices)
  const database = rest.database ?? (await connect('sqlite::memory:'))
  const users = rest.users ?? { table: 'users' }
  await createUsers(database, users.table)

  const server = createServer((message, response) => nodeListener(billing)(message, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const wanted = rest.handlers ? ['*'] : STRIPE_MANIFEST.events
  const { secret } = sandbox.stripe.registerWebhook(
    webhooks ? `${url}/stripe/webhook` : 'http://127.0.0.1:1/',
    webhooks ? wanted : ['account.updated'],
  )
  if (webhooks) sandbox.braintree.registerWebhook(`${url}/braintree/webhook`)

  const create = (more: Partial<BillingOptions> = {}): Billing =>
    createBilling({
      processEvery: false,
      ...rest,
      database,
      users,
      stripe: {
        secret: sandbox.stripe.apiKey,
        webhookSecret: secret,
        config: { ...sandbox.stripe.config, maxNetworkRetries: 0 },
      },
      braintree: { ...sandbox.braintree.config, timeout: 10_000, metered },
      clock: sandbox.clock,
      ...more,
    } as BillingOptions)
  const billing = create()
  await billing.migrate()
  const others: Billing[] = []

  const createUser: BillingTest['createUser'] = async (attributes = {}) => {
    const { email = 'ada@example.com', name = 'Ada Lovelace' } = attributes
    const count = await database.kysely
      .selectFrom(users.table)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    const id = Number(count.count) + 1
    await database.kysely.insertInto(users.table).values({ id, email, name }).execute()
    return billing.user(id)
  }
  const settle = async () => {
    await sandbox.outbox.flush()
    await billing.process()
  }

  return {
    sandbox,
    database,
    billing,
    user: await createUser(),
    createUser,
    settle,
    async advance(by) {
      await sandbox.clock.advance(by)
      await settle()
    },
    another(more) {
      const made = create(more)
      others.push(made)
      return made
    },
    // Close in the order of use: running events still need the provider and the database.
    async close() {
      await Promise.all([billing, ...others].map((each) => each.close()))
      await new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      })
      await sandbox.close()
      if (!rest.database) await database.close()
    },
  }
}

/** Loaded on demand: projects that only run `gatewayContract` do not need the package. */
function importSandbox() {
  return import('@tollgate/sandbox').catch((cause) => {
    throw new Error('startBilling() needs the package "@tollgate/sandbox": install it too', {
      cause,
    })
  })
}

function definePrices(
  sandbox: BillingTest['sandbox'],
  prices: NonNullable<StartBillingOptions['prices']>,
): void {
  const { stripe, braintree } = sandbox
  for (const [id, { amount, months }] of Object.entries(prices)) {
    const isYear = months === 12
    stripe.seedPrice({
      id,
      unitAmount: amount,
      interval: isYear ? 'year' : 'month',
      intervalCount: isYear ? 1 : months,
      product: 'Gold',
    })
    braintree.definePlan({ id, price: amount, billingFrequency: months })
  }
  braintree.defineDiscount({ id: 'plan-credit', amount: 0, numberOfBillingCycles: 1 })
  braintree.changeSettings({ customFields: ['description'] })
}

/** Creates the application's user table as it is before billing adds its columns. */
async function createUsers(database: Database, table: string): Promise<void> {
  await database.kysely.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('id', sql.raw(createColumnDefinitions(database).integer.type), (column) =>
      column.primaryKey(),
    )
    .addColumn('email', 'varchar(255)')
    .addColumn('name', 'varchar(255)')
    .execute()
}
