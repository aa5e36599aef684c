import { expect } from 'vitest'
import { sumChargedCents } from '../../support.ts'
import { openOperations } from '../outcome.ts'
import {
  findMainSubscription,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
} from '../story.ts'

/** A seat is a price at Stripe, and an add-on at Braintree. */
const prepare: Story['prepare'] = async ({ sandbox }) => {
  for (const [id, amount] of [
    ['seat', 500],
    ['support', 700],
  ] as const) {
    sandbox.stripe.seedPrice({ id, unitAmount: amount, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id, amount })
  }
}

const subscribeWithSeats = async (run: StoryRun) =>
  (await subscribe(run)).addPriceAndInvoice('seat', 2)

/** Expects these quantities of the additional prices, and this total charge. */
const expectItemsAndCharge =
  (others: Readonly<Record<string, number>>, taken: number) =>
  async (run: StoryRun, at: string): Promise<void> => {
    const items = (await findMainSubscription(run)).items().filter(({ isMain }) => !isMain)
    const found = Object.fromEntries(items.map(({ price, quantity }) => [price, quantity]))
    expect([found, sumChargedCents(run.test, run.user)], at).toEqual([others, taken])
  }

export const items: readonly Story[] = [
  {
    name: 'addPriceAndInvoice',
    prepare,
    before: subscribe,
    job: subscriptionJob('addPriceAndInvoice', 'seat', 2),
    outcome: expectItemsAndCharge({ seat: 2 }, 2000),
  },
  {
    name: 'incrementQuantity of an additional price',
    prepare,
    before: subscribeWithSeats,
    job: subscriptionJob('incrementQuantity', 1, 'seat'),
    async again(run) {
      // A finished operation is off the record, so repeating `incrementQuantity()` adds another
      // unit.
      const found = await findMainSubscription(run)
      const open = await openOperations(run.test, run.user.id)
      if (open.length > 0 || found.findItem('seat')?.quantity !== 3) {
        await found.incrementQuantity(1, 'seat')
      }
    },
    async outcome(run, at) {
      expect((await findMainSubscription(run)).findItem('seat')?.quantity, at).toBe(3)
    },
  },
  {
    name: 'removePrice',
    prepare,
    before: subscribeWithSeats,
    job: subscriptionJob('removePrice', 'seat'),
    outcome: expectItemsAndCharge({}, 2000),
  },
  {
    name: 'swapItem',
    prepare,
    before: subscribeWithSeats,
    job: subscriptionJob('swapItem', 'seat', 'support'),
    async outcome(run, at) {
      const found = await findMainSubscription(run)
      expect([found.hasPrice('seat'), found.findItem('support')?.quantity], at).toEqual([false, 2])
    },
  },
]
