import { expect } from 'vitest'
import { NotOnGracePeriod, PaymentActionRequired } from '../../../src/index.ts'
import { stripeSdk, takenFrom } from '../../support.ts'
import {
  type Asking,
  beginTrial,
  main,
  ofSubscription,
  ofUser,
  PAID,
  type Story,
  subscribe,
} from '../story.ts'

export const subscriptions: readonly Story[] = [
  {
    name: 'create',
    atLocks: true,
    job: { job: 'create' },
    outcome: PAID,
  },
  {
    name: 'create after a challenge that nobody answered',
    before: challenge,
    job: { job: 'create', plan: 'pro' },
    outcome: { ...PAID, plan: 'pro', taken: 2500, made: { stripe: 2, braintree: 1 } },
  },
  {
    name: 'swap to the same frequency',
    before: subscribe,
    job: ofSubscription('swapAndInvoice', 'pro'),
    outcome: { ...PAID, plan: 'pro', taken: 2500 },
  },
  {
    name: 'swap to another frequency',
    before: subscribe,
    job: ofSubscription('swap', 'yearly'),
    outcome: { ...PAID, plan: 'yearly', taken: 10_000, made: { stripe: 1, braintree: 2 } },
  },
  {
    name: 'cancel',
    before: subscribe,
    job: ofSubscription('cancel'),
    outcome: { ...PAID, state: 'cancelled' },
  },
  {
    name: 'cancelNow',
    before: subscribe,
    job: ofSubscription('cancelNow'),
    outcome: { ...PAID, state: 'ended' },
  },
  {
    name: 'finding ended what waited for the customer',
    providers: ['stripe'],
    before: endWhileHeld,
    job: ofUser('sync'),
    async outcome({ test, user }, at) {
      const { invoices } = await stripeSdk(test)
      const { data } = await invoices.list({ customer: user.providerId ?? '' })
      expect(data.map(({ status }) => status).sort(), at).toEqual(['paid', 'void'])
      expect(takenFrom(test, user), at).toBe(1000)
    },
  },
  {
    name: 'resume',
    before: async (asking) => (await subscribe(asking)).cancel(),
    job: ofSubscription('resume'),
    again: resume,
    outcome: PAID,
  },
  {
    name: 'cancel in a trial',
    before: beginTrial,
    job: ofSubscription('cancel'),
    outcome: { ...PAID, taken: 0, state: 'cancelled' },
  },
  {
    name: 'resume in a trial',
    before: async (asking) => (await beginTrial(asking)).cancel(),
    job: ofSubscription('resume'),
    again: async (asking) => {
      await resume(asking)
      // The new one stands and the row says so; whoever comes next puts the old one away.
      await asking.user.sync()
    },
    outcome: { ...PAID, taken: 0, made: { stripe: 1, braintree: 2 } },
  },
]

/** A first payment that waits for the customer. */
async function challenge({ user }: Asking): Promise<void> {
  if (user.provider !== 'stripe') return
  const asked = user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired')
  await expect(asked).rejects.toThrow(PaymentActionRequired)
}

/** Ended in the dashboard while a swap waits for the customer. */
async function endWhileHeld(asking: Asking): Promise<void> {
  const subscription = await subscribe(asking)
  const user = await asking.test.billing.user(asking.user.id)
  await user.updateCard('pm_card_authenticationRequired')
  await expect((await main({ user })).swap('yearly')).rejects.toThrow(PaymentActionRequired)
  const { subscriptions: atStripe } = await stripeSdk(asking.test)
  await atStripe.cancel(subscription.providerId)
}

/** After the last step it is done and forgotten: then that is what the application sees. */
/** Takes a cancellation back, also where the first attempt has. */
export async function resume(asking: Asking): Promise<void> {
  await (await main(asking)).resume().catch((error: unknown) => {
    if (!(error instanceof NotOnGracePeriod)) throw error
  })
}
