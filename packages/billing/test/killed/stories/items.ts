import { expect } from 'vitest'
import { takenFrom } from '../../support.ts'
import { type Asking, main, type Story, subscribe } from '../story.ts'

const seeded = new WeakSet<object>()

/** A seat is a price at Stripe and an add-on at Braintree. */
async function withSeats(asking: Asking, quantity: number): Promise<void> {
  const { stripe, braintree } = asking.test.sandbox
  if (!seeded.has(stripe)) {
    seeded.add(stripe)
    stripe.seedPrice({ id: 'seat', unitAmount: 500, interval: 'month', product: 'Extras' })
    braintree.defineAddOn({ id: 'seat', amount: 500 })
  }
  const subscription = await subscribe(asking)
  if (quantity > 0) await subscription.addPriceAndInvoice('seat', quantity)
}

async function isDone(asking: Asking): Promise<boolean> {
  const { test, user } = asking
  const open = await test.database.kysely
    .selectFrom('billing_operations')
    .selectAll()
    .where('user_id', '=', user.id)
    .execute()
  return open.length === 0 && (await main(asking)).findItem('seat')?.quantity === 3
}

const has =
  (quantity: (at: string) => number | null, taken: (at: string) => number) =>
  async (asking: Asking, at: string): Promise<void> => {
    expect((await main(asking)).findItem('seat')?.quantity ?? null, at).toBe(quantity(at))
    expect(takenFrom(asking.test, asking.user), at).toBe(taken(at))
  }

export const items: readonly Story[] = [
  {
    name: 'addPriceAndInvoice',
    before: (asking) => withSeats(asking, 0),
    job: { job: 'ask', of: 'subscription', method: 'addPriceAndInvoice', args: ['seat', 2] },
    again: async (asking) => (await main(asking)).addPriceAndInvoice('seat', 2),
    outcome: has(
      () => 2,
      () => 2000,
    ),
  },
  {
    name: 'incrementQuantity of a price',
    before: (asking) => withSeats(asking, 2),
    job: { job: 'ask', of: 'subscription', method: 'incrementQuantity', args: [1, 'seat'] },
    again: async (asking) => {
      // What is done and off the record is done: whoever asks for one more then gets one more.
      if (!(await isDone(asking))) await (await main(asking)).incrementQuantity(1, 'seat')
    },
    async outcome(asking, at) {
      expect((await main(asking)).findItem('seat')?.quantity, at).toBe(3)
    },
  },
  {
    name: 'removePrice',
    before: (asking) => withSeats(asking, 2),
    job: { job: 'ask', of: 'subscription', method: 'removePrice', args: ['seat'] },
    again: async (asking) => (await main(asking)).removePrice('seat'),
    outcome: has(
      () => null,
      () => 2000,
    ),
  },
]
