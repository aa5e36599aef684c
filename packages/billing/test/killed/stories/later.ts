import { expect } from 'vitest'
import {
  findMainSubscription,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
} from '../story.ts'

async function planPro(run: StoryRun): Promise<void> {
  await (await subscribe(run)).swapAtPeriodEnd('pro')
}

/**
 * Used in place of a retry: cancels the planned swap if the change of the quantity was not made,
 * and keeps the planned swap if the change was made.
 */
async function takeBackUnlessMade(run: StoryRun): Promise<void> {
  await run.user.sync()
  const found = await findMainSubscription(run)
  const items = [{ price: 'pro', quantity: found.quantity }]
  expect((await found.plannedSwap())?.items).toEqual(items)
  if (found.quantity === 1) await found.cancelPlannedSwap()
}

/**
 * Expects this plan, quantity and planned swap in our row. Other tests compare the row with the
 * provider.
 */
const expectPlanAndPlannedSwap =
  (plan: string, quantity: number, planned: string | null) =>
  async (run: StoryRun, at: string): Promise<void> => {
    const found = await findMainSubscription(run)
    const told = [found.providerPlan, found.quantity, found.plannedPrice]
    expect(told, at).toEqual([plan, quantity, planned])
    const items = planned === null ? null : [{ price: planned, quantity }]
    expect((await found.plannedSwap())?.items ?? null, at).toEqual(items)
  }

const isPaused = (shouldBePaused: boolean) => async (run: StoryRun, at: string) =>
  expect((await findMainSubscription(run)).paused(), at).toBe(shouldBePaused)

export const plannedSwapStories: readonly Story[] = [
  {
    name: 'swapAtPeriodEnd',
    providers: ['stripe'],
    before: subscribe,
    job: subscriptionJob('swapAtPeriodEnd', 'pro'),
    outcome: expectPlanAndPlannedSwap('monthly', 1, 'pro'),
  },
  {
    name: 'swapAtPeriodEnd replacing a planned swap',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('swapAtPeriodEnd', 'quarterly'),
    outcome: expectPlanAndPlannedSwap('monthly', 1, 'quarterly'),
  },
  {
    name: 'cancelPlannedSwap',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('cancelPlannedSwap'),
    outcome: expectPlanAndPlannedSwap('monthly', 1, null),
  },
  {
    name: 'updateQuantity with a swap planned',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('updateQuantity', 3),
    outcome: expectPlanAndPlannedSwap('monthly', 3, 'pro'),
  },
  {
    name: 'applyCoupon with a swap planned',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('applyCoupon', 'SPRING'),
    outcome: expectPlanAndPlannedSwap('monthly', 1, 'pro'),
  },
  {
    name: 'swap with a swap planned',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('swap', 'quarterly'),
    outcome: expectPlanAndPlannedSwap('quarterly', 1, null),
  },
  {
    name: 'cancel with a swap planned, not retried',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('cancel'),
    again: ({ user }) => user.sync(),
    async outcome(run, at) {
      const found = await findMainSubscription(run)
      expect(found.plannedPrice, at).toBe(found.cancelled() ? null : 'pro')
    },
  },
  {
    name: 'swap with a swap planned, not retried',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('swap', 'quarterly'),
    again: ({ user }) => user.sync(),
    async outcome(run, at) {
      const { providerPlan, plannedPrice } = await findMainSubscription(run)
      expect(plannedPrice, at).toBe(providerPlan === 'quarterly' ? null : 'pro')
    },
  },
  {
    name: 'updateQuantity with a swap planned, not retried',
    providers: ['stripe'],
    before: planPro,
    job: subscriptionJob('updateQuantity', 3),
    again: takeBackUnlessMade,
    async outcome(run, at) {
      const { quantity } = await findMainSubscription(run)
      await expectPlanAndPlannedSwap('monthly', quantity, quantity === 3 ? 'pro' : null)(run, at)
    },
  },
  {
    name: 'pause',
    providers: ['stripe'],
    before: subscribe,
    job: subscriptionJob('pause', { bills: 'keep_as_draft' }),
    outcome: isPaused(true),
  },
  {
    name: 'unpause',
    providers: ['stripe'],
    before: async (run) => (await subscribe(run)).pause(),
    job: subscriptionJob('unpause'),
    outcome: isPaused(false),
  },
]
