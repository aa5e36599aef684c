import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BillingError } from '../src/index.ts'
import { isLoss, type Step, stepsAt } from './histories/steps.ts'
import { createWorld, type Travel, type World } from './histories/world.ts'
import { endedByUs, isServed, rowsOf, truthAt } from './provider-truth.ts'
import { PROVIDERS, stripeSdk } from './support.ts'

/** `npm run histories` sets it to thousands. */
const RUNS = Number(process.env.HISTORIES ?? (process.env.TEST_DATABASE === 'sqlite' ? 200 : 25))
const SEED = Number(process.env.HISTORIES_SEED ?? Math.floor(Math.random() * 2 ** 31))
const SHOWS_PROGRESS = process.env.HISTORIES !== undefined

interface History {
  readonly start: Date
  readonly travel: Travel
  readonly steps: readonly Step[]
}

const starts = ['2026-01-15', '2026-01-31', '2028-02-29', '2026-12-31']

const historiesAt = (provider: (typeof PROVIDERS)[number]['provider']): fc.Arbitrary<History> =>
  fc.record({
    start: fc.constantFrom(...starts).map((day) => new Date(`${day}T10:00:00Z`)),
    travel: fc.constantFrom<Travel>('prompt', 'prompt', 'late', 'lossy'),
    steps: fc.array(stepsAt(provider), { minLength: 1, maxLength: 12 }),
  })

describe.each(PROVIDERS)('any history at $provider', (given) => {
  it('threat W3 leaves the rows as the provider has it', {
    timeout: 60_000 + RUNS * 4000,
  }, async () => {
    const world = await createWorld(given)
    const progress = createProgress(given.provider)
    const property = fc.asyncProperty(historiesAt(given.provider), async (history) => {
      await live(world, history)
      progress()
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED })
  })
})

async function live(world: World, { start, travel, steps }: History): Promise<void> {
  await world.begin(start, travel)
  for (const step of steps) {
    if (travel !== 'lossy' && isLoss(step)) continue
    // What is refused is refused with an error of ours, and leaves things as they were.
    const isDone = await step.run(world).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof BillingError)) throw error
        return false
      },
    )
    if (travel === 'prompt') await world.deliverAll()
    // While an event is under way our rows may be behind; after one was lost they are until sync.
    // A sync that could not read the provider says so and has mended nothing.
    const isSynced = isDone && step.name === 'sync'
    const isComparable = travel === 'lossy' ? isSynced : await world.isQuiet()
    if (isComparable) await expectTruth(world, step.name)
  }
  world.sandbox.outbox.set({ drop: false, duplicate: false, reorder: false, delaySeconds: 0 })
  await world.deliverAll()
  if (travel === 'lossy') await world.attempt((user) => user.sync())
  await expectTruth(world, 'the end')
  await expectUsage(world)
}

/** What was reported is counted once; of what was refused nobody may know. */
async function expectUsage(world: World): Promise<void> {
  const { billing, database, sandbox, used } = world
  const rows = await database.kysely.selectFrom('billing_usage').select('state').execute()
  expect(rows).toHaveLength(used)
  if (used === 0) return
  const sent = rows.filter(({ state }) => state === 'sent').length
  expect(await billing.usage.pending()).toEqual([])
  while (sandbox.trouble.takeCallTrouble('stripe')) {
    // It was meant for the application.
  }
  const counted = await countedCalls(world)
  expect(counted).toBeGreaterThanOrEqual(sent)
  expect(counted).toBeLessThanOrEqual(used)
}

async function countedCalls(world: World): Promise<number> {
  const { sandbox } = world
  const { billing } = await stripeSdk(world)
  const [meter] = (await billing.meters.list()).data
  // After now, also on the hour.
  const hour = (Math.floor(sandbox.clock.nowMs() / 3_600_000) + 1) * 3600
  const { data } = await billing.meters.listEventSummaries(meter?.id ?? '', {
    customer: String(sandbox.stripe.customers()[0]?.id),
    start_time: hour - 10 * 365 * 86_400,
    end_time: hour,
  })
  return Number(data[0]?.aggregated_value)
}

/** Our rows against the provider's own objects. */
async function expectTruth(world: World, at: string): Promise<void> {
  const { sandbox, database, user, given, billing } = world
  const customers =
    given.provider === 'stripe' ? sandbox.stripe.customers() : sandbox.braintree.customers()
  expect(customers.length, at).toBeLessThanOrEqual(1)
  const told = await rowsOf(database, user.id)
  const atProvider = truthAt(sandbox, given.provider, customers[0]?.id ?? '')
  const now = sandbox.clock.now()
  const truth = endedByUs(atProvider, told, { now, hasCancelledNow: world.hasCancelledNow })
  expect(told, at).toEqual({ ...truth, customer: customers[0]?.id ?? null })
  expect(await user.subscribed('main'), `subscribed, ${at}`).toBe(isServed(truth, now))
  // However it went, nobody pays for two subscriptions of one name.
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  const live = truth.subscriptions.filter(({ status }) => !over.includes(status))
  expect(live.length, at).toBeLessThanOrEqual(1)
  expect(await billing.webhooks.deadLetters(), at).toEqual([])
}

function createProgress(provider: string): () => void {
  const began = performance.now()
  let lived = 0
  if (SHOWS_PROGRESS) process.stderr.write(`${provider}: ${RUNS} histories, seed ${SEED}\n`)
  return () => {
    lived += 1
    if (!SHOWS_PROGRESS || lived % 100 !== 0) return
    const seconds = Math.round((performance.now() - began) / 1000)
    process.stderr.write(`${provider}: ${lived} of ${RUNS} histories, ${seconds} s\n`)
  }
}
