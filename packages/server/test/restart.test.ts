import { expect, it } from 'vitest'
import { describeService } from '../src/cli/commands/serve.ts'
import { startService } from '../src/service.ts'
import { startTestService, testConfig } from './support.ts'

it('the service keeps users, clients, tokens and subscriptions after a restart', async () => {
  const { config, remove } = await testConfig()
  const options = { ticking: false, logTo: { write: () => undefined } }
  const first = await startService(config, options)
  const user = await first.users.findByEmail(first.demo?.email ?? '')
  const billable = await first.billing.user(Number(user?.id))
  await billable.newSubscription('main', 'monthly').create('pm_card_visa')
  await first.sandbox?.clock.advance({ days: 10 })
  const now = first.sandbox?.clock.now()
  const box = describeService(first)
  const getToken = async (service: typeof first) => {
    const { id = '', secret } = service.demo?.clients.service ?? {}
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: secret ?? '',
      }),
    })
    return response.status
  }
  expect(await getToken(first)).toBe(200)
  await first.close(0)

  const second = await startService({ ...config, port: first.port }, options)
  try {
    expect(second.demo?.password).toBe(first.demo?.password)
    expect(second.demo?.clients.service).toEqual(first.demo?.clients.service)
    expect(describeService(second).split('\n')[2]).toBe(box.split('\n')[2])
    expect(await getToken(second)).toBe(200)
    // The sandbox still has yesterday's subscription, and bills it when its month is over.
    expect(second.sandbox?.clock.now()).toEqual(now)
    const again = await second.billing.user(Number(user?.id))
    expect(await again.subscribed('main')).toBe(true)
    expect(await again.invoices()).toHaveLength(1)
    await second.sandbox?.clock.advance({ days: 25 })
    await second.sandbox?.outbox.flush()
    await second.billing.process()
    expect(await again.invoices()).toHaveLength(2)
    expect(second.sandbox?.stripe.subscriptions()).toHaveLength(1)
    expect(await second.billing.webhooks.deadLetters()).toEqual([])
  } finally {
    await second.close(0)
    await remove()
  }
})

it("the service lets the sandbox's clock run at normal speed from the time it was moved to", async () => {
  const service = await startTestService({ options: { ticking: true } })
  const clock = service.sandbox?.clock
  // Its own moves and those of others overlap.
  await Promise.all(Array.from({ length: 30 }, () => clock?.advance({ days: 1 })))
  const moved = clock?.nowMs() ?? 0
  expect(moved).toBeGreaterThan(Date.now() + 29 * 24 * 3600 * 1000)
  await expect.poll(() => clock?.nowMs()).toBeGreaterThan(moved)
  await service.stop()
})

it('the service refuses to run in production on the database of a demo', async () => {
  const demo = await startTestService()
  const { config, remove } = await testConfig({
    environment: {
      DATABASE_URL: demo.databaseUrl,
      TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
      TOLLGATE_URL: 'https://api.example.com',
      STRIPE_SECRET: 'sk_live_1',
      STRIPE_WEBHOOK_SECRET: 'whsec_1',
    },
  })
  const logTo = { write: () => undefined }
  await expect(startService(config, { logTo })).rejects.toThrow(/contains the demo user/)
  await demo.stop()
  await remove()
})
