import { describe, expect, it } from 'vitest'
import { type AnyBillingEvent, Busy } from '../../src/index.ts'
import { hasty, LOSSES, loseAnswer } from '../lost-answers.ts'
import { startMetered } from './support.ts'

describe('usage, while the provider is in trouble', () => {
  it.each(['429', '500'] as const)('is sent later, and counted once: %s', async (kind) => {
    const { user, billing, sandbox, counted, states } = await startMetered()
    sandbox.trouble.failNext(3, kind, 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    await billing.usage.process()
    expect(await states()).toEqual(['pending'])
    expect(await billing.usage.pending()).toMatchObject([{ attempts: 1, reference: 'job-1' }])
    await billing.usage.process()
    expect(await billing.usage.pending()).toMatchObject([{ attempts: 1 }])
    for (const minutes of [1, 2, 5]) {
      await sandbox.clock.advance({ minutes })
      await billing.usage.process()
    }
    expect(await states()).toEqual(['sent'])
    expect(await counted()).toBe('5')
  })

  it.each(LOSSES)('is counted once when an answer is lost: %s', async (how) => {
    const test = await startMetered()
    const { sandbox, counted, states } = test
    const billing = hasty(test)
    const user = await billing.user(test.user.id)
    let reported = 0
    for (let call = 0; call < 3; call++) {
      loseAnswer(test, 'stripe', { after: call, how })
      await user.reportUsage('calls', 5, { id: `job-${call}` })
      reported += 5
      await billing.usage.process()
      for (const minutes of [1, 2]) {
        await sandbox.clock.advance({ minutes })
        await billing.usage.process()
      }
      sandbox.trouble.clear()
    }
    expect(new Set(await states())).toEqual(new Set(['sent']))
    expect(await counted()).toBe(String(reported))
  })

  it('is not sent again after a day of which nobody knows, and that is told', async () => {
    const told: AnyBillingEvent[] = []
    const test = await startMetered({ on: { 'usage.refused': (event) => told.push(event) } })
    const { user, billing, sandbox, counted, states } = test
    await billing.usage.meters()
    // The first one is taken, and nobody hears of it; then the provider is away.
    sandbox.trouble.failNext(1, 'half-written', 'stripe')
    sandbox.trouble.failNext(1000, '500', 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    for (let hour = 0; hour <= 26; hour++) {
      await billing.usage.process()
      await sandbox.clock.advance({ hours: 1 })
    }
    expect(await states()).toEqual(['refused'])
    await billing.events.process()
    expect(told).toMatchObject([
      { data: { usage: { id: 'job-1' }, reason: expect.stringContaining('Nobody knows') } },
    ])
    while (sandbox.trouble.takeCallTrouble('stripe')) {
      // The provider is back.
    }
    await billing.usage.process()
    expect(await counted()).toBe('5')
  })

  it('is on its way when the SDK asked again by itself, and was told to come later', async () => {
    const test = await startMetered()
    const { sandbox, counted, states } = test
    const billing = hasty(test, 1)
    const user = await billing.user(test.user.id)
    await billing.usage.meters()
    loseAnswer(test, 'stripe', { after: 0, how: 'timeout' })
    sandbox.trouble.failNext(1, '429', 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    await billing.usage.process()
    expect(sandbox.trouble.pending().calls).toEqual([])
    expect(await counted()).toBe('5')
    await expect(user.cancelUsage('job-1')).rejects.toThrow(Busy)
    await sandbox.clock.advance({ minutes: 1 })
    await billing.usage.process()
    expect(await states()).toEqual(['sent'])
    expect(await counted()).toBe('5')
    await user.cancelUsage('job-1')
    expect(await counted()).toBe('0')
  })

  it.each(['429', '500'] as const)(
    'is sent after days in which it was not asked for: %s',
    async (kind) => {
      const { user, billing, sandbox, counted, states } = await startMetered()
      await billing.usage.meters()
      sandbox.trouble.failNext(1000, kind, 'stripe')
      await user.reportUsage('calls', 5, { id: 'first' })
      await billing.usage.process()
      // Since that one failed, the meters are read before anything else is sent.
      await user.reportUsage('calls', 7, { id: 'next' })
      for (let hour = 0; hour <= 60; hour++) {
        await billing.usage.process()
        await sandbox.clock.advance({ hours: 1 })
      }
      expect(await states()).toEqual(['refused', 'pending'])
      while (sandbox.trouble.takeCallTrouble('stripe')) {
        // The provider is back.
      }
      await billing.usage.process()
      expect(await states()).toEqual(['refused', 'sent'])
      expect(await counted()).toBe('7')
    },
  )

  it('in the hour before an invoice is final still comes onto it, under its own time', async () => {
    const test = await startMetered()
    const { user, billing, sandbox, price, stripe } = test
    const calls = await price({ unit_amount: 3 })
    await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    const subscription = await user.subscription('main')
    await sandbox.clock.advanceTo(new Date('2026-02-15T09:50:00Z'))
    await billing.usage.meters()
    sandbox.trouble.failNext(1, '500', 'stripe')
    await subscription.reportUsage({ meter: 'calls', value: 100, id: 'last' })
    await billing.usage.process()
    expect(await billing.usage.pending()).toHaveLength(1)
    await sandbox.clock.advanceTo(new Date('2026-02-15T10:30:00Z'))
    await billing.usage.process()
    await subscription.reportUsage({ meter: 'calls', value: 7, id: 'next' })
    await billing.usage.process()
    await sandbox.clock.advanceTo(new Date('2026-02-15T11:00:00Z'))
    const customer = user.providerId ?? ''
    const [renewal] = (await stripe.invoices.list({ customer })).data
    expect(renewal).toMatchObject({ status: 'paid', total: 1000 + 300 })
    await sandbox.clock.advanceTo(new Date('2026-03-15T11:00:00Z'))
    const [next] = (await stripe.invoices.list({ customer })).data
    expect(next).toMatchObject({ status: 'paid', total: 1000 + 21 })
  })
})
