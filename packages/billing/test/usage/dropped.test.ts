import { describe, expect, it } from 'vitest'
import type { AnyBillingEvent } from '../../src/index.ts'
import { type MeteredTest, startMetered } from './support.ts'

const TYPES = [
  'v1.billing.meter.error_report_triggered',
  'v1.billing.meter.no_meter_found',
] as const

interface Told {
  readonly test: MeteredTest
  readonly told: AnyBillingEvent[]
  readonly logged: string[]
}

/** Billing whose address is a destination for thin events, too. */
async function startTold(): Promise<Told> {
  const told: AnyBillingEvent[] = []
  const logged: string[] = []
  const test = await startMetered({
    webhooks: true,
    logger: { error: (message) => logged.push(message) },
    on: { 'usage.refused': (event) => told.push(event) },
  })
  const [endpoint] = test.sandbox.stripe.webhooks()
  const { url = '', secret = '' } = endpoint ?? {}
  test.sandbox.stripe.registerWebhook(url, TYPES, { secret })
  return { test, told, logged }
}

describe('usage that Stripe drops after it took it', () => {
  it.each([
    ['meter_event_customer_not_found', TYPES[0]],
    ['archived_meter', TYPES[0]],
    ['no_meter', TYPES[1]],
  ] as const)('is refused, and told: %s', async (code, type) => {
    const { test, told, logged } = await startTold()
    const { user, billing, sandbox } = test
    for (const n of [1, 2]) await user.reportUsage('calls', n, { id: `job-${n}` })
    await billing.usage.process()
    expect(await test.states()).toEqual(['sent', 'sent'])
    const event = sandbox.stripe.dropMeterEvents(user.providerId ?? '', { code })
    expect(event.type).toBe(type)
    await test.settle()
    expect(await test.states()).toEqual(['refused', 'refused'])
    expect(await test.counted()).toBe('0')
    const reason = expect.stringContaining(code)
    expect(told.map(({ data }) => data)).toEqual([
      expect.objectContaining({ usage: expect.objectContaining({ id: 'job-1' }), reason }),
      expect.objectContaining({ usage: expect.objectContaining({ id: 'job-2' }), reason }),
    ])
    expect(logged.filter((line) => line.includes('does not say which'))).toEqual([])
    // A repeat changes nothing, and tells nobody.
    await billing.webhooks.replay({ id: String(event.id) })
    await test.settle()
    expect(told).toHaveLength(2)
  })

  it('is counted in the log where it is not named', async () => {
    const { test, told, logged } = await startTold()
    const { user, billing, sandbox } = test
    for (const n of [1, 2, 3]) await user.reportUsage('calls', n)
    await billing.usage.process()
    sandbox.stripe.dropMeterEvents(user.providerId ?? '', { named: 1 })
    await test.settle()
    expect(told).toHaveLength(1)
    expect((await test.states()).sort()).toEqual(['refused', 'sent', 'sent'])
    expect(logged).toContainEqual(
      expect.stringMatching(/does not bill 2 reports .* meter_event_customer_not_found: 3/),
    )
  })

  it('of a customer of another application is left alone', async () => {
    const { test, told, logged } = await startTold()
    const { user, billing, sandbox, stripe } = test
    await user.reportUsage('calls', 1, { id: 'job-1' })
    await billing.usage.process()
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
    expect(told).toEqual([])
    expect(logged).toContainEqual(expect.stringContaining('does not bill 1 reports'))
  })
})
