import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BillableUser, BillingError } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'
import { PROVIDERS, type ProviderCase, start } from './support.ts'

/** A night's run sets it to thousands; every commit takes a handful. */
const RUNS = Number(process.env.BILLING_HISTORIES ?? 15)

interface World {
  readonly test: BillingTest
  readonly user: BillableUser
  readonly given: ProviderCase
}

type Step = { readonly name: string; readonly run: (world: World) => Promise<unknown> }

const main = ({ user }: World) => user.subscription('main')
const step = (name: string, run: Step['run']): fc.Arbitrary<Step> =>
  fc.constant({ name, run, toString: () => name })

const steps = fc.oneof(
  ...['monthly', 'pro', 'quarterly', 'yearly'].flatMap((plan) => [
    step(`create ${plan}`, ({ user, given }) =>
      user.newSubscription('main', plan).create(given.card),
    ),
    step(`swap ${plan}`, async (world) => (await main(world)).swap(plan)),
  ]),
  step('create with a trial', ({ user, given }) =>
    user.newSubscription('main', 'monthly').trialDays(9).create(given.card),
  ),
  step('skip the trial', async (world) => (await main(world)).skipTrial().swap('pro')),
  step('cancel', async (world) => (await main(world)).cancel()),
  step('cancel now', async (world) => (await main(world)).cancelNow()),
  step('resume', async (world) => (await main(world)).resume()),
  step('new card', ({ user, given }) => user.updateCard(given.otherCard)),
  step('decline', async ({ test, user, given }) => {
    const code = given.provider === 'stripe' ? 'insufficient_funds' : '2001'
    if (user.providerId) test.sandbox.trouble.declineNextCharge(user.providerId, code)
  }),
  step('a day', ({ test }) => test.advance({ days: 1 })),
  step('a week', ({ test }) => test.advance({ days: 7 })),
  step('a month', ({ test }) => test.advance({ months: 1 })),
  step('drop', async ({ test }) => test.sandbox.outbox.set({ drop: 2 })),
  step('duplicate', async ({ test }) => test.sandbox.outbox.set({ duplicate: 3 })),
  step('reorder', async ({ test }) => test.sandbox.outbox.set({ reorder: true })),
)

describe.each(PROVIDERS)('any history at $provider', (given) => {
  it('ends in the provider’s state', { timeout: 30_000 + RUNS * 5000 }, async () => {
    const test = await start(given.provider)
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (history) => {
        const user = await test.createUser()
        const world: World = { test, user, given }
        for (const { run } of history) {
          // What is refused is refused with an error of ours, and leaves things as they were.
          await run(world).catch((error: unknown) => {
            if (!(error instanceof BillingError)) throw error
          })
        }
        test.sandbox.outbox.set({ drop: false, duplicate: false, reorder: false })
        await test.settle()
        await user.sync()
        expect((await user.sync({ dryRun: true })).drift).toEqual([])
        expect(await test.billing.webhooks.deadLetters()).toEqual([])
        expectOneLive(world)
      }),
      { numRuns: RUNS },
    )
  })
})

/** However it went, nobody pays for two subscriptions of one name. */
function expectOneLive({ test, user }: World): void {
  const id = user.providerId ?? ''
  const all =
    user.provider === 'stripe'
      ? test.sandbox.stripe.subscriptions(id)
      : test.sandbox.braintree.subscriptions(id)
  const over = ['canceled', 'Canceled', 'Expired', 'incomplete_expired']
  const live = all.filter(({ status }) => !over.includes(String(status)))
  expect(live.length).toBeLessThanOrEqual(1)
}
