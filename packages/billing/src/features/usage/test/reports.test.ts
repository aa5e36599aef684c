import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../../../../../test-support/create-test-database.ts'
import { withoutCalls } from '../../../../test/specification/no-calls.ts'
import { billingTables, START, start, sumChargedCents } from '../../../../test/support.ts'
import { createTeam, startTeams } from '../../../../test/teams.ts'
import {
  type AnyBillingEvent,
  Busy,
  InvalidArgument,
  ItemNotFound,
  NoCustomer,
  SubscriptionEnded,
  Unsupported,
} from '../../../index.ts'
import { listUsageValues, startWithMeter } from './support.ts'

const FAR = { from: new Date(START.getTime() - 40 * 86_400_000), to: new Date('2027-01-01') }

describe('metered usage', () => {
  it('is stored when it is reported, sent to Stripe afterwards, and counted there', async () => {
    const { user, billing, counted, states } = await startWithMeter()
    const report = await user.reportUsage('calls', 3, { id: 'job-1' })
    expect(report).toEqual({ id: 'job-1', meter: 'calls', value: '3', at: START, state: 'pending' })
    await user.reportUsage('calls', '0.5')
    await user.reportUsage('calls', '-1')
    await billing.process()
    expect(await states()).toEqual(['sent', 'sent', 'sent'])
    expect(await counted()).toBe('2.5')
    expect(listUsageValues(await user.usage('calls', FAR))).toEqual(['2.5'])
    expect(await billing.usage.pending()).toEqual([])
  })

  it('is rejected immediately if its value has more digits than Stripe counts exactly', async () => {
    const { user, billing, states, counted } = await startWithMeter()
    const long = user.reportUsage('calls', '123456789.1234567')
    await expect(long).rejects.toThrow(InvalidArgument)
    expect(await states()).toEqual([])
    await user.reportUsage('calls', '123456789.123456')
    await billing.process()
    expect([await states(), await counted()]).toEqual([['sent'], '123456789.123456'])
  })

  it('is counted once for each id, however often it is reported', async () => {
    const test = await startWithMeter()
    const { user, billing, counted, states } = test
    const processes = [billing, test.another(), test.another()]
    const users = await Promise.all(processes.map((each) => each.user(user.id)))
    const report = (n: number) => users[n % 3]?.reportUsage('calls', '7.0', { id: 'job-1' })
    const reports = await Promise.all(Array.from({ length: 20 }, (_, n) => report(n)))
    expect(new Set(reports.map((each) => each?.id))).toEqual(new Set(['job-1']))
    await Promise.all(processes.map((each) => each.process()))
    expect(await states()).toEqual(['sent'])
    expect(await counted()).toBe('7')
    const again = await user.reportUsage('calls', 7, { id: 'job-1', at: START })
    expect(again.state).toBe('sent')
    for (const [meter, value, at] of [
      ['calls', 8, START],
      ['others', 7, START],
      ['calls', 7, new Date(START.getTime() - 1000)],
    ] as const) {
      const other = user.reportUsage(meter, value, { id: 'job-1', at })
      await expect(other).rejects.toThrow(InvalidArgument)
    }
    expect(await counted()).toBe('7')
  })

  it('is sent once by concurrent processes', async () => {
    const test = await startWithMeter()
    const { user, billing, counted } = test
    const processes = [billing, test.another(), test.another(), test.another()]
    await test.database.transaction(async (transaction) => {
      for (let n = 0; n < 40; n++) await user.reportUsage('calls', 1, { id: `${n}`, transaction })
    })
    await Promise.all(processes.map((each) => each.process()))
    expect(await counted()).toBe('40')
    expect(await billing.usage.pending()).toEqual([])
  })

  it('is stored only if the application’s transaction is committed', async () => {
    const { user, database, billing, counted, states } = await startWithMeter()
    const undone = database.transaction(async (transaction) => {
      await user.reportUsage('calls', 5, { id: 'undone', transaction })
      throw new Error('changed my mind')
    })
    await expect(undone).rejects.toThrow('changed my mind')
    expect(await states()).toEqual([])
    await database.transaction(async (transaction) => {
      await user.reportUsage('calls', 5, { id: 'done', transaction })
      const again = await user.reportUsage('calls', 5, { id: 'done', transaction })
      expect(again.state).toBe('pending')
    })
    await billing.process()
    expect(await counted()).toBe('5')
  })

  it('is counted separately for owners of different types that have the same id', async () => {
    const test = await startTeams('stripe', 'integer', { webhooks: false })
    const meter = { name: 'Calls', eventName: 'calls' }
    await test.billing.usage.createMeter(meter)
    const team = await createTeam(test, test.user.id)
    for (const owner of [test.user, team]) {
      await owner.updateCard('pm_card_visa')
      await owner.reportUsage('calls', 4, { id: 'job-1' })
    }
    await test.billing.process()
    expect(listUsageValues(await test.user.usage('calls', FAR))).toEqual(['4'])
    expect(listUsageValues(await team.usage('calls', FAR))).toEqual(['4'])
  })

  it('is counted separately for two applications that share a Stripe account, even if the report ids are the same', async () => {
    const test = await startWithMeter()
    const created = await createTestDatabase({ template: billingTables })
    onTestFinished(() => created.drop())
    const row = { id: Number(test.user.id), email: 'bob@example.com', name: 'Bob' }
    await created.database.kysely.insertInto('users').values(row).execute()
    const other = test.another({ database: created.database })
    const bob = await other.user(test.user.id)
    await bob.updateCard('pm_card_visa')
    await test.user.reportUsage('calls', 4, { id: 'job-1' })
    await bob.reportUsage('calls', 6, { id: 'job-1' })
    for (const billing of [test.billing, other]) await billing.process()
    expect(listUsageValues(await test.user.usage('calls', FAR))).toEqual(['4'])
    expect(listUsageValues(await bob.usage('calls', FAR))).toEqual(['6'])
    await bob.cancelUsage('job-1')
    expect(listUsageValues(await test.user.usage('calls', FAR))).toEqual(['4'])
    expect(listUsageValues(await bob.usage('calls', FAR))).toEqual(['0'])
    await other.close()
  })

  it('can be summed up by day and by hour', async () => {
    const { user, billing } = await startWithMeter()
    const hours = [0, 0.5, 1, 26]
    for (const back of hours) {
      const at = new Date(START.getTime() - back * 3_600_000)
      await user.reportUsage('calls', 1, { at })
    }
    await billing.process()
    const from = new Date(START.getTime() - 26 * 3_600_000)
    const to = new Date(START.getTime() + 1000)
    const days = await user.usage('calls', { from, to, by: 'day' })
    expect(days).toEqual([
      { from: new Date('2026-01-14'), to: new Date('2026-01-15'), value: '1' },
      { from: new Date('2026-01-15'), to: new Date('2026-01-16'), value: '3' },
    ])
    const perHour = await user.usage('calls', { from, to, by: 'hour' })
    expect(perHour).toHaveLength(27)
    expect(listUsageValues(perHour.slice(-3))).toEqual(['0', '2', '1'])
    const wrong = [
      { from: to, to: from },
      { from: new Date(Number.NaN) },
      { from, by: 'week' as never },
    ]
    for (const query of wrong) {
      await expect(user.usage('calls', query)).rejects.toThrow(InvalidArgument)
    }
  })

  it('is rejected if it is invalid, before anything is stored or requested', async () => {
    const test = await startWithMeter()
    const { user, states } = test
    await withoutCalls(test, async () => {
      for (const [meter, value, options] of [
        ['', 1, {}],
        ['calls', Number.NaN, {}],
        ['calls', '1e3', {}],
        ['calls', 1, { id: '' }],
        ['calls', 1, { at: new Date(START.getTime() + 301_000) }],
        ['calls', 1, { at: new Date(START.getTime() - 35 * 86_400_000 - 1) }],
      ] as const) {
        const report = user.reportUsage(meter, value, options)
        await expect(report).rejects.toThrow(InvalidArgument)
      }
      const stranger = await test.createUser()
      await expect(stranger.reportUsage('calls', 1)).rejects.toThrow(NoCustomer)
      expect(await stranger.usage('calls', FAR)).toEqual([])
    })
    expect(await states()).toEqual([])
  })

  it('is counted by billing at Braintree, where meteredPrice() and meters() throw Unsupported before any request', async () => {
    const test = await start('braintree', { webhooks: false })
    await withoutCalls(test, async () => {
      const metered = test.user.newSubscription('main', 'monthly').meteredPrice('calls')
      await expect(metered.create('fake-valid-visa-nonce')).rejects.toThrow(Unsupported)
      const meters = test.billing.usage.meters({ provider: 'braintree' })
      await expect(meters).rejects.toThrow(Unsupported)
    })
  })
})

describe('metered usage of a subscription', () => {
  it('can be reported by price or by meter, and is summed up over the billing period', async () => {
    const { user, billing, price, sandbox } = await startWithMeter()
    const calls = await price()
    await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    const subscription = await user.subscription('main')
    expect(subscription.findItem(calls)).toMatchObject({ quantity: null })
    await subscription.reportUsage({ price: calls, value: 2 })
    await subscription.reportUsage({ meter: 'calls', value: 3, at: START })
    await user.reportUsage('calls', 100, { at: new Date(START.getTime() - 86_400_000) })
    await billing.process()
    await sandbox.clock.advance({ hours: 1 })
    expect(listUsageValues(await subscription.usage({ price: calls }))).toEqual(['5'])
    expect(listUsageValues(await subscription.usage({ meter: 'calls', ...FAR }))).toEqual(['105'])
    const none = subscription.reportUsage({ price: 'pro', value: 1 })
    await expect(none).rejects.toThrow(ItemNotFound)
    const notCounted = subscription.reportUsage({ price: 'monthly', value: 1 })
    await expect(notCounted).rejects.toThrow(InvalidArgument)
    const nothing = subscription.reportUsage({ value: 1 } as never)
    await expect(nothing).rejects.toThrow(InvalidArgument)
  })

  it('is accepted after the subscription ended, if it occurred before the end', async () => {
    const test = await startWithMeter()
    const { user, price } = test
    const calls = await price()
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await test.sandbox.clock.advance({ days: 1 })
    await made.cancelNow()
    const subscription = await user.subscription('main')
    await test.sandbox.clock.advance({ minutes: 10 })
    await subscription.reportUsage({ meter: 'calls', value: 1, at: START })
    const late = subscription.reportUsage({ meter: 'calls', value: 1 })
    await expect(late).rejects.toThrow(SubscriptionEnded)
  })

  it('is counted once if the same id is reported again through the user or the subscription', async () => {
    const test = await startWithMeter()
    const { user, billing, price, sandbox, counted } = test
    const calls = await price()
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    // The report may have been sent before it is repeated.
    const { state: _, ...ofUser } = await user.reportUsage('calls', 3, { id: 'a', at: START })
    expect(await made.reportUsage({ price: calls, value: 3, id: 'a' })).toMatchObject(ofUser)
    const { state: __, ...same } = await made.reportUsage({ price: calls, value: 4, id: 'b' })
    expect(await user.reportUsage('calls', 4, { id: 'b' })).toMatchObject(same)
    await billing.process()
    await sandbox.clock.advance({ days: 1 })
    await made.removePrice(calls)
    await made.cancelNow()
    await sandbox.clock.advance({ days: 40 })
    const subscription = await user.subscription('main')
    const state = 'sent'
    const again = { price: calls, value: 3, id: 'a' }
    expect(await subscription.reportUsage(again)).toEqual({ ...ofUser, state })
    expect(await subscription.reportUsage({ ...again, at: START })).toEqual({ ...ofUser, state })
    expect(await user.reportUsage('calls', 3, { id: 'a', at: START })).toEqual({ ...ofUser, state })
    for (const other of [
      { value: 5 },
      { at: new Date(START.getTime() + 1) },
      { at: 'x' as never },
    ]) {
      const different = subscription.reportUsage({ ...again, ...other })
      await expect(different).rejects.toThrow(InvalidArgument)
    }
    const late = subscription.reportUsage({ meter: 'calls', value: 3, id: 'c' })
    await expect(late).rejects.toThrow(SubscriptionEnded)
    await billing.process()
    expect(await counted()).toBe('7')
  })
})

describe('a report of metered usage', () => {
  it('is sent before a change that bills it, even while other processes are sending it too', async () => {
    const test = await startWithMeter()
    const { user, billing, database, price, counted, states } = test
    const calls = await price({ unit_amount: 5 })
    const made = await user.newSubscription('main', 'monthly').meteredPrice(calls).create()
    await database.transaction(async (transaction) => {
      for (let n = 0; n < 12; n++) await user.reportUsage('calls', 1, { id: `${n}`, transaction })
    })
    await test.sandbox.clock.advance({ days: 1 })
    const another = test.another()
    await Promise.all([billing.process(), another.process(), made.cancelNow({ invoiceNow: true })])
    expect([await counted(), new Set(await states())]).toEqual(['12', new Set(['sent'])])
    expect(sumChargedCents(test, user)).toBe(1000 + 60)
  })

  it('can be cancelled before it is sent, and within a day after', async () => {
    const test = await startWithMeter()
    const { user, billing, database, counted, states } = test
    await database.transaction((transaction) =>
      user.reportUsage('calls', 5, { id: 'unsent', transaction }),
    )
    await user.cancelUsage('unsent')
    await user.reportUsage('calls', 7, { id: 'sent' })
    await user.reportUsage('calls', 9, { id: 'old' })
    await billing.process()
    expect(await counted()).toBe('16')
    await user.cancelUsage('sent')
    await user.cancelUsage('sent')
    await user.cancelUsage('unsent')
    expect(await counted()).toBe('9')
    expect(await states()).toEqual(['cancelled', 'cancelled', 'sent'])
    expect((await user.reportUsage('calls', 7, { id: 'sent' })).state).toBe('cancelled')
    await billing.process()
    expect(await counted()).toBe('9')
    await test.sandbox.clock.advance({ days: 1 })
    await expect(user.cancelUsage('old')).rejects.toThrow(InvalidArgument)
    await expect(user.cancelUsage('never')).rejects.toThrow(InvalidArgument)
    const stranger = await test.createUser()
    await expect(stranger.cancelUsage('old')).rejects.toThrow(InvalidArgument)
    expect(await counted()).toBe('9')
  })

  it('cannot be cancelled while it is being sent', async () => {
    const { user, billing, sandbox, counted } = await startWithMeter()
    await billing.usage.meters()
    sandbox.trouble.failNext(2, '500', 'stripe')
    await user.reportUsage('calls', 5, { id: 'job-1' })
    await billing.process()
    await expect(user.cancelUsage('job-1')).rejects.toThrow(Busy)
    await sandbox.clock.advance({ minutes: 1 })
    await billing.process()
    await sandbox.clock.advance({ minutes: 2 })
    await billing.process()
    await user.cancelUsage('job-1')
    expect(await counted()).toBe('0')
  })

  it('causes the `usage.refused` event if the provider refuses it, and can be retried', async () => {
    const told: AnyBillingEvent[] = []
    const test = await startWithMeter({ on: { 'usage.refused': (event) => told.push(event) } })
    const { user, billing, states } = test
    await user.reportUsage('minutes', 5, { id: 'job-1' })
    await billing.process()
    await test.settle()
    expect(await states()).toEqual(['refused'])
    expect(told).toMatchObject([
      {
        type: 'usage.refused',
        owner: { type: 'user', id: 1 },
        data: {
          usage: { id: 'job-1', meter: 'minutes', value: '5', at: START.toISOString() },
          reason: "No meter was found for event name 'minutes'.",
        },
      },
    ])
    const [refused] = await billing.usage.refused()
    expect(refused).toMatchObject({
      reference: 'job-1',
      lastError: told[0]?.data && expect.any(String),
    })
    await test.settle()
    expect(told).toHaveLength(1)
    await billing.usage.createMeter({ name: 'Minutes', eventName: 'minutes' })
    expect(await billing.usage.retry(refused?.id ?? 0)).toBe(true)
    await billing.process()
    expect(listUsageValues(await user.usage('minutes', FAR))).toEqual(['5'])
    expect(await billing.usage.retry(refused?.id ?? 0)).toBe(false)
  })

  it('is deleted by purge() once it is old enough', async () => {
    const { user, billing, sandbox, states } = await startWithMeter()
    await user.reportUsage('calls', 5, { id: 'a' })
    await user.reportUsage('calls', 5, { id: 'b' })
    await user.reportUsage('none', 5, { id: 'c' })
    await billing.process()
    await user.cancelUsage('b')
    expect(await billing.purge({ before: START })).toMatchObject({ usage: 0 })
    await sandbox.clock.advance({ days: 90 })
    await user.reportUsage('calls', 5, { id: 'd' })
    expect(await billing.purge({ before: { usage: START } })).toMatchObject({ usage: 0 })
    await sandbox.clock.advance({ hours: 1 })
    expect(await billing.purge()).toMatchObject({ usage: 3 })
    expect(await states()).toHaveLength(1)
  })
})

it('createMeter() creates only one meter for each event name', async () => {
  const { billing, stripe } = await startWithMeter()
  const made = await billing.usage.createMeter({ name: 'Files', eventName: 'files' })
  expect(made).toMatchObject({ name: 'Files', eventName: 'files', aggregation: 'sum' })
  const again = await billing.usage.createMeter({ name: 'Other words', eventName: 'files' })
  expect(again.id).toBe(made.id)
  const other = { name: 'Files', eventName: 'files', aggregation: 'count' } as const
  await expect(billing.usage.createMeter(other)).rejects.toThrow(InvalidArgument)
  const wrong = { name: 'Files', eventName: 'files', aggregation: 'median' as never }
  await expect(billing.usage.createMeter(wrong)).rejects.toThrow(InvalidArgument)
  const all = await billing.usage.meters()
  expect(all.map(({ eventName }) => eventName).sort()).toEqual(['calls', 'files'])
  expect((await stripe.billing.meters.list()).data).toHaveLength(2)
})
