import { describe, expect, it } from 'vitest'
import { type BillableUser, isBillingError, ProviderUnavailable } from '../src/index.ts'
import {
  countProviderCustomers,
  countProviderSubscriptions,
  type FlowTest,
  start,
  sumChargedCents,
  sumRefundedCents,
} from './support.ts'

/** Calls that create something under an idempotency key, each with the expected charge. */
const CALLS: readonly {
  readonly name: string
  readonly taken: number
  readonly act: (user: BillableUser, test: FlowTest) => Promise<unknown>
}[] = [
  {
    name: 'create',
    taken: 1190,
    act: (user) => user.newSubscription('main', 'monthly').create('pm_card_visa'),
  },
  {
    name: 'create in the past',
    taken: 1190,
    act: (user) =>
      user
        .newSubscription('main', 'monthly')
        .backdate(new Date('2025-12-15T10:00:00Z'))
        .noProrate()
        .create('pm_card_visa'),
  },
  {
    name: 'create without a card',
    taken: 0,
    act: (user) => user.newSubscription('main', 'monthly').trialDays(9).withoutCard().create(),
  },
  {
    name: 'charge',
    taken: 1000,
    act: async (user) => {
      await user.updateCard('pm_card_visa')
      return user.charge(1000, { idempotencyKey: `charge-${user.id}` })
    },
  },
  {
    name: 'invoiceFor',
    taken: 1000,
    act: async (user) => {
      await user.updateCard('pm_card_visa')
      return user.invoiceFor('Setup', 1000, { idempotencyKey: `invoice-${user.id}` })
    },
  },
  {
    name: 'refund',
    taken: 1000,
    async act(user, test) {
      await user.updateCard('pm_card_visa')
      const payment = await user.charge(1000, { idempotencyKey: `charge-${user.id}` })
      const amount = { amount: 300, idempotencyKey: `refund-${user.id}` }
      await user.refund((payment as { id: string }).id, amount)
      expect(sumRefundedCents(test, user)).toBe(300)
    },
  },
  {
    name: 'createTaxId',
    taken: 1000,
    async act(user) {
      await user.updateCard('pm_card_visa')
      await user.createTaxId('eu_vat', 'DE123456789')
      await user.invoiceFor('Setup', 1000, { idempotencyKey: `invoice-${user.id}` })
      expect(await user.taxIds()).toHaveLength(1)
    },
  },
  {
    name: 'creditBalance',
    taken: 700,
    async act(user) {
      await user.updateCard('pm_card_visa')
      await user.creditBalance(300, 'Welcome', { gift: true, idempotencyKey: `gift-${user.id}` })
      await user.invoiceFor('Setup', 1000, { idempotencyKey: `invoice-${user.id}` })
    },
  },
  {
    name: 'checkout',
    taken: 1190,
    async act(user, { sandbox }) {
      try {
        const { id } = await user.checkout('monthly', { name: 'main', successPath: '/done' })
        sandbox.stripe.completeCheckout(id)
        await user.completeCheckout(id)
      } catch (error) {
        // The subscription was paid in the first attempt, and the customer did not return.
        if (!isBillingError(error, 'already_subscribed')) throw error
      }
    },
  },
]

describe('a 500 that Stripe repeats for an idempotency key', () => {
  it.each(
    CALLS.flatMap((call) =>
      (['saved-500', 'made-500'] as const).map((trouble) => ({ ...call, trouble })),
    ),
  )(
    'neither blocks retries nor causes duplicates (call: $name, case: $trouble)',
    async ({ act, taken, trouble }) => {
      const test = await start('stripe', { taxPercentage: () => 19, webhooks: false })
      const { sandbox } = test
      for (let call = 0, wasHit = true; wasHit && call < 25; call++) {
        const user = await test.createUser({ email: `user-${call}@example.com` })
        sandbox.trouble.failNext(call, { slowMs: 0 }, 'stripe')
        sandbox.trouble.failNext(1, trouble, 'stripe')
        const first = await act(user, test).catch((error: unknown) => error)
        wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        if (first instanceof Error) expect(first).toBeInstanceOf(ProviderUnavailable)
        await act(user, test)
        await test.advance({ days: 20 })
        expect(sumChargedCents(test, user), `call ${call}`).toBe(taken)
        expect(countProviderSubscriptions(test, user)).toBeLessThanOrEqual(1)
        expect(countProviderCustomers(test, 'stripe')).toBe(call + 1)
      }
    },
  )

  it('does not prevent a retry of create() if the lookup after the 500 fails too', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user.updateCard('pm_card_visa')
    // Customer, card and subscriptions are read first; then the subscription is created, and looked
    // up.
    for (let call = 0; call < 12; call++) {
      sandbox.trouble.failNext(call, { slowMs: 0 }, 'stripe')
      sandbox.trouble.failNext(1, 'made-500', 'stripe')
      sandbox.trouble.failNext(1, '500', 'stripe')
      const failed = await user
        .newSubscription('main', 'monthly')
        .create()
        .catch((error: unknown) => error)
      sandbox.trouble.clear()
      if (/could not be asked/.test(String(failed))) {
        expect(failed).toBeInstanceOf(ProviderUnavailable)
        break
      }
    }
    expect((await user.newSubscription('main', 'monthly').create()).valid()).toBe(true)
    expect(countProviderSubscriptions(test, user)).toBe(1)
    expect(sumChargedCents(test, user)).toBe(1000)
  })
})
