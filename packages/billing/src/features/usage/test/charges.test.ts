import { describe, expect, it } from 'vitest'
import { LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { START, start, sumChargedCents } from '../../../../test/support.ts'
import {
  type AnyBillingEvent,
  type BillableUser,
  Busy,
  InvalidArgument,
  type MeteredPrice,
  NoSubscription,
  PaymentFailed,
} from '../../../index.ts'
import {
  advanceToNextPeriod,
  declineUsageCharge,
  startWithChargedUsage,
  TEST_CARD_NONCE,
} from './charged.ts'
import { createTieredTerms, PRICING_CASES } from './priced.ts'
import { listUsageValues } from './support.ts'

const DAY = 86_400_000
const INCLUDED: MeteredPrice = { unitAmount: 5, included: 10 }
const GRADUATED = createTieredTerms('graduated').braintree

const main = (user: BillableUser) => user.subscription('main')

describe('metered usage at Braintree', () => {
  it.each([
    ...PRICING_CASES,
    { what: 'usage of the included quantity', braintree: INCLUDED, used: [6, 4], cents: 0 },
    { what: 'usage beyond the included quantity', braintree: INCLUDED, used: [6, 6], cents: 10 },
  ])('is charged at the end of the period: $what', async ({ braintree: price, used, cents }) => {
    const test = await startWithChargedUsage(price)
    const { user, billing } = test
    const subscription = await main(user)
    for (const value of used) await subscription.reportUsage({ meter: 'calls', value })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(1000)
    const total = [...used].reduce<number>((sum, value) => sum + Number(value), 0)
    await test.sandbox.clock.advance({ minutes: 2 })
    expect(listUsageValues(await subscription.usage({ meter: 'calls' }))).toEqual([String(total)])
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(2000 + cents)
    await billing.process()
    await test.sandbox.clock.advance({ days: 2 })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + cents)
    expect(await billing.usage.pending()).toEqual([])
  })

  it('is charged with tax, which its invoice shows', async () => {
    const test = await startWithChargedUsage({ unitAmount: 100 }, { taxPercentage: () => 19 })
    const { user, billing } = test
    await user.reportUsage('calls', 10)
    await user.reportUsage('files', 2)
    await billing.process()
    await advanceToNextPeriod(test)
    const invoices = await user.invoicesIncludingPending()
    const ofUsage = invoices.find(({ lines }) => lines.some(({ isUsage }) => isUsage))
    expect(ofUsage?.data).toMatchObject({
      total: 1428,
      lines: [
        { description: 'calls', quantity: 10, unitAmount: '119', amount: 1190, isUsage: true },
        { description: 'File', quantity: 2, unitAmount: '119', amount: 238, isUsage: true },
      ],
      subtotal: 1428,
      taxes: [{ percentage: '19', amount: 228, inclusive: true }],
    })
    expect(sumChargedCents(test, user)).toBe(2 * 1190 + 1428)
    const found = await user.findInvoice(ofUsage?.id ?? '')
    expect(found?.data.lines).toEqual(ofUsage?.data.lines)
  })

  it('has an invoice with a line for each tier, and one that subtracts earlier charges', async () => {
    const test = await startWithChargedUsage(GRADUATED)
    const { user, billing } = test
    await user.reportUsage('calls', 300)
    await advanceToNextPeriod(test)
    await user.reportUsage('calls', 900, { at: new Date(START.getTime() + DAY) })
    await billing.process()
    const invoices = await user.invoicesIncludingPending()
    const ofUsage = invoices.filter(({ lines }) => lines.some(({ isUsage }) => isUsage))
    const shown = ofUsage.map(({ data }) =>
      data.lines.map((line) => [line.description, line.quantity, line.unitAmount, line.amount]),
    )
    expect(shown.sort((a, b) => a.length - b.length)).toEqual([
      [
        ['calls (tier 1)', 100, '0', 0],
        ['calls (tier 2)', 200, '0.5', 100],
      ],
      [
        ['calls (tier 1)', 100, '0', 0],
        ['calls (tier 2)', 900, '0.5', 450],
        ['calls (tier 3)', 200, '0.25', 50],
        ['calls (charged before)', 1, '-100', -100],
      ],
    ])
    expect(sumChargedCents(test, user)).toBe(2000 + 500)
  })

  it('costs only the difference if it is reported late, and is priced separately in each period', async () => {
    const test = await startWithChargedUsage(GRADUATED)
    const { user, billing, sandbox } = test
    const subscription = await main(user)
    await subscription.reportUsage({ meter: 'calls', value: 600 })
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(2000 + 250)
    const at = new Date(START.getTime() + 5 * DAY)
    await subscription.reportUsage({ meter: 'calls', value: 500, at })
    await subscription.reportUsage({ meter: 'calls', value: 150 })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 450 + 25)
    await sandbox.clock.advance({ days: 1 })
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(3000 + 450 + 25 + 25)
  })

  it('is charged for each period separately after no process was running for two periods', async () => {
    const test = await startWithChargedUsage({ unitAmount: 10, included: 5 })
    const { user, sandbox, database } = test
    const subscription = await main(user)
    const report = (value: number) =>
      database.transaction((transaction) =>
        subscription.reportUsage({ meter: 'calls', value, transaction }),
      )
    await report(7)
    await sandbox.clock.advance({ months: 1 })
    await sandbox.clock.advance({ hours: 2 })
    await report(9)
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(3000 + 20 + 40)
  })

  it('is charged at the end of a subscription', async () => {
    const test = await startWithChargedUsage()
    const { user, billing, sandbox } = test
    const subscription = await main(user)
    await subscription.reportUsage({ meter: 'calls', value: 10 })
    await billing.process()
    await sandbox.clock.advance({ days: 3 })
    await subscription.cancelNow()
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(1000 + 50)
    const ending = await user.newSubscription('other', 'monthly').create()
    await ending.reportUsage({ meter: 'calls', value: 4 })
    await ending.cancel()
    await advanceToNextPeriod(test, 2)
    expect(sumChargedCents(test, user)).toBe(2000 + 50 + 20)
    expect(await billing.usage.pending()).toEqual([])
  })

  it('is free during a trial', async () => {
    const metered = { calls: { unitAmount: 5, included: 2 } }
    const test = await start('braintree', { webhooks: false, metered })
    const { user, sandbox, billing } = test
    await user.newSubscription('main', 'monthly').trialDays(10).create(TEST_CARD_NONCE)
    await (await main(user)).reportUsage({ meter: 'calls', value: 10 })
    await billing.process()
    await sandbox.clock.advance({ days: 12 })
    await (await main(user)).reportUsage({ meter: 'calls', value: 5 })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(1000)
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(2000 + 15)
  })

  it('is still owed after a declined charge, which an event reports, and can be paid by payNow()', async () => {
    const told: AnyBillingEvent[] = []
    const on = { 'invoice.payment_failed': (event: AnyBillingEvent) => told.push(event) }
    const test = await startWithChargedUsage({ unitAmount: 5 }, { on })
    const { user, billing, sandbox } = test
    const subscription = await main(user)
    await subscription.reportUsage({ meter: 'calls', value: 10, id: 'job-1' })
    await billing.process()
    await sandbox.clock.advance({ months: 1 })
    sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
    await sandbox.clock.advance({ hours: 2 })
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000)
    expect(told).toMatchObject([
      { data: { attempt: 1, invoice: { amountDue: { amount: 50, currency: 'usd' } } } },
    ])
    expect(await subscription.amountOwed()).toEqual({ amount: 50, currency: 'usd' })
    await expect(user.cancelUsage('job-1')).rejects.toThrow(Busy)
    sandbox.trouble.declineNextCharge(user.providerId ?? '', '2001')
    await expect(subscription.payNow()).rejects.toThrow(PaymentFailed)
    await subscription.payNow()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
    expect(await subscription.amountOwed()).toEqual({ amount: 0, currency: 'usd' })
    await subscription.payNow()
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(3000 + 50)
  })

  it('is charged to the new card after a declined charge and updateCard()', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await declineUsageCharge(test)
    await user.updateCard('fake-valid-mastercard-nonce')
    await billing.process()
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
  })

  it.each(LOSSES)(
    'is charged once, whichever response is lost (kind of failure: %s)',
    async (how) => {
      for (let call = 0, wasHit = true; wasHit && call < 12; call++) {
        const test = await startWithChargedUsage()
        const { user, billing, sandbox } = test
        await (await main(user)).reportUsage({ meter: 'calls', value: 10 })
        await billing.process()
        await sandbox.clock.advance({ months: 1 })
        await sandbox.clock.advance({ hours: 2 })
        loseResponse(test, 'braintree', { after: call, how })
        await billing.process()
        wasHit = sandbox.trouble.takeCallTrouble('braintree') === null
        while (sandbox.trouble.takeCallTrouble('braintree')) {
          // Discards the failures that no call has met.
        }
        for (const minutes of [1, 2, 20]) {
          await sandbox.clock.advance({ minutes })
          await billing.process()
        }
        expect(sumChargedCents(test, user), `call ${call}`).toBe(2000 + 50)
        expect(await billing.usage.pending()).toEqual([])
        const open = await test.database.kysely
          .selectFrom('billing_operations')
          .selectAll()
          .execute()
        expect(open).toEqual([])
      }
    },
  )

  it('is charged once by concurrent processes', async () => {
    const test = await startWithChargedUsage()
    const { user, billing, sandbox } = test
    const processes = [billing, test.another(), test.another()]
    const report = () => user.reportUsage('calls', 10, { id: 'job-1' })
    await Promise.all(Array.from({ length: 20 }, report))
    await billing.process()
    await sandbox.clock.advance({ months: 1 })
    await sandbox.clock.advance({ hours: 2 })
    await Promise.all(processes.map((each) => each.process()))
    expect(sumChargedCents(test, user)).toBe(2000 + 50)
  })

  it('can be cancelled until it is charged, and is rejected if no price is configured for its meter', async () => {
    const test = await startWithChargedUsage()
    const { user, billing } = test
    await user.reportUsage('calls', 10, { id: 'a' })
    await user.reportUsage('calls', 4, { id: 'b' })
    await billing.process()
    await user.cancelUsage('a')
    await advanceToNextPeriod(test)
    expect(sumChargedCents(test, user)).toBe(2000 + 20)
    await expect(user.cancelUsage('b')).rejects.toThrow(InvalidArgument)
    await expect(user.reportUsage('minutes', 1)).rejects.toThrow(InvalidArgument)
    const subscription = await main(user)
    const unknown = subscription.reportUsage({ price: 'minutes', value: 1 })
    await expect(unknown).rejects.toThrow(InvalidArgument)
    const stranger = await test.createUser()
    await stranger.updateCard('fake-valid-mastercard-nonce')
    await expect(stranger.reportUsage('calls', 1)).rejects.toThrow(NoSubscription)
  })

  it('is counted once if its id is repeated, for the subscription in the first report', async () => {
    const test = await startWithChargedUsage()
    const { user, sandbox } = test
    const first = await main(user)
    const report = await user.reportUsage('calls', 3, { id: 'a' })
    await sandbox.clock.advance({ days: 1 })
    const second = await user.newSubscription('second', 'monthly').create(TEST_CARD_NONCE)
    const again = { meter: 'calls', value: 3, id: 'a' }
    expect(await user.reportUsage('calls', 3, { id: 'a' })).toEqual(report)
    expect(await first.reportUsage(again)).toEqual(report)
    await expect(second.reportUsage(again)).rejects.toThrow(InvalidArgument)
    for (const subscription of [first, second]) await subscription.cancelNow()
    await sandbox.clock.advance({ minutes: 10 })
    const ended = await main(user)
    expect(await user.reportUsage('calls', 3, { id: 'a' })).toMatchObject({ id: 'a', value: '3' })
    expect(await ended.reportUsage(again)).toMatchObject({ id: 'a', value: '3' })
    await expect(user.reportUsage('calls', 3, { id: 'b' })).rejects.toThrow(NoSubscription)
  })

  it('can be summed up by day from the rows of billing', async () => {
    const { user } = await startWithChargedUsage()
    const hours = [0, 0.5, 1, 26]
    for (const back of hours) {
      const at = new Date(START.getTime() - back * 3_600_000)
      await user.reportUsage('calls', '1.5', { at })
    }
    const from = new Date(START.getTime() - 26 * 3_600_000)
    const to = new Date(START.getTime() + 1000)
    const days = await user.usage('calls', { from, to, by: 'day' })
    expect(days).toEqual([
      { from: new Date('2026-01-14'), to: new Date('2026-01-15'), value: '1.5' },
      { from: new Date('2026-01-15'), to: new Date('2026-01-16'), value: '4.5' },
    ])
    expect(listUsageValues(await user.usage('calls', { from, to }))).toEqual(['6'])
  })
})
