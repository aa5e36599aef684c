import { describe, expect, it } from 'vitest'
import { START, sumChargedCents } from '../../../../test/support.ts'
import { InvalidArgument, type MeteredPrice } from '../../../index.ts'
import { advanceToNextPeriod, startWithChargedUsage } from './charged.ts'

const DAY = 86_400_000
const UNIT: MeteredPrice = { unitAmount: 100 }
const VOLUME: MeteredPrice = {
  mode: 'volume',
  tiers: [
    { upTo: 10, unitAmount: 100 },
    { upTo: null, unitAmount: 50 },
  ],
}
const GRADUATED: MeteredPrice = {
  mode: 'graduated',
  tiers: [
    { upTo: 10, unitAmount: 100, flatAmount: 500 },
    { upTo: null, unitAmount: 50 },
  ],
}

describe('usage at Braintree that is reported after its period was charged', () => {
  it.each<[string, MeteredPrice, readonly number[], readonly number[]]>([
    ['corrections, and usage after them', UNIT, [10, -5, 5, 1], [1000, 1000, 1000, 1100]],
    ['a negative total', UNIT, [2, -5, 4], [200, 200, 200]],
    ['a volume price that has become cheaper', VOLUME, [10, 1, 10], [1000, 1000, 1050]],
    ['tiers that are filled', GRADUATED, [8, 4, -2, 3], [1300, 1600, 1600, 1650]],
    ['packages', { unitAmount: 300, packageSize: 10 }, [1, 8, 1, 1], [300, 300, 300, 600]],
    ['included units', { unitAmount: 10, included: 5 }, [4, 2, -3, 4], [0, 10, 10, 20]],
  ])('costs only the difference to the earlier charge: %s', async (_what, price, reports, paid) => {
    const test = await startWithChargedUsage(price)
    const { user, billing } = test
    const [first = 0, ...late] = reports
    await user.reportUsage('calls', first)
    await advanceToNextPeriod(test)
    const taken = [sumChargedCents(test, user) - 2000]
    const at = new Date(START.getTime() + 5 * DAY)
    for (const value of late) {
      await user.reportUsage('calls', value, { at })
      await billing.process()
      taken.push(sumChargedCents(test, user) - 2000)
    }
    expect(taken).toEqual(paid)
    expect(await billing.usage.pending()).toEqual([])
  })

  it('is priced as in its period, even if the price has changed since', async () => {
    const test = await startWithChargedUsage(UNIT)
    const { user, billing, sandbox } = test
    await user.reportUsage('calls', 10)
    await advanceToNextPeriod(test)
    await billing.process()
    const dearer = { ...sandbox.braintree.config, metered: { calls: { unitAmount: 120 } } }
    const other = test.another({ braintree: dearer })
    const at = new Date(START.getTime() + 5 * DAY)
    await (await other.user(user.id)).reportUsage('calls', 1, { at })
    await other.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 11 * 100)
  })

  it('cannot be cancelled after it was charged, and the error recommends a refund', async () => {
    const test = await startWithChargedUsage(UNIT)
    const { user, sandbox } = test
    await user.reportUsage('calls', 10, { id: 'a' })
    await advanceToNextPeriod(test)
    await expect(user.cancelUsage('a')).rejects.toThrow(/charged.*refund/s)
    await sandbox.clock.advance({ days: 2 })
    const later = user.cancelUsage('a')
    await expect(later).rejects.toThrow(InvalidArgument)
    await expect(later).rejects.toThrow(/charged.*refund/s)
  })
})
