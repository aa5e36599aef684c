import { expect } from 'vitest'
import { money } from '../../../src/index.ts'
import { sumChargedCents, sumRefundedCents } from '../../support.ts'
import { PAID_SUBSCRIPTION, type Story, type StoryRun, userJob } from '../story.ts'

const PAGE = { name: 'main', successPath: '/done' }
const POSTER = [money(1999, 'eur'), 'Poster', { successPath: '/done' }] as const
const SHIRT = [money(1500, 'usd'), 'Shirt', { successPath: '/done' }] as const

/** The hosted page of each user, which a retry returns from. */
const pages = new Map<string | number, string>()

export const checkouts: readonly Story[] = [
  {
    name: 'checkout',
    providers: ['stripe'],
    job: userJob('checkout', 'monthly', PAGE),
    async again(run) {
      await pay(run)
      await comeBack(run)
    },
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'checkout with other terms',
    providers: ['stripe'],
    before: ({ user }) => user.checkout('monthly', PAGE),
    job: userJob('checkout', 'pro', PAGE),
    async again({ user, test }) {
      const { id } = await user.checkout('pro', PAGE)
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
    },
    outcome: { ...PAID_SUBSCRIPTION, plan: 'pro', taken: 2500 },
  },
  {
    name: 'create while a checkout is open',
    providers: ['stripe'],
    before: ({ user }) => user.checkout('monthly', PAGE),
    job: { job: 'create' },
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'completeCheckout',
    providers: ['stripe'],
    before: pay,
    job: ({ user }) => userJob('completeCheckout', pages.get(user.id)),
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'claimCheckout',
    providers: ['stripe'],
    async before({ user, test }) {
      const { id } = await test.billing.guestCheckout('monthly', { ...PAGE, tax: 'none' })
      test.sandbox.stripe.completeCheckout(id, { email: `user-${user.id}@example.com` })
      pages.set(user.id, id)
    },
    job: ({ user }) => userJob('claimCheckout', pages.get(user.id)),
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'checkoutCharge',
    providers: ['stripe'],
    job: userJob('checkoutCharge', ...SHIRT),
    async again({ user, test }) {
      const { id } = await user.checkoutCharge(...SHIRT)
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
    },
    async outcome({ test, user }, at) {
      expect(sumChargedCents(test, user), at).toBe(1500)
    },
  },
  {
    name: 'checkoutCharge while a bank debit is pending',
    providers: ['stripe'],
    async before({ user, test }) {
      const { id } = await user.checkoutCharge(...POSTER)
      const paymentMethod = 'pm_sepaDebit_successDelayed_de'
      test.sandbox.stripe.completeCheckout(id, { paymentMethod })
    },
    job: userJob('checkoutCharge', ...SHIRT),
    async again({ user, test }) {
      const { id } = await user.checkoutCharge(...SHIRT)
      test.sandbox.stripe.completeCheckout(id)
      await user.completeCheckout(id)
      await test.sandbox.clock.advance({ minutes: 4 })
      await user.sync()
    },
    async outcome({ test, user }, at) {
      expect(sumChargedCents(test, user), at).toBe(1999 + 1500)
    },
  },
  {
    name: 'refund of a payment on a hosted page',
    providers: ['stripe'],
    async before(run) {
      await pay(run)
      await comeBack(run)
    },
    job: ({ user }) => userJob('refund', pages.get(user.id)),
    async outcome({ test, user }, at) {
      expect(sumRefundedCents(test, user), at).toBe(1000)
    },
  },
]

async function pay({ user, test }: StoryRun): Promise<void> {
  const { id } = await user.checkout('monthly', PAGE)
  pages.set(user.id, id)
  test.sandbox.stripe.completeCheckout(id)
}

async function comeBack({ user }: StoryRun): Promise<void> {
  await user.completeCheckout(pages.get(user.id) ?? '')
}
