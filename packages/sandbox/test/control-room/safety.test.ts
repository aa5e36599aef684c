import { request } from 'node:http'
import { expect, it } from 'vitest'
import { type ObservedTestSandbox, startForTest, subscribeAda } from './support.ts'

/** Sends a request with another host name, as a browser does after DNS rebinding. */
function ask(
  watched: ObservedTestSandbox,
  options: { method?: string; path: string; headers: Record<string, string> },
): Promise<number> {
  const { hostname, port } = new URL(watched.room)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, ...options }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(options.method === 'POST' ? 'days=1' : undefined)
  })
}

it("the control room rejects host names other than this machine's, as a protection against DNS rebinding", async () => {
  const watched = await startForTest()
  const { port, host } = new URL(watched.room)
  for (const name of [host, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    expect(await ask(watched, { path: '/state.json', headers: { host: name } }), name).toBe(200)
  }
  const rebound = `evil.example:${port}`
  for (const name of [rebound, 'evil.example', `127.0.0.1.evil.example:${port}`]) {
    expect(await ask(watched, { path: '/state.json', headers: { host: name } }), name).toBe(403)
  }
  const headers = { host: rebound, origin: `http://${rebound}` }
  expect(await ask(watched, { method: 'POST', path: '/advance', headers })).toBe(403)
  expect(watched.sandbox.clock.now().toISOString()).toBe('2026-01-31T10:00:00.000Z')
})

it('the control room rejects forms posted by other sites', async () => {
  const watched = await startForTest()
  const form = { days: '1' }
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as Array<Record<string, string>>) {
    expect((await watched.send('/advance', form, headers)).status, JSON.stringify(headers)).toBe(
      403,
    )
  }
  expect(watched.sandbox.clock.now().toISOString()).toBe('2026-01-31T10:00:00.000Z')
  const own = { origin: watched.room, 'sec-fetch-site': 'same-origin' }
  expect((await watched.send('/advance', form, own)).status).toBe(303)
})

it('the control room redirects only to its own pages', async () => {
  const watched = await startForTest()
  for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', '', '/\nx']) {
    const response = await watched.send('/clear', { back })
    expect(response.headers.get('location'), back).toMatch(/^\/\?said=\d+$/)
  }
  const response = await watched.send('/clear', { back: '/customers?q=ada' })
  expect(response.headers.get('location')).toMatch(/^\/customers\?q=ada&said=\d+$/)
})

it('the control room escapes text that users supply', async () => {
  const watched = await startForTest()
  const name = '<script>alert(1)</script>"\'>'
  const customer = await watched.stripe.customers.create({ name, email: "x'<b>@example.com" })
  for (const path of [
    '/',
    '/customers',
    `/customers/stripe/${customer.id}`,
    `/objects/${customer.id}`,
  ]) {
    const page = await watched.page(path)
    expect(page, path).not.toContain('<script')
    expect(page, path).not.toContain('<b>@')
  }
  expect(await watched.page(`/customers?q=${encodeURIComponent(name)}`)).not.toContain('<script')
})

it('the control room sends a content security policy that forbids scripts and framing', async () => {
  const watched = await startForTest()
  const { headers } = await fetch(watched.room)
  expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

it('the control room shows the result or error of a submitted form on the page', async () => {
  const watched = await startForTest()
  await subscribeAda(watched)
  const done = await watched.send('/advance', { months: '1', hours: '1', back: '/clock' })
  expect(await watched.page(done.headers.get('location') ?? '')).toContain(
    'It is now 2026-02-28 11:00.',
  )
  const refused = await watched.send('/advance-to', { date: '2020-01-01', back: '/clock' })
  expect(refused.status).toBe(400)
  expect(await refused.text()).toContain('The clock can only move forward')
  const json = { accept: 'application/json' }
  expect(await (await watched.send('/advance-to', { date: 'x' }, json)).json()).toEqual({
    error: 'x is not a date. Write 2026-03-01 or 2026-03-01T10:00:00Z.',
  })
  expect((await watched.send('/nothing', {}, json)).status).toBe(404)
})

it('the control room simulates failures of every kind, lists those that have not happened yet, and can cancel them', async () => {
  const watched = await startForTest()
  for (const kind of ['500', '429', 'saved-500', 'made-500']) {
    await watched.send('/fail', { count: '1', kind, provider: 'stripe' })
    await expect(watched.stripe.customers.list()).rejects.toMatchObject({
      type: expect.stringMatching(/Stripe/),
    })
  }
  await watched.send('/fail', { count: '1', kind: 'held' })
  const held = watched.stripe.customers.list()
  await watched.sandbox.trouble.untilHeld()
  expect(await watched.page('/trouble')).toContain('1 response held back')
  await watched.send('/release')
  expect((await held).data).toEqual([])
  await watched.send('/fail', { count: '3', kind: 'timeout', provider: 'braintree' })
  await watched.send('/decline', { customer: 'cus_1', code: 'lost_card' })
  expect(watched.sandbox.trouble.pending()).toMatchObject({
    calls: [{ kind: 'timeout', provider: 'braintree' }, {}, {}],
    declines: [{ customer: 'cus_1', codes: ['lost_card'] }],
  })
  await watched.send('/clear')
  expect(watched.sandbox.trouble.pending()).toEqual({ calls: [], declines: [], held: 0 })
  expect((await watched.send('/fail', { kind: 'fire' })).status).toBe(400)
  expect((await watched.send('/fail', { kind: '500', count: '1.5' })).status).toBe(400)
})
