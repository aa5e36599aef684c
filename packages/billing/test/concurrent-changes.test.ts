import { connect } from '@tollgate/database'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type BillableUser,
  isBillingError,
  type ProviderName,
  type Subscription,
} from '../src/index.ts'
import { readSandboxState, readTableState } from './provider-truth.ts'
import {
  createCallPrice,
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  stripeSdk,
  sumChargedCents,
  sumRefundedCents,
} from './support.ts'

/**
 * One of two browser tabs or processes: its own connection, and objects read before the other one
 * acts.
 */
interface Tab {
  readonly test: FlowTest
  readonly given: ProviderCase
  readonly user: BillableUser
  readonly main: Subscription
  /** Id of a metered price at Stripe, or name of a meter at Braintree. */
  readonly calls: string
}

type Act = (tab: Tab) => Promise<unknown>

interface Pair {
  readonly a: Act
  readonly b: Act
  readonly only?: ProviderName
  /** Runs before both actions. */
  readonly before?: Act
  /** Whether the renewal is declined before both actions. */
  readonly isLate?: boolean
}

const swap =
  (plan: string): Act =>
  ({ main }) =>
    main.swap(plan)
const cancel: Act = ({ main }) => main.cancel()
const payNow: Act = ({ main }) => main.payNow()
const report: Act = ({ main, test, given, calls }) =>
  main.reportUsage({
    ...(given.provider === 'stripe' ? { price: calls } : { meter: 'calls' }),
    value: 100,
    id: `calls-${main.providerId}`,
    at: test.sandbox.clock.now(),
  })
const refundAll: Act = async ({ user }) => {
  const [invoice] = await user.invoices()
  await invoice?.refund()
}
const refundPart: Act = async ({ user, given }) => {
  const [invoice] = await user.invoices()
  await invoice?.refund({ amount: given.ten * 0.7 })
}

const PAIRS = {
  'swap ‖ swap, to the same': { a: swap('pro'), b: swap('pro') },
  'swap ‖ swap, to others': { a: swap('pro'), b: swap('yearly') },
  'swap ‖ swap, back': { a: swap('yearly'), b: swap('monthly') },
  'swap ‖ swap, at once': { a: ({ main }) => main.swapAndInvoice('pro'), b: swap('quarterly') },
  'swap ‖ cancel': { a: swap('pro'), b: cancel },
  'swap to another rhythm ‖ cancel': { a: swap('yearly'), b: cancel },
  'swap ‖ cancelNow': { a: swap('yearly'), b: ({ main }) => main.cancelNow() },
  'cancel ‖ resume': { a: cancel, b: ({ main }) => main.resume() },
  'resume ‖ cancel, cancelled before': {
    before: cancel,
    a: ({ main }) => main.resume(),
    b: cancel,
  },
  'resume ‖ swap, cancelled before': {
    before: cancel,
    a: ({ main }) => main.resume(),
    b: swap('pro'),
  },
  'payNow ‖ payNow': { isLate: true, a: payNow, b: payNow },
  'payNow ‖ cancelNow': { isLate: true, a: payNow, b: ({ main }) => main.cancelNow() },
  'payNow ‖ paid at the provider': {
    only: 'stripe',
    isLate: true,
    a: payNow,
    async b({ test, user }) {
      const stripe = await stripeSdk(test)
      const customer = user.providerId ?? ''
      const { data } = await stripe.invoices.list({ customer, status: 'open' })
      for (const { id } of data) await stripe.invoices.pay(id)
    },
  },
  'addPrice ‖ removePrice': {
    before: ({ main }) => main.addPrice('seat', 2),
    a: ({ main }) => main.addPrice('support'),
    b: ({ main }) => main.removePrice('seat'),
  },
  'addPrice ‖ removePrice, the same': {
    a: ({ main }) => main.addPrice('seat', 2),
    b: ({ main }) => main.removePrice('seat'),
  },
  'addPrice ‖ swap': { a: ({ main }) => main.addPrice('seat', 2), b: swap('pro') },
  'increment ‖ increment': {
    before: ({ main }) => main.addPrice('seat', 2),
    a: ({ main }) => main.incrementQuantity(1, 'seat'),
    b: ({ main }) => main.incrementQuantity(2, 'seat'),
  },
  'pause ‖ swap': { only: 'stripe', a: ({ main }) => main.pause(), b: swap('pro') },
  'pause ‖ swap to another rhythm': {
    only: 'stripe',
    a: ({ main }) => main.pause(),
    b: swap('yearly'),
  },
  'coupon ‖ swap': {
    only: 'stripe',
    a: ({ main }) => main.applyCoupon('SPRING'),
    b: swap('pro'),
  },
  'coupon ‖ swap to another rhythm': {
    only: 'stripe',
    a: ({ main }) => main.applyCoupon('SPRING'),
    b: swap('yearly'),
  },
  'planned swap ‖ swap': {
    only: 'stripe',
    a: ({ main }) => main.swapAtPeriodEnd('pro'),
    b: swap('quarterly'),
  },
  'refund ‖ refund, all of it': { a: refundAll, b: refundAll },
  'refund ‖ refund, more than there is together': { a: refundPart, b: refundPart },
  'reportUsage ‖ cancelNow': { a: report, b: ({ main }) => main.cancelNow() },
} satisfies Readonly<Record<string, Pair>>

/**
 * The pairs that are tested on every database: they take the lock and write every kind of row. The
 * others differ only in what happens at the provider.
 */
const EVERYWHERE: readonly (keyof typeof PAIRS)[] = [
  'swap ‖ swap, to others',
  'payNow ‖ cancelNow',
  'increment ‖ increment',
  'refund ‖ refund, more than there is together',
  'reportUsage ‖ cancelNow',
]

const isTried = (name: string): boolean =>
  process.env.TEST_DATABASE === 'sqlite' || EVERYWHERE.some((each) => each === name)

const ROWS = PROVIDERS.flatMap((given) =>
  Object.entries<Pair>(PAIRS)
    .filter(([name, { only }]) => isTried(name) && (only ?? given.provider) === given.provider)
    .map(([name, pair]) => ({ name, pair, given, provider: given.provider })),
)

async function started(given: ProviderCase) {
  const test = await start(given.provider, { coupon: true, metered: { calls: { unitAmount: 5 } } })
  for (const id of ['seat', 'support']) {
    if (given.provider === 'stripe') {
      test.sandbox.stripe.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
    } else test.sandbox.braintree.defineAddOn({ id, amount: 500 })
  }
  const database = await connect(test.url, { timeout: 10_000 })
  onTestFinished(() => database.close())
  const calls = given.provider === 'stripe' ? await createCallPrice(test) : 'calls'
  return { test, calls, other: test.another({ database }) }
}

/**
 * Summarizes the final state without ids: the result of both calls, the subscriptions, and all
 * payments.
 */
async function summarize({ test, given }: Pick<Tab, 'test' | 'given'>, user: BillableUser) {
  const now = await test.billing.user(user.id)
  const customer = now.providerId ?? ''
  const truth = readSandboxState(test.sandbox, given.provider, customer)
  expect(await readTableState(test.database, user.id)).toEqual(truth)
  const subscriptions = truth.subscriptions.map(({ id: _id, ...each }) => JSON.stringify(each))
  return {
    subscriptions: subscriptions.sort(),
    taken: sumChargedCents(test, now),
    back: sumRefundedCents(test, now),
    balance: given.provider === 'stripe' ? (await now.balance()).amount : 0,
  }
}

type Summary = Awaited<ReturnType<typeof summarize>>

const heard = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error: unknown) => (isBillingError(error) ? error.code : String(error)),
  )

describe.each(ROWS)('two concurrent calls at $provider, $name,', ({ pair, given }) => {
  it('have exactly the same result as if they were made one after the other, in one of the two orders', async () => {
    const { test, other, calls } = await started(given)
    const lives: Array<{ user: BillableUser; a: Tab; b: Tab }> = []
    for (let at = 0; at < 4; at++) {
      const user = await test.createUser()
      const first = user.newSubscription('main', 'monthly')
      const usesStripe = given.provider === 'stripe'
      await (usesStripe && pair.a === report ? first.meteredPrice(calls) : first).create(given.card)
      lives.push({ user } as never)
    }
    if (pair.isLate) {
      const code = given.provider === 'stripe' ? 'insufficient_funds' : '2001'
      for (const { user } of lives) {
        const { providerId } = await test.billing.user(user.id)
        test.sandbox.trouble.declineNextCharge(providerId ?? '', code)
      }
      await test.advance({ months: 1, hours: 2 })
    } else await test.advance({ days: 10 })
    for (const life of lives) {
      const of = async (user: BillableUser): Promise<Tab> => ({
        ...{ test, given, user, calls },
        main: await user.subscription('main'),
      })
      const { id } = life.user
      await pair.before?.(await of(await test.billing.user(id)))
      life.a = await of(await test.billing.user(id))
      life.b = await of(await other.user(id))
    }
    const results: string[][] = []
    for (const [at, { a, b }] of lives.entries()) {
      const both = {
        a: () => heard(pair.a(a)),
        b: () => heard(pair.b(b)),
      }
      if (at === 0) results.push([await both.a(), await both.b()])
      else if (at === 1) {
        const second = await both.b()
        results.push([await both.a(), second])
      } else if (at === 2) results.push(await Promise.all([both.a(), both.b()]))
      else results.push((await Promise.all([both.b(), both.a()])).reverse())
    }
    await test.settle()
    const now: Summary[] = []
    for (const { user } of lives) now.push(await summarize({ test, given }, user))
    await test.advance({ months: 1, hours: 2 })
    await test.settle()
    const later: Summary[] = []
    for (const { user } of lives) later.push(await summarize({ test, given }, user))
    const ends = lives.map((_life, at) => ({ heard: results[at], now: now[at], later: later[at] }))
    const [ab, ba, ...together] = ends
    for (const end of together) expect([ab, ba]).toContainEqual(end)
  })
})
