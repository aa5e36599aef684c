import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.ts'
import {
  catchStripeError,
  START,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

const LATER = seconds('2026-02-10T00:00:00Z')

/**
 * Creates a subscription of another customer, which must stay unaffected, and a function that
 * schedules another one.
 */
async function startWithNeighbour() {
  const setup = await startStripeSandbox()
  const { stripe } = setup
  const prices = await seedPrices(stripe)
  const { customer: neighbour } = await seedCustomer(stripe)
  await stripe.subscriptions.create({
    customer: neighbour.id,
    items: [{ price: prices.monthly.id }],
  })
  const plan = (customer: string, price: string) =>
    stripe.subscriptionSchedules.create({
      customer,
      start_date: LATER,
      phases: [{ items: [{ price }], duration: { interval: 'year', interval_count: 1 } }],
    })
  return { ...setup, prices, neighbour, plan }
}

it("the Stripe sandbox starts a customer's subscription schedule without a card: the subscription is active, then past due", async () => {
  const { sandbox, stripe, prices, neighbour, plan } = await startWithNeighbour()
  const customer = await stripe.customers.create({ email: 'cardless@example.com' })
  const schedule = await plan(customer.id, prices.monthly.id)
  await sandbox.clock.advanceTo(new Date('2026-02-10T00:30:00Z'))
  const [begun] = sandbox.stripe.subscriptions(customer.id)
  expect(begun).toMatchObject({ status: 'active', schedule: schedule.id })
  expect(sandbox.stripe.invoices(customer.id)).toMatchObject([{ status: 'draft', total: 1000 }])
  await sandbox.clock.advanceTo(new Date('2026-02-10T01:00:00Z'))
  expect(sandbox.stripe.subscriptions(customer.id)).toMatchObject([{ status: 'past_due' }])
  expect(sandbox.stripe.invoices(customer.id)).toMatchObject([
    { status: 'open', attempt_count: 1, next_payment_attempt: LATER + 3600 + 3 * 86_400 },
  ])
  await sandbox.clock.advance({ months: 2 })
  expect(sandbox.stripe.paidInvoices(neighbour.id)).toHaveLength(3)
  expect(sandbox.failedJobs()).toEqual([])
})

it('the Stripe sandbox cancels the schedules of a deleted customer', async () => {
  const { sandbox, stripe, prices, neighbour, plan } = await startWithNeighbour()
  const { customer } = await seedCustomer(stripe)
  const schedule = await plan(customer.id, prices.monthly.id)
  await stripe.customers.del(customer.id)
  expect((await stripe.subscriptionSchedules.retrieve(schedule.id)).status).toBe('canceled')
  expect(sandbox.stripe.events('subscription_schedule.canceled')).toHaveLength(1)
  await sandbox.clock.advance({ months: 2 })
  expect(sandbox.stripe.subscriptions(customer.id)).toEqual([])
  expect(sandbox.stripe.paidInvoices(neighbour.id)).toHaveLength(2)
  expect(sandbox.failedJobs()).toEqual([])
})

it('the Stripe sandbox starts a scheduled subscription although its price was archived meanwhile', async () => {
  const { sandbox, stripe, prices, plan } = await startWithNeighbour()
  const { customer } = await seedCustomer(stripe)
  await plan(customer.id, prices.better.id)
  await stripe.prices.update(prices.better.id, { active: false })
  expect((await catchStripeError(plan(customer.id, prices.better.id))).message).toContain(
    'inactive',
  )
  await sandbox.clock.advanceTo(new Date('2026-02-10T01:00:00Z'))
  expect(sandbox.stripe.paidInvoices(customer.id)).toMatchObject([{ total: 2500 }])
})

it("the Stripe sandbox starts a schedule with the customer's card if the schedule's own card was detached", async () => {
  const { sandbox, stripe, prices } = await startWithNeighbour()
  const { customer } = await seedCustomer(stripe)
  const other = await stripe.paymentMethods.attach('pm_card_mastercard', { customer: customer.id })
  await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: LATER,
    phases: [{ items: [{ price: prices.monthly.id }], default_payment_method: other.id }],
  })
  await stripe.paymentMethods.detach(other.id)
  await sandbox.clock.advanceTo(new Date('2026-02-10T01:00:00Z'))
  expect(sandbox.stripe.paidInvoices(customer.id)).toMatchObject([{ total: 1000 }])
})

it('the Stripe sandbox records a failed due job, continues for all other customers, and retries the job', async () => {
  const { sandbox, stripe, prices, neighbour, plan } = await startWithNeighbour()
  const { customer } = await seedCustomer(stripe)
  const schedule = await plan(customer.id, prices.monthly.id)
  // The customer is billed in another currency by then. Stripe's behavior in this case is unknown.
  const euros = await stripe.prices.create({
    product: prices.product.id,
    currency: 'eur',
    unit_amount: 900,
    recurring: { interval: 'month' },
  })
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: euros.id }] })
  await sandbox.clock.advance({ months: 2 })
  expect(sandbox.clock.now().toISOString()).toBe('2026-03-31T10:00:00.000Z')
  expect(sandbox.stripe.paidInvoices(neighbour.id)).toHaveLength(2)
  expect(sandbox.failedJobs()).toMatchObject([
    {
      provider: 'stripe',
      job: 'subscription_schedule',
      key: schedule.id,
      message: expect.stringContaining('combine currencies') as string,
      firstFailedAt: LATER * 1000,
      attempts: 50,
    },
  ])
  const half = sandbox.stripe.subscriptions(customer.id)
  expect(half.map(({ currency }) => currency)).toEqual(['eur'])
  expect((await stripe.subscriptionSchedules.retrieve(schedule.id)).status).toBe('not_started')

  // A restored sandbox has the same future, and the failure ends once its cause is removed.
  const saved = JSON.parse(JSON.stringify(sandbox.snapshot())) as ReturnType<
    typeof sandbox.snapshot
  >
  await sandbox.clock.advance({ days: 3 })
  expect(sandbox.failedJobs()).toMatchObject([{ attempts: 53 }])
  sandbox.restore(saved)
  await sandbox.clock.advance({ days: 3 })
  expect(sandbox.failedJobs()).toMatchObject([{ attempts: 53 }])
  await stripe.subscriptionSchedules.cancel(schedule.id)
  await sandbox.clock.advance({ days: 3 })
  expect(sandbox.failedJobs()).toMatchObject([{ attempts: 53 }])
})

it('the Stripe sandbox rejects a schedule when it is created, if it could only fail on its start date', async () => {
  const { stripe, prices } = await startWithNeighbour()
  const { customer } = await seedCustomer(stripe)
  const monthly = prices.monthly.id
  const plan = (phase: Stripe.SubscriptionScheduleCreateParams.Phase) =>
    catchStripeError(
      stripe.subscriptionSchedules.create({
        customer: customer.id,
        start_date: LATER,
        phases: [phase],
      }),
    )
  expect((await plan({ items: [{ price: monthly }, { price: monthly }] })).message).toContain(
    'Cannot add multiple subscription items with the same plan',
  )
  const early = await plan({ items: [{ price: monthly }], trial_end: LATER - 1 })
  expect(early.param).toBe('phases[0][trial_end]')
})

it("the Stripe sandbox adds a schedule phase's new items if the phase and a billing period start at the same time", async () => {
  const { sandbox, stripe, prices, neighbour } = await startWithNeighbour()
  const [subscription] = sandbox.stripe.subscriptions(neighbour.id)
  const schedule = await stripe.subscriptionSchedules.create({
    from_subscription: subscription?.id ?? '',
  })
  const [phase] = schedule.phases
  await stripe.subscriptionSchedules.update(schedule.id, {
    phases: [
      {
        items: [{ price: prices.monthly.id }],
        start_date: phase?.start_date ?? 0,
        end_date: phase?.end_date ?? 0,
      },
      { items: [{ price: prices.monthly.id }, { price: prices.better.id }] },
    ],
  })
  await sandbox.clock.advance({ months: 1, hours: 1 })
  expect(sandbox.stripe.invoices(neighbour.id)[0]).toMatchObject({ status: 'paid', total: 3500 })
})

it('the Stripe sandbox shows failed jobs in the control room', async () => {
  const sandbox = await startSandbox({ stripe: true, now: START, controlRoom: true })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const { monthly, product } = await seedPrices(stripe)
  const { customer } = await seedCustomer(stripe)
  const schedule = await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: LATER,
    phases: [{ items: [{ price: monthly.id }] }],
  })
  const euros = { currency: 'eur', unit_amount: 900, recurring: { interval: 'month' as const } }
  const price = await stripe.prices.create({ product: product.id, ...euros })
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: price.id }] })
  const url = sandbox.controlRoom?.url ?? ''
  expect(await (await fetch(url)).text()).not.toContain('due job failed.')
  await sandbox.clock.advance({ months: 1 })
  const page = await (await fetch(url)).text()
  expect(page).toContain('due job failed.')
  expect(page).toContain(schedule.id)
  const state = (await (await fetch(`${url}/state.json`)).json()) as { failedJobs: unknown[] }
  expect(state.failedJobs).toMatchObject([{ key: schedule.id, job: 'subscription_schedule' }])
})

it('the tollgate-sandbox process survives failures while a test clock moves', async () => {
  const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
  const ports = ['--stripe-port', '0', '--braintree-port', 'off', '--control-port', '0']
  const child = spawn(process.execPath, [cli, ...ports, '--now', START.toISOString(), '--json'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const facts = JSON.parse(line) as { stripe: Stripe.StripeConfig & { apiKey: string } }
  const { apiKey, host, port } = facts.stripe
  const stripe = new Stripe(apiKey, { host, port, protocol: 'http' } as Stripe.StripeConfig)
  const { monthly } = await seedPrices(stripe)
  const clock = await stripe.testHelpers.testClocks.create({
    frozen_time: seconds(START.toISOString()),
  })
  const customer = await stripe.customers.create({ test_clock: clock.id })
  await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: LATER,
    phases: [{ items: [{ price: monthly.id }] }],
  })
  await stripe.customers.del(customer.id)
  await stripe.testHelpers.testClocks.advance(clock.id, { frozen_time: LATER + 86_400 })
  await expect
    .poll(async () => (await stripe.testHelpers.testClocks.retrieve(clock.id)).status)
    .toBe('ready')
  expect(child.exitCode).toBeNull()
})

it('the Stripe sandbox can be closed while the clock is moving and webhooks are pending', async () => {
  const sandbox = await startSandbox({ stripe: true, now: START })
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const receiver = createServer((_request, response) => {
    response.writeHead(500).end()
    void sandbox.close()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void receiver.close())
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const { monthly } = await seedPrices(stripe)
  const { customer } = await seedCustomer(stripe)
  await stripe.subscriptions.create({ customer: customer.id, items: [{ price: monthly.id }] })
  sandbox.stripe.registerWebhook(`http://127.0.0.1:${port}/hook`)
  await sandbox.clock.advance({ months: 2 })
  expect(sandbox.clock.now().toISOString()).toBe('2026-03-31T10:00:00.000Z')
})
