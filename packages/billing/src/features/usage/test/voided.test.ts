import { describe, expect, it } from 'vitest'
import { loseResponse } from '../../../../test/lost-answers.ts'
import { sumChargedCents } from '../../../../test/support.ts'
import { Busy } from '../../../index.ts'
import { listStoredOperationKinds } from '../../checkout/test/support.ts'
import { advanceToNextPeriod, declineUsageCharge, startWithChargedUsage } from './charged.ts'
import { startWithMeter } from './support.ts'

describe('voidUnbilledUsage(), which cancels usage that was not billed yet,', () => {
  it('prevents every charge for it, and returns as many reports as unbilledUsage() listed (threat Q4)', async () => {
    const test = await startWithChargedUsage()
    const { user } = test
    const other = await test.createUser()
    await other.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    await user.reportUsage('calls', 10)
    await user.reportUsage('calls', 5)
    await user.reportUsage('files', 1)
    await other.reportUsage('calls', 10)
    expect(await user.unbilledUsage()).toEqual([
      { provider: 'braintree', meter: 'calls', reports: 2 },
      { provider: 'braintree', meter: 'files', reports: 1 },
    ])
    expect(await user.voidUnbilledUsage()).toBe(3)
    expect(await user.voidUnbilledUsage()).toBe(0)
    expect(await user.unbilledUsage()).toEqual([])
    await test.billing.process()
    await advanceToNextPeriod(test)
    expect([sumChargedCents(test, user), sumChargedCents(test, other)]).toEqual([2000, 2050])
  })

  it('removes the usage from the amount owed, even if its charge was declined', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await declineUsageCharge(test)
    const subscription = await user.subscription('main')
    expect(await subscription.amountOwed()).toEqual({ amount: 50, currency: 'usd' })
    await user.voidUnbilledUsage()
    expect(await subscription.amountOwed()).toEqual({ amount: 0, currency: 'usd' })
    await user.updateCard('fake-valid-mastercard-nonce')
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it('throws Busy while the outcome of a charge for the usage is unknown', async () => {
    const test = await startWithChargedUsage()
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await sandbox.clock.advance({ months: 1 })
    await sandbox.clock.advance({ hours: 2 })
    for (let after = 0; after < 12; after++) {
      loseResponse(test, 'braintree', { after, how: 'half-written' })
      await billing.process()
      sandbox.trouble.clear()
      if ((await listStoredOperationKinds(test)).includes('usage')) break
      await sandbox.clock.advance({ minutes: 20 })
    }
    await expect(user.voidUnbilledUsage()).rejects.toThrow(Busy)
    expect(await user.unbilledUsage()).toHaveLength(1)
  })

  it('prevents the usage from being sent to Stripe', async () => {
    const test = await startWithMeter()
    const { user, database, billing } = test
    await user
      .newSubscription('main', 'monthly')
      .meteredPrice(await test.price())
      .create()
    await database.transaction((transaction) => user.reportUsage('calls', 10, { transaction }))
    expect(await user.unbilledUsage()).toEqual([{ provider: 'stripe', meter: 'calls', reports: 1 }])
    expect(await user.voidUnbilledUsage()).toBe(1)
    await billing.process()
    expect(await test.states()).toEqual(['cancelled'])
    expect(await test.counted()).toBe('0')
  })
})
