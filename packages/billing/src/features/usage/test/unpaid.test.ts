import { describe, expect, it } from 'vitest'
import { sumChargedCents } from '../../../../test/support.ts'
import type { AnyBillingEvent, BillableUser, MailMessage } from '../../../index.ts'
import {
  advanceToNextPeriod,
  declineUsageCharge,
  makeOtherCardDefault,
  startWithChargedUsage,
} from './charged.ts'

describe('unpaid usage at Braintree', () => {
  it('is charged six times at most after the subscription ended, and the last mail announces no further attempt', async () => {
    const told: AnyBillingEvent[] = []
    const mails: MailMessage[] = []
    const test = await startWithChargedUsage(undefined, {
      on: { 'invoice.payment_failed': (event) => told.push(event) },
      mail: { send: async (mail) => mails.push(mail) },
      invoice: { vendor: 'Example Ltd', product: 'Gold' },
    })
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await billing.process()
    await sandbox.clock.advance({ days: 3 })
    const subscription = await user.subscription('main')
    for (let week = 0; week < 8; week++) {
      sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
      if (week === 0) await subscription.cancelNow()
      await billing.process()
      await sandbox.clock.advance({ days: 7, hours: 2 })
    }
    expect(told.map(({ data }) => data)).toMatchObject(
      [1, 2, 3, 4, 5, 6].map((attempt) => ({ attempt, invoice: { number: null } })),
    )
    const nexts = told.map(({ data }) => (data as { nextAttemptAt: string | null }).nextAttemptAt)
    expect(nexts.map((at) => at === null)).toEqual([false, false, false, false, false, true])
    const failed = mails.filter(({ kind }) => kind === 'payment_failed')
    expect(failed).toHaveLength(6)
    expect(failed[0]?.text).toContain('try again')
    expect(failed[5]?.text).not.toContain('try again')
    for (const { text } of failed) expect(text).not.toMatch(/[0-9a-f]{24}/)
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('is still charged after many requests failed with provider errors, which do not count as attempts', async () => {
    const told: AnyBillingEvent[] = []
    const test = await startWithChargedUsage(undefined, {
      on: { 'invoice.payment_failed': (event) => told.push(event) },
    })
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await billing.process()
    await (await user.subscription('main')).cancel()
    sandbox.trouble.failNext(1000, '500', 'braintree')
    await sandbox.clock.advance({ months: 1, hours: 2 })
    for (let hour = 0; hour < 10; hour++) {
      await billing.process()
      await sandbox.clock.advance({ hours: 1 })
    }
    while (sandbox.trouble.takeCallTrouble('braintree')) {
      // Discards the remaining failures: the provider works again.
    }
    sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
    await billing.process()
    expect(told).toMatchObject([{ data: { attempt: 1, nextAttemptAt: expect.any(String) } }])
    await sandbox.clock.advance({ days: 7, hours: 2 })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(1000 + 50)
  })

  it.each<[string, (user: BillableUser) => Promise<unknown>]>([
    [
      'addPaymentMethod({ makeDefault: true })',
      (user) => user.addPaymentMethod('fake-valid-mastercard-nonce', { makeDefault: true }),
    ],
    [
      'updateDefaultPaymentMethod()',
      async (user) => {
        const { id } = await user.addPaymentMethod('fake-valid-mastercard-nonce')
        await user.updateDefaultPaymentMethod(id)
      },
    ],
    ['updateCard()', (user) => user.updateCard('fake-valid-mastercard-nonce')],
    [
      'another subscription with a card',
      (user) => user.newSubscription('free', 'free').create('fake-valid-mastercard-nonce'),
    ],
  ])('is charged again after %s', async (_name, change) => {
    const prices = { monthly: { amount: 1000, months: 1 }, free: { amount: 0, months: 1 } }
    const test = await startWithChargedUsage(undefined, { prices })
    const { user, billing } = test
    await declineUsageCharge(test)
    await change(user)
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(3000 + 50)
  })

  it('is charged again when sync() finds that the default card was changed in the control panel', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await declineUsageCharge(test)
    await makeOtherCardDefault(test)
    await billing.sync({ dryRun: true })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000)
    const { drift } = await billing.sync()
    expect(drift.map(({ what }) => what)).toEqual(['card'])
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
    expect((await billing.sync()).drift).toEqual([])
  })

  it('is charged again when an event about another payment method reveals a new default card', async () => {
    const test = await startWithChargedUsage(undefined, { webhooks: true })
    const { user, billing, sandbox } = test
    await declineUsageCharge(test)
    const [first] = sandbox.braintree.paymentMethods(user.providerId ?? '')
    await makeOtherCardDefault(test)
    sandbox.braintree.notify('payment_method_revoked_by_customer', first?.token ?? '')
    await test.settle()
    expect((await billing.user(user.id)).cardLastFour).toBe('4444')
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
  })

  it.each([
    ['another card', ['fake-valid-mastercard-nonce'], 50],
    ['no card', [], 0],
  ])(
    'is charged after the card is removed only if another card is left (case: %s)',
    async (_, more, paid) => {
      const prices = { monthly: { amount: 1000, months: 1 } }
      const test = await startWithChargedUsage(undefined, { prices })
      const { user, billing, sandbox } = test
      await user.reportUsage('calls', 10)
      await billing.process()
      sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
      await (await user.subscription('main')).cancelNow()
      await billing.process()
      for (const nonce of more) await user.addPaymentMethod(nonce)
      const [first] = (await user.paymentMethods()).filter(({ isDefault }) => isDefault)
      await user.deletePaymentMethod(first?.id ?? '')
      await billing.process()
      expect(sumChargedCents(test, user)).toBe(1000 + paid)
    },
  )

  it('is not charged again when a card is added that does not become the default', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await declineUsageCharge(test)
    await user.addPaymentMethod('fake-valid-mastercard-nonce')
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000)
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(3000 + 50)
  })
})
