import { describe, expect, it } from 'vitest'
import { BASE_URL, start, stripeSdk } from '../../../../test/support.ts'
import { InvalidArgument, ProviderMisconfigured, Unsupported } from '../../../index.ts'

const URL_OF = {
  stripe: `${BASE_URL}/stripe/webhook`,
  braintree: `${BASE_URL}/braintree/webhook`,
} as const

describe('billing.endpoints', () => {
  it('create() registers the events that billing needs, and check() then finds no problem', async () => {
    const { billing } = await start('stripe', { webhooks: false })
    const [missing, unknown] = await billing.endpoints.check()
    expect(missing).toMatchObject({ provider: 'stripe', url: URL_OF.stripe, id: null })
    expect(missing?.missing).toContain('charge.dispute.created')
    expect(missing?.problems).toHaveLength(1)
    expect(unknown).toMatchObject({ provider: 'braintree', id: null, problems: [] })
    expect(unknown?.note).toContain(URL_OF.braintree)

    const made = await billing.endpoints.create()
    expect(made).toMatchObject({ provider: 'stripe', url: URL_OF.stripe })
    expect(made.secret).toMatch(/^whsec_/)
    const [well] = await billing.endpoints.check()
    expect(well).toMatchObject({ id: made.id, missing: [], superfluous: [], problems: [] })
  })

  it('check() reports missing events, a disabled endpoint and another API version', async () => {
    const test = await start('stripe', { webhooks: false })
    const stripe = await stripeSdk(test)
    const { id } = await stripe.webhookEndpoints.create({
      url: URL_OF.stripe,
      enabled_events: ['invoice.paid', 'plan.created'],
      api_version: '2025-03-31.basil',
    })
    await stripe.webhookEndpoints.update(id, { disabled: true })
    const [report] = await test.billing.endpoints.check()
    expect(report).toMatchObject({ id, superfluous: ['plan.created'] })
    expect(report?.missing).not.toContain('invoice.paid')
    expect(report?.missing).toContain('invoice.payment_failed')
    expect(
      report?.problems.map((words) => words.replace(/ [A-Z]?[\w.]+(, [\w.]+)+/, ' …')),
    ).toEqual([
      `stripe's endpoint ${id} is switched off.`,
      `stripe's endpoint ${id} does not send …`,
      expect.stringContaining('2025-03-31.basil'),
    ])
  })

  it('create() rejects a second endpoint for the same URL, unless it replaces the first', async () => {
    const test = await start('stripe', { webhooks: false })
    const { endpoints } = test.billing
    const stripe = await stripeSdk(test)
    const ids = async () => {
      const { data } = await stripe.webhookEndpoints.list()
      return data.filter(({ url }) => url === URL_OF.stripe).map(({ id }) => id)
    }
    const first = await endpoints.create()
    await expect(endpoints.create()).rejects.toThrow(InvalidArgument)
    expect(await ids()).toEqual([first.id])
    const second = await endpoints.create({ replace: true })
    expect(second.secret).not.toBe(first.secret)
    expect(await ids()).toEqual([second.id])
    const other = await endpoints.create({ url: 'https://other.example.com/hook' })
    expect(other.url).toBe('https://other.example.com/hook')
    await expect(endpoints.create({ url: 'nowhere' })).rejects.toThrow(InvalidArgument)
  })

  it('create() registers a separate endpoint, with its own secret, for events about usage', async () => {
    const test = await start('stripe', { webhooks: false })
    const { endpoints } = test.billing
    const stripe = await stripeSdk(test)
    const events = await endpoints.create()
    const [before] = await endpoints.check()
    expect(before).toMatchObject({ id: events.id, problems: [], usage: { id: null } })
    expect(before?.note).toContain('v1.billing.meter.error_report_triggered')
    const made = await endpoints.create({ usage: true })
    expect(made.secret).toMatch(/^whsec_/)
    expect(made.secret).not.toBe(events.secret)
    const [well] = await endpoints.check()
    expect(well).toMatchObject({
      id: events.id,
      problems: [],
      usage: { id: made.id, missing: [] },
      note: null,
    })
    await expect(endpoints.create({ usage: true })).rejects.toThrow(InvalidArgument)
    const second = await endpoints.create({ usage: true, replace: true })
    const { data } = await stripe.v2.core.eventDestinations.list()
    expect(data.map(({ id }) => id)).toEqual([second.id])
    expect((await stripe.webhookEndpoints.list()).data.map(({ id }) => id)).toContain(events.id)

    await stripe.v2.core.eventDestinations.update(second.id, {
      enabled_events: ['v1.billing.meter.no_meter_found'],
    })
    await stripe.v2.core.eventDestinations.disable(second.id)
    const [ill] = await endpoints.check()
    expect(ill?.usage?.missing).toEqual(['v1.billing.meter.error_report_triggered'])
    expect(ill?.problems).toEqual([
      `stripe's endpoint ${second.id} is switched off.`,
      `stripe's endpoint ${second.id} does not send v1.billing.meter.error_report_triggered.`,
    ])
  })

  it('check() accepts an event destination that sends all events with their full payload', async () => {
    const test = await start('stripe', { webhooks: false })
    const stripe = await stripeSdk(test)
    const { id } = await stripe.v2.core.eventDestinations.create({
      name: 'By hand',
      type: 'webhook_endpoint',
      event_payload: 'snapshot',
      enabled_events: ['*'],
      webhook_endpoint: { url: URL_OF.stripe },
    })
    const [report] = await test.billing.endpoints.check()
    expect(report).toMatchObject({ id, missing: [], problems: [] })
    const made = await test.billing.endpoints.create({ replace: true })
    expect(made.id).not.toBe(id)
    expect((await stripe.v2.core.eventDestinations.list()).data).toEqual([])
  })

  it.each([403, 404])(
    "check() reports that event destinations could not be listed if Stripe's API /v2 responds with %i",
    async (status) => {
      const test = await start('stripe', { webhooks: false })
      const { default: Stripe } = await import('stripe')
      const { stripe } = test.sandbox
      const send = async (url: unknown, init?: RequestInit) => {
        if (!new URL(String(url)).pathname.startsWith('/v2/')) return fetch(String(url), init)
        return Response.json({ error: { message: 'Not for this key' } }, { status })
      }
      const httpClient = Stripe.createFetchHttpClient(send as typeof fetch)
      const config = { ...stripe.config, maxNetworkRetries: 0, httpClient }
      const { endpoints } = test.another({
        stripe: { secret: stripe.apiKey, webhookSecret: 'whsec_1', config },
      })
      const { id } = await endpoints.create()
      const [report] = await endpoints.check()
      expect(report).toMatchObject({ id, missing: [], problems: [], usage: null })
      expect(report?.note).toContain(`Stripe answers ${status} to /v2/core/event_destinations`)
      await expect(endpoints.create({ usage: true })).rejects.toThrow(ProviderMisconfigured)
    },
  )

  it('check() and create() treat all thin event destinations for usage events as one endpoint, and ignore those for other events', async () => {
    const test = await start('stripe', { webhooks: false })
    const { endpoints } = test.billing
    const stripe = await stripeSdk(test)
    const thin = (event: string) =>
      stripe.v2.core.eventDestinations.create({
        name: 'By hand',
        type: 'webhook_endpoint',
        event_payload: 'thin',
        enabled_events: [event],
        webhook_endpoint: { url: URL_OF.stripe },
      })
    const other = await thin('v2.core.event_destination.ping')
    expect((await endpoints.check())[0]?.usage?.id).toBeNull()
    const made = await endpoints.create({ usage: true })
    await expect(endpoints.create({ usage: true })).rejects.toThrow('--replace')
    const again = await endpoints.create({ usage: true, replace: true })
    expect(again.id).not.toBe(made.id)
    const { data } = await stripe.v2.core.eventDestinations.list()
    expect(data.map(({ id }) => id).sort()).toEqual([other.id, again.id].sort())

    await stripe.v2.core.eventDestinations.del(again.id)
    await thin('v1.billing.meter.no_meter_found')
    expect((await endpoints.check())[0]?.usage?.missing).toHaveLength(1)
    await thin('v1.billing.meter.error_report_triggered')
    expect((await endpoints.check())[0]?.usage?.missing).toEqual([])
  })

  it('create() is unsupported at Braintree', async () => {
    const { billing } = await start('braintree', { webhooks: false })
    await expect(billing.endpoints.create({ provider: 'braintree' })).rejects.toThrow(Unsupported)
  })
})
