import { describe, expect, it } from 'vitest'
import type { BillableUser, Billing, ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'
import { startKillable } from './killable.ts'
import { PROVIDERS, start, stripeSdk, takenFrom } from './support.ts'

/** What an application does, and does again when it got no answer. */
interface Story {
  readonly name: string
  readonly before: (user: BillableUser, card: string) => Promise<unknown>
  readonly act: (user: BillableUser, card: string) => Promise<unknown>
  /** Cents taken from the card in the end. */
  readonly taken: number
  readonly plan: string
  readonly cancelled: boolean
}

const subscribe = (user: BillableUser, card: string) =>
  user.newSubscription('main', 'monthly').create(card)
const main = (user: BillableUser) => user.subscription('main')

const stories: Story[] = [
  {
    name: 'create',
    before: async () => undefined,
    act: subscribe,
    taken: 1000,
    plan: 'monthly',
    cancelled: false,
  },
  {
    name: 'swap to another frequency',
    before: subscribe,
    act: async (user) => (await main(user)).swap('yearly'),
    taken: 10_000,
    plan: 'yearly',
    cancelled: false,
  },
  {
    name: 'cancel',
    before: subscribe,
    act: async (user) => (await main(user)).cancel(),
    taken: 1000,
    plan: 'monthly',
    cancelled: true,
  },
]

describe.each(PROVIDERS)('a process killed at $provider', ({ provider, card }) => {
  it.each(stories)('at any step of $name charges once and loses nothing', async (story) => {
    const test = await start(provider, { webhooks: false })
    const killable = await startKillable(test, test.url)
    let step = 0
    do {
      step += 1
      const user = await test.createUser()
      await story.before(user, card)
      const doomed = await killable.billing.user(user.id)
      killable.dieAt(step)
      await story.act(doomed, card).catch(() => undefined)
      const { died } = killable
      killable.dieAt(Number.POSITIVE_INFINITY)
      await test.expireLocks()

      const again = await test.billing.user(user.id)
      await story.act(again, card)
      await expectOutcome(test, again, story, `${story.name}, step ${step}`)
      if (!died) break
    } while (step < 200)
    expect(step).toBeGreaterThan(5)
  })

  it('at any step of handling an event handles it later', async () => {
    const test = await start(provider, { webhooks: false })
    const killable = await startKillable(test, test.url)
    let step = 0
    do {
      step += 1
      const user = await test.createUser()
      const { providerId } = await subscribe(user, card)
      const event = await endAtProvider(test, provider, providerId)
      killable.dieAt(step)
      const answer = await deliver(killable.billing, event).catch(() => null)
      await killable.billing.webhooks.process().catch(() => undefined)
      const { died } = killable
      killable.dieAt(Number.POSITIVE_INFINITY)
      await killable.billing.webhooks.process().catch(() => undefined)
      await test.expireLocks()

      // No 2xx: the provider sends it again.
      if (answer?.status !== 200) await deliver(killable.billing, event)
      await killable.billing.webhooks.process()
      await test.sandbox.clock.advance({ minutes: 11 })
      await test.billing.webhooks.process()
      expect(await test.billing.webhooks.pending()).toEqual([])
      expect(await user.subscribed('main'), `step ${step}`).toBe(false)
      if (!died) break
    } while (step < 100)
    expect(step).toBeGreaterThan(3)
  })
})

async function expectOutcome(
  test: BillingTest,
  user: BillableUser,
  { taken, plan, cancelled }: Story,
  at: string,
): Promise<void> {
  const running = await user.subscription('main')
  expect(running.providerPlan, at).toBe(plan)
  expect(running.valid(), at).toBe(true)
  expect(running.cancelled(), at).toBe(cancelled)
  expect(takenFrom(test, user), at).toBe(taken)
  expect(liveAt(test, user), at).toEqual([running.providerId])
  const report = await user.sync({ dryRun: true })
  expect(report.drift, at).toEqual([])
}

function liveAt({ sandbox }: BillingTest, user: BillableUser): string[] {
  const id = user.providerId ?? ''
  const all =
    user.provider === 'stripe'
      ? sandbox.stripe.subscriptions(id)
      : sandbox.braintree.subscriptions(id)
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  return all.filter(({ status }) => !over.includes(String(status))).map((each) => String(each.id))
}

interface SignedEvent {
  readonly path: string
  readonly body: string
  readonly headers: Record<string, string>
}

/** Ends it in the provider's control panel, and gives the event about it. */
async function endAtProvider(
  test: BillingTest,
  provider: ProviderName,
  id: string,
): Promise<SignedEvent> {
  if (provider === 'stripe') {
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.cancel(id)
    const event = test.sandbox.stripe.events('customer.subscription.deleted').at(-1)
    const body = JSON.stringify(event)
    const signature = stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret: 'whsec_killable',
      timestamp: Math.floor(test.sandbox.clock.nowMs() / 1000),
    })
    return { path: '/stripe/webhook', body, headers: { 'stripe-signature': signature } }
  }
  const { default: braintree } = await import('braintree')
  const gateway = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  await gateway.subscription.cancel(id)
  const sample = await gateway.webhookTesting.sampleNotification('subscription_canceled', id)
  const body = new URLSearchParams({ ...sample }).toString()
  return { path: '/braintree/webhook', body, headers: {} }
}

function deliver(billing: Billing, { path, body, headers }: SignedEvent): Promise<Response> {
  return billing.fetch(
    new Request(`https://app.example.com${path}`, { method: 'POST', body, headers }),
  )
}
