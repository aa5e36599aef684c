import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { type AnyBillingEvent, Busy } from '../../../index.ts'
import { startWithMeter } from './support.ts'

describe("metered usage while Stripe's API fails", () => {
  it.each(['429', '500'] as const)(
    'is sent later, and counted once (failure: %s)',
    async (kind) => {
      const { user, billing, sandbox, counted, states } = await startWithMeter()
      sandbox.trouble.failNext(3, kind, 'stripe')
      await user.reportUsage('calls', 5, { id: 'job-1' })
      await billing.process()
      expect(await states()).toEqual(['pending'])
      expect(await billing.usage.pending()).toMatchObject([{ attempts: 1, reference: 'job-1' }])
      await billing.process()
      expect(await billing.usage.pending()).toMatchObject([{ attempts: 1 }])
      for (const minutes of [1, 2, 5]) {
        await sandbox.clock.advance({ minutes })
        await billing.process()
      }
      expect(await states()).toEqual(['sent'])
      expect(await counted()).toBe('5')
    },
  )

  it.each(LOSSES)('is counted once when a response is lost (kind of failure: %s)', async (how) => {
    const test = await startWithMeter()
    const { sandbox, counted, states } = test
    const billing = createImpatientBilling(test)
    const user = await billing.user(test.user.id)
    let reported = 0
    for (let call = 0; call < 3; call++) {
      loseResponse(test, 'stripe', { after: call, how })
      await user.reportUsage('calls', 5, { id: `job-${call}` })
      reported += 5
      await billing.process()
      for (const minutes of [1, 2]) {
        await sandbox.clock.advance({ minutes })
        await billing.process()
      }
      sandbox.trouble.clear()
    }
    expect(new Set(await states())).toEqual(new Set(['sent']))
    expect(await counted()).toBe(String(reported))
  })

  it('is not sent again if its outcome is still unknown after a day, and emits usage.refused', async () => {
    const told: AnyBillingEvent[] = []
    const test = await startWithMeter({ on: { 'usage.refused': (event) => told.push(event) } })
    const { user, billing, sandbox, counted, states } = test
    await billing.usage.meters()
    // The first event is accepted, but the response is lost; then the provider fails.
    sandbox.trouble.failNext(1, 'half-written', 'stripe')
    sandbox.trouble.failNext(1000, '500', 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    for (let hour = 0; hour <= 26; hour++) {
      await billing.process()
      await sandbox.clock.advance({ hours: 1 })
    }
    expect(await states()).toEqual(['refused'])
    await billing.process()
    expect(told).toMatchObject([
      { data: { usage: { id: 'job-1' }, reason: expect.stringContaining('It is unknown') } },
    ])
    while (sandbox.trouble.takeCallTrouble('stripe')) {
      // Discards the remaining failures: the provider works again.
    }
    await billing.process()
    expect(await counted()).toBe('5')
  })

  it("cannot be cancelled after the SDK's own retry was rate-limited, because the first attempt may have been counted", async () => {
    const test = await startWithMeter()
    const { sandbox, counted, states } = test
    const billing = createImpatientBilling(test, 1)
    const user = await billing.user(test.user.id)
    await billing.usage.meters()
    loseResponse(test, 'stripe', { after: 0, how: 'timeout' })
    sandbox.trouble.failNext(1, '429', 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    await billing.process()
    expect(sandbox.trouble.pending().calls).toEqual([])
    expect(await counted()).toBe('5')
    await expect(user.cancelUsage('job-1')).rejects.toThrow(Busy)
    await sandbox.clock.advance({ minutes: 1 })
    await billing.process()
    expect(await states()).toEqual(['sent'])
    expect(await counted()).toBe('5')
    await user.cancelUsage('job-1')
    expect(await counted()).toBe('0')
  })

  it.each(['429', '500'] as const)(
    'is sent days later if no attempt can have been counted (failure: %s)',
    async (kind) => {
      const { user, billing, sandbox, counted, states } = await startWithMeter()
      await billing.usage.meters()
      sandbox.trouble.failNext(1000, kind, 'stripe')
      await user.reportUsage('calls', 5, { id: 'first' })
      await billing.process()
      // After that failure, the meters are read before anything else is sent.
      await user.reportUsage('calls', 7, { id: 'next' })
      for (let hour = 0; hour <= 60; hour++) {
        await billing.process()
        await sandbox.clock.advance({ hours: 1 })
      }
      expect(await states()).toEqual(['refused', 'pending'])
      while (sandbox.trouble.takeCallTrouble('stripe')) {
        // Discards the remaining failures: the provider works again.
      }
      await billing.process()
      expect(await states()).toEqual(['refused', 'sent'])
      expect(await counted()).toBe('7')
    },
  )

  it('is billed on the invoice of its period if it is sent within an hour after the period ended', async () => {
    const test = await startWithMeter()
    const { user, billing, sandbox, price, stripe } = test
    const calls = await price({ unit_amount: 3 })
    await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    const subscription = await user.subscription('main')
    await sandbox.clock.advanceTo(new Date('2026-02-15T09:50:00Z'))
    await billing.usage.meters()
    sandbox.trouble.failNext(1, '500', 'stripe')
    await subscription.reportUsage({ meter: 'calls', value: 100, id: 'last' })
    await billing.process()
    expect(await billing.usage.pending()).toHaveLength(1)
    await sandbox.clock.advanceTo(new Date('2026-02-15T10:30:00Z'))
    await billing.process()
    await subscription.reportUsage({ meter: 'calls', value: 7, id: 'next' })
    await billing.process()
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    const customer = user.providerId ?? ''
    const [renewal] = (await stripe.invoices.list({ customer })).data
    expect(renewal).toMatchObject({ status: 'paid', total: 1000 + 300 })
    await sandbox.clock.advanceTo(new Date('2026-03-15T11:00:00Z'))
    const [next] = (await stripe.invoices.list({ customer })).data
    expect(next).toMatchObject({ status: 'paid', total: 1000 + 21 })
  })
})
