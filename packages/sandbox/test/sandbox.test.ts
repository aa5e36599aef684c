import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import braintree from 'braintree'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../src/index.ts'

const NOW = new Date('2026-01-31T10:00:00Z')

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-sandbox-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function subscribe(stripe: Stripe) {
  const product = await stripe.products.create({ name: 'Gold' })
  const price = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const customer = await stripe.customers.create({ email: 'ada@example.com' })
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  return stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: card.id,
    items: [{ price: price.id }],
  })
}

it('startSandbox returns working configurations for both SDKs, whose providers share one clock', async () => {
  const sandbox = await startSandbox({ stripe: true, braintree: true, now: NOW })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const gateway = new braintree.BraintreeGateway(
    sandbox.braintree.config as unknown as braintree.GatewayConfig,
  )
  const subscription = await subscribe(stripe)
  const made = await gateway.customer.create({ email: 'ada@example.com' })
  expect(made.success).toBe(true)
  expect(sandbox.braintree.customers()).toHaveLength(1)
  await sandbox.clock.advance({ months: 1, hours: 1 })
  expect(sandbox.clock.now().toISOString()).toBe('2026-02-28T11:00:00.000Z')
  expect(sandbox.stripe.paidInvoices(String(subscription.customer))).toHaveLength(2)
})

it('a sandbox behaves the same after a snapshot is restored', async () => {
  const sandbox = await startSandbox({ stripe: true, now: NOW })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  await subscribe(stripe)
  await sandbox.clock.advance({ days: 3 })
  const saved = JSON.parse(JSON.stringify(sandbox.snapshot())) as ReturnType<
    typeof sandbox.snapshot
  >
  const play = async () => {
    await sandbox.clock.advance({ months: 5 })
    return JSON.stringify([
      sandbox.stripe.invoices(),
      sandbox.stripe.subscriptions(),
      sandbox.stripe.events(),
    ])
  }
  const first = await play()
  sandbox.restore(saved)
  expect(sandbox.clock.now().toISOString()).toBe('2026-02-03T10:00:00.000Z')
  expect(sandbox.stripe.invoices()).toHaveLength(1)
  expect(await play()).toBe(first)
})

it('a sandbox behaves the same after a snapshot is restored, even if objects are read before the clock moves', async () => {
  const sandbox = await startSandbox({ stripe: true, braintree: true, now: NOW })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const { id } = await subscribe(stripe)
  const saved = sandbox.snapshot()
  const play = async () => {
    await sandbox.clock.advance({ months: 2 })
    return JSON.stringify([sandbox.stripe.invoices(), sandbox.stripe.events()])
  }
  const first = await play()
  sandbox.restore(saved)
  await stripe.subscriptions.retrieve(id)
  await stripe.customers.list()
  await expect(stripe.customers.retrieve('cus_nobody')).rejects.toThrow()
  const gateway = new braintree.BraintreeGateway(sandbox.braintree.config as never)
  await gateway.plan.all()
  await expect(gateway.customer.find('nobody')).rejects.toThrow()
  expect(await play()).toBe(first)
})

it('a sandbox keeps its state in a file and starts from it', async () => {
  const stateFile = join(await temporaryFolder(), 'state.json')
  const first = await startSandbox({ stripe: true, now: NOW, stateFile })
  const stripe = new Stripe(first.stripe.apiKey, first.stripe.config)
  const subscription = await subscribe(stripe)
  await first.clock.advance({ days: 10 })
  await first.close()
  const second = await startSandbox({ stripe: true, stateFile })
  onTestFinished(() => second.close())
  expect(second.clock.now().toISOString()).toBe('2026-02-10T10:00:00.000Z')
  await second.clock.advance({ months: 1 })
  expect(second.stripe.subscription(subscription.id)).toMatchObject({ status: 'active' })
  expect(second.stripe.paidInvoices()).toHaveLength(2)
  const broken = join(await temporaryFolder(), 'broken.json')
  await writeFile(broken, '{"half":')
  await expect(startSandbox({ stripe: true, stateFile: broken })).rejects.toThrow(
    'not a state file',
  )
})

it('the control room shows all objects of a sandbox, and its forms change the sandbox', async () => {
  const sandbox = await startSandbox({ stripe: true, braintree: true, now: NOW, controlRoom: true })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
  })
  const subscription = await subscribe(stripe)
  const room = sandbox.controlRoom?.url ?? ''
  const send = (path: string, form: Record<string, string>, headers = {}) =>
    fetch(`${room}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
      headers,
    })
  const page = await (await fetch(room)).text()
  expect(page).toContain(String(subscription.customer))
  expect(page).toContain('2026-01-31T10:00:00.000Z')
  await stripe.customers.create({ name: '<script>alert(1)</script>', email: "x'<b>@example.com" })
  expect(await (await fetch(room)).text()).not.toContain('<b>@example')
  expect(
    (await send('/decline', { customer: String(subscription.customer), code: 'lost_card' })).status,
  ).toBe(303)
  expect((await send('/advance', { count: '1', unit: 'months' })).status).toBe(303)
  expect((await send('/advance-to', { date: '2026-03-01T00:00:00Z' })).status).toBe(303)
  expect(sandbox.clock.now().toISOString()).toBe('2026-03-01T00:00:00.000Z')
  expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({ status: 'past_due' })
  expect((await send('/advance-to', { date: '2020-01-01' })).status).toBe(400)
  expect((await send('/advance', { count: '1' }, { origin: 'https://evil.example' })).status).toBe(
    403,
  )
  await send('/fail', { count: '1', kind: '429' })
  await expect(stripe.customers.list()).rejects.toMatchObject({ statusCode: 429 })
  await send('/deliveries', { drop: 'on', delay: '5' })
  expect(sandbox.outbox.switches()).toMatchObject({ drop: true, duplicate: false, delaySeconds: 5 })
  expect((await fetch(`${room}/nothing`)).status).toBe(404)
  const state = (await (await fetch(`${room}/state.json`)).json()) as {
    stripe: { invoices: unknown[] }
  }
  expect(state.stripe.invoices).toHaveLength(2)
})

it('the servers of both providers reject requests with foreign host names, as a protection against DNS rebinding', async () => {
  const allowedHosts = ['pay.example.com']
  const sandbox = await startSandbox({ stripe: true, braintree: true, now: NOW, allowedHosts })
  onTestFinished(() => sandbox.close())
  const { stripe, braintree } = sandbox
  const basic = (name: string, password = '') =>
    `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
  const calls = [
    [stripe.url, '/v1/customers', basic(stripe.apiKey)],
    [stripe.url, '/v3/', ''],
    [
      braintree.url,
      `/merchants/${braintree.config.merchantId}/plans`,
      basic(braintree.config.publicKey, braintree.config.privateKey),
    ],
  ] as const
  for (const [url, path, authorization] of calls) {
    const ask = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { hostname, port } = new URL(url)
        const headers = { host: `${host}:${port}`, authorization, 'x-apiversion': '6' }
        request({ hostname, port, path, headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end()
      })
    expect([path, await ask('127.0.0.1'), await ask('localhost')]).toEqual([path, 200, 200])
    expect([path, await ask('pay.example.com')]).toEqual([path, 200])
    expect([path, await ask('evil.com'), await ask('127.0.0.1.evil.com')]).toEqual([path, 421, 421])
  }
})

it('startSandbox stops all servers if a port is taken', async () => {
  const first = await startSandbox({ stripe: true, now: NOW })
  onTestFinished(() => first.close())
  const { port } = first.stripe.config
  const free = await startSandbox({ stripe: true, now: NOW })
  const freed = free.stripe.config.port
  await free.close()
  const taken = startSandbox({ stripe: { port: freed }, braintree: { port }, now: NOW })
  await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' })
  const again = await startSandbox({ stripe: { port: freed }, now: NOW })
  await again.close()
})

it('startSandbox starts no providers that were not requested', async () => {
  const sandbox = await startSandbox({ braintree: true, now: NOW })
  onTestFinished(() => sandbox.close())
  expect(sandbox.stripe).toBeNull()
  expect(sandbox.controlRoom).toBeNull()
})
