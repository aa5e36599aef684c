import fc from 'fast-check'
import { describe, it } from 'vitest'
import { BillingError } from '../src/index.ts'
import type { Step } from './histories/step.ts'
import { arbitraryDisputedHistories, arbitraryHistories, isLoss } from './histories/steps.ts'
import { expectMoney, expectTruth, expectUsage } from './histories/truth.ts'
import { createWorld, type OwnerType, type WebhookTiming, type World } from './histories/world.ts'
import { PROVIDERS } from './support.ts'

/** Number of generated histories. `npm run histories` runs thousands. */
const RUNS = Number(process.env.HISTORIES ?? (process.env.TEST_DATABASE === 'sqlite' ? 120 : 15))
const SEED = Number(process.env.HISTORIES_SEED ?? Math.floor(Math.random() * 2 ** 31))
const SHOWS_PROGRESS = process.env.HISTORIES !== undefined

interface History {
  readonly start: Date
  readonly travel: WebhookTiming
  readonly owner: OwnerType
  readonly steps: readonly Step[]
}

const starts = ['2026-01-15', '2026-01-31', '2028-02-29', '2026-12-31']

const historiesAt = (
  provider: (typeof PROVIDERS)[number]['provider'],
  lives = arbitraryHistories,
): fc.Arbitrary<History> =>
  fc.record({
    start: fc.constantFrom(...starts).map((day) => new Date(`${day}T10:00:00Z`)),
    travel: fc.constantFrom<WebhookTiming>('prompt', 'prompt', 'late', 'lossy'),
    owner: fc.constantFrom<OwnerType>('user', 'user', 'team'),
    steps: lives(provider, 12),
  })

describe.each(PROVIDERS)('any sequence of actions, time and webhooks at $provider', (given) => {
  it('ends with rows that equal the provider’s objects (threat W3)', {
    timeout: 60_000 + RUNS * 4000,
  }, async () => {
    const world = await createWorld(given, 'keep')
    const progress = createProgress(given.provider)
    const property = fc.asyncProperty(historiesAt(given.provider), async (history) => {
      await live(world, history)
      progress()
    })
    await fc.assert(property, { numRuns: RUNS, seed: SEED })
  })
})

const CLOSING = PROVIDERS.flatMap((given) =>
  (['suspend', 'end'] as const).map((access) => ({ given, access, provider: given.provider })),
)

describe.each(CLOSING)(
  "any sequence of actions, time and webhooks at $provider, with disputes: { access: '$access' },",
  ({ given, access }) => {
    const runs = Math.ceil(RUNS / 4)

    it('leaves access granted unless an open or lost dispute takes it away', {
      timeout: 60_000 + runs * 4000,
    }, async () => {
      const world = await createWorld(given, access)
      const histories = historiesAt(given.provider, arbitraryDisputedHistories)
      const property = fc.asyncProperty(histories, (history) => live(world, history))
      await fc.assert(property, { numRuns: runs, seed: SEED })
    })
  },
)

async function live(world: World, { start, travel, owner, steps }: History): Promise<void> {
  await world.begin(start, travel, owner)
  for (const step of steps) {
    if (travel !== 'lossy' && isLoss(step)) continue
    // A refused step must throw a BillingError, and must not change anything.
    const isDone = await step.run(world).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof BillingError)) throw error
        return false
      },
    )
    if (travel === 'prompt') await world.deliverAll()
    // While a webhook is under way, our rows may be outdated; after one was lost they stay so until
    // `sync()`. A sync that failed to read the provider throws, and has not repaired anything.
    const isSynced = isDone && step.name === 'sync'
    const isComparable = travel === 'lossy' ? isSynced : await world.isQuiet()
    if (isComparable) await expectTruth(world, step.name)
  }
  world.sandbox.outbox.set({ drop: false, duplicate: false, reorder: false, delaySeconds: 0 })
  await world.deliverAll()
  if (travel === 'lossy') await world.attempt((user) => user.sync())
  await expectTruth(world, 'the end')
  await expectUsage(world)
  await expectMoney(world)
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
