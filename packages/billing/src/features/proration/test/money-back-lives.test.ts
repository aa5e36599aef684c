import fc from 'fast-check'
import type Stripe from 'stripe'
import { describe, expect, it } from 'vitest'
import {
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  stripeSdk,
} from '../../../../test/support.ts'
import { type BillableUser, BillingError, money, type Subscription } from '../../../index.ts'

/** Number of runs. `npm run histories` sets it to thousands. */
const RUNS = Math.ceil(Number(process.env.HISTORIES ?? 120) / 4)
const SEED = Number(process.env.HISTORIES_SEED ?? Math.floor(Math.random() * 2 ** 31))

interface World {
  readonly test: FlowTest
  readonly given: ProviderCase
  readonly user: BillableUser
}

interface Step {
  readonly name: string
  /**
   * Whether the application makes the change; otherwise the bank, the dashboard or the clock does.
   */
  readonly isOurs: boolean
  readonly run: (world: World) => Promise<unknown>
}

const step = (name: string, isOurs: boolean, run: Step['run']): Step =>
  Object.assign({ name, isOurs, run }, { [fc.toStringMethod]: () => name })
const ofMain = (name: string, run: (it: Subscription, world: World) => Promise<unknown>) =>
  step(name, true, async (world) => run(await world.user.subscription('main'), world))

/** Price per period of each plan, and per seat. */
const PRICES = { monthly: 1000, pro: 2500, quarterly: 2700, yearly: 10_000, seat: 700 } as const

const invoiceAt = (from: 'newest' | 'oldest') => async (user: BillableUser) => {
  const paid = (await user.invoicesIncludingPending()).filter(({ data }) => data.amountDue > 0)
  return paid.at(from === 'newest' ? 0 : -1)
}

const refunds = (['newest', 'oldest'] as const).flatMap((which) => [
  step(`refund a third of the ${which}`, true, async ({ user }) => {
    const invoice = await invoiceAt(which)(user)
    const part = Math.ceil((invoice?.data.amountDue ?? 0) / 3)
    await invoice?.refund({ amount: money(part, 'usd') })
  }),
  step(`refund the ${which}`, true, async ({ user }) => (await invoiceAt(which)(user))?.refund()),
])

const everywhere: readonly Step[] = [
  ...refunds,
  ...(['monthly', 'pro', 'quarterly', 'yearly'] as const).flatMap((plan) => [
    ofMain(`swap to ${plan}`, (it) => it.swap(plan)),
    ofMain(`swap to ${plan}, billed at once`, (it) => it.swapAndInvoice(plan)),
  ]),
  ofMain('add a seat', (it) => it.addPrice('seat')),
  ofMain('remove the seat', (it) => it.removePrice('seat')),
  ofMain('three seats', (it) => it.updateQuantity(3, 'seat')),
  ofMain('cancel', (it) => it.cancel()),
  ofMain('resume', (it) => it.resume()),
  step('subscribe again', true, ({ user, given }) =>
    user.newSubscription('main', 'monthly').create(given.provider === 'stripe' ? given.card : ''),
  ),
]

const days = [1, 9, 31, 80].map((count) =>
  step(`${count} days`, false, async ({ test }) => {
    await test.sandbox.clock.advance({ days: count, hours: 2 })
    await test.user.sync()
  }),
)

const atStripe: readonly Step[] = [
  ofMain('three of the plan', (it) => it.updateQuantity(3)),
  ofMain('one of the plan, billed at once', (it) => it.updateQuantityAndInvoice(1)),
  ofMain('end in a week', (it, { test }) => it.cancelAt(inDays(test, 7))),
  ofMain('end in two months', (it, { test }) => it.cancelAt(inDays(test, 60))),
  step('a credit note to the balance', true, async ({ user }) => {
    const invoice = await invoiceAt('newest')(user)
    await invoice?.creditNote({ to: 'balance', amount: money(400, 'usd') })
  }),
  step('a credit note of all', true, async ({ user }) =>
    (await invoiceAt('newest')(user))?.creditNote({ to: 'refund' }),
  ),
  step('a refund fails', false, async ({ test }) => {
    const { refunds } = await stripeSdk(test)
    const found = (await refunds.list()).data.find(({ status }) => status === 'succeeded')
    if (found) test.sandbox.stripe.failRefund(found.id)
  }),
]

const bank: readonly Step[] = (['open', 'won', 'lost'] as const).map((outcome) =>
  step(`a dispute is ${outcome}`, false, async (world) => disputeNewest(world, outcome)),
)

async function disputeNewest({ test, user }: World, outcome: 'open' | 'won' | 'lost') {
  const { stripe, braintree } = test.sandbox
  const customer = user.providerId ?? ''
  if (user.provider === 'braintree') {
    const { id } = braintree.transactions(customer).findLast(({ type }) => type === 'sale') ?? {}
    braintree.notify(`dispute_${outcome === 'open' ? 'opened' : outcome}` as never, id ?? '')
    return
  }
  const open = stripe.disputes().find(({ status }) => status === 'needs_response')
  if (outcome !== 'open' && open) stripe.decideDispute(String(open.id), outcome)
  const [charge] = stripe
    .charges(customer)
    .filter(({ disputed, refunded }) => !disputed && !refunded)
  if (outcome === 'open' && charge) stripe.disputeCharge(String(charge.id))
}

const inDays = ({ sandbox }: FlowTest, count: number) =>
  new Date(sandbox.clock.nowMs() + count * 86_400_000)

function arbitrarySteps(provider: 'stripe' | 'braintree'): fc.Arbitrary<Step[]> {
  const own = provider === 'stripe' ? [...everywhere, ...atStripe] : everywhere
  const any = fc.oneof(
    { arbitrary: fc.constantFrom(...own), weight: 6 },
    { arbitrary: fc.constantFrom(...days), weight: 4 },
    { arbitrary: fc.constantFrom(...bank), weight: 1 },
  )
  return fc.array(any, { minLength: 2, maxLength: 12 })
}

const sum = (all: readonly number[]) => all.reduce((total, each) => total + each, 0)

interface Books {
  readonly taken: number
  /** Amount that the customer has paid, and that was returned neither as money nor as credit. */
  readonly kept: number
  /** The customer's credit. Negative for a debt. */
  readonly credit: number
  /** Pending charges of the next invoice. Removing them returns no money. */
  readonly waiting: number
}

/** Reads the provider's own records. */
async function readBooks(world: World): Promise<Books> {
  return world.user.provider === 'stripe' ? stripeBooks(world) : braintreeBooks(world)
}

async function stripeBooks({ test, user }: World): Promise<Books> {
  const stripe = await stripeSdk(test)
  const customer = user.providerId ?? ''
  const lists = { limit: 100 }
  const charges = (await stripe.charges.list({ customer, ...lists })).data
  const refunds = (await stripe.refunds.list(lists)).data.filter((each) => each.status !== 'failed')
  const disputes = (await stripe.disputes.list(lists)).data
  const lost = disputes.filter(({ status }) => status === 'needs_response' || status === 'lost')
  const waiting = (await stripe.invoiceItems.list({ customer, pending: true, ...lists })).data
  const drafts = (await stripe.invoices.list({ customer, status: 'draft', ...lists })).data
  const taken = sum(charges.filter(({ paid }) => paid).map(({ amount }) => amount))
  // A draft counts only if it gives credit: its charges are for future time.
  const owed =
    sum(waiting.map(({ amount }) => amount)) + sum(drafts.map(({ total }) => Math.min(0, total)))
  const credit = (await user.balance()).amount - owed
  const back = sum(refunds.map(({ amount }) => amount)) + sum(lost.map(({ amount }) => amount))
  return { taken, kept: taken - back - credit, credit, waiting: sumOfCharges(waiting) }
}

/** Adds up pending charges, less pending credit for the same price. */
function sumOfCharges(waiting: readonly Stripe.InvoiceItem[]): number {
  const nets = new Map<string, number>()
  for (const { amount, pricing } of waiting) {
    const price = String(pricing?.price_details?.price)
    nets.set(price, (nets.get(price) ?? 0) + amount)
  }
  return sum([...nets.values()].map((net) => Math.max(0, net)))
}

function braintreeBooks({ test, user }: World): Books {
  const { braintree } = test.sandbox
  const customer = user.providerId ?? ''
  const all = braintree.transactions(customer)
  const failed = ['processor_declined', 'gateway_rejected', 'failed', 'settlement_declined']
  const sales = all.filter(({ type, status }) => type === 'sale' && !failed.includes(status))
  const credits = all.filter(({ type, status }) => type === 'credit' && !failed.includes(status))
  const lost = sales.filter(({ dispute }) => dispute && dispute.status !== 'won')
  const taken = sum(sales.map(({ amount }) => amount))
  const voided = sales.filter(({ status }) => status === 'voided')
  const back = [...credits, ...voided, ...lost.filter(({ status }) => status !== 'voided')]
  const live = braintree.subscriptions(customer).filter(({ status }) => status === 'Active')
  const credit = sum(live.map(({ balance }) => -balance))
  const kept = taken - sum(back.map(({ amount }) => amount)) - credit
  return { taken, kept, credit, waiting: 0 }
}

/** Returns the most that a change may charge: a full period of all prices. */
async function computeFullPrice(user: BillableUser): Promise<number> {
  const it = await user.subscription('main')
  const price = PRICES[it.providerPlan as keyof typeof PRICES]
  const seats = it.items().find((item) => item.price === 'seat')?.quantity ?? 0
  return price * (it.quantity ?? 1) + seats * PRICES.seat
}

async function runSteps(world: World, steps: readonly Step[]): Promise<void> {
  const names: string[] = []
  for (const each of steps) {
    const before = await readBooks(world)
    names.push(each.name)
    const at = names.join(', ')
    const isDone = await each.run(world).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof BillingError)) throw new Error(at, { cause: error })
        return false
      },
    )
    const after = await readBooks(world)
    if (!each.isOurs) continue
    // A refused change has no effect.
    if (!isDone) expect(after, at).toEqual(before)
    const isChange = /swap|seat|of the plan|end in/.test(each.name)
    // A charge may be refunded that was paid after the bank took back others.
    const isChecked = isChange || before.kept >= 0
    const isGivenBack = before.kept - after.kept > before.waiting
    if (isChecked && isGivenBack) expect(after.kept, at).toBeGreaterThanOrEqual(0)
    if (isDone && isChange && before.credit >= 0) {
      const price = await computeFullPrice(world.user)
      expect(after.taken - before.taken, at).toBeLessThanOrEqual(price)
    }
  }
}

describe.each(PROVIDERS)('any sequence of events at $provider', (given) => {
  it('never returns more money than was paid, and never charges more than the new price (threat Q1)', {
    timeout: 60_000 + RUNS * 20_000,
  }, async () => {
    const property = fc.asyncProperty(arbitrarySteps(given.provider), async (steps) => {
      const test = await start(given.provider, { webhooks: false })
      const { sandbox, user } = test
      sandbox.stripe.seedPrice({
        id: 'seat',
        unitAmount: 700,
        interval: 'month',
        product: 'Extras',
      })
      sandbox.braintree.defineAddOn({ id: 'seat', amount: 700 })
      await user.newSubscription('main', 'yearly').create(given.card)
      await runSteps({ test, given, user }, steps)
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED })
  })
})
