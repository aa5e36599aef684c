import { describe, expect, it } from 'vitest'
import { PROVIDERS, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import { PaymentFailed, PaymentOverdue, SubscriptionEnded } from '../../../index.ts'

const BAD = 'pm_card_chargeCustomerFail'

/** A subscription with one paid month, whose second payment failed on every attempt. */
async function unpaid(afterLastRetry: 'cancel' | 'unpaid' | 'past_due') {
  const mails: string[] = []
  const test = await start('stripe', {
    dunning: { afterLastRetry },
    mail: { send: async ({ kind }) => mails.push(kind) },
    invoice: { vendor: 'Example Ltd', product: 'Gold' },
  })
  const { user } = test
  await user.newSubscription('main', 'monthly').create('pm_card_visa')
  await user.updateCard(BAD)
  await test.advance({ months: 1, hours: 2 })
  await test.advance({ days: 16 })
  return { test, user, late: await user.subscription('main'), mails }
}

describe('a subscription that Stripe marks as "unpaid" after the last failed retry', () => {
  it('gives no access, but has not ended, and reports the amount owed', async () => {
    const { user, late } = await unpaid('unpaid')
    expect(late.providerStatus).toBe('unpaid')
    expect([await user.subscribed('main'), late.valid(), late.active()]).toEqual([
      false,
      false,
      false,
    ])
    expect([late.pastDue(), late.incomplete(), late.ended(), late.cancelled()]).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(await late.amountOwed()).toEqual({ amount: 1000, currency: 'usd' })
    await expect(late.requirePaid()).rejects.toThrow(PaymentFailed)
    await expect(late.payNow()).rejects.toThrow(PaymentFailed)
    expect(await user.subscribed('main')).toBe(false)
  })

  it('is reactivated once by concurrent calls of payNow()', async () => {
    const { test, user, late } = await unpaid('unpaid')
    await user.updateCard('pm_card_visa')
    await Promise.all([late.payNow(), (await user.subscription('main')).payNow()])
    await late.payNow()
    expect(await user.subscribed('main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(2000)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user)).toBe(3000)
  })

  it('is reactivated by payNow() months later, for the price of the unpaid month and the current one', async () => {
    const { test, user, late } = await unpaid('unpaid')
    await test.advance({ months: 2, hours: 2 })
    // The month that failed and the current one. The month between was not billed.
    expect((await late.amountOwed())?.amount).toBe(2000)
    expect(sumChargedCents(test, user)).toBe(1000)
    await user.updateCard('pm_card_visa')
    await late.payNow()
    await late.payNow()
    expect(sumChargedCents(test, user)).toBe(3000)
    expect(await user.subscribed('main')).toBe(true)
    expect((await late.amountOwed())?.amount).toBe(0)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user)).toBe(4000)
  })

  it('is reactivated if payNow() can pay only one of two invoices, and the other one is still owed', async () => {
    const { test, user, late } = await unpaid('unpaid')
    await test.advance({ months: 1, hours: 2 })
    await user.updateCard('pm_card_visa')
    const { trouble } = test.sandbox
    trouble.failNext(1, 'held', 'stripe')
    const paying = late.payNow().catch((error: unknown) => error)
    for (let isPaid = false; !isPaid; ) {
      await trouble.untilHeld()
      isPaid = sumChargedCents(test, user) === 2000
      if (isPaid) trouble.declineNextCharge(user.providerId ?? '', 'insufficient_funds')
      else trouble.failNext(1, 'held', 'stripe')
      trouble.release()
    }
    expect(await paying).toBeInstanceOf(PaymentFailed)
    await test.settle()
    expect(await user.subscribed('main')).toBe(true)
    const same = await user.subscription('main')
    expect((await same.amountOwed())?.amount).toBe(1000)
    await same.payNow()
    expect((await same.amountOwed())?.amount).toBe(0)
    expect(sumChargedCents(test, user)).toBe(3000)
  })

  it('rejects a swap, because it would credit a month that was never paid', async () => {
    const { user, late } = await unpaid('unpaid')
    await expect(late.swap('yearly')).rejects.toThrow(PaymentOverdue)
    expect((await user.balance()).amount).toBe(0)
    expect(await user.subscribedToPlan('yearly', 'main')).toBe(false)
  })

  it.each(['cancel', 'cancelNow'] as const)(
    'ends with %s(), and is not charged any more',
    async (how) => {
      const { test, user, late } = await unpaid('unpaid')
      await late[how]()
      await user.updateCard('pm_card_visa')
      await test.advance({ months: 2 })
      expect((await user.subscription('main')).ended()).toBe(true)
      expect(await user.subscribed('main')).toBe(false)
      expect(sumChargedCents(test, user)).toBe(1000)
    },
  )

  it('sends one mail for each failed attempt', async () => {
    const { test, mails } = await unpaid('unpaid')
    await test.advance({ months: 2, hours: 2 })
    await test.settle()
    expect(mails.sort()).toEqual(['receipt', ...Array(4).fill('payment_failed')].sort())
  })
})

describe('a subscription that Stripe leaves "past_due" after the last failed retry', () => {
  it('still gives access, and can be paid by payNow()', async () => {
    const { test, user, late } = await unpaid('past_due')
    expect([late.pastDue(), await user.subscribed('main')]).toEqual([true, true])
    await user.updateCard('pm_card_visa')
    await late.payNow()
    expect([(await user.subscription('main')).pastDue(), sumChargedCents(test, user)]).toEqual([
      false,
      2000,
    ])
  })
})

describe('a subscription cancelled by Stripe after the last failed retry', () => {
  it.each(['open', 'uncollectible'])(
    'rejects payNow(), although its invoice (status %s) can still be paid',
    async (status) => {
      const { test, user, late } = await unpaid('cancel')
      const stripe = await stripeSdk(test)
      const { data } = await stripe.invoices.list({
        customer: user.providerId ?? '',
        status: 'open',
      })
      const bill = data[0]?.id ?? ''
      if (status === 'uncollectible') await stripe.invoices.markUncollectible(bill)
      await user.updateCard('pm_card_visa')
      await expect(late.payNow()).rejects.toThrow(SubscriptionEnded)
      await expect((await user.subscription('main')).payNow()).rejects.toThrow(/create a new one/)
      expect(sumChargedCents(test, user)).toBe(1000)
      // The invoice itself can still be paid.
      const invoice = await user.findInvoice(bill)
      await invoice?.pay()
      expect(sumChargedCents(test, user)).toBe(2000)
      await user.newSubscription('main', 'monthly').create()
      expect(sumChargedCents(test, user)).toBe(3000)
      expect(await user.subscribed('main')).toBe(true)
    },
  )
})

describe.each(PROVIDERS)('payNow() of an ended subscription at $provider', ({ provider, card }) => {
  it('charges nothing', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    await subscription.cancelNow()
    const paying = subscription.payNow()
    // At Braintree we count usage ourselves, and usage is owed after the end as well.
    if (provider === 'stripe') await expect(paying).rejects.toThrow(SubscriptionEnded)
    else await paying
    expect(sumChargedCents(test, user)).toBe(1000)
  })
})
