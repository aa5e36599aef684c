import { connect } from '@tollgate/database'
import { onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../test-support/create-test-database.ts'
import { type BillableUser, ProviderUnavailable } from '../../src/index.ts'
import { type BillingTest, startBilling } from '../../src/testing/index.ts'
import { BASE_URL, type ProviderCase, stripeSdk } from '../support.ts'

/**
 * How events travel in a history. `prompt`: all have come, somehow, before the next step. `late`: steps
 * overtake them. `lossy`: none come until a step lets them, and those that were lost never do.
 */
export type Travel = 'prompt' | 'late' | 'lossy'

/** One user, one sandbox, one application. Between histories all of it is put back to the start. */
export interface World extends BillingTest {
  readonly given: ProviderCase
  readonly travel: Travel
  /** Whether this history has ended a subscription at once. */
  hasCancelledNow: boolean
  /** What the application says that its user pays, in percent. */
  tax: number
  /** How many reports of usage this history has made, each of one call. */
  used: number
  begin(start: Date, travel: Travel): Promise<void>
  /** Moves the clock as little as it takes for every event under way to arrive and be handled. */
  deliverAll(): Promise<void>
  /** Whether an event is still under way. */
  isQuiet(): Promise<boolean>
  /** An operation of the application; one that got no answer is repeated, as the guide says. */
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
  'users',
]

export async function createWorld(given: ProviderCase): Promise<World> {
  const created =
    process.env.TEST_DATABASE === 'sqlite' ? await inMemory() : await createTestDatabase()
  let tax = 0
  const test = await startBilling({
    database: created.database,
    taxPercentage: () => tax,
    defaultProvider: given.provider,
    baseUrl: BASE_URL,
    logger: { error: () => undefined },
  })
  onTestFinished(async () => {
    await test.close()
    await created.drop()
  })
  const { sandbox, database, billing } = test
  sandbox.stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Extras' })
  sandbox.braintree.defineAddOn({ id: 'seat', amount: 500 })
  const stripe = await stripeSdk(test)
  const { id: coupon } = await stripe.coupons.create({ percent_off: 20, duration: 'forever' })
  await stripe.promotionCodes.create({ code: 'HELLO', promotion: { type: 'coupon', coupon } })
  await billing.usage.createMeter({ name: 'Calls', eventName: 'calls' })
  const clean = sandbox.snapshot()
  let user = test.user
  let travel: Travel = 'prompt'
  let hasCancelledNow = false
  let used = 0

  async function nextArrival(): Promise<number | null> {
    const sent = sandbox.outbox.deliveries().flatMap(({ dueAt }) => dueAt ?? [])
    const handled = (await billing.webhooks.pending()).map(({ dueAt }) => dueAt.getTime())
    const reported = (await billing.usage.pending()).map(({ dueAt }) => dueAt.getTime())
    const all = [...sent, ...handled, ...reported]
    return all.length === 0 ? null : Math.min(...all)
  }

  return {
    ...test,
    given,
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
    async begin(start, wanted) {
      await test.settle()
      sandbox.restore({ ...clean, now: start.toISOString() })
      for (const table of TABLES) await database.kysely.deleteFrom(table).execute()
      user = await test.createUser()
      travel = wanted
      hasCancelledNow = false
      tax = 0
      used = 0
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
      throw new Error('Events go on and on')
    },
    isQuiet: async () => (await nextArrival()) === null,
    async attempt(operation) {
      for (let attempts = 1; ; attempts++) {
        try {
          return await operation(await billing.user(user.id))
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
