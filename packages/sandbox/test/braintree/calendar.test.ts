import { describe, expect, it } from 'vitest'
import { addCustomer, startMerchant } from './support.ts'

const CASES = [
  // [start, plan, params, first days of the cycles]
  ['2026-01-31', 'monthly', {}, ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']],
  ['2026-01-30', 'monthly', {}, ['2026-01-30', '2026-02-28', '2026-03-31']],
  ['2026-01-29', 'monthly', {}, ['2026-01-29', '2026-02-28', '2026-03-31']],
  ['2026-01-28', 'monthly', {}, ['2026-01-28', '2026-02-28', '2026-03-28']],
  ['2028-01-31', 'monthly', {}, ['2028-01-31', '2028-02-29', '2028-03-31']],
  [
    '2024-02-29',
    'yearly',
    {},
    ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
  ],
  ['2026-11-30', 'quarterly', {}, ['2026-11-30', '2027-02-28', '2027-05-31']],
  ['2026-01-15', 'monthly', { billingDayOfMonth: 15 }, ['2026-01-15', '2026-02-15']],
  ['2026-01-15', 'monthly', { billingDayOfMonth: 10 }, ['2026-02-10', '2026-03-10']],
  ['2026-01-15', 'monthly', { billingDayOfMonth: 31 }, ['2026-01-31', '2026-02-28', '2026-03-31']],
  ['2026-01-15', 'fifth', {}, ['2026-02-05', '2026-03-05']],
  ['2026-01-15', 'fifth', { options: { startImmediately: true } }, ['2026-01-15', '2026-02-05']],
  ['2026-01-15', 'fifth', { firstBillingDate: '2026-01-20' }, ['2026-01-20', '2026-02-20']],
  [
    '2026-01-31',
    'trial',
    { trialDuration: 1, trialDurationUnit: 'month' },
    ['2026-02-28', '2026-03-28'],
  ],
  ['2026-01-15', 'trial', {}, ['2026-01-29', '2026-02-28', '2026-03-31']],
  ['2026-01-15', 'trial', { trialPeriod: false }, ['2026-01-15', '2026-02-15']],
] as const

describe('the billing dates of a Braintree subscription', () => {
  it.each(CASES)(
    'are computed for the start %s, the plan %s and the parameters %o',
    async (now, planId, extra, starts) => {
      const merchant = await startMerchant({ now: `${now}T23:00:00Z` })
      const { gateway, clock, sandbox } = merchant
      sandbox.definePlan({ id: 'quarterly', price: 3000, billingFrequency: 3 })
      sandbox.definePlan({ id: 'fifth', price: 1000, billingDayOfMonth: 5 })
      const { token, customerId } = await addCustomer(merchant)
      const created = await gateway.subscription.create({
        planId,
        paymentMethodToken: token,
        ...extra,
      } as never)
      expect(created.success).toBe(true)
      const last = starts[starts.length - 1] ?? ''
      await clock.advanceTo(new Date(`${last}T23:00:00Z`))
      const periods = sandbox.transactions(customerId).map((row) => row.billingPeriodStart)
      expect(periods).toEqual(starts)
    },
  )

  it('are contiguous: each cycle ends on the day before the next one starts', async () => {
    const merchant = await startMerchant({ now: '2026-01-31T00:00:00Z' })
    const { token, customerId } = await addCustomer(merchant)
    await merchant.gateway.subscription.create({ planId: 'monthly', paymentMethodToken: token })
    await merchant.clock.advance({ months: 3 })
    const rows = merchant.sandbox.transactions(customerId)
    expect(rows.map((row) => row.billingPeriodEnd)).toEqual([
      '2026-02-27',
      '2026-03-30',
      '2026-04-29',
      '2026-05-30',
    ])
  })
})
