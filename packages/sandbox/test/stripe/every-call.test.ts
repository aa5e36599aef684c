import Stripe from 'stripe'
import { expect, it } from 'vitest'
import { emptyListOperations } from '../../src/stripe/resources/empty-lists.ts'
import { STRIPE_OPERATIONS } from '../../src/stripe/resources/registry.ts'
import type { StripeHandle } from '../../src/stripe/server/handle.ts'
import { KINDS } from '../../src/stripe/wire/contract.generated.ts'
import { ConformanceChecker, loadOldContract } from './conformance.ts'
import { BASIL, CLOVER, DAHLIA } from './old-versions.ts'
import {
  catchStripeError,
  seconds,
  seedCustomer,
  seedPrices,
  startStripeSandbox,
} from './support.ts'

/** Operations that reject every call of this SDK. */
const REFUSED = [
  'Charges.create',
  'Customers.verifySource',
  'Customers.deleteDiscount',
  'Refunds.cancel',
  // Available in older versions only, see version-changes.test.ts.
  'Invoices.listUpcomingLines',
  'SubscriptionItems.createUsageRecord',
  'SubscriptionItems.listUsageRecordSummaries',
  // Tokens are created by a page, see page-calls.test.ts.
  'Tokens.create',
  ...Object.keys(emptyListOperations).filter((name) => name.endsWith('.retrieve')),
]

/** Kinds without an id: checked by the type of their call, and not counted as a kind. */
const WITHOUT_ID = ['billing.meter_event', 'billing.meter_event_adjustment']

/**
 * Kinds that are not read back in older versions: an event keeps its own version, portal sessions
 * and meter events cannot be read, and a balance has no id, so no contract names it. Tokens are
 * missing from the older contracts.
 */
const UNKNOWN_THEN = new Set(['balance', 'billing_portal.session', 'event', 'token', ...WITHOUT_ID])

it('the Stripe sandbox responds to every supported call with an object of the type that the SDK declares', async () => {
  const { sandbox, stripe, checker } = await startStripeSandbox()
  await callEverything(stripe, sandbox.stripe)
  const missing = Object.keys(STRIPE_OPERATIONS).filter(
    (name) => !checker.seen.has(name) && !REFUSED.includes(name),
  )
  expect(missing).toEqual([])
  expect(Object.keys(KINDS).filter((kind) => !checker.kinds.has(kind))).toEqual(WITHOUT_ID)
})

it.each([
  ['stripe-18', BASIL],
  ['stripe-20', CLOVER],
  ['stripe-22', DAHLIA],
])(
  'the Stripe sandbox responds to every reading call in an older API version with an object of the type that %s declares',
  async (name, version) => {
    const old = new ConformanceChecker(await loadOldContract(name), { newerFields: true })
    const problems = new Set<string>()
    const again: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (init?.method !== 'GET' || !response.ok) return response
      const headers = new Headers(init.headers)
      headers.set('Stripe-Version', version)
      const repeated = await fetch(input, { ...init, headers })
      const path = new URL(String(input)).pathname
      // A field that is expandable now need not have been expandable.
      if (!repeated.ok) return response
      const body = (await repeated.json()) as { object: string; data?: unknown }
      // The data of an event is not a list.
      const objects = Array.isArray(body.data) ? (body.data as Array<typeof body>) : [body]
      for (const object of objects) {
        if (!UNKNOWN_THEN.has(object.object)) {
          for (const problem of old.checkObject(object, path)) problems.add(problem)
        }
      }
      return response
    }
    const { sandbox, stripe } = await startStripeSandbox({
      sdk: { httpClient: Stripe.createFetchHttpClient(again) },
    })
    await callEverything(stripe, sandbox.stripe)
    expect([...problems]).toEqual([])
    expect(
      Object.keys(KINDS).filter((kind) => !old.kinds.has(kind) && !UNKNOWN_THEN.has(kind)),
    ).toEqual([])
  },
)

/** Enters a card like the sandbox's own frame. */
async function typeCard({ url, publishableKey }: StripeHandle): Promise<string> {
  const card = {
    'card[number]': '4242424242424242',
    'card[exp_month]': '12',
    'card[exp_year]': '34',
  }
  const response = await fetch(`${url}/v1/tokens`, {
    method: 'POST',
    headers: { origin: url },
    body: new URLSearchParams({ key: publishableKey, ...card }),
  })
  return ((await response.json()) as { id: string }).id
}

async function callEverything(stripe: Stripe, handle: StripeHandle) {
  await callCatalog(stripe)
  await callCustomers(stripe)
  await callIntents(stripe, handle)
  await stripe.tokens.retrieve(await typeCard(handle))
  await callSubscriptions(stripe)
  await callInvoices(stripe)
  await callCreditNotes(stripe)
  await callDisputes(stripe)
  await callMeters(stripe)
  await callSources(stripe)
  await callSessions(stripe)
  await callClocksAndEvents(stripe)
  await callAccount(stripe)
  await callEmptyLists(stripe)
}

async function callAccount(stripe: Stripe) {
  const account = await stripe.accounts.retrieveCurrent()
  expect(account.charges_enabled).toBe(true)
  expect(account.requirements?.currently_due).toEqual([])
  expect((await stripe.accounts.retrieve(account.id)).id).toBe(account.id)
  expect((await catchStripeError(stripe.accounts.retrieve('acct_other'))).code).toBe(
    'account_invalid',
  )
  const own = { stripeAccount: account.id }
  expect((await stripe.customers.list({}, own)).object).toBe('list')
  const other = { stripeAccount: 'acct_other' }
  expect((await catchStripeError(stripe.customers.list({}, other))).code).toBe('account_invalid')
  expect((await stripe.accounts.list()).data).toEqual([])
  const taxId = await stripe.taxIds.create({ type: 'us_ein', value: '123456789' })
  await stripe.taxIds.retrieve(taxId.id)
  expect((await stripe.taxIds.list()).data).toHaveLength(1)
  expect((await stripe.taxIds.del(taxId.id)).deleted).toBe(true)
  const [code] = (await stripe.taxCodes.list({ limit: 1 })).data
  await stripe.taxCodes.retrieve(code?.id ?? '')
  await stripe.balance.retrieve()
  const { data } = await stripe.balanceTransactions.list({ limit: 1, expand: ['data.source'] })
  await stripe.balanceTransactions.retrieve(data[0]?.id ?? '')
}

async function callMeters(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const meter = await stripe.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  await stripe.billing.meterEvents.create({
    event_name: 'calls',
    identifier: 'first',
    payload: { stripe_customer_id: customer.id, value: '3' },
  })
  const start = seconds('2026-01-31T00:00:00Z')
  await stripe.billing.meters.listEventSummaries(meter.id, {
    customer: customer.id,
    start_time: start,
    end_time: start + 86_400,
    value_grouping_window: 'day',
  })
  await stripe.billing.meterEventAdjustments.create({
    event_name: 'calls',
    type: 'cancel',
    cancel: { identifier: 'first' },
  })
  await stripe.billing.meters.update(meter.id, { display_name: 'API calls' })
  await stripe.billing.meters.deactivate(meter.id)
  await stripe.billing.meters.reactivate(meter.id)
  await stripe.billing.meters.retrieve(meter.id)
  await stripe.billing.meters.list()
}

async function callEmptyLists(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const { id } = await stripe.products.create({ name: 'Without features' })
  expect((await stripe.products.listFeatures(id)).data).toEqual([])
  expect((await catchStripeError(stripe.products.listFeatures('prod_none'))).code).toBe(
    'resource_missing',
  )
  const nouns = [
    stripe.applicationFees,
    stripe.billing.alerts,
    stripe.entitlements.features,
    stripe.fileLinks,
    stripe.files,
    stripe.paymentLinks,
    stripe.paymentMethodConfigurations,
    stripe.paymentMethodDomains,
    stripe.payouts,
    stripe.quotes,
    stripe.radar.earlyFraudWarnings,
    stripe.reviews,
    stripe.shippingRates,
    stripe.topups,
    stripe.transfers,
  ]
  for (const noun of nouns) {
    expect((await noun.list({ limit: 3 })).data).toEqual([])
    expect((await catchStripeError(noun.retrieve('x_1'))).code).toBe('resource_missing')
  }
  const { activeEntitlements } = stripe.entitlements
  expect((await activeEntitlements.list({ customer: customer.id })).data).toEqual([])
  expect((await catchStripeError(activeEntitlements.list({ customer: 'cus_x' }))).code).toBe(
    'resource_missing',
  )
  expect((await catchStripeError(activeEntitlements.retrieve('x_1'))).code).toBe('resource_missing')
}

async function callCatalog(stripe: Stripe) {
  const product = await stripe.products.create({
    name: 'Silver',
    metadata: { a: '1' },
    default_price_data: { currency: 'eur', unit_amount: 500 },
  })
  await stripe.products.retrieve(product.id, { expand: ['default_price'] })
  await stripe.products.update(product.id, { description: 'Shiny', metadata: { a: '', b: '2' } })
  expect((await stripe.products.list({ active: true })).data).toHaveLength(1)
  expect(
    (await stripe.products.search({ query: 'metadata["b"]:"2" AND active:"true"' })).data[0]?.id,
  ).toBe(product.id)
  const empty = await stripe.products.create({ name: 'Empty' })
  expect((await stripe.products.del(empty.id)).deleted).toBe(true)
  const price = await stripe.prices.create({
    product_data: { name: 'Own' },
    currency: 'usd',
    unit_amount_decimal: '10.5' as never,
    recurring: { interval: 'week', interval_count: 2 },
    lookup_key: 'own',
  })
  expect(price.unit_amount).toBeNull()
  expect(String(price.unit_amount_decimal)).toBe('10.5')
  await stripe.prices.retrieve(price.id, { expand: ['product'] })
  await stripe.prices.update(price.id, { nickname: 'Fortnight' })
  expect((await stripe.prices.list({ lookup_keys: ['own'] })).data).toHaveLength(1)
  await stripe.prices.search({ query: 'currency:"usd"' })
  const plan = await stripe.plans.create({
    currency: 'usd',
    interval: 'year',
    amount: 9900,
    product: product.id,
    expand: ['product'],
  })
  await stripe.plans.retrieve(plan.id)
  await stripe.plans.update(plan.id, { nickname: 'Old style' })
  expect((await stripe.plans.list({ product: product.id })).data).toHaveLength(1)
  expect((await stripe.plans.del(plan.id)).deleted).toBe(true)
  const coupon = await stripe.coupons.create({
    percent_off: 12.5,
    duration: 'repeating',
    duration_in_months: 3,
    id: 'SPRING',
  })
  await stripe.coupons.retrieve('SPRING', { expand: ['applies_to'] })
  await stripe.coupons.update('SPRING', { name: 'Spring' })
  await stripe.coupons.list()
  const code = await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: coupon.id },
    code: 'HELLO',
  })
  await stripe.promotionCodes.retrieve(code.id, { expand: ['promotion.coupon'] })
  await stripe.promotionCodes.update(code.id, { metadata: { a: 'b' } })
  expect((await stripe.promotionCodes.list({ code: 'hello' })).data).toHaveLength(1)
  await stripe.coupons.create({ amount_off: 100, currency: 'usd', id: 'GONE' })
  await stripe.coupons.del('GONE')
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 19.25,
    inclusive: false,
  })
  await stripe.taxRates.retrieve(rate.id)
  await stripe.taxRates.update(rate.id, { description: 'Tax' })
  await stripe.taxRates.list({ active: true, limit: 100 })
}

async function callCustomers(stripe: Stripe) {
  const { customer, method } = await seedCustomer(stripe)
  await stripe.customers.retrieve(customer.id, {
    expand: ['invoice_settings.default_payment_method', 'subscriptions', 'sources', 'tax_ids'],
  })
  const list = await stripe.customers.list({ email: 'ada@example.com' })
  expect(list.data.map((each) => each.id)).toEqual([customer.id])
  expect((await stripe.customers.search({ query: 'email:"ada@example.com"' })).data).toHaveLength(1)
  expect((await catchStripeError(stripe.customers.deleteDiscount(customer.id))).code).toBe(
    'resource_missing',
  )
  const entry = await stripe.customers.createBalanceTransaction(customer.id, {
    amount: -500,
    currency: 'usd',
  })
  expect(entry.ending_balance).toBe(-500)
  await stripe.customers.retrieveBalanceTransaction(customer.id, entry.id)
  await stripe.customers.updateBalanceTransaction(customer.id, entry.id, { description: 'Gift' })
  expect((await stripe.customers.listBalanceTransactions(customer.id)).data).toHaveLength(1)
  const taxId = await stripe.customers.createTaxId(customer.id, {
    type: 'eu_vat',
    value: 'DE123456789',
  })
  await stripe.customers.retrieveTaxId(customer.id, taxId.id, { expand: ['customer'] })
  expect((await stripe.customers.listTaxIds(customer.id)).data).toHaveLength(1)
  expect((await stripe.customers.deleteTaxId(customer.id, taxId.id)).deleted).toBe(true)
  await stripe.customers.listPaymentMethods(customer.id, { type: 'card' })
  await stripe.customers.retrievePaymentMethod(customer.id, method.id)
  const made = await stripe.paymentMethods.create({
    type: 'card',
    card: { token: 'tok_mastercard' },
    billing_details: { name: 'Ada' },
  })
  expect(made.card?.brand).toBe('mastercard')
  await stripe.paymentMethods.retrieve(made.id)
  await stripe.paymentMethods.attach(made.id, { customer: customer.id })
  await stripe.paymentMethods.update(made.id, { metadata: { a: 'b' } })
  expect(
    (await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })).data,
  ).toHaveLength(2)
  expect((await stripe.paymentMethods.detach(made.id)).customer).toBeNull()
  expect(await stripe.customers.del(customer.id)).toMatchObject({ deleted: true })
  expect(await stripe.customers.retrieve(customer.id)).toMatchObject({
    id: customer.id,
    object: 'customer',
    deleted: true,
  })
}

async function callIntents(
  stripe: Stripe,
  handle: { completeAuthentication(id: string): unknown },
) {
  const { customer, method } = await seedCustomer(stripe)
  const setup = await stripe.setupIntents.create({ customer: customer.id, usage: 'off_session' })
  await stripe.setupIntents.update(setup.id, { metadata: { a: 'b' } })
  expect(
    (await stripe.setupIntents.confirm(setup.id, { payment_method: 'pm_card_visa' })).status,
  ).toBe('succeeded')
  await stripe.setupIntents.retrieve(setup.id, { expand: ['payment_method'] })
  await stripe.setupIntents.list({ customer: customer.id })
  const idle = await stripe.setupIntents.create()
  expect((await stripe.setupIntents.cancel(idle.id)).status).toBe('canceled')
  const intent = await stripe.paymentIntents.create({
    amount: 2000,
    currency: 'usd',
    customer: customer.id,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
  await stripe.paymentIntents.update(intent.id, { description: 'One thing' })
  const paid = await stripe.paymentIntents.confirm(intent.id, {
    payment_method: method.id,
    off_session: true,
  })
  expect(paid).toMatchObject({ status: 'succeeded', amount_received: 2000 })
  await stripe.paymentIntents.retrieve(intent.id, {
    expand: ['latest_charge', 'payment_method', 'customer'],
  })
  await stripe.paymentIntents.list({ customer: customer.id })
  await stripe.paymentIntents.search({ query: 'status:"succeeded"' })
  const held = await stripe.paymentIntents.create({
    amount: 900,
    currency: 'usd',
    customer: customer.id,
    payment_method: method.id,
    capture_method: 'manual',
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
  expect(held.status).toBe('requires_capture')
  expect(
    (await stripe.paymentIntents.capture(held.id, { amount_to_capture: 700 })).amount_received,
  ).toBe(700)
  const dropped = await stripe.paymentIntents.create({ amount: 900, currency: 'usd' })
  expect((await stripe.paymentIntents.cancel(dropped.id)).status).toBe('canceled')
  const challenged = await stripe.paymentIntents.create({
    amount: 900,
    currency: 'usd',
    payment_method: 'pm_card_threeDSecure2Required',
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    return_url: 'https://example.com/back',
  })
  expect(challenged.next_action?.redirect_to_url?.return_url).toBe('https://example.com/back')
  handle.completeAuthentication(challenged.id)
  expect(
    (await stripe.paymentIntents.retrieve(challenged.id, { expand: ['latest_charge'] })).status,
  ).toBe('succeeded')
  const refund = await stripe.refunds.create({
    payment_intent: intent.id,
    amount: 500,
    reason: 'requested_by_customer',
  })
  await stripe.refunds.retrieve(refund.id, { expand: ['charge'] })
  await stripe.refunds.update(refund.id, { metadata: { a: 'b' } })
  await stripe.refunds.list({ payment_intent: intent.id })
  await catchStripeError(stripe.refunds.cancel(refund.id))
  const chargeId = String(paid.latest_charge)
  expect(
    (await stripe.charges.retrieve(chargeId, { expand: ['refunds', 'payment_intent'] }))
      .amount_refunded,
  ).toBe(500)
  await stripe.charges.update(chargeId, { description: 'Thing' })
  await stripe.charges.list({ customer: customer.id })
  await stripe.charges.search({ query: 'amount>100' })
  await catchStripeError(stripe.charges.create({ amount: 100, currency: 'usd' }))
}

async function callSubscriptions(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const { monthly, better, product } = await seedPrices(stripe)
  const once = await stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 300,
  })
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 20,
    inclusive: true,
  })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id, quantity: 2, metadata: { seat: 'yes' } }],
    default_tax_rates: [rate.id],
    discounts: [{ coupon: 'SPRING' }],
    add_invoice_items: [{ price: once.id }],
    metadata: { name: 'main' },
    payment_settings: { save_default_payment_method: 'on_subscription' },
    expand: [
      'latest_invoice.payments',
      'latest_invoice.confirmation_secret',
      'discounts.source.coupon',
      'customer',
      'items.data.price.product',
    ],
  })
  expect(subscription.status).toBe('active')
  const item = subscription.items.data[0]
  if (!item) throw new Error('no item')
  await stripe.subscriptions.retrieve(subscription.id, {
    expand: ['latest_invoice.lines', 'default_payment_method'],
  })
  await stripe.subscriptions.update(subscription.id, {
    items: [{ id: item.id, price: better.id }],
    proration_behavior: 'always_invoice',
  })
  await stripe.subscriptions.list({
    customer: customer.id,
    status: 'all',
    expand: ['data.latest_invoice'],
  })
  await stripe.subscriptions.search({ query: "metadata['name']:'main'" })
  await stripe.subscriptions.retrieve(subscription.id, { expand: ['discounts'] })
  expect((await stripe.subscriptions.deleteDiscount(subscription.id)).deleted).toBe(true)
  await stripe.subscriptionItems.retrieve(item.id)
  await stripe.subscriptionItems.update(item.id, { quantity: 3 })
  const extra = await stripe.subscriptionItems.create({
    subscription: subscription.id,
    price: monthly.id,
  })
  expect(
    (await stripe.subscriptionItems.list({ subscription: subscription.id })).data,
  ).toHaveLength(2)
  expect((await stripe.subscriptionItems.del(extra.id)).deleted).toBe(true)
  expect((await stripe.subscriptions.pause(subscription.id)).status).toBe('paused')
  expect(
    (
      await stripe.subscriptions.resume(subscription.id, {
        billing_cycle_anchor: { type: 'unchanged' },
      })
    ).status,
  ).toBe('active')
  const schedule = await stripe.subscriptionSchedules.create({ from_subscription: subscription.id })
  await stripe.subscriptionSchedules.retrieve(schedule.id, { expand: ['subscription'] })
  await stripe.subscriptionSchedules.update(schedule.id, { metadata: { a: 'b' } })
  await stripe.subscriptionSchedules.list({ customer: customer.id })
  expect((await stripe.subscriptionSchedules.release(schedule.id)).status).toBe('released')
  const later = await stripe.subscriptionSchedules.create({
    customer: customer.id,
    start_date: seconds('2026-03-01T00:00:00Z'),
    phases: [
      { items: [{ price: monthly.id }], duration: { interval: 'month', interval_count: 1 } },
    ],
  })
  expect((await stripe.subscriptionSchedules.cancel(later.id)).status).toBe('canceled')
  const old = await stripe.subscriptions.create({
    customer: customer.id,
    items: [{ price: monthly.id }],
    billing_mode: { type: 'classic' },
  })
  expect(
    (await stripe.subscriptions.migrate(old.id, { billing_mode: { type: 'flexible' } }))
      .billing_mode.type,
  ).toBe('flexible')
  expect(
    (await stripe.subscriptions.cancel(old.id, { prorate: true, invoice_now: true })).status,
  ).toBe('canceled')
}

async function callCreditNotes(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const draft = await stripe.invoices.create({ customer: customer.id })
  await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: draft.id,
    amount: 2000,
    currency: 'usd',
  })
  const open = await stripe.invoices.finalizeInvoice(draft.id)
  const line = { type: 'invoice_line_item', invoice_line_item: open.lines.data[0]?.id, amount: 50 }
  const params = { invoice: draft.id, lines: [line as Stripe.CreditNoteCreateParams.Line] }
  await stripe.creditNotes.preview(params)
  await stripe.creditNotes.listPreviewLineItems(params)
  const note = await stripe.creditNotes.create({ ...params, expand: ['invoice', 'customer'] })
  await stripe.creditNotes.retrieve(note.id)
  await stripe.creditNotes.listLineItems(note.id)
  expect((await stripe.creditNotes.update(note.id, { memo: 'Sorry' })).memo).toBe('Sorry')
  expect((await stripe.creditNotes.list({ customer: customer.id })).data).toHaveLength(1)
  expect((await stripe.creditNotes.voidCreditNote(note.id)).status).toBe('void')
}

async function callDisputes(stripe: Stripe) {
  await stripe.paymentIntents.create({
    amount: 1000,
    currency: 'usd',
    payment_method: 'pm_card_createDispute',
    confirm: true,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  })
  const { data } = await stripe.disputes.list({ expand: ['data.charge', 'data.payment_intent'] })
  const id = data[0]?.id ?? ''
  await stripe.disputes.retrieve(id)
  await stripe.disputes.update(id, { metadata: { case: '7' } })
  expect((await stripe.disputes.close(id)).status).toBe('lost')
}

async function callSources(stripe: Stripe) {
  const customer = await stripe.customers.create({ source: 'tok_visa' })
  const card = await stripe.customers.createSource(customer.id, { source: 'tok_mastercard' })
  await stripe.customers.update(customer.id, { default_source: card.id })
  await stripe.customers.retrieve(customer.id, { expand: ['default_source', 'sources'] })
  await stripe.customers.retrieveSource(customer.id, card.id)
  await stripe.customers.updateSource(customer.id, card.id, { name: 'Ada', exp_year: '2031' })
  expect((await stripe.customers.listSources(customer.id, { object: 'card' })).data).toHaveLength(2)
  expect(
    (await catchStripeError(stripe.customers.verifySource(customer.id, card.id))).statusCode,
  ).toBe(400)
  const gone = await stripe.customers.deleteSource(customer.id, card.id)
  expect(gone).toMatchObject({ deleted: true, object: 'card' })
}

async function callInvoices(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const draft = await stripe.invoices.create({
    customer: customer.id,
    currency: 'usd',
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
  })
  const item = await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: draft.id,
    amount: 1500,
    currency: 'usd',
    description: 'Work',
  })
  await stripe.invoiceItems.retrieve(item.id)
  await stripe.invoiceItems.update(item.id, { description: 'Good work' })
  await stripe.invoiceItems.list({ customer: customer.id })
  await stripe.invoices.update(draft.id, { description: 'Thanks' })
  const open = await stripe.invoices.finalizeInvoice(draft.id)
  expect(open).toMatchObject({
    status: 'open',
    amount_due: 1500,
    number: expect.stringMatching(/-0001$/),
  })
  const paid = await stripe.invoices.pay(draft.id, { off_session: true })
  expect(paid).toMatchObject({ status: 'paid', amount_paid: 1500 })
  await stripe.invoices.retrieve(draft.id, {
    expand: ['discounts', 'total_discount_amounts.discount', 'payments', 'customer'],
  })
  expect((await stripe.invoices.listLineItems(draft.id, { limit: 100 })).data[0]?.description).toBe(
    'Good work',
  )
  await stripe.invoices.list({ customer: customer.id, status: 'paid', limit: 24 })
  await stripe.invoices.search({ query: `customer:"${customer.id}"` })
  const payments = await stripe.invoicePayments.list({ invoice: draft.id })
  const payment = payments.data[0]
  if (!payment) throw new Error('no payment')
  await stripe.invoicePayments.retrieve(payment.id, {
    expand: ['payment.payment_intent', 'invoice'],
  })
  const lost = await stripe.invoices.create({ customer: customer.id })
  const gone = await stripe.invoiceItems.create({
    customer: customer.id,
    amount: 100,
    currency: 'usd',
  })
  await stripe.invoiceItems.del(gone.id)
  expect((await stripe.invoices.del(lost.id)).deleted).toBe(true)
  const second = await stripe.invoices.create({ customer: customer.id })
  await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: second.id,
    amount: 700,
    currency: 'usd',
  })
  await stripe.invoices.finalizeInvoice(second.id)
  expect((await stripe.invoices.markUncollectible(second.id)).status).toBe('uncollectible')
  expect((await stripe.invoices.voidInvoice(second.id)).status).toBe('void')
  const sent = await stripe.invoices.create({
    customer: customer.id,
    collection_method: 'send_invoice',
    days_until_due: 14,
  })
  await stripe.invoiceItems.create({
    customer: customer.id,
    invoice: sent.id,
    amount: 700,
    currency: 'usd',
  })
  expect((await stripe.invoices.sendInvoice(sent.id)).status).toBe('open')
  const preview = await stripe.invoices.createPreview({
    customer: customer.id,
    subscription_details: { items: [{ price: monthly.id }] },
  })
  expect(preview.total).toBe(1000)
}

async function callSessions(stripe: Stripe) {
  const { customer } = await seedCustomer(stripe)
  const { monthly } = await seedPrices(stripe)
  const portal = await stripe.billingPortal.sessions.create({
    customer: customer.id,
    return_url: 'https://example.com',
  })
  expect(portal.url).toMatch(/^http:\/\/127\.0\.0\.1/)
  const configuration = await stripe.billingPortal.configurations.create({
    features: { invoice_history: { enabled: true } },
  })
  await stripe.billingPortal.configurations.retrieve(configuration.id)
  await stripe.billingPortal.configurations.update(configuration.id, { name: 'Ours' })
  await stripe.billingPortal.configurations.list()
  const session = await stripe.checkout.sessions.create({
    customer: customer.id,
    mode: 'subscription',
    line_items: [{ price: monthly.id, quantity: 1 }],
    success_url: 'https://example.com/ok',
    expand: ['line_items'],
  })
  await stripe.checkout.sessions.retrieve(session.id)
  await stripe.checkout.sessions.update(session.id, { metadata: { seen: 'yes' } })
  await stripe.checkout.sessions.list({ customer: customer.id })
  expect((await stripe.checkout.sessions.listLineItems(session.id)).data).toHaveLength(1)
  expect((await stripe.checkout.sessions.expire(session.id)).status).toBe('expired')
}

async function callClocksAndEvents(stripe: Stripe) {
  const clock = await stripe.testHelpers.testClocks.create({
    frozen_time: seconds('2026-01-31T10:00:00Z'),
    name: 'mine',
  })
  await stripe.customers.create({ test_clock: clock.id })
  expect(
    (
      await stripe.testHelpers.testClocks.advance(clock.id, {
        frozen_time: seconds('2026-02-01T10:00:00Z'),
      })
    ).status,
  ).toBe('advancing')
  await expect
    .poll(async () => (await stripe.testHelpers.testClocks.retrieve(clock.id)).status)
    .toBe('ready')
  await stripe.testHelpers.testClocks.list()
  expect((await stripe.testHelpers.testClocks.del(clock.id)).deleted).toBe(true)
  const endpoint = await stripe.webhookEndpoints.create({
    url: 'http://127.0.0.1:9/hooks',
    enabled_events: ['invoice.paid'],
  })
  expect(endpoint.secret).toMatch(/^whsec_/)
  await stripe.webhookEndpoints.retrieve(endpoint.id)
  await stripe.webhookEndpoints.update(endpoint.id, { disabled: true })
  await stripe.webhookEndpoints.list()
  await stripe.webhookEndpoints.del(endpoint.id)
  let first: string | undefined
  for await (const event of stripe.events.list({ limit: 100 })) first ??= event.id
  await stripe.events.retrieve(first ?? '')
  await stripe.events.list({ type: 'invoice.paid', delivery_success: true, created: { gte: 0 } })
}
