import { expect } from 'vitest'
import { isBillingError } from '../../../src/index.ts'
import { sumChargedCents } from '../../support.ts'
import {
  findMainSubscription,
  invoiceJob,
  PAID_SUBSCRIPTION,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
  userJob,
} from '../story.ts'

/** Declines the renewal, so that a payment is due. */
async function decline(run: StoryRun): Promise<void> {
  await subscribe(run)
  const { provider, providerId } = run.user
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
  run.test.sandbox.trouble.declineNextCharge(providerId ?? '', code)
}

const owed = {
  before: decline,
  async meanwhile({ sandbox, billing }) {
    await sandbox.clock.advance({ months: 1, hours: 2 })
    await billing.sync()
  },
  async outcome(run: StoryRun, at: string) {
    const found = await findMainSubscription(run)
    const owes = (await found.amountOwed())?.amount
    expect([found.pastDue(), owes, sumChargedCents(run.test, run.user)], at).toEqual([
      false,
      0,
      2000,
    ])
  },
} satisfies Partial<Story>

export const payments: readonly Story[] = [
  {
    name: 'charge with an idempotency key',
    before: subscribe,
    job: ({ user, given }) => userJob('charge', given.ten, { idempotencyKey: `order-${user.id}` }),
    outcome: { ...PAID_SUBSCRIPTION, taken: 2000 },
  },
  {
    name: 'invoiceFor with an idempotency key',
    before: subscribe,
    job: ({ user, given }) =>
      userJob('invoiceFor', 'Shirt', given.ten, { idempotencyKey: `order-${user.id}` }),
    outcome: { ...PAID_SUBSCRIPTION, taken: 2000 },
  },
  { name: 'payNow', ...owed, job: subscriptionJob('payNow') },
  {
    name: 'payNow of an unpaid subscription',
    providers: ['stripe'],
    options: { here: { dunning: { afterLastRetry: 'unpaid' } }, there: {} },
    async before(run) {
      await subscribe(run)
      for (const _attempt of ['at once', 'after 3 days', 'after 5', 'after 7']) {
        const { trouble } = run.test.sandbox
        trouble.declineNextCharge(run.user.providerId ?? '', 'insufficient_funds')
      }
    },
    // The first invoice has failed for good, and the second one is a draft.
    async meanwhile({ sandbox, billing }) {
      await sandbox.clock.advance({ months: 1, hours: 2 })
      await sandbox.clock.advance({ days: 16 })
      await sandbox.clock.advance({ days: 20 })
      await billing.sync()
    },
    job: subscriptionJob('payNow'),
    async outcome(run, at) {
      const found = await findMainSubscription(run)
      const owes = (await found.amountOwed())?.amount
      const { test, user } = run
      expect([await user.subscribed('main'), owes, sumChargedCents(test, user)], at).toEqual([
        true,
        0,
        3000,
      ])
    },
  },
  { name: 'pay of an open invoice', providers: ['stripe'], ...owed, job: invoiceJob('pay') },
  {
    name: 'void the first invoice',
    providers: ['stripe'],
    async before({ user }) {
      const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
      await asked.catch((error: unknown) => {
        if (!isBillingError(error, 'payment_action_required')) throw error
      })
    },
    job: invoiceJob('void'),
    async again({ user }) {
      const subscription = await findMainSubscription({ user })
      const { latest_invoice: id } = (await subscription.asProvider()) as { latest_invoice: string }
      await (await user.findInvoice(id))?.void()
    },
    async outcome({ test, user }, at) {
      const { providerStatus } = await findMainSubscription({ user })
      expect([providerStatus, await user.subscribed('main')], at).toEqual([
        'incomplete_expired',
        false,
      ])
      expect(sumChargedCents(test, user), at).toBe(0)
    },
  },
]
