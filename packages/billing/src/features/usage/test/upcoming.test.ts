import { describe, expect, it } from 'vitest'
import { start, sumChargedCents } from '../../../../test/support.ts'
import type { MeteredPrice, UpcomingInvoice } from '../../../index.ts'
import {
  advanceToNextPeriod,
  declineUsageCharge,
  startWithChargedUsage,
  TEST_CARD_NONCE,
} from './charged.ts'

const GRADUATED: MeteredPrice = {
  mode: 'graduated',
  tiers: [
    { upTo: 10, unitAmount: 20 },
    { upTo: null, unitAmount: '7.5' },
  ],
}

const shown = (upcoming: UpcomingInvoice | null) =>
  upcoming && {
    date: upcoming.date.toISOString().slice(0, 10),
    total: upcoming.total.amount,
    lines: upcoming.lines.map(({ kind, description, amount }) => [
      kind,
      description,
      amount.amount,
    ]),
    tax: upcoming.includedTax.amount,
  }

describe('the upcoming invoice of metered usage at Braintree', () => {
  it('includes the usage so far with tax, and equals the later charge', async () => {
    const test = await startWithChargedUsage(GRADUATED, { taxPercentage: () => 19 })
    const { user } = test
    const subscription = await user.subscription('main')
    const before = sumChargedCents(test, user)
    expect(shown(await subscription.upcomingInvoice())).toMatchObject({ total: 1190, tax: 190 })
    await user.reportUsage('calls', 13)
    await user.reportUsage('files', 1)
    const upcoming = await subscription.upcomingInvoice()
    // 200 + 23 + 100, plus 19 %.
    expect(shown(upcoming)).toEqual({
      date: '2026-02-15',
      total: 1190 + 384,
      lines: [
        ['item', 'monthly', 1190],
        ['usage', '10 × calls (tier 1)', 238],
        ['usage', '3 × calls (tier 2)', 27],
        ['usage', '1 × File', 119],
      ],
      tax: 190 + 61,
    })
    expect(await user.upcomingInvoice()).toEqual(upcoming)
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user) - before).toBe(upcoming?.total.amount)
    expect(shown(await subscription.upcomingInvoice())).toMatchObject({ total: 1190, tax: 190 })
  })

  it('includes declined charges', async () => {
    const test = await startWithChargedUsage()
    const { user } = test
    await declineUsageCharge(test)
    await user.reportUsage('calls', 4)
    const before = sumChargedCents(test, user)
    const upcoming = await user.upcomingInvoice()
    expect(shown(upcoming)).toMatchObject({
      total: 1000 + 20 + 50,
      lines: [
        ['item', 'monthly', 1000],
        ['usage', '4 × calls', 20],
        ['balance', 'Owed for usage', 50],
      ],
    })
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user) - before).toBe(1070)
  })

  it('includes only the last usage of a cancelled subscription, and is null if there is none', async () => {
    const test = await startWithChargedUsage()
    const { user } = test
    const subscription = await user.subscription('main')
    await subscription.cancel()
    expect(await subscription.upcomingInvoice()).toBeNull()
    await user.reportUsage('calls', 3)
    const upcoming = await subscription.upcomingInvoice()
    expect(shown(upcoming)).toMatchObject({ date: '2026-02-15', total: 15, tax: 0 })
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(1000 + 15)
    expect(await user.upcomingInvoice()).toBeNull()
  })

  it('does not include usage during a trial', async () => {
    const metered = { calls: { unitAmount: 5 } }
    const test = await start('braintree', { webhooks: false, metered })
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').trialDays(10).create(TEST_CARD_NONCE)
    await user.reportUsage('calls', 10)
    expect(shown(await user.upcomingInvoice())).toMatchObject({ date: '2026-01-25', total: 1000 })
    await sandbox.clock.advance({ days: 12 })
    await user.reportUsage('calls', 4)
    expect(shown(await user.upcomingInvoice())).toMatchObject({ date: '2026-02-25', total: 1020 })
  })
})
