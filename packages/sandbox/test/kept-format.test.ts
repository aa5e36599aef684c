import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import braintree from 'braintree'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import { STATE_FORMAT } from '../src/core/store/snapshot.ts'
import { startSandbox } from '../src/index.ts'

/**
 * A state file as it was written when its format was new. When this test fails because rows look otherwise now, raise
 * `STATE_FORMAT` and write the file anew: WRITE_STATE=1 npx vitest run --project sandbox kept-format
 */
const KEPT = fileURLToPath(new URL('kept-format.jsonl', import.meta.url))
const BOTH = { stripe: true, braintree: true } as const
const NOT_KEPT = /^\["(?:stripe\.event|stripe\.idempotency_keys)"/

async function open(stateFile: string) {
  const sandbox = await startSandbox({ ...BOTH, now: new Date('2026-01-31T10:00:00Z'), stateFile })
  const stripe = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
  })
  const gateway = new braintree.BraintreeGateway(sandbox.braintree.config as never)
  return { sandbox, stripe, gateway }
}

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-format-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'state.json')
}

/** An update that waits for its payment, a debit on its way, a plan for later, and a card that is declined. */
async function writeKept(): Promise<void> {
  const file = await newFile()
  const { sandbox, stripe, gateway } = await open(file)
  const seed = (id: string, unitAmount: number, currency = 'usd') =>
    sandbox.stripe.seedPrice({ id, unitAmount, currency, interval: 'month', product: 'Gold' })
  seed('gold', 1000)
  seed('platinum', 3000)
  seed('gold-eur', 700, 'eur')
  const customerWith = async (name: string, method: string) => {
    const { id } = await stripe.customers.create({ name })
    const { id: card } = await stripe.paymentMethods.attach(method, { customer: id })
    await stripe.customers.update(id, { invoice_settings: { default_payment_method: card } })
    return id
  }
  const ada = await customerWith('Ada', 'pm_card_visa')
  const held = await stripe.subscriptions.create({ customer: ada, items: [{ price: 'gold' }] })
  sandbox.trouble.declineNextCharge(ada, 'insufficient_funds')
  await stripe.subscriptions.update(held.id, {
    items: [{ id: held.items.data[0]?.id ?? '', price: 'platinum' }],
    payment_behavior: 'pending_if_incomplete',
    proration_behavior: 'always_invoice',
  })
  const grace = await customerWith('Grace', 'pm_sepaDebit_successDelayed_de')
  await stripe.subscriptions.create({ customer: grace, items: [{ price: 'gold-eur' }] })
  const emmy = await customerWith('Emmy', 'pm_card_visa')
  await stripe.subscriptionSchedules.create({
    customer: emmy,
    start_date: 'now',
    phases: [
      { items: [{ price: 'gold' }], duration: { interval: 'month', interval_count: 1 } },
      { items: [{ price: 'platinum' }], duration: { interval: 'month', interval_count: 1 } },
    ],
  })
  sandbox.braintree.definePlan({ id: 'silver', price: 700 })
  await gateway.customer.create({ id: 'rosa', paymentMethodNonce: 'fake-valid-nonce' })
  const { paymentMethods } = await gateway.customer.find('rosa')
  const token = paymentMethods?.[0]?.token ?? ''
  await gateway.subscription.create({ id: 'rosa-1', planId: 'silver', paymentMethodToken: token })
  sandbox.trouble.declineNextCharge('rosa', '2001')
  await sandbox.close()
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(0, -1)
  const kept = lines.filter((line) => !NOT_KEPT.test(line))
  await writeFile(KEPT, `${kept.join('\n')}\n${JSON.stringify({ rows: kept.length - 1 })}\n`)
}

it('goes on with a state that an earlier build of the same format has written', async () => {
  if (process.env.WRITE_STATE) await writeKept()
  expect((await readFile(KEPT, 'utf8')).startsWith(`{"version":${STATE_FORMAT},`)).toBe(true)
  const file = await newFile()
  await copyFile(KEPT, file)
  const { sandbox, stripe, gateway } = await open(file)
  onTestFinished(() => sandbox.close())
  const subscriptionOf = async (name: string) => {
    const customer = sandbox.stripe.customers().find((each) => each.name === name)
    const { data } = await stripe.subscriptions.list({ customer: customer?.id ?? '' })
    return data[0] as Stripe.Subscription
  }
  const held = await subscriptionOf('Ada')
  expect(held.pending_update).not.toBeNull()
  await stripe.invoices.pay(String(held.latest_invoice))
  expect(await subscriptionOf('Ada')).toMatchObject({
    pending_update: null,
    items: { data: [{ price: { id: 'platinum' } }] },
  })
  await sandbox.clock.advance({ minutes: 4 })
  const { data } = await stripe.invoices.list({
    customer: String((await subscriptionOf('Grace')).customer),
  })
  expect(data).toMatchObject([{ status: 'paid', total: 700 }])
  await sandbox.clock.advance({ months: 1, days: 1 })
  expect(await subscriptionOf('Emmy')).toMatchObject({
    items: { data: [{ price: { id: 'platinum' } }] },
  })
  expect(await gateway.subscription.find('rosa-1')).toMatchObject({ status: 'Past Due' })
  await sandbox.clock.advance({ years: 1 })
  expect(sandbox.failedJobs()).toEqual([])
})
