import { describe, expect, it } from 'vitest'
import type { BillableUser } from '../src/index.ts'
import { deliver, endAtProvider } from './signed-event.ts'
import { catchError } from './specification/no-calls.ts'
import { PROVIDERS, start, sumChargedCents } from './support.ts'

// Tests the statements of docs/reference/billing.md about differences between the providers.

describe.each(PROVIDERS)(
  'behaviour at $provider that the guides describe',
  ({ provider, card, declined }) => {
    it('cancel() in a trial keeps access until the trial ends, charges nothing, and can be resumed', async () => {
      const test = await start(provider, { webhooks: false })
      const { user } = test
      const made = await user.newSubscription('main', 'monthly').trialDays(10).create(card)
      await made.cancel()
      expect([made.endsAt, made.onGracePeriod()]).toEqual([made.trialEndsAt, true])
      const status = provider === 'stripe' ? 'trialing' : 'Canceled'
      expect(made.providerStatus).toBe(status)
      expect(await user.subscribed('main')).toBe(true)
      const { providerId, trialEndsAt } = made
      await made.resume()
      expect([made.trialEndsAt, made.endsAt]).toEqual([trialEndsAt, null])
      // Braintree has cancelled the subscription, so another one replaces it.
      expect(made.providerId === providerId).toBe(provider === 'stripe')
      await made.cancel()
      await test.advance({ days: 11 })
      expect([await user.subscribed('main'), sumChargedCents(test, user)]).toEqual([false, 0])
    })

    it('an invoice shows the tax that was charged, even if the tax percentage has changed since', async () => {
      let percentage = 19
      const test = await start(provider, { webhooks: false, taxPercentage: () => percentage })
      const { user } = test
      const made = await user.newSubscription('main', 'monthly').create(card)
      const taxes = async () => {
        const invoices = await user.invoicesIncludingPending()
        return invoices.map((invoice) => [invoice.total(), invoice.tax()])
      }
      percentage = 7
      expect(await taxes()).toEqual([['$11.90', '$1.90']])
      await test.advance({ days: 32 })
      // `syncTaxPercentage()` was not called yet.
      expect(await taxes()).toEqual([
        ['$11.90', '$1.90'],
        ['$11.90', '$1.90'],
      ])
      await made.syncTaxPercentage()
      await test.advance({ days: 31 })
      expect(await taxes()).toEqual([
        ['$10.70', '$0.70'],
        ['$11.90', '$1.90'],
        ['$11.90', '$1.90'],
      ])
    })

    it('webhooks are handled immediately with processEvery: false, but retried only by process()', async () => {
      const secret = 'whsec_documented'
      const test = await start(provider, { webhooks: false })
      const { sandbox } = test
      const handled: string[] = []
      const stripe = { secret: sandbox.stripe.apiKey, config: sandbox.stripe.config }
      const handle = async (_event: unknown, { runDefault }: { runDefault(): Promise<void> }) => {
        handled.push('attempt')
        if (handled.length === 1) throw new Error('Later')
        await runDefault()
      }
      const billing = test.another({
        stripe: { ...stripe, webhookSecret: secret },
        processEvery: false,
        handlers: { handleCustomerSubscriptionDeleted: handle, handleSubscriptionCanceled: handle },
      })
      const user = await billing.user(test.user.id)
      const made = await user.newSubscription('main', 'monthly').create(card)
      const event = await endAtProvider(test, provider, made.providerId, secret)
      expect(await deliver(billing, event)).toBe(200)
      await expect.poll(() => handled.length).toBe(1)
      await expect.poll(() => billing.webhooks.pending().then(({ length }) => length)).toBe(1)
      await sandbox.clock.advance({ minutes: 1 })
      expect([handled.length, await user.subscribed('main')]).toEqual([1, true])
      await billing.process()
      expect([handled.length, await user.subscribed('main')]).toEqual([2, false])
    })

    const other = provider === 'stripe' ? 'braintree' : 'stripe'
    const states: [string, string, (user: BillableUser) => Promise<unknown>][] = [
      ['the user has no customer yet', 'done', async () => null],
      ['the customer has only a card', 'done', (user) => user.updateCard(card)],
      [
        'the first payment was declined',
        'done',
        (user) => catchError(() => user.newSubscription('main', 'monthly').create(declined)),
      ],
      [
        'a trial runs',
        'already_subscribed',
        (user) => user.newSubscription('main', 'monthly').trialDays(10).create(card),
      ],
      [
        'a trial was ended before it cost anything',
        'done',
        async (user) =>
          (await user.newSubscription('main', 'monthly').trialDays(10).create(card)).cancelNow(),
      ],
      [
        'a subscription runs',
        'already_subscribed',
        (user) => user.newSubscription('main', 'monthly').create(card),
      ],
      [
        'a subscription was paid for, and has ended',
        'provider_chosen',
        async (user) => (await user.newSubscription('main', 'monthly').create(card)).cancelNow(),
      ],
      [
        'a single charge was paid',
        'provider_chosen',
        async (user) => {
          await user.updateCard(card)
          await user.charge(provider === 'stripe' ? 500 : 5)
        },
      ],
    ]
    it.each(states)(
      'chooseProvider() when %s has this result: %s',
      async (_state, expected, act) => {
        const test = await start(provider, { webhooks: false })
        await act(test.user)
        const outcome = await test.user.chooseProvider(other).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        )
        expect(outcome).toBe(expected)
        expect((await test.billing.user(test.user.id)).provider).toBe(
          expected === 'done' ? other : provider,
        )
      },
    )
  },
)

describe('behaviour of one provider that the guides describe', () => {
  it('chooseProvider() at Stripe throws ProviderChosen while an invoice is open', async () => {
    const { user } = await start('stripe', { webhooks: false })
    await user.updateCard('pm_card_chargeCustomerFail')
    const error = await catchError(() => user.invoiceFor('Setup', 1000))
    await expect(user.chooseProvider('braintree')).rejects.toMatchObject({
      code: 'provider_chosen',
      message: expect.stringContaining('or payments due, at stripe'),
    })
    await (error as { invoice: { void(): Promise<unknown> } }).invoice.void()
    await user.chooseProvider('braintree')
    expect(user.provider).toBe('braintree')
  })

  it('an invoice at Braintree shows the current tax percentage if no tax is stored for its subscription', async () => {
    const test = await start('braintree', { webhooks: false, taxPercentage: () => 19 })
    const { user } = test
    await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    await test.database.kysely.deleteFrom('billing_taxes').execute()
    const other = test.another({ taxPercentage: () => 7 })
    const [invoice] = await (await other.user(user.id)).invoicesIncludingPending()
    expect([invoice?.total(), invoice?.tax()]).toEqual(['$11.90', '$0.78'])
  })
})
