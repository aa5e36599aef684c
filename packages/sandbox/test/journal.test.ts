import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import braintree from 'braintree'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { type Sandbox, startSandbox } from '../src/index.ts'

const NOW = new Date('2026-01-31T10:00:00Z')
const BOTH = { stripe: true, braintree: true } as const

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-journal-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Compares the state with what another process would read if this one were killed now. */
async function expectKept(sandbox: Sandbox<typeof BOTH>, file: string): Promise<void> {
  const folder = await temporaryFolder()
  for (const name of await readdir(join(file, '..'))) {
    await copyFile(join(file, '..', name), join(folder, name))
  }
  const known = sandbox.snapshot()
  const other = await startSandbox({ ...BOTH, stateFile: join(folder, 'state.json') })
  const found = other.snapshot()
  await other.close()
  expect(found.now).toBe(known.now)
  expect(found.store.drawn).toBe(known.store.drawn)
  expect(found.store.counters).toEqual(known.store.counters)
  for (const [name, rows] of Object.entries(known.store.tables)) {
    expect([name, found.store.tables[name] ?? []]).toEqual([name, rows])
  }
}

it('the journal of a sandbox contains every change at Stripe or Braintree before the response is sent', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const sandbox = await startSandbox({ ...BOTH, now: NOW, stateFile: file })
  onTestFinished(() => sandbox.close())
  await expectKept(sandbox, file)
  const stripe = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
  })
  const product = await stripe.products.create({ name: 'Gold' })
  const price = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1000,
    recurring: { interval: 'month' },
  })
  const customer = await stripe.customers.create({ payment_method: 'pm_card_visa' })
  const [card] = (await stripe.customers.listPaymentMethods(customer.id)).data
  sandbox.stripe.registerWebhook('http://127.0.0.1:9/nobody-listens')
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: card?.id ?? '',
    items: [{ price: price.id }],
  })
  await expectKept(sandbox, file)
  sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
  sandbox.trouble.failNext(2, '500')
  await expect(stripe.customers.list()).rejects.toThrow()
  await sandbox.clock.advance({ months: 1, hours: 2 })
  await expectKept(sandbox, file)
  sandbox.trouble.clear()
  await sandbox.clock.advance({ months: 2 })
  await stripe.subscriptions.update(
    subscription.id,
    { metadata: { n: 3 } },
    { idempotencyKey: 'once' },
  )
  await stripe.subscriptions.cancel(subscription.id)
  await stripe.customers.del(customer.id)
  await expectKept(sandbox, file)

  const gateway = new braintree.BraintreeGateway(
    sandbox.braintree.config as unknown as braintree.GatewayConfig,
  )
  sandbox.braintree.definePlan({ id: 'monthly', price: 1000 })
  const { customer: ada } = await gateway.customer.create({
    email: 'ada@example.com',
    paymentMethodNonce: 'fake-valid-nonce',
  })
  const token = ada.paymentMethods?.[0]?.token ?? ''
  const made = await gateway.subscription.create({ planId: 'monthly', paymentMethodToken: token })
  await expectKept(sandbox, file)
  const sale = await gateway.transaction.sale({ amount: '7.00', paymentMethodToken: token })
  await gateway.transaction.void(sale.transaction.id)
  await sandbox.clock.advance({ months: 2 })
  await gateway.paymentMethod.create({
    customerId: ada.id,
    paymentMethodNonce: 'fake-valid-visa-nonce',
    options: { makeDefault: true },
  })
  await gateway.subscription.cancel(made.subscription.id)
  await expectKept(sandbox, file)
  const before = sandbox.snapshot()
  await sandbox.clock.advance({ days: 1 })
  sandbox.restore(before)
  await sandbox.outbox.flush()
  await expectKept(sandbox, file)
})

it('the journal of a sandbox contains nothing about a rejected call except the number of random values that it used', async () => {
  const file = join(await temporaryFolder(), 'state.json')
  const sandbox = await startSandbox({ ...BOTH, now: NOW, stateFile: file })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  await stripe.customers.create({ email: 'ada@example.com' })
  await expect(stripe.customers.create({ payment_method: 'pm_nobody' })).rejects.toThrow()
  await expectKept(sandbox, file)
})
