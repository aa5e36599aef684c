import { describe, expect, it } from 'vitest'
import type { BillableUser, ProviderName } from '../src/index.ts'
import { CHILD_SECRET } from './child-process.ts'
import { expectPoints, LEASE, LONG, prepare, tryEveryPoint, WRITE } from './killed/every-point.ts'
import { STORIES } from './killed/stories/all.ts'
import { type Asking, main, type Outcome, type Story, subscribe } from './killed/story.ts'
import { endedByUs, rowsOf, truthAt } from './provider-truth.ts'
import { deliver, endAtProvider } from './signed-event.ts'
import { type FlowTest, PROVIDERS, start, takenFrom } from './support.ts'

const HANDLING = 'handling an event'

/**
 * The stories differ in what the provider is asked. Databases other than SQLite are tried with these alone, because
 * they write whatever `create`, a swap to another frequency and an event write at either provider; the last test
 * of this file compares that on SQLite.
 */
const ENOUGH: Record<ProviderName, readonly string[]> = {
  stripe: ['create', HANDLING],
  braintree: ['swap to another frequency'],
}
const COMPARED = [...ENOUGH.stripe, ...ENOUGH.braintree]
const onSqlite = process.env.TEST_DATABASE === 'sqlite'
const isTried = (provider: ProviderName, story: string) =>
  onSqlite || ENOUGH[provider].includes(story)
const hasStory = (provider: ProviderName, { name, providers }: Story) =>
  isTried(provider, name) && providers?.includes(provider) !== false

/** What was written, as far as the points of the compared stories tell. */
const written = { enough: new Set<string>(), spared: new Set<string>() }

function note(provider: ProviderName, story: string, points: readonly string[]): void {
  if (!COMPARED.includes(story)) return
  const seen = ENOUGH[provider].includes(story) ? written.enough : written.spared
  for (const point of points) if (WRITE.test(point)) seen.add(point)
}

describe.each(PROVIDERS)('a process killed at $provider', (given) => {
  const { provider } = given

  it.each(STORIES.filter((story) => hasStory(provider, story)))(
    'threat W5 at any step of $name charges once and loses nothing',
    LONG,
    async (story) => {
      const test = await start(provider, { webhooks: false, lockLease: LEASE })
      const points = await tryEveryPoint(test, given, { atOnce: 4 }, async (child, stopAt) => {
        const asking = await prepare(test, given)
        await story.before(asking)
        const { user, card } = asking
        const job = typeof story.job === 'function' ? story.job(asking) : story.job
        child.begin({ userId: user.id, card, ...job, stopAt })
        const outcome = await child.outcome()
        await child.kill()
        expect(outcome.failed).toBeUndefined()

        const again = { ...asking, user: await test.billing.user(user.id) }
        await story.again(again)
        await expectOutcome(again, story, outcome.stopped ?? 'at the end')
        return outcome
      })
      note(provider, story.name, points)
      expectPoints(points, story.writes === false ? ['calls'] : ['calls', 'writes'])
    },
  )

  const handling = it.runIf(isTried(provider, HANDLING))
  handling('threat W2 at any step of handling an event handles it later', LONG, async () => {
    const test = await start(provider, { webhooks: false, lockLease: LEASE })
    const { sandbox } = test
    const survivor = test.another({
      stripe: {
        secret: sandbox.stripe.apiKey,
        webhookSecret: CHILD_SECRET,
        config: sandbox.stripe.config,
      },
    })
    const toCheck: { user: BillableUser; at: string }[] = []
    // One by one: processes take each other's events out of the inbox.
    const points = await tryEveryPoint(test, given, { atOnce: 1 }, async (child, stopAt) => {
      const asking = await prepare(test, given)
      const { user } = asking
      const { providerId } = await subscribe(asking)
      const event = await endAtProvider(test, provider, providerId, CHILD_SECRET)
      child.begin({ job: 'receive', ...event, stopAt })
      const outcome = await child.outcome()
      const isAcknowledged = child.reports.some(({ answered }) => answered === 200)
      await child.kill()
      expect(outcome.failed).toBeUndefined()
      // The provider sends what was not acknowledged again, and only that.
      if (!isAcknowledged) expect(await deliver(survivor, event)).toBe(200)
      await survivor.webhooks.process()
      toCheck.push({ user, at: outcome.stopped ?? 'at the end' })
      return outcome
    })
    note(provider, HANDLING, points)
    expectPoints(points, ['writes'])
    // What a dead process had begun is taken up by another after a while.
    await sandbox.clock.advance({ minutes: 11 })
    await survivor.webhooks.process()
    expect(await survivor.webhooks.pending()).toEqual([])
    expect(await survivor.webhooks.deadLetters()).toEqual([])
    for (const { user, at } of toCheck) {
      expect(await user.subscribed('main'), at).toBe(false)
      await expectTruth(test, user, at)
    }
  })
})

it.runIf(onSqlite)('other databases are spared no write', () => {
  expect([...written.spared].filter((point) => !written.enough.has(point))).toEqual([])
})

async function expectOutcome(asking: Asking, { outcome }: Story, at: string): Promise<void> {
  if (typeof outcome !== 'function') return expectSubscription(asking, outcome, at)
  await expectTruth(asking.test, asking.user, at)
  await outcome(asking, at)
}

async function expectSubscription(
  asking: Asking,
  { taken, made, plan, state }: Outcome,
  at: string,
): Promise<void> {
  const { test, user } = asking
  const found = await main(asking)
  expect([found.providerPlan, found.valid(), found.cancelled()], at).toEqual([
    plan,
    state !== 'ended',
    state !== 'running',
  ])
  expect(takenFrom(test, user), at).toBe(taken)
  const truth = await expectTruth(test, user, at)
  expect(truth.subscriptions.length, at).toBe(made[user.provider])
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  const live = truth.subscriptions.filter(({ status }) => !over.includes(status))
  expect(
    live.map(({ id }) => id),
    at,
  ).toEqual(found.providerStatus === 'Canceled' || state === 'ended' ? [] : [found.providerId])
}

/** One customer, rows equal to the provider's objects, and nothing left half done. */
async function expectTruth(test: FlowTest, user: BillableUser, at: string) {
  const { sandbox, database } = test
  const { email } = user.attributes as { email: string }
  const emails =
    user.provider === 'stripe'
      ? sandbox.stripe.customers().map((customer) => customer.email)
      : sandbox.braintree.customers().map((customer) => customer.email)
  expect(
    emails.filter((each) => each === email),
    at,
  ).toHaveLength(1)
  const rows = await rowsOf(database, user.id)
  const atProvider = truthAt(sandbox, user.provider, user.providerId ?? '')
  const when = { now: sandbox.clock.now(), hasCancelledNow: false }
  const truth = endedByUs(atProvider, rows, when)
  expect(rows, at).toEqual(truth)
  const open = await database.kysely
    .selectFrom('billing_operations')
    .selectAll()
    .where('user_id', '=', user.id)
    .execute()
  expect(open, at).toEqual([])
  return truth
}
