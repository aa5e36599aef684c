import type { BillableUser, ProviderName } from '../../src/index.ts'
import { stripeSdk } from '../support.ts'
import { forge } from './forge.ts'
import { customerOf, type Step, step, userStep } from './step.ts'
import type { World } from './world.ts'

const PAGE = { name: 'main', successPath: '/done' }

/** Steps of the customer's bank. */
export const bankDisputeSteps: readonly Step[] = [
  step('a dispute', async (world) => dispute(world)),
  step('a dispute is won', async (world) => decide(world, 'won')),
  step('a dispute is lost', async (world) => decide(world, 'lost')),
]

/** Steps that happen to the user without the application: declined charges, disputes, time. */
export const externalSteps: readonly Step[] = [
  step('a charge is declined', async (world) => decline(world, 1)),
  step('the card fails', async (world) => decline(world, 5)),
  ...bankDisputeSteps,
  step('an hour', ({ sandbox }) => sandbox.clock.advance({ hours: 1 })),
  step('a day', ({ sandbox }) => sandbox.clock.advance({ days: 1 })),
  step('a week', ({ sandbox }) => sandbox.clock.advance({ days: 7 })),
  step('a month', ({ sandbox }) => sandbox.clock.advance({ months: 1 })),
  step('a quarter', ({ sandbox }) => sandbox.clock.advance({ months: 3 })),
]

export const networkSteps: readonly Step[] = [
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

const usage: readonly Step[] = [
  userStep('use', (user, world) => reportOneCall(user, world, world.used + 1)),
  userStep('use, and report it twice', async (user, world) => {
    await reportOneCall(user, world, world.used + 1)
    await reportOneCall(user, world, world.used)
  }),
  userStep('report the last one again', (user, world) =>
    reportOneCall(user, world, Math.max(1, world.used)),
  ),
]

/** Changes in the provider's control panel, as far as the provider sends events about them. */
export const controlPanelSteps: Readonly<Record<ProviderName, readonly Step[]>> = {
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
    userStep('create with a card that asks', (user) =>
      user.newSubscription('main', 'monthly').create('pm_card_threeDSecureRequired'),
    ),
    step('the customer confirms', confirmPayments),
    ...usage,
    userStep('the portal: cancel', (user, world) => visit(user, world, { action: 'cancel' })),
    userStep('the portal: renew', (user, world) => visit(user, world, { action: 'renew' })),
    userStep('the portal: another card', (user, world) =>
      visit(user, world, { action: 'add-card', card: 'pm_card_mastercard' }),
    ),
    userStep('open a checkout', (user) => user.checkout('monthly', PAGE)),
    userStep('open a checkout for another plan', (user) => user.checkout('pro', PAGE)),
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
    ...usage,
  ],
}

export const lossySteps: readonly Step[] = [
  step('events dropped', async ({ sandbox }) => sandbox.outbox.set({ drop: true })),
  step('events come again', async ({ sandbox }) => sandbox.outbox.set({ drop: false })),
  step('sync', async (world) => {
    await world.deliverAll()
    await world.user.sync()
  }),
]

type StripeSdk = Awaited<ReturnType<typeof stripeSdk>>

function atStripe(
  name: string,
  run: (stripe: StripeSdk, subscription: string, customer: string) => Promise<unknown>,
): Step {
  return step(name, async (world) => {
    const customer = customerOf(world)
    const [newest] = world.sandbox.stripe.subscriptions(customer)
    if (!newest) return
    // The control panel rejects impossible changes, such as changing an ended subscription.
    await run(await stripeSdk(world), newest.id, customer).catch(() => undefined)
  })
}

/** Reports the usage of one call, under the number that the application gave to the call. */
async function reportOneCall(user: BillableUser, world: World, number: number): Promise<void> {
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

/** Pays on whichever hosted page is open. */
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

/** Uses the customer portal in a browser. */
async function visit(
  user: BillableUser,
  { sandbox }: World,
  form: Record<string, string>,
): Promise<void> {
  const { url } = await user.billingPortal({ returnPath: '/account' })
  const [newest] = sandbox.stripe.subscriptions(user.providerId ?? '')
  const token = new URL(url).searchParams.get('token') ?? ''
  const body = new URLSearchParams({ token, subscription: newest?.id ?? '', ...form })
  await (await fetch(url, { method: 'POST', body, redirect: 'manual' })).text()
}

/** Disputes the newest payment. */
function dispute(world: World): void {
  const { stripe, braintree } = world.sandbox
  const customer = customerOf(world)
  if (world.given.provider === 'stripe') {
    const charge = stripe
      .charges(customer)
      .find(({ status, disputed, refunded }) => status === 'succeeded' && !disputed && !refunded)
    if (charge) stripe.disputeCharge(String(charge.id))
    return
  }
  const sale = braintree
    .transactions(customer)
    .filter(({ id, type }) => type === 'sale' && !world.disputes.has(id))
    .findLast(({ status }) => status === 'settled')
  if (!sale) return
  braintree.notify('dispute_opened', sale.id)
  world.disputes.set(sale.id, 'open')
}

function decide({ disputes, given, sandbox }: World, outcome: 'won' | 'lost'): void {
  if (given.provider === 'stripe') {
    const open = sandbox.stripe.disputes().find((each) => statusOf(each) === 'open')
    if (open) sandbox.stripe.decideDispute(String(open.id), outcome)
    return
  }
  const [id] = [...disputes].find(([, status]) => status === 'open') ?? []
  if (!id) return
  disputes.set(id, outcome)
  sandbox.braintree.notify(`dispute_${outcome}`, id)
}

/**
 * Lists the expected states of the disputes. At Stripe, an unanswered dispute is lost in the end.
 */
export function disputesOf({ given, disputes, sandbox }: World): string[] {
  return given.provider === 'stripe'
    ? sandbox.stripe.disputes().map(statusOf)
    : [...disputes.values()]
}

function statusOf({ status }: ReturnType<World['sandbox']['stripe']['disputes']>[number]): string {
  return status === 'won' || status === 'lost' ? status : 'open'
}
