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
 * A state file written when its format was new. If this test fails because the rows changed, raise
 * `STATE_FORMAT` and write the file anew: WRITE_STATE=1 npx vitest run --project sandbox
 * kept-format
 */
const KEPT = fileURLToPath(new URL('kept-format.jsonl', import.meta.url))
const ALL = { stripe: true, braintree: true, controlRoom: true } as const
/** Tables of which only a few rows are kept in the file. */
const MANY = /^\["stripe\.(?:event|idempotency_keys)"/
const NOBODY = 'http://127.0.0.1:9/nobody-listens'

/** Tables without rows in the file, and why. */
const EMPTY: Readonly<Record<string, string>> = {
  failed_jobs: 'only a fault of the sandbox itself writes one',
  'stripe.account': 'is made when it is asked for',
  'stripe.billing.meter_event_summary': 'is made when it is asked for',
  'stripe.card': 'is a part of other rows',
  'stripe.item': 'is a part of other rows',
  'stripe.plan': 'is a price, shown otherwise',
  'stripe.token': 'comes from the frame of Stripe.js in a browser, and lasts until it is used',
  'stripe.v2.billing.meter_event_session': 'is worth nothing after fifteen minutes',
  'stripe.usage_record': 'comes by versions before basil alone, which this SDK does not speak',
}

async function open(stateFile: string) {
  const sandbox = await startSandbox({ ...ALL, now: new Date('2026-01-31T10:00:00Z'), stateFile })
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

/** Creates a pending update, a processing debit, a schedule, and a card that is declined. */
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
  await writeOthers({ sandbox, stripe, gateway }, token)
  sandbox.trouble.declineNextCharge('rosa', '2001')
  await sandbox.close()
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n').slice(0, -1)
  const kept = lines.filter((line) => !MANY.test(line) || /"once"|"customer\.created"/.test(line))
  await writeFile(KEPT, `${kept.join('\n')}\n${JSON.stringify({ rows: kept.length - 1 })}\n`)
}

type Opened = Awaited<ReturnType<typeof open>>

/** Creates one of each other kind of row, whose future is not tested. */
async function writeOthers({ sandbox, stripe, gateway }: Opened, token: string): Promise<void> {
  await stripe.webhookEndpoints.create({ url: NOBODY, enabled_events: ['customer.created'] })
  sandbox.outbox.set({ delaySeconds: 3600 })
  const { id: customer } = await stripe.customers.create(...SOFIA)
  const clock = await stripe.testHelpers.testClocks.create({ frozen_time: 1_769_853_600 })
  await stripe.customers.create({ name: 'Maryam', test_clock: clock.id })
  await stripe.checkout.sessions.create({
    mode: 'subscription',
    customer,
    line_items: [{ price: 'gold', quantity: 1 }],
    success_url: 'https://shop.example/done',
  })
  const { id: coupon } = await stripe.coupons.create({ percent_off: 10, duration: 'once' })
  await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon }, code: 'TEN' })
  await stripe.taxRates.create({ display_name: 'VAT', percentage: 20, inclusive: false })
  await stripe.customers.createTaxId(customer, { type: 'eu_vat', value: 'DE123456789' })
  await stripe.customers.createBalanceTransaction(customer, { amount: -100, currency: 'usd' })
  const paid = await stripe.paymentIntents.create({
    amount: 900,
    currency: 'usd',
    customer,
    payment_method: 'pm_card_visa',
    confirm: true,
    return_url: 'https://shop.example/done',
  })
  await stripe.refunds.create({ payment_intent: paid.id, amount: 100 })
  sandbox.stripe.disputeCharge(String(paid.latest_charge))
  await stripe.setupIntents.create({ customer })
  const [card] = (await stripe.customers.listPaymentMethods(customer)).data
  const { latest_invoice: invoice } = await stripe.subscriptions.create({
    customer,
    default_payment_method: card?.id ?? '',
    items: [{ price: 'gold' }],
    discounts: [{ coupon }],
  })
  await stripe.creditNotes.create({ invoice: String(invoice), amount: 400, credit_amount: 400 })
  await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const payload = { value: '3', stripe_customer_id: customer }
  await stripe.billing.meterEvents.create({ event_name: 'calls', payload })
  await stripe.billingPortal.configurations.create({
    features: { invoice_history: { enabled: true } },
  })
  await stripe.billingPortal.sessions.create({ customer, return_url: 'https://shop.example' })
  await stripe.v2.core.eventDestinations.create({
    name: 'thin',
    type: 'webhook_endpoint',
    event_payload: 'thin',
    enabled_events: ['v1.billing.meter.error_report_triggered'],
    webhook_endpoint: { url: NOBODY },
  })
  sandbox.stripe.dropMeterEvents(customer)
  await stripe.billing.meterEvents.create({ event_name: 'calls', payload, identifier: 'wrong' })
  const cancel = { identifier: 'wrong' }
  await stripe.billing.meterEventAdjustments.create({ event_name: 'calls', type: 'cancel', cancel })
  const body = new URLSearchParams({ days: '2, 4', after: 'unpaid' })
  await fetch(`${sandbox.controlRoom?.url}/dunning`, { method: 'POST', body, redirect: 'manual' })
  sandbox.braintree.defineAddOn({ id: 'extra', amount: 100 })
  sandbox.braintree.changeSettings({ duplicateWindowSeconds: 0 })
  sandbox.braintree.registerWebhook(NOBODY)
  await gateway.customer.create({
    id: 'sofia',
    paymentMethodNonce: 'fake-valid-nonce',
    creditCard: { options: { verifyCard: true } },
  } as never)
  await gateway.address.create({ customerId: 'rosa', firstName: 'Rosa', countryCodeAlpha2: 'US' })
  await gateway.paymentMethodNonce.create(token)
  const sale = { amount: '7.00', paymentMethodToken: token, apiRequestKey: 'once' }
  await gateway.transaction.sale(sale as never)
  sandbox.trouble.failNext(1, '500', 'braintree')
}

const SOFIA: [Stripe.CustomerCreateParams, Stripe.RequestOptions] = [
  { name: 'Sofia', payment_method: 'pm_card_visa' },
  { idempotencyKey: 'once' },
]

it("the test's state file has a row of every table that a state can have", async () => {
  const file = await newFile()
  await copyFile(KEPT, file)
  const { sandbox } = await open(file)
  const tables = Object.keys(sandbox.snapshot().store.tables)
  await sandbox.close()
  const text = await readFile(KEPT, 'utf8')
  const without = tables.filter((name) => !text.includes(`\n[${JSON.stringify(name)},`))
  expect(without.toSorted()).toEqual(Object.keys(EMPTY).toSorted())
})

it('a sandbox continues from a state written by an earlier build with the same format', async () => {
  if (process.env.WRITE_STATE) await writeKept()
  expect((await readFile(KEPT, 'utf8')).startsWith(`{"version":${STATE_FORMAT},`)).toBe(true)
  const file = await newFile()
  await copyFile(KEPT, file)
  const { sandbox, stripe, gateway } = await open(file)
  onTestFinished(() => sandbox.close())
  const sofia = sandbox.stripe.customers().filter(({ name }) => name === 'Sofia')
  expect(await stripe.customers.create(...SOFIA)).toMatchObject({ id: sofia[0]?.id })
  expect(sofia).toHaveLength(1)
  expect(sandbox.stripe.events('customer.created').length).toBeGreaterThan(0)
  expect(sandbox.outbox.deliveries({ provider: 'stripe' }).length).toBeGreaterThan(0)
  await expect(gateway.subscription.find('rosa-1')).rejects.toThrow()
  const trouble = await fetch(`${sandbox.controlRoom?.url}/trouble.json`)
  expect(await trouble.json()).toMatchObject({ dunning: { retryAfterDays: [2, 4] } })
  const [clock] = (await stripe.testHelpers.testClocks.list()).data
  expect(clock).toMatchObject({ status: 'ready', frozen_time: 1_769_853_600 })
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
  const { data: sessions } = await stripe.checkout.sessions.list()
  expect(sessions).toMatchObject([{ status: 'expired' }])
  await sandbox.clock.advance({ years: 1 })
  expect(sandbox.failedJobs()).toEqual([])
})
