import { expect } from 'vitest'
import { givenBackTo } from '../../support.ts'
import { type Asking, PAID, type Story } from '../story.ts'

const PAGE = { name: 'main', successPath: '/done' }

/** The page of each user, for whoever comes back from it. */
const pages = new Map<string | number, string>()

export const checkouts: readonly Story[] = [
  {
    name: 'checkout',
    providers: ['stripe'],
    before: async () => undefined,
    job: { job: 'ask', method: 'checkout', args: ['monthly', PAGE] },
    async again(asking) {
      await pay(asking)
      await comeBack(asking)
    },
    outcome: PAID,
  },
  {
    name: 'checkout with other terms',
    providers: ['stripe'],
    before: ({ user }) => user.checkout('monthly', PAGE),
    job: { job: 'ask', method: 'checkout', args: ['pro', PAGE] },
    async again({ user, test }) {
      const { id } = await user.checkout('pro', PAGE)
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
    },
    outcome: { ...PAID, plan: 'pro', taken: 2500 },
  },
  {
    name: 'create beside an open checkout',
    providers: ['stripe'],
    before: ({ user }) => user.checkout('monthly', PAGE),
    job: { job: 'create' },
    again: ({ user, card }) => user.newSubscription('main', 'monthly').create(card),
    outcome: PAID,
  },
  {
    name: 'completeCheckout',
    providers: ['stripe'],
    before: pay,
    job: ({ user }) => ({ job: 'ask', method: 'completeCheckout', args: [pages.get(user.id)] }),
    again: comeBack,
    outcome: PAID,
  },
  {
    name: 'refund of what was paid on a page',
    providers: ['stripe'],
    async before(asking) {
      await pay(asking)
      await comeBack(asking)
    },
    job: ({ user }) => ({ job: 'ask', method: 'refund', args: [pages.get(user.id)] }),
    again: ({ user }) => user.refund(pages.get(user.id) ?? ''),
    outcome: async ({ test, user }, at) => expect(givenBackTo(test, user), at).toBe(1000),
  },
]

async function pay({ user, test }: Asking): Promise<void> {
  const { id } = await user.checkout('monthly', PAGE)
  pages.set(user.id, id)
  test.sandbox.stripe.completeCheckout(id)
}

async function comeBack({ user }: Asking): Promise<void> {
  await user.completeCheckout(pages.get(user.id) ?? '')
}
