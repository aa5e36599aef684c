import { describe, expect, it } from 'vitest'
import { loseAnswer } from '../../../../test/lost-answers.ts'
import { takenFrom } from '../../../../test/support.ts'
import { Busy } from '../../../index.ts'
import { operationsOf } from '../../checkout/test/support.ts'
import { declined, startCharged, toNextPeriod } from './charged.ts'
import { startMetered } from './support.ts'

describe('usage that is voided before it is billed', () => {
  it('is listed by provider and meter, and is never charged (threat Q4)', async () => {
    const test = await startCharged()
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
    await toNextPeriod(test)
    expect([takenFrom(test, user), takenFrom(test, other)]).toEqual([2000, 2050])
  })

  it('is no longer owed, even if its charge was declined', async () => {
    const test = await startCharged()
    const { user, billing } = test
    await declined(test)
    const subscription = await user.subscription('main')
    expect(await subscription.amountOwed()).toEqual({ amount: 50, currency: 'usd' })
    await user.voidUnbilledUsage()
    expect(await subscription.amountOwed()).toEqual({ amount: 0, currency: 'usd' })
    await user.updateCard('fake-valid-mastercard-nonce')
    await billing.process()
    expect(takenFrom(test, user)).toBe(2000)
  })

  it('is rejected as Busy while the outcome of a charge for it is unknown', async () => {
    const test = await startCharged()
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await sandbox.clock.advance({ months: 1 })
    await sandbox.clock.advance({ hours: 2 })
    for (let after = 0; after < 12; after++) {
      loseAnswer(test, 'braintree', { after, how: 'half-written' })
      await billing.process()
      sandbox.trouble.clear()
      if ((await operationsOf(test)).includes('usage')) break
      await sandbox.clock.advance({ minutes: 20 })
    }
    await expect(user.voidUnbilledUsage()).rejects.toThrow(Busy)
    expect(await user.unbilledUsage()).toHaveLength(1)
  })

  it('never reaches Stripe if it was not sent yet', async () => {
    const test = await startMetered()
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
