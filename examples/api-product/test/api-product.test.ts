import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExampleApp, startExample } from '../../../test-support/example-app.ts'

let app: ExampleApp
let token = ''
beforeAll(async () => {
  app = await startExample({ name: 'api-product', args: ['dist/main.js'] })
  const response = await app.fetch('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: app.client.id,
      client_secret: app.client.secret,
      username: 'demo@example.com',
      password: 'demo-password',
      scope: '*',
    }),
  })
  token = ((await response.json()) as { access_token: string }).access_token
})
afterAll(async () => {
  expect(await app.stop()).toBe(0)
})

const call = (path: string, body?: object) =>
  app.fetch(path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
const usage = async () =>
  (await (await call('/api/usage')).json()) as {
    plan: string
    usage: { meter: string; used: number }[]
  }

describe('an API with three plans', () => {
  it('lets a caller without a subscription call five times a day, and says why it stops', async () => {
    for (let at = 0; at < 5; at += 1) expect((await call('/api/orders')).status).toBe(200)
    const refused = await call('/api/orders')
    expect(refused.status).toBe(402)
    expect(await refused.json()).toMatchObject({
      reason: 'quota_used_up',
      plan: 'free',
      upgrade_url: app.url,
    })
    expect(await (await call('/api/orders', {})).json()).toMatchObject({
      reason: 'scope_not_in_plan',
      missing: ['place-orders'],
    })
    expect((await call('/api/story', {})).status).toBe(402)
  })

  it('opens more to the same token as soon as the caller has subscribed', async () => {
    expect((await call('/api/subscription', { card: 'pm_card_visa' })).status).toBe(201)
    await expect.poll(async () => (await usage()).plan).toBe('gold')
    expect((await call('/api/orders')).status).toBe(200)
    expect((await call('/api/orders', {})).status).toBe(201)
    expect((await call('/api/story', {})).status).toBe(200)
    expect((await usage()).usage).toContainEqual(
      expect.objectContaining({ meter: 'words', used: 7 }),
    )
    expect((await call('/api/export')).status).toBe(402)
  })

  it('opens the features of the largest plan after a swap', async () => {
    expect((await call('/api/subscription', { price: 'platinum' })).status).toBe(201)
    await expect.poll(async () => (await call('/api/export')).status).toBe(200)
  })
})
