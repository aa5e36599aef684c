import fc from 'fast-check'
import { type BillableUser, money, type ProviderName } from '../../src/index.ts'
import { stripeSdk } from '../support.ts'
import { forge } from './forge.ts'
import type { World } from './world.ts'

export interface Step {
  readonly name: string
  readonly run: (world: World) => Promise<unknown>
}

const main = (user: BillableUser) => user.subscription('main')
const PAGE = { name: 'main', successPath: '/done' }
const DAY = 86_400_000
const PLANS = ['monthly', 'pro', 'quarterly', 'yearly']

/** What the application does for its user. */
const operations: Step[] = [
  ...PLANS.flatMap((plan): Step[] => [
    own(`create ${plan}`, (user, { given }) =>
      user.newSubscription('main', plan).create(given.card),
    ),
    own(`swap ${plan}`, async (user) => (await main(user)).swap(plan)),
  ]),
  own('create with a trial', (user, { given }) =>
    user.newSubscription('main', 'monthly').trialDays(9).create(given.card),
  ),
  own('create with a code', (user, { given }) =>
    user.newSubscription('main', 'pro').withPromotionCode('HELLO').create(given.card),
  ),
  own('create from a day on', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  own('create with a trial before a day', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'quarterly')
      .trialDays(2)
      .anchorOn(new Date(sandbox.clock.nowMs() + 10 * DAY))
      .create(given.card),
  ),
  own('create in the past', (user, { given, sandbox }) =>
    user
      .newSubscription('main', 'monthly')
      .backdate(new Date(sandbox.clock.nowMs() - 40 * DAY))
      .create(given.card),
  ),
  own('create without a card', (user) =>
    user.newSubscription('main', 'monthly').trialDays(9).withoutCard().create(),
  ),
  own('create with a declined card', (user, { given }) =>
    user.newSubscription('main', 'monthly').create(given.declined),
  ),
  own('skip the trial', async (user) => (await main(user)).skipTrial().swap('pro')),
  own('swap without proration', async (user) => (await main(user)).noProrate().swap('pro')),
  own('swap and invoice', async (user) => (await main(user)).swapAndInvoice('pro')),
  own('cancel', async (user) => (await main(user)).cancel()),
  own('cancel now', async (user, world) => {
    world.hasCancelledNow = true
    await (await main(user)).cancelNow()
  }),
  own('resume', async (user) => (await main(user)).resume()),
  own('one more', async (user) => (await main(user)).incrementQuantity()),
  own('cancel at a date', async (user, { sandbox }) =>
    (await main(user)).cancelAt(new Date(sandbox.clock.nowMs() + 50 * DAY)),
  ),
  own('extend the trial', async (user, { sandbox }) =>
    (await main(user)).extendTrial(new Date(sandbox.clock.nowMs() + 5 * DAY)),
  ),
  own('end the trial', async (user) => (await main(user)).endTrial()),
  own('add price', async (user) => (await main(user)).addPrice('seat', 2)),
  own('one more seat', async (user) => (await main(user)).incrementQuantity(1, 'seat')),
  own('remove price', async (user) => (await main(user)).removePrice('seat')),
  own('a code', async (user) => (await main(user)).applyPromotionCode('HELLO')),
  own('no discounts', async (user) => (await main(user)).removeDiscounts()),
  own('another tax', async (user, world) => {
    world.tax = world.tax === 0 ? 19.6 : 0
    await (await main(user)).syncTaxPercentage()
  }),
  own('a credit', (user) => user.giveCredit(700)),
  own('a refund', async (user) => {
    const [invoice] = await user.invoices()
    if (invoice) await user.refund(invoice, { amount: money(100, 'usd') })
  }),
  own('a credit note', async (user) => {
    const [invoice] = await user.invoices()
    await invoice?.creditNote({ amount: money(100, 'usd'), to: 'balance' })
  }),
  own('plan pro', async (user) => (await main(user)).swapAtPeriodEnd('pro')),
  own('plan a year', async (user) => (await main(user)).swapAtPeriodEnd('yearly')),
  own('plan seats', async (user) =>
    (await main(user)).swapAtPeriodEnd([{ price: 'pro' }, { price: 'seat', quantity: 4 }]),
  ),
  own('plan nothing', async (user) => (await main(user)).cancelPlannedSwap()),
  own('pause', async (user) => (await main(user)).pause()),
  own('pause for a while', async (user, { sandbox }) =>
    (await main(user)).pause({ until: new Date(sandbox.clock.nowMs() + 20 * 86_400_000) }),
  ),
  own('unpause', async (user) => (await main(user)).unpause()),
  own('new card', (user, { given }) => user.updateCard(given.otherCard)),
  own('another method', (user, { given }) => user.addPaymentMethod(given.card)),
  own('the oldest method', async (user) => {
    const oldest = (await user.paymentMethods()).at(-1)
    await user.updateDefaultPaymentMethod(oldest?.id ?? 'none')
  }),
  own('no methods', (user) => user.deletePaymentMethods()),
]

/** What befalls the user without the application. */
const fate: Step[] = [
  step('a charge is declined', async (world) => decline(world, 1)),
  step('the card fails', async (world) => decline(world, 5)),
  step('an hour', ({ sandbox }) => sandbox.clock.advance({ hours: 1 })),
  step('a day', ({ sandbox }) => sandbox.clock.advance({ days: 1 })),
  step('a week', ({ sandbox }) => sandbox.clock.advance({ days: 7 })),
  step('a month', ({ sandbox }) => sandbox.clock.advance({ months: 1 })),
  step('a quarter', ({ sandbox }) => sandbox.clock.advance({ months: 3 })),
]

const network: Step[] = [
  step('events twice', async ({ sandbox }) => sandbox.outbox.set({ duplicate: 4 })),
  step('events backwards', async ({ sandbox }) => sandbox.outbox.set({ reorder: true })),
  step('events in order', async ({ sandbox }) => sandbox.outbox.set({ reorder: false })),
  step('events a minute late', async ({ sandbox }) => sandbox.outbox.set({ delaySeconds: 60 })),
  step('events hours late', async ({ sandbox }) => sandbox.outbox.set({ delaySeconds: 10_000 })),
  step('events at once', async ({ sandbox }) => sandbox.outbox.set({ delaySeconds: 0 })),
  step('events damaged', async ({ sandbox }) => sandbox.outbox.set({ corrupt: 2 })),
  step('events forged', forge),
  step('a reply is lost', async ({ sandbox, given }) =>
    sandbox.trouble.failNext(1, 'half-written', given.provider),
  ),
  step('a call is refused', async ({ sandbox, given }) =>
    sandbox.trouble.failNext(1, '500', given.provider),
  ),
]

/** What somebody does in the provider's control panel. Only what the provider tells us about. */
const panel: Record<ProviderName, Step[]> = {
  stripe: [
    atStripe('panel: cancel now', (stripe, id) => stripe.subscriptions.cancel(id)),
    atStripe('panel: cancel', (stripe, id) =>
      stripe.subscriptions.update(id, { cancel_at_period_end: true }),
    ),
    atStripe('panel: take the cancellation back', (stripe, id) =>
      stripe.subscriptions.update(id, { cancel_at_period_end: false }),
    ),
    atStripe('panel: another plan', async (stripe, id) => {
      const { items } = await stripe.subscriptions.retrieve(id)
      const item = items.data[0]?.id ?? ''
      await stripe.subscriptions.update(id, { items: [{ id: item, price: 'pro', quantity: 3 }] })
    }),
    atStripe('panel: another card', async (stripe, _id, customer) => {
      const { id } = await stripe.paymentMethods.attach('pm_card_amex', { customer })
      await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } })
    }),
    own('create with a card that asks', (user) =>
      user.newSubscription('main', 'monthly').create('pm_card_threeDSecureRequired'),
    ),
    step('the customer confirms', confirmPayments),
    own('use', (user, world) => use(user, world, world.used + 1)),
    own('use, and report it twice', async (user, world) => {
      await use(user, world, world.used + 1)
      await use(user, world, world.used)
    }),
    own('report the last one again', (user, world) => use(user, world, Math.max(1, world.used))),
    own('open a checkout', (user) => user.checkout('monthly', PAGE)),
    own('open a checkout for another plan', (user) => user.checkout('pro', PAGE)),
    step('the customer pays there', payOnPage),
  ],
  braintree: [
    step('panel: cancel now', async (world) => {
      const { sandbox } = world
      const { default: braintree } = await import('braintree')
      const gateway = new braintree.BraintreeGateway(sandbox.braintree.config as never)
      const running = sandbox.braintree
        .subscriptions(customerOf(world))
        .find(({ status }) => status === 'Active' || status === 'Past Due')
      if (running) await gateway.subscription.cancel(running.id).catch(() => undefined)
    }),
  ],
}

const losses: Step[] = [
  step('events dropped', async ({ sandbox }) => sandbox.outbox.set({ drop: true })),
  step('events come again', async ({ sandbox }) => sandbox.outbox.set({ drop: false })),
  step('sync', async (world) => {
    await world.deliverAll()
    await world.user.sync()
  }),
]

export function stepsAt(provider: ProviderName): fc.Arbitrary<Step> {
  const oneOf = (steps: readonly Step[]) => fc.constantFrom(...steps)
  return fc.oneof(
    { arbitrary: oneOf(operations), weight: 8 },
    { arbitrary: oneOf(fate), weight: 5 },
    { arbitrary: oneOf(network), weight: 3 },
    { arbitrary: oneOf(panel[provider]), weight: 2 },
    { arbitrary: oneOf(losses), weight: 1 },
  )
}

/** Losing events is for histories that are about that. */
export function isLoss({ name }: Step): boolean {
  return losses.some((loss) => loss.name === name)
}

/** A step that prints as its name in a counterexample. */
function step(name: string, run: Step['run']): Step {
  return Object.assign({ name, run }, { [fc.toStringMethod]: () => name })
}

function own(name: string, run: (user: BillableUser, world: World) => Promise<unknown>): Step {
  return step(name, (world) => world.attempt((user) => run(user, world)))
}

type StripeSdk = Awaited<ReturnType<typeof stripeSdk>>

function atStripe(
  name: string,
  run: (stripe: StripeSdk, subscription: string, customer: string) => Promise<unknown>,
): Step {
  return step(name, async (world) => {
    const customer = customerOf(world)
    const [newest] = world.sandbox.stripe.subscriptions(customer)
    if (!newest) return
    // The panel refuses what makes no sense, such as to change what has ended.
    await run(await stripeSdk(world), newest.id, customer).catch(() => undefined)
  })
}

/** One call, which the application has numbered. */
async function use(user: BillableUser, world: World, number: number): Promise<void> {
  await user.reportUsage('calls', 1, { id: `call-${number}` })
  world.used = Math.max(world.used, number)
}

async function confirmPayments(world: World): Promise<void> {
  const customer = customerOf(world)
  const stripe = await stripeSdk(world)
  const { data } = await stripe.paymentIntents
    .list({ customer, limit: 100 })
    .catch(() => ({ data: [] }))
  for (const { id, status } of data) {
    if (status === 'requires_action') world.sandbox.stripe.completeAuthentication(id)
  }
}

/** On whichever page is open. */
async function payOnPage(world: World): Promise<void> {
  const customer = customerOf(world)
  const { checkout } = await stripeSdk(world)
  const { data } = await checkout.sessions
    .list({ customer, status: 'open' })
    .catch(() => ({ data: [] }))
  for (const { id } of data) {
    try {
      world.sandbox.stripe.completeCheckout(id)
    } catch {
      // The card was declined, or another page was faster. The customer sees that, and nothing came of it.
    }
  }
}

async function decline(world: World, times: number): Promise<void> {
  const { sandbox, given } = world
  const customer = customerOf(world)
  const code = given.provider === 'stripe' ? 'insufficient_funds' : '2001'
  for (let i = 0; i < times && customer; i++) sandbox.trouble.declineNextCharge(customer, code)
}

/** Behind the counter: the one customer of this history. */
function customerOf({ sandbox, given }: World): string {
  const [customer] =
    given.provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
  return customer?.id ?? ''
}
