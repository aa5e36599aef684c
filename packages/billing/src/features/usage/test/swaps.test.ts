import { describe, expect, it } from 'vitest'
import { START, sumChargedCents } from '../../../../test/support.ts'
import { SubscriptionEnded } from '../../../index.ts'
import { type MeteredTest, startWithMeter } from './support.ts'

const month = ({ sandbox }: MeteredTest, n: number) =>
  sandbox.clock.advanceTo(new Date(Date.UTC(2026, n, 15, 12)))

describe('a metered price', () => {
  it('can replace the main price by swap(), without a quantity', async () => {
    const test = await startWithMeter()
    const { user, billing } = test
    const calls = await test.price({ unit_amount: 7 })
    const made = await user.newSubscription('main', 'monthly').create()
    await made.swap(calls)
    const swapped = await (await user.subscription('main')).swap(calls)
    expect(swapped.items()).toEqual([{ price: calls, quantity: 1, isMain: true }])
    await swapped.reportUsage({ price: calls, value: 300 })
    await billing.process()
    await month(test, 1)
    // The ten dollars that were paid for the month are credited.
    expect(sumChargedCents(test, user)).toBe(1000 + 2100 - 1000)
    const back = await swapped.swap('monthly')
    expect(back.items()).toEqual([{ price: 'monthly', quantity: 1, isMain: true }])
  })

  it('can replace an additional price, all prices, or the main price at the end of the period', async () => {
    const test = await startWithMeter()
    const { user } = test
    const calls = await test.price({ unit_amount: 7 })
    const made = await user.newSubscription('main', 'monthly').price('pro').create()
    const replaced = await made.swapItem('pro', calls)
    expect(replaced.findItem(calls)).toMatchObject({ quantity: null })
    const swapped = await replaced.swap([{ price: 'pro' }, { price: calls }])
    expect(swapped.findItem(calls)).toMatchObject({ quantity: null })
    await swapped.removePrice(calls)
    const planned = await swapped.swapAtPeriodEnd(calls)
    expect((await planned.plannedSwap())?.items).toEqual([{ price: calls, quantity: null }])
    await month(test, 1)
    await user.sync()
    expect((await user.subscription('main')).providerPlan).toBe(calls)
  })

  it('is part of the upcoming invoice, to the cent', async () => {
    const test = await startWithMeter()
    const { user, billing } = test
    const calls = await test.price({ unit_amount_decimal: '0.5' as never })
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    expect((await made.upcomingInvoice())?.total.amount).toBe(1000)
    await made.reportUsage({ price: calls, value: 1001 })
    await billing.process()
    const upcoming = await made.upcomingInvoice()
    expect(upcoming?.total.amount).toBe(1000 + 501)
    const ofUsage = upcoming?.lines.filter(({ kind }) => kind === 'usage') ?? []
    expect(ofUsage.map(({ amount }) => amount.amount)).toEqual([501])
    await month(test, 1)
    expect(sumChargedCents(test, user)).toBe(2000 + 501)
  })
})

describe('usage at Stripe for a period that was already billed', () => {
  async function startWarned() {
    const warned: string[] = []
    const logger = { error: () => undefined, warn: (words: string) => void warned.push(words) }
    return { warned, test: await startWithMeter({ logger }) }
  }

  it('is counted by Stripe but not billed, and a warning is logged', async () => {
    const { warned, test } = await startWarned()
    const { user, billing, sandbox } = test
    const calls = await test.price({ unit_amount: 50 })
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await sandbox.clock.advanceTo(new Date('2026-02-15T10:50:00Z'))
    const at = new Date('2026-02-14T10:00:00Z')
    await made.reportUsage({ price: calls, value: 1, id: 'in-time', at })
    await billing.process()
    expect(warned).toEqual([])
    await month(test, 1)
    expect(sumChargedCents(test, user)).toBe(2050)
    await made.reportUsage({ price: calls, value: 1, id: 'late', at })
    await billing.process()
    expect(warned).toEqual([expect.stringContaining('calls (late)')])
    await month(test, 2)
    expect(sumChargedCents(test, user)).toBe(3050)
  })

  it('causes a warning even if the report does not name a subscription', async () => {
    const { warned, test } = await startWarned()
    const { user, billing, sandbox } = test
    const calls = await test.price({ unit_amount: 50 })
    await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await user.newSubscription('other', 'yearly').create()
    await sandbox.clock.advanceTo(new Date('2026-02-15T10:50:00Z'))
    const at = new Date('2026-02-14T10:00:00Z')
    await user.reportUsage('calls', 1, { id: 'in-time', at })
    await billing.process()
    expect(warned).toEqual([])
    await month(test, 1)
    await user.reportUsage('calls', 1, { id: 'late', at })
    await billing.process()
    expect(warned).toEqual([expect.stringMatching(/calls \(late\).*too late/)])
  })

  it('causes no requests for subscriptions that had ended before the usage occurred', async () => {
    const test = await startWithMeter()
    const { sandbox, user } = test
    const calls = await test.price()
    const ended: string[] = []
    for (const name of ['first', 'second']) {
      const made = await user.newSubscription(name, 'monthly').meteredPrice(calls).create()
      ended.push(made.providerId)
      await made.cancelNow()
    }
    await sandbox.clock.advance({ days: 2 })
    const runs = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await sandbox.clock.advance({ days: 2 })
    const { default: Stripe } = await import('stripe')
    const asked: string[] = []
    const send = async (url: unknown, init?: RequestInit) => {
      asked.push(new URL(String(url)).pathname)
      return fetch(String(url), init)
    }
    const httpClient = Stripe.createFetchHttpClient(send as typeof fetch)
    const { apiKey: secret, config } = sandbox.stripe
    const stripe = { secret, webhookSecret: 'whsec_1', config: { ...config, httpClient } }
    const other = test.another({ stripe, processEvery: false })
    const at = new Date(sandbox.clock.now().getTime() - 86_400_000)
    await (await other.user(user.id)).reportUsage('calls', 1, { at })
    await other.process()
    expect(asked).toContain(`/v1/subscriptions/${runs.providerId}`)
    for (const id of ended) expect(asked).not.toContain(`/v1/subscriptions/${id}`)
  })

  it('causes a warning if no subscription of the user is billed by its meter', async () => {
    const { warned, test } = await startWarned()
    const { user, billing, sandbox } = test
    const ended = await user
      .newSubscription('before', 'monthly')
      .meteredPrice(await test.price())
      .create()
    await ended.cancelNow()
    await user.newSubscription('main', 'monthly').create()
    await sandbox.clock.advance({ days: 1 })
    await user.reportUsage('calls', 1, { id: 'now' })
    await user.reportUsage('calls', 1, { id: 'stray', at: new Date(START.getTime() + 60_000) })
    await billing.process()
    expect(warned).toEqual([expect.stringMatching(/calls \(stray\).*no subscription: user 1/)])
  })

  it.each([
    ['in-time', 'stray'],
    ['stray', 'in-time'],
  ])('is recognized by the time of each report (reports in the order %s, %s)', async (...ids) => {
    const { warned, test } = await startWarned()
    const { user, sandbox } = test
    const calls = await test.price({ unit_amount: 50 })
    const ended = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await sandbox.clock.advance({ days: 1 })
    const during = new Date(sandbox.clock.now().getTime() - 60_000)
    await ended.cancelNow()
    const after = new Date(sandbox.clock.now().getTime() + 60_000)
    await sandbox.clock.advance({ days: 1 })
    const other = test.another({ processEvery: false })
    const reporter = await other.user(user.id)
    await test.database.transaction(async (transaction) => {
      for (const id of ids) {
        const at = id === 'stray' ? after : during
        await reporter.reportUsage('calls', 1, { id, at, transaction })
      }
    })
    await other.process()
    expect(warned.sort()).toEqual([
      expect.stringMatching(/calls \(in-time\).*too late/),
      expect.stringMatching(/calls \(stray\).*no subscription/),
    ])
  })

  it('is rejected for a subscription that ended more than an hour ago', async () => {
    const test = await startWithMeter()
    const { user, sandbox } = test
    const calls = await test.price()
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await sandbox.clock.advance({ days: 1 })
    await made.cancelNow()
    const ended = await user.subscription('main')
    await sandbox.clock.advance({ minutes: 50 })
    await ended.reportUsage({ meter: 'calls', value: 1, at: START })
    await sandbox.clock.advance({ minutes: 11 })
    const late = ended.reportUsage({ meter: 'calls', value: 2, at: START })
    await expect(late).rejects.toThrow(SubscriptionEnded)
  })
})
