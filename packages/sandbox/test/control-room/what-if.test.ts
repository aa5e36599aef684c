import { expect, it } from 'vitest'
import { startForTest, subscribeAda, subscribeGrace } from './support.ts'

interface WhatIf {
  readonly asIs: { readonly paid: ReadonlyArray<{ text: string }>; readonly subscriptions: unknown }
  readonly ifSo: { readonly paid: ReadonlyArray<{ text: string }>; readonly subscriptions: unknown }
}

it('the control room shows forecasts with and without an assumption side by side, and does not change the sandbox', async () => {
  const watched = await startForTest()
  const ada = await subscribeAda(watched)
  const grace = await subscribeGrace(watched)
  const before = JSON.stringify(watched.sandbox.snapshot())

  const path = `/customers/stripe/${ada.customer}/what-if.json?months=3`
  const declined = await watched.read<WhatIf>(`${path}&charges=all-declined`)
  expect(declined.asIs.paid).toMatchObject([{ text: '$30.00' }])
  expect(declined.ifSo.paid).toEqual([])
  expect(declined.ifSo.subscriptions).toMatchObject([{ status: 'canceled' }])
  const once = await watched.read<WhatIf>(`${path}&charges=next-declined`)
  expect(once.ifSo.paid).toMatchObject([{ text: '$30.00' }])
  const ended = await watched.read<WhatIf>(`${path}&subscriptions=cancel-at-period-end`)
  expect(ended.ifSo).toMatchObject({ paid: [], subscriptions: [{ status: 'canceled' }] })

  const other = `/customers/braintree/${grace.customer}/what-if.json?months=3`
  const canceled = await watched.read<WhatIf>(`${other}&subscriptions=cancel-now`)
  expect(canceled.asIs.paid).toMatchObject([{ text: '$21.00' }])
  expect(canceled.ifSo).toMatchObject({ paid: [], subscriptions: [{ status: 'Canceled' }] })

  expect(JSON.stringify(watched.sandbox.snapshot())).toBe(before)
})

it('the control room forecasts a move of the clock on a copy of the whole state, without sending webhooks', async () => {
  const watched = await startForTest()
  await subscribeAda(watched)
  await subscribeGrace(watched)
  watched.sandbox.stripe.registerWebhook('http://127.0.0.1:9/nobody')
  watched.sandbox.braintree.registerWebhook('http://127.0.0.1:9/nobody')
  await watched.sandbox.outbox.flush()
  const before = JSON.stringify(watched.sandbox.snapshot())
  const { outlook } = await watched.read<{
    outlook: { paid: Array<{ text: string }>; counts: Array<[string, number]> }
  }>('/clock.json?count=2&unit=months')
  expect(outlook.paid).toMatchObject([{ text: '$24.00' }])
  expect(new Map(outlook.counts).get('Invoice paid')).toBe(1)
  expect(JSON.stringify(watched.sandbox.snapshot())).toBe(before)
})

it('reading the pages of the control room changes nothing in the sandbox', async () => {
  const watched = await startForTest()
  const { customer, subscription } = await subscribeAda(watched, 5)
  const grace = await subscribeGrace(watched)
  watched.sandbox.stripe.registerWebhook('http://127.0.0.1:9/nobody')
  await watched.sandbox.clock.advance({ days: 6 })
  const before = JSON.stringify(watched.sandbox.snapshot())
  const [event] = watched.sandbox.stripe.events('invoice.paid')
  const [delivery] = watched.sandbox.outbox.deliveries()
  const paths = [
    '/',
    '/customers',
    '/customers?q=ada',
    `/customers/stripe/${customer}`,
    `/customers/stripe/${customer}/what-if?charges=all-declined`,
    `/customers/braintree/${grace.customer}`,
    '/webhooks',
    `/webhooks/${delivery?.id}`,
    '/events',
    `/events/${event?.id}`,
    `/objects/${subscription}`,
    `/objects/${grace.subscription}`,
    '/clock?count=1&unit=years',
    '/trouble',
  ]
  for (const path of paths) {
    const response = await fetch(`${watched.room}${path}`)
    expect(response.status, path).toBe(200)
    const page = await response.text()
    expect(page, path).not.toMatch(/undefined|\[object|NaN|<script/)
    const [plain = '', query] = path.split('?')
    const json = `${plain === '/' ? '/index' : plain}.json${query ? `?${query}` : ''}`
    expect(page, path).toContain(`href="${json.replaceAll('&', '&amp;')}"`)
    await watched.read(json)
  }
  expect(JSON.stringify(watched.sandbox.snapshot())).toBe(before)
})
