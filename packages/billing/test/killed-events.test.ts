import { describe, expect, it } from 'vitest'
import type { BillableUser, BillingOptions } from '../src/index.ts'
import { CHILD_SECRET, type ChildOptions } from './child-process.ts'
import {
  isCall,
  LOCK_LEASE_SECONDS,
  LONG_TEST_TIMEOUT,
  runAndKill,
  tryEveryPoint,
  tryOneByOne,
} from './killed/every-point.ts'
import { expectTruth } from './killed/outcome.ts'
import { prepare, type StoryRun, subscribe } from './killed/story.ts'
import { expectWrites, runsOnThisDatabase } from './killed/writes.ts'
import { deliver, endAtProvider, loseDispute, type SignedEvent } from './signed-event.ts'
import {
  countProviderSubscriptions,
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  sumChargedCents,
} from './support.ts'
import { createTeam, startTeams } from './teams.ts'

const NEW = { webhooks: false, lockLease: LOCK_LEASE_SECONDS } as const
const INVOICE = { vendor: 'Example Ltd', product: 'Gold' }

/** Another process, which starts after the kill and takes over events of the children. */
function startReplacementProcess(
  { sandbox, another }: FlowTest,
  options: Partial<BillingOptions> = {},
) {
  return another({
    processEvery: false,
    stripe: {
      secret: sandbox.stripe.apiKey,
      webhookSecret: CHILD_SECRET,
      config: sandbox.stripe.config,
    },
    ...options,
  })
}

interface Handling {
  readonly name: string
  readonly billing?: ChildOptions['billing'] & Partial<BillingOptions>
  /** Makes a change at the provider, and returns the webhook about it. */
  readonly happens: (run: StoryRun) => Promise<SignedEvent>
  readonly outcome: (test: FlowTest, user: BillableUser, at: string) => Promise<unknown>
}

const HANDLERS: readonly Handling[] = [
  {
    name: 'the handling of a webhook',
    async happens({ test, user, given }) {
      const { providerId } = await user.subscription('main')
      return endAtProvider(test, given.provider, providerId, CHILD_SECRET)
    },
    async outcome(test, user, at) {
      expect(await user.subscribed('main'), at).toBe(false)
      await expectTruth(test, user, at)
    },
  },
  {
    name: 'the end of a subscription by a lost dispute',
    billing: { disputes: { access: 'end' } },
    happens: ({ test, user, given }) =>
      loseDispute(test, given.provider, user.providerId ?? '', CHILD_SECRET),
    async outcome(_test, user, at) {
      expect((await user.subscription('main')).ended(), at).toBe(true)
    },
  },
]

describe.each(PROVIDERS)(
  'after a process was killed at any step of its work, at $provider,',
  (given) => {
    const { provider } = given
    const tried = <T extends { readonly name: string }>(all: readonly T[]) =>
      all.filter(({ name }) => runsOnThisDatabase(provider, name))

    it.each(tried(HANDLERS))(
      'another process completes the handling of $name (threat W2)',
      LONG_TEST_TIMEOUT,
      (handling) => handleLater(given, handling),
    )

    it.each(tried([{ name: 'create() of a team' }]))(
      'a call that is repeated charges the team once: $name (threat W5)',
      LONG_TEST_TIMEOUT,
      async ({ name }) => {
        const test = await startTeams(provider, 'integer', NEW)
        const owners = { team: { table: 'teams', email: 'billing_email', name: 'title' } }
        let teams = 0
        const steps = await tryEveryPoint(test, provider, {
          atLocks: true,
          billing: { owners },
          prepare: (count) =>
            Promise.all(
              Array.from({ length: count }, async () => ({
                team: await createTeam(test, ++teams),
                card: provider === 'stripe' ? given.card : test.sandbox.braintree.createNonce(),
              })),
            ),
          jobOf: ({ team: { id }, card }) => ({ job: 'create', type: 'team', userId: id, card }),
          async afterwards({ team, card }, at) {
            const again = await test.billing.owner('team', team.id)
            await again.newSubscription('main', 'monthly').create(card)
            expect(await again.subscribed('main'), at).toBe(true)
            expect(
              [countProviderSubscriptions(test, again), sumChargedCents(test, again)],
              at,
            ).toEqual([1, 1000])
            expect(await again.subscriptions(), at).toHaveLength(1)
          },
        })
        expect(steps.some(isCall)).toBe(true)
        expectWrites(provider, name, steps)
        const open = test.database.kysely.selectFrom('billing_operations').selectAll()
        expect(await open.execute()).toEqual([])
      },
    )

    it.each(tried([{ name: 'the event and the mail of a payment' }]))(
      'another process delivers the event at least once and the mail at most once: $name (threat W2)',
      LONG_TEST_TIMEOUT,
      async ({ name }) => {
        const told: string[] = []
        const mailed: string[] = []
        const test = await start(provider, NEW)
        const survivor = startReplacementProcess(test, {
          invoice: INVOICE,
          on: { 'invoice.paid': ({ id }) => void told.push(id) },
          mail: { only: ['receipt'], send: async ({ id }) => mailed.push(id) },
        })
        const runs: { readonly at: string; readonly told: string[]; readonly mailed: string[] }[] =
          []
        // One process at a time, because processes share the event queue.
        const steps = await tryOneByOne(async (stopAt) => {
          const before = ({ user, card }: StoryRun) => user.updateCard(card)
          const [run] = await prepare(test, given, { count: 1, before })
          const { id: userId } = (run as StoryRun).user
          const args = ['Shirt', given.ten, { idempotencyKey: `order-${userId}` }] as const
          const job = { job: 'sellAndTell', userId, args, stopAt } as const
          const { outcome, at, reports } = await runAndKill(test, provider, job, { listens: true })
          const user = await survivor.user(userId)
          await user.invoiceFor(...args)
          expect(sumChargedCents(test, user), at).toBe(1000)
          // Another process takes over the claims of a killed one when they expire.
          await test.sandbox.clock.advance({ minutes: 11 })
          await survivor.process()
          const of = (kind: 'told' | 'mailed') => reports.flatMap((each) => each[kind] ?? [])
          runs.push({
            at,
            told: [...of('told'), ...told.splice(0)],
            mailed: [...of('mailed'), ...mailed.splice(0)],
          })
          return outcome
        })
        // If the process died while handing over a mail, its fate is unknown, and it is not sent
        // again.
        const unknown = (await survivor.notices?.unknown())?.length ?? 0
        const unsent = runs.filter((run) => run.mailed.length === 0)
        expect(unsent.length).toBeLessThanOrEqual(unknown)
        for (const { at, ...run } of runs) {
          expect([run.told.length, new Set(run.told).size], at).toEqual([expect.any(Number), 1])
          expect(run.mailed.length, at).toBeLessThanOrEqual(1)
        }
        expect(await survivor.events.pending()).toEqual([])
        expect(await survivor.notices?.pending()).toEqual([])
        expect(steps).toContain('before it is told')
        expect(steps).toContain('before it is mailed')
        expectWrites(provider, name, steps)
      },
    )
  },
)

async function handleLater(
  given: ProviderCase,
  { name, billing = {}, happens, outcome }: Handling,
): Promise<void> {
  const { provider } = given
  const test = await start(provider, { ...NEW, ...billing })
  const survivor = startReplacementProcess(test, billing)
  const toCheck: { readonly user: BillableUser; readonly at: string }[] = []
  // One process at a time, because processes share the webhook inbox.
  const steps = await tryOneByOne(async (stopAt) => {
    const [run] = await prepare(test, given, { count: 1, before: subscribe })
    const event = await happens(run as StoryRun)
    const job = { job: 'receive', ...event, stopAt } as const
    const { outcome, at, reports } = await runAndKill(test, provider, job, { billing })
    // The provider only retries webhooks that were not acknowledged.
    const isAcknowledged = reports.some(({ answered }) => answered === 200)
    if (!isAcknowledged) expect(await deliver(survivor, event)).toBe(200)
    await survivor.process()
    toCheck.push({ user: (run as StoryRun).user, at })
    return outcome
  })
  expectWrites(provider, name, steps)
  // Another process takes over the claims of a killed one when they expire.
  await test.sandbox.clock.advance({ minutes: 11 })
  await survivor.process()
  expect(await survivor.webhooks.pending()).toEqual([])
  expect(await survivor.webhooks.deadLetters()).toEqual([])
  for (const { user, at } of toCheck) await outcome(test, user, at)
}
