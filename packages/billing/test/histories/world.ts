import { connect } from '@tollgate/database'
import { onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { type BillableUser, ProviderUnavailable } from '../../src/index.ts'
import { type BillingTest, startBilling } from '../../src/testing/index.ts'
import { BASE_URL, createCallPrice, type ProviderCase, stripeSdk } from '../support.ts'
import { createTeam, createTeams, teamTable } from '../teams.ts'

/** The option `disputes.access`. */
export type Access = 'keep' | 'suspend' | 'end'

/** The type of the owner that pays. */
export type OwnerType = 'user' | 'team'

/**
 * How webhooks travel in a history. `prompt`: all arrive before the next step. `late`: steps may
 * overtake them. `lossy`: none arrive until a step allows it, and lost ones never do.
 */
export type WebhookTiming = 'prompt' | 'late' | 'lossy'

/** One user, one sandbox, one application. All of it is reset between histories. */
export interface World extends BillingTest {
  readonly given: ProviderCase
  /** The option `disputes.access`. */
  readonly access: Access
  readonly travel: WebhookTiming
  /** Whether this history has ended a subscription immediately. */
  hasCancelledNow: boolean
  /** The current tax percentage of the user. */
  tax: number
  /** Number of usage reports in this history, each of one unit. */
  used: number
  /** Number of paid orders of each kind in this history. Each order has an idempotency key. */
  readonly paid: Record<'charge' | 'bill', number>
  /** State of each dispute at Braintree, by its transaction. */
  readonly disputes: Map<string, 'open' | 'won' | 'lost'>
  /** A metered price at Stripe. */
  readonly metered: string
  begin(start: Date, travel: WebhookTiming, owner: OwnerType): Promise<void>
  /** Advances the clock just enough for every pending webhook to arrive and be handled. */
  deliverAll(): Promise<void>
  /** Whether no webhook is under way. */
  isQuiet(): Promise<boolean>
  /**
   * Runs an operation of the application, and retries it after a lost response, as the guide
   * recommends.
   */
  attempt(operation: (user: BillableUser) => Promise<unknown>): Promise<unknown>
}

const TABLES = [
  'subscriptions',
  'billing_subscription_items',
  'billing_taxes',
  'billing_webhooks',
  'billing_locks',
  'billing_operations',
  'billing_code_attempts',
  'billing_usage',
  'billing_usage_batches',
  'billing_disputes',
  'users',
  'teams',
]

export async function createWorld(testProvider: ProviderCase, access: Access): Promise<World> {
  const created =
    process.env.TEST_DATABASE === 'sqlite' ? await inMemory() : await createTestDatabase()
  let tax = 0
  await createTeams(created.database, 'integer')
  const taxPercentage = () => tax
  const test = await startBilling({
    database: created.database,
    taxPercentage,
    owners: { team: { ...teamTable('integer'), taxPercentage } },
    metered: { calls: { unitAmount: 5 } },
    disputes: { access },
    defaultProvider: testProvider.provider,
    baseUrl: BASE_URL,
    logger: { error: () => undefined },
  })
  onTestFinished(async () => {
    await test.close()
    await created.drop()
  })
  const { sandbox, database, billing } = test
  for (const id of ['seat', 'support']) {
    sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id, amount: 500 })
  }
  const stripe = await stripeSdk(test)
  const { id: coupon } = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
  await stripe.promotionCodes.create({ code: 'HELLO', promotion: { type: 'coupon', coupon } })
  await stripe.coupons.create({ id: 'SPRING', percent_off: 10, duration: 'once' })
  const metered = await createCallPrice(test)
  // Events of the setup are not part of any history.
  await test.settle()
  const clean = sandbox.snapshot()
  let user = test.user
  let travel: WebhookTiming = 'prompt'
  let hasCancelledNow = false
  let used = 0
  const paid = { charge: 0, bill: 0 }
  const disputes: World['disputes'] = new Map()

  async function nextArrival(): Promise<number | null> {
    const sent = sandbox.outbox.deliveries().flatMap(({ dueAt }) => dueAt ?? [])
    const handled = (await billing.webhooks.pending()).map(({ dueAt }) => dueAt.getTime())
    // Usage that billing counts itself waits for the end of its period; that is not a pending
    // webhook.
    const reported = testProvider.provider === 'stripe' ? await billing.usage.pending() : []
    const all = [...sent, ...handled, ...reported.map(({ dueAt }) => dueAt.getTime())]
    return all.length === 0 ? null : Math.min(...all)
  }

  return {
    ...test,
    given: testProvider,
    access,
    paid,
    disputes,
    metered,
    get hasCancelledNow() {
      return hasCancelledNow
    },
    set hasCancelledNow(value) {
      hasCancelledNow = value
    },
    get tax() {
      return tax
    },
    set tax(value) {
      tax = value
    },
    get used() {
      return used
    },
    set used(value) {
      used = value
    },
    get user() {
      return user
    },
    get travel() {
      return travel
    },
    async begin(start, wanted, owner) {
      await test.settle()
      sandbox.restore({ ...clean, now: start.toISOString() })
      for (const table of TABLES) await database.kysely.deleteFrom(table).execute()
      user = owner === 'team' ? await createTeam(test, 1) : await test.createUser()
      travel = wanted
      hasCancelledNow = false
      tax = 0
      used = 0
      Object.assign(paid, { charge: 0, bill: 0 })
      disputes.clear()
      sandbox.outbox.set({ drop: wanted === 'lossy' })
    },
    async deliverAll() {
      for (let i = 0; i < 1000; i++) {
        await test.settle()
        const next = await nextArrival()
        if (next === null) return
        const now = sandbox.clock.nowMs()
        if (next > now) await sandbox.clock.advanceTo(new Date(next))
      }
      throw new Error('Webhooks never stop arriving')
    },
    isQuiet: async () => (await nextArrival()) === null,
    async attempt(operation) {
      for (let attempts = 1; ; attempts++) {
        try {
          return await operation(await billing.owner(user.owner.type, user.id))
        } catch (error) {
          if (!(error instanceof ProviderUnavailable) || attempts === 5) throw error
        }
      }
    },
  }
}

async function inMemory() {
  const database = await connect('sqlite::memory:')
  return { database, drop: () => database.close() }
}
