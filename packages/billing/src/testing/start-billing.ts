import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, createColumns, type Database } from '@tollgate/database'
// biome-ignore lint/suspicious/noTsIgnore: an error is expected only where the sandbox is missing
/** @ts-ignore The sandbox is missing where only the contract of a gateway is used: its types are `any` there. */
import type { Sandbox, SandboxClock } from '@tollgate/sandbox'
import { sql } from 'kysely'
import { nodeListener } from '../adapters/node.ts'
import type { Billing } from '../billing.ts'
import { createBilling } from '../create-billing.ts'
import type { BraintreeOptions } from '../gateways/braintree/sdk/options.ts'
import { STRIPE } from '../gateways/stripe/provider.ts'
import type { BillingOptions } from '../options.ts'
import type { BillableUser } from '../users/billable-user.ts'

/** What a test's billing begins with. */
export interface StartBillingOptions
  extends Partial<Omit<BillingOptions, 'stripe' | 'braintree' | 'clock'>> {
  /** Where the clock starts. */
  readonly now?: Date
  /** Plans by id; amounts in cents, `months` between bills. */
  readonly plans?: Readonly<Record<string, { readonly amount: number; readonly months: number }>>
  /** What usage costs at Braintree, by the name that it is reported under. */
  readonly metered?: BraintreeOptions['metered']
  /**
   * Whether webhooks reach the application. Default true. Those of Stripe are the ones that billing wants, as at an
   * endpoint that it makes itself; with `handlers` of your own all of them come.
   */
  readonly webhooks?: boolean
  /** How often Stripe tries again, and what it does after the last time. Default: after 3, 5 and 7 days, then it cancels. */
  readonly dunning?: {
    readonly retryAfterDays?: readonly number[]
    readonly afterLastRetry?: 'cancel' | 'unpaid' | 'past_due'
  }
}

/** Billing on both providers of the sandbox, with one clock that is moved by hand. */
export interface BillingTest {
  /** Both providers, on one clock. */
  readonly sandbox: Sandbox<{ stripe: true; braintree: true }>
  /** An SQLite database in memory. */
  readonly database: Database
  /** Billing, over the sandbox. */
  readonly billing: Billing
  /** A user who is there already, at the default provider. */
  readonly user: BillableUser
  /** Another user of the application. */
  createUser(attributes?: {
    readonly email?: string
    readonly name?: string
  }): Promise<BillableUser>
  /** Moves the clock; renewals, trials and webhooks on the way are done when it resolves. */
  advance(by: Parameters<SandboxClock['advance']>[0]): Promise<void>
  /** Delivers and handles every webhook that is due, and tells what came of it. */
  settle(): Promise<void>
  /** A second billing on the same database, as another process would have. */
  another(options?: Partial<BillingOptions>): Billing
  /** Ends everything. */
  close(): Promise<void>
}

const PLANS = {
  monthly: { amount: 1000, months: 1 },
  pro: { amount: 2500, months: 1 },
  quarterly: { amount: 2700, months: 3 },
  halfyearly: { amount: 5200, months: 6 },
  yearly: { amount: 10_000, months: 12 },
} as const

/**
 * For an application's own tests: no network, no keys, no waiting.
 * @example
 * const { user, advance, close } = await startBilling({ defaultProvider: 'stripe' })
 * await user.newSubscription('main', 'monthly').trialDays(14).create('pm_card_visa')
 * await advance({ days: 15 })
 */
export async function startBilling(options: StartBillingOptions = {}): Promise<BillingTest> {
  const { now, plans = PLANS, webhooks = true, metered = {}, dunning = {}, ...rest } = options
  const { startSandbox } = await importSandbox()
  // How Stripe is set says nothing of which providers there are, which is all that the type knows.
  const sandbox = (await startSandbox({
    stripe: { dunning },
    braintree: true,
    ...(now ? { now } : {}),
  })) as unknown as BillingTest['sandbox']
  definePlans(sandbox, plans)
  const database = rest.database ?? (await connect('sqlite::memory:'))
  const users = rest.users ?? { table: 'users' }
  await createUsers(database, users.table)

  const server = createServer((message, response) => nodeListener(billing)(message, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const wanted = rest.handlers ? ['*'] : STRIPE.events
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
    await billing.webhooks.process()
    await billing.usage.process()
    await billing.events.process()
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
    // What uses a thing before the thing: events under way still ask the provider and the database.
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

/** Whoever tests a provider of their own with `gatewayContract` need not install it. */
function importSandbox() {
  return import('@tollgate/sandbox').catch((cause) => {
    throw new Error('startBilling() needs the package "@tollgate/sandbox": install it, too', {
      cause,
    })
  })
}

function definePlans(
  sandbox: BillingTest['sandbox'],
  plans: NonNullable<StartBillingOptions['plans']>,
): void {
  const { stripe, braintree } = sandbox
  for (const [id, { amount, months }] of Object.entries(plans)) {
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

/** The application's own table, as it is before billing adds its columns. */
async function createUsers(database: Database, table: string): Promise<void> {
  await database.kysely.schema
    .createTable(table)
    .ifNotExists()
    .addColumn('id', sql.raw(createColumns(database).integer.type), (column) => column.primaryKey())
    .addColumn('email', 'varchar(255)')
    .addColumn('name', 'varchar(255)')
    .execute()
}
