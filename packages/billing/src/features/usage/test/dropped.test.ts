import { describe, expect, it } from 'vitest'
import type { AnyBillingEvent } from '../../../index.ts'
import { type MeteredTest, startWithMeter } from './support.ts'

const TYPES = [
  'v1.billing.meter.error_report_triggered',
  'v1.billing.meter.no_meter_found',
] as const

interface DroppedUsageTest {
  readonly test: MeteredTest
  readonly events: AnyBillingEvent[]
  readonly logged: string[]
}

/** Starts billing with a webhook endpoint that also receives thin events. */
async function startWithThinEvents(): Promise<DroppedUsageTest> {
  const events: AnyBillingEvent[] = []
  const logged: string[] = []
  const test = await startWithMeter({
    webhooks: true,
    logger: { error: (message) => logged.push(message) },
    on: { 'usage.refused': (event) => events.push(event) },
  })
  const [endpoint] = test.sandbox.stripe.webhooks()
  const { url = '', secret = '' } = endpoint ?? {}
  test.sandbox.stripe.registerWebhook(url, TYPES, { secret })
  return { test, events, logged }
}

describe('usage that Stripe first accepts and later drops', () => {
  it.each([
    ['meter_event_customer_not_found', TYPES[0]],
    ['archived_meter', TYPES[0]],
    ['no_meter', TYPES[1]],
  ] as const)(
    'is marked as refused, and emits usage.refused (Stripe’s reason: %s)',
    async (code, type) => {
      const { test, events, logged } = await startWithThinEvents()
      const { user, billing, sandbox } = test
      for (const n of [1, 2]) await user.reportUsage('calls', n, { id: `job-${n}` })
      await billing.process()
      expect(await test.states()).toEqual(['sent', 'sent'])
      const event = sandbox.stripe.dropMeterEvents(user.providerId ?? '', { code })
      expect(event.type).toBe(type)
      await test.settle()
      expect(await test.states()).toEqual(['refused', 'refused'])
      expect(await test.counted()).toBe('0')
      const reason = expect.stringContaining(code)
      expect(events.map(({ data }) => data)).toEqual([
        expect.objectContaining({ usage: expect.objectContaining({ id: 'job-1' }), reason }),
        expect.objectContaining({ usage: expect.objectContaining({ id: 'job-2' }), reason }),
      ])
      expect(logged.filter((line) => line.includes('does not identify them'))).toEqual([])
      // A repeated event changes nothing and emits nothing.
      await billing.webhooks.replay({ id: String(event.id) })
      await test.settle()
      expect(events).toHaveLength(2)
    },
  )

  it('is logged as a number of dropped reports if Stripe does not identify them', async () => {
    const { test, events, logged } = await startWithThinEvents()
    const { user, billing, sandbox } = test
    for (const n of [1, 2, 3]) await user.reportUsage('calls', n)
    await billing.process()
    sandbox.stripe.dropMeterEvents(user.providerId ?? '', { named: 1 })
    await test.settle()
    expect(events).toHaveLength(1)
    expect((await test.states()).sort()).toEqual(['refused', 'sent', 'sent'])
    expect(logged).toContainEqual(
      expect.stringMatching(/does not bill 2 reports .* meter_event_customer_not_found: 3/),
    )
  })

  it('is ignored if it belongs to the customer of another application', async () => {
    const { test, events, logged } = await startWithThinEvents()
    const { user, billing, sandbox, stripe } = test
    await user.reportUsage('calls', 1, { id: 'job-1' })
    await billing.process()
    const [row] = await test.database.kysely.selectFrom('billing_usage').selectAll().execute()
    const other = await stripe.customers.create({})
    await stripe.billing.meterEvents.create({
      event_name: 'calls',
      identifier: `${row?.identifier}_${'0'.repeat(24)}`,
      payload: { stripe_customer_id: other.id, value: '1' },
    })
    sandbox.stripe.dropMeterEvents(other.id)
    await test.settle()
    expect(await test.states()).toEqual(['sent'])
    expect(events).toEqual([])
    expect(logged).toContainEqual(expect.stringContaining('does not bill 1 reports'))
  })
})
