import { expect } from 'vitest'
import { takenFrom } from '../../support.ts'
import { openOperations } from '../outcome.ts'
import { type Asking, main, ofSubscription, type Story, subscribe } from '../story.ts'

/** A seat is a price at Stripe and an add-on at Braintree. */
const prepare: Story['prepare'] = async ({ sandbox }) => {
  for (const [id, amount] of [
    ['seat', 500],
    ['support', 700],
  ] as const) {
    sandbox.stripe.seedPrice({ id, unitAmount: amount, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id, amount })
  }
}

const withSeats = async (asking: Asking) => (await subscribe(asking)).addPriceAndInvoice('seat', 2)

/** How many of each there are beside the main price, and what was taken for all. */
const has =
  (others: Readonly<Record<string, number>>, taken: number) =>
  async (asking: Asking, at: string): Promise<void> => {
    const items = (await main(asking)).items().filter(({ isMain }) => !isMain)
    const found = Object.fromEntries(items.map(({ price, quantity }) => [price, quantity]))
    expect([found, takenFrom(asking.test, asking.user)], at).toEqual([others, taken])
  }

export const items: readonly Story[] = [
  {
    name: 'addPriceAndInvoice',
    prepare,
    before: subscribe,
    job: ofSubscription('addPriceAndInvoice', 'seat', 2),
    outcome: has({ seat: 2 }, 2000),
  },
  {
    name: 'incrementQuantity of a price',
    prepare,
    before: withSeats,
    job: ofSubscription('incrementQuantity', 1, 'seat'),
    async again(asking) {
      // What is done and off the record is done: whoever asks for one more then gets one more.
      const found = await main(asking)
      const open = await openOperations(asking.test, asking.user.id)
      if (open.length > 0 || found.findItem('seat')?.quantity !== 3) {
        await found.incrementQuantity(1, 'seat')
      }
    },
    async outcome(asking, at) {
      expect((await main(asking)).findItem('seat')?.quantity, at).toBe(3)
    },
  },
  {
    name: 'removePrice',
    prepare,
    before: withSeats,
    job: ofSubscription('removePrice', 'seat'),
    outcome: has({}, 2000),
  },
  {
    name: 'swapItem',
    prepare,
    before: withSeats,
    job: ofSubscription('swapItem', 'seat', 'support'),
    async outcome(asking, at) {
      const found = await main(asking)
      expect([found.hasPrice('seat'), found.findItem('support')?.quantity], at).toEqual([false, 2])
    },
  },
]
