import { describe, expect, it } from 'vitest'
import { type FlowTest, start, sumChargedCents } from '../../../../test/support.ts'
import type { MeteredPrice } from '../../../index.ts'
import { advanceToNextPeriod, startWithChargedUsage, TEST_CARD_NONCE } from './charged.ts'

/** Each call beyond the first five of a period costs ten cents. */
const PRICE: MeteredPrice = { unitAmount: 10, included: 5 }

/**
 * Reports seven calls in each of these months, and returns the total that was charged after each.
 */
async function takenMonthly(test: FlowTest, months: number): Promise<number[]> {
  const { user, billing } = test
  const taken: number[] = []
  for (let month = 0; month < months; month++) {
    await user.reportUsage('calls', 7)
    await billing.process()
    await advanceToNextPeriod(test)
    taken.push(sumChargedCents(test, user))
  }
  return taken
}

describe('metered usage at Braintree, charged at the end of each billing period,', () => {
  it('is charged even if the plan is free', async () => {
    const prices = { monthly: { amount: 0, months: 1 } }
    const test = await startWithChargedUsage(PRICE, { prices })
    expect(await takenMonthly(test, 3)).toEqual([20, 40, 60])
    expect(await test.billing.usage.pending()).toEqual([])
  })

  it('is charged even if a coupon covers the price of the plan', async () => {
    const test = await start('braintree', { webhooks: false, metered: { calls: PRICE } })
    const { user, sandbox } = test
    sandbox.braintree.defineDiscount({ id: 'FREE', amount: 1000, numberOfBillingCycles: 2 })
    await user.newSubscription('main', 'monthly').withCoupon('FREE').create(TEST_CARD_NONCE)
    expect(await takenMonthly(test, 4)).toEqual([20, 1040, 2060, 3080])
  })

  it("is charged even if the customer's credit covers the price of the plan", async () => {
    const test = await start('braintree', { webhooks: false, metered: { calls: PRICE } })
    const { user } = test
    const made = await user.newSubscription('main', 'pro').create(TEST_CARD_NONCE)
    await made.swap('monthly')
    // 15.00 are left: they pay for the second period and half of the third.
    expect(await takenMonthly(test, 3)).toEqual([2520, 3040, 4060])
  })

  it('is charged if periods last several months and begin on the last day of a month', async () => {
    const now = new Date('2026-08-31T10:00:00Z')
    const metered = { calls: PRICE }
    const prices = { quarterly: { amount: 0, months: 3 } }
    const test = await start('braintree', { webhooks: false, metered, now, prices })
    const { user, billing, sandbox } = test
    await user.newSubscription('main', 'quarterly').create(TEST_CARD_NONCE)
    const useOn = async (day: string) => {
      await sandbox.clock.advanceTo(new Date(`${day}T10:00:00Z`))
      await billing.process()
      await user.reportUsage('calls', 7)
    }
    await useOn('2026-11-29')
    await useOn('2026-11-30')
    expect(sumChargedCents(test, user)).toBe(20)
    await useOn('2027-02-27')
    await useOn('2027-02-28')
    // Fourteen calls since the end of November.
    expect(sumChargedCents(test, user)).toBe(20 + 90)
  })
})
