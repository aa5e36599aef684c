import { expect } from 'vitest'
import { NotOnGracePeriod, PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk, sumChargedCents } from '../../support.ts'
import {
  beginTrial,
  findMainSubscription,
  PAID_SUBSCRIPTION,
  type Story,
  type StoryRun,
  subscribe,
  subscriptionJob,
  userJob,
} from '../story.ts'

export const subscriptions: readonly Story[] = [
  {
    name: 'create',
    atLocks: true,
    job: { job: 'create' },
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'create after an unconfirmed first payment',
    before: challenge,
    job: { job: 'create', plan: 'pro' },
    outcome: { ...PAID_SUBSCRIPTION, plan: 'pro', taken: 2500, made: { stripe: 2, braintree: 1 } },
  },
  {
    name: 'swap to the same frequency',
    before: subscribe,
    job: subscriptionJob('swapAndInvoice', 'pro'),
    outcome: { ...PAID_SUBSCRIPTION, plan: 'pro', taken: 2500 },
  },
  {
    name: 'swap to another frequency',
    before: subscribe,
    job: subscriptionJob('swap', 'yearly'),
    outcome: {
      ...PAID_SUBSCRIPTION,
      plan: 'yearly',
      taken: 10_000,
      made: { stripe: 1, braintree: 2 },
    },
  },
  {
    name: 'cancel',
    before: subscribe,
    job: subscriptionJob('cancel'),
    outcome: { ...PAID_SUBSCRIPTION, state: 'cancelled' },
  },
  {
    name: 'cancelNow',
    before: subscribe,
    job: subscriptionJob('cancelNow'),
    outcome: { ...PAID_SUBSCRIPTION, state: 'ended' },
  },
  {
    name: 'sync of a subscription that ended while a swap awaited payment',
    providers: ['stripe'],
    before: endWhileHeld,
    job: userJob('sync'),
    async outcome({ test, user }, at) {
      const { invoices } = await stripeSdk(test)
      const { data } = await invoices.list({ customer: user.providerId ?? '' })
      expect(data.map(({ status }) => status).sort(), at).toEqual(['paid', 'void'])
      expect(sumChargedCents(test, user), at).toBe(1000)
    },
  },
  {
    name: 'resume',
    before: async (run) => (await subscribe(run)).cancel(),
    job: subscriptionJob('resume'),
    again: resume,
    outcome: PAID_SUBSCRIPTION,
  },
  {
    name: 'cancel in a trial',
    before: beginTrial,
    job: subscriptionJob('cancel'),
    outcome: { ...PAID_SUBSCRIPTION, taken: 0, state: 'cancelled' },
  },
  {
    name: 'resume in a trial',
    before: async (run) => (await beginTrial(run)).cancel(),
    job: subscriptionJob('resume'),
    again: async (run) => {
      await resume(run)
      // The new subscription exists and the row names it; the next operation ends the old one.
      await run.user.sync()
    },
    outcome: { ...PAID_SUBSCRIPTION, taken: 0, made: { stripe: 1, braintree: 2 } },
  },
]

/** Starts a subscription whose first payment awaits the customer's confirmation. */
async function challenge({ user }: StoryRun): Promise<void> {
  if (user.provider !== 'stripe') return
  const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
  await expect(asked).rejects.toThrow(PaymentActionRequired)
}

/** Ends the subscription in the dashboard while a swap awaits the customer's confirmation. */
async function endWhileHeld(run: StoryRun): Promise<void> {
  const subscription = await subscribe(run)
  const user = await run.test.billing.user(run.user.id)
  await user.updateCard('pm_card_authenticationRequired')
  await expect((await findMainSubscription({ user })).swap('yearly')).rejects.toThrow(
    PaymentActionRequired,
  )
  const { subscriptions: atStripe } = await stripeSdk(run.test)
  await atStripe.cancel(subscription.providerId)
}

/**
 * Resumes the subscription. Accepts NotOnGracePeriod, because the first attempt may have succeeded.
 */
export async function resume(run: StoryRun): Promise<void> {
  await (await findMainSubscription(run)).resume().catch((error: unknown) => {
    if (!(error instanceof NotOnGracePeriod)) throw error
  })
}
