import { expect } from 'vitest'
import { type Asking, main, ofSubscription, type Story, subscribe } from '../story.ts'

async function planPro(asking: Asking): Promise<void> {
  await (await subscribe(asking)).swapAtPeriodEnd('pro')
}

/** A change that may still come stays on record until the plan is taken back. */
async function takeBackUnlessMade(asking: Asking): Promise<void> {
  await asking.user.sync()
  const found = await main(asking)
  const items = [{ price: 'pro', quantity: found.quantity }]
  expect((await found.plannedSwap())?.items).toEqual(items)
  if (found.quantity === 1) await found.cancelPlannedSwap()
}

/** The plan, how many of it, and what is to come: by our row, which is compared with the provider anyway. */
const is =
  (plan: string, quantity: number, planned: string | null) =>
  async (asking: Asking, at: string): Promise<void> => {
    const found = await main(asking)
    const told = [found.providerPlan, found.quantity, found.plannedPlan]
    expect(told, at).toEqual([plan, quantity, planned])
    const items = planned === null ? null : [{ price: planned, quantity }]
    expect((await found.plannedSwap())?.items ?? null, at).toEqual(items)
  }

const isPaused = (wanted: boolean) => async (asking: Asking, at: string) =>
  expect((await main(asking)).paused(), at).toBe(wanted)

export const later: readonly Story[] = [
  {
    name: 'swapAtPeriodEnd',
    providers: ['stripe'],
    before: subscribe,
    job: ofSubscription('swapAtPeriodEnd', 'pro'),
    outcome: is('monthly', 1, 'pro'),
  },
  {
    name: 'swapAtPeriodEnd in place of another',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('swapAtPeriodEnd', 'quarterly'),
    outcome: is('monthly', 1, 'quarterly'),
  },
  {
    name: 'cancelPlannedSwap',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('cancelPlannedSwap'),
    outcome: is('monthly', 1, null),
  },
  {
    name: 'updateQuantity with a swap planned',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('updateQuantity', 3),
    outcome: is('monthly', 3, 'pro'),
  },
  {
    name: 'applyCoupon with a swap planned',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('applyCoupon', 'SPRING'),
    outcome: is('monthly', 1, 'pro'),
  },
  {
    name: 'swap with another one planned',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('swap', 'quarterly'),
    outcome: is('quarterly', 1, null),
  },
  {
    name: 'cancel with a swap planned, which nobody repeats',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('cancel'),
    again: ({ user }) => user.sync(),
    async outcome(asking, at) {
      const found = await main(asking)
      expect(found.plannedPlan, at).toBe(found.cancelled() ? null : 'pro')
    },
  },
  {
    name: 'swap with another one planned, which nobody repeats',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('swap', 'quarterly'),
    again: ({ user }) => user.sync(),
    async outcome(asking, at) {
      const { providerPlan, plannedPlan } = await main(asking)
      expect(plannedPlan, at).toBe(providerPlan === 'quarterly' ? null : 'pro')
    },
  },
  {
    name: 'updateQuantity with a swap planned, which nobody repeats',
    providers: ['stripe'],
    before: planPro,
    job: ofSubscription('updateQuantity', 3),
    again: takeBackUnlessMade,
    async outcome(asking, at) {
      const { quantity } = await main(asking)
      await is('monthly', quantity, quantity === 3 ? 'pro' : null)(asking, at)
    },
  },
  {
    name: 'pause',
    providers: ['stripe'],
    before: subscribe,
    job: ofSubscription('pause', { bills: 'keep_as_draft' }),
    outcome: isPaused(true),
  },
  {
    name: 'unpause',
    providers: ['stripe'],
    before: async (asking) => (await subscribe(asking)).pause(),
    job: ofSubscription('unpause'),
    outcome: isPaused(false),
  },
]
