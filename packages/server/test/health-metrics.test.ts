import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

/** Reads one sample of `/metrics`. `null` if it is missing. */
async function readMetric(sample: string, url = service.url): Promise<number | null> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${sample} `))
  return line === undefined ? null : Number(line.split(' ')[1])
}

it('/metrics reports that the service is ready, the clock, the age of the signing key and the queues', async () => {
  expect(await readMetric('tollgate_ready')).toBe(1)
  expect(await readMetric('tollgate_clock_skew_seconds')).toBeLessThan(60)
  expect(await readMetric('tollgate_signing_key_age_seconds')).toBeGreaterThanOrEqual(0)
  for (const queue of ['webhooks', 'events', 'deliveries', 'notices', 'usage']) {
    for (const name of ['pending', 'retrying', 'dead', 'held', 'late_seconds']) {
      expect(await readMetric(`tollgate_queue_${name}{queue="${queue}"}`), queue).toBe(0)
    }
  }
})

it('/metrics reports the database connections, except with SQLite', async () => {
  const expected = process.env.TEST_DATABASE === 'sqlite' ? null : 10
  expect(await readMetric('tollgate_database_connections_max')).toBe(expected)
  expect((await readMetric('tollgate_database_waiting')) ?? 0).toBe(0)
})

it('/metrics counts requests to payment providers by outcome', async () => {
  const user = await service.users.findByEmail(service.demo?.email ?? '')
  const billable = await service.billing.user(Number(user?.id))
  const count = async (outcome: string) =>
    (await readMetric(`tollgate_provider_calls_total{provider="stripe",outcome="${outcome}"}`)) ?? 0
  const before = await count('ok')
  await expect(billable.updateCard('pm_none')).rejects.toThrow()
  expect(await count('ok')).toBeGreaterThan(before)
  expect(await count('unavailable')).toBe(0)
  service.sandbox?.trouble.failNext(10, '500', 'stripe')
  await expect(billable.updateCard('pm_card_visa')).rejects.toThrow()
  service.sandbox?.trouble.clear()
  expect(await count('unavailable')).toBeGreaterThan(0)
})

it('/metrics leaves out what cannot be measured while the service is draining', async () => {
  const draining = await startTestService()
  await draining.drain(0)
  expect(await readMetric('tollgate_ready', draining.url)).toBe(0)
  expect(await readMetric('tollgate_queue_dead{queue="events"}', draining.url)).toBeNull()
  expect(await readMetric('tollgate_signing_key_age_seconds', draining.url)).toBeNull()
  await draining.stop()
})

it('no label of /metrics holds a value that a caller chose', async () => {
  const chosen = 'chosen-by-the-caller'
  const paths = [
    `/${chosen}`,
    `/api/${chosen}?q=${chosen}`,
    `/oauth/clients/${chosen}`,
    `/oauth/tokens/${chosen}`,
    `/oauth/register/${chosen}`,
    `/oauth/token/${chosen}`,
    `/assets/${chosen}`,
    `/admin/v1/users/${chosen}`,
    `/billing/invoices/${chosen}`,
    `/.well-known/${chosen}`,
  ]
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND']) {
      await fetch(`${service.url}${path}`, {
        method,
        redirect: 'manual',
        headers: { 'user-agent': chosen, 'x-request-id': chosen },
        ...(method === 'POST' && {
          body: new URLSearchParams({
            grant_type: chosen,
            client_id: chosen,
            username: chosen,
            password: chosen,
          }),
        }),
      })
    }
  }
  const text = await (await fetch(`${service.url}/metrics`)).text()
  expect(text).toContain('method="PROPFIND"')
  expect(text).not.toContain(chosen)
})
