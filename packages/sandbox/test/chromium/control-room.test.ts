import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'
import {
  type ObservedTestSandbox,
  SHOP,
  startObserved,
  subscribeAda,
  subscribeAtShop,
  subscribeGrace,
} from '../control-room/support.ts'

describeInChromium('the control room of the sandbox', ({ newPage }) => {
  let watched: ObservedTestSandbox
  let ada = { customer: '', subscription: '' }
  let grace = { customer: '', subscription: '' }
  let leap = { id: '' }
  let shop: Awaited<ReturnType<typeof subscribeAtShop>>
  beforeAll(async () => {
    watched = await startObserved({ braintree: { merchants: [SHOP] } })
    const { sandbox, stripe, gateway } = watched
    sandbox.stripe.registerWebhook('http://127.0.0.1:9/stripe/webhook')
    sandbox.braintree.registerWebhook('http://127.0.0.1:9/braintree/webhook')
    ada = await subscribeAda(watched, 14)
    grace = await subscribeGrace(watched)
    shop = await subscribeAtShop(watched)
    await gateway.subscription.update(grace.subscription, { price: '9.00' })
    // User-supplied text must not make a page wider than the window.
    await stripe.customers.create({ name: 'W'.repeat(200), email: `${'w'.repeat(90)}@example.com` })
    leap = await stripe.testHelpers.testClocks.create({
      frozen_time: Date.parse('2028-02-29T12:00:00Z') / 1000,
      name: 'Leap year',
    })
    sandbox.trouble.declineNextCharge(ada.customer, 'insufficient_funds')
    await sandbox.clock.advance({ days: 16 })
    await stripe.subscriptions.update(ada.subscription, { metadata: { order: '7' } })
    await gateway.customer.update(grace.customer, { email: 'grace@example.com' })
    await shop.gateway.paymentMethod.delete(shop.token)
    sandbox.trouble.failNext(2, '500', 'stripe')
    sandbox.trouble.declineNextCharge(grace.customer, '2001')
  })
  afterAll(() => watched?.close())

  const paths: Record<string, () => string> = {
    overview: () => '/',
    customers: () => '/customers',
    customer: () => `/customers/stripe/${ada.customer}`,
    'customers-of-shop': () => '/customers?at=braintree.shop',
    'customer-braintree': () => `/customers/braintree/${grace.customer}`,
    'customer-of-shop': () => `/customers/braintree.shop/${grace.customer}`,
    'what-if': () => `/customers/stripe/${ada.customer}/what-if?charges=all-declined`,
    webhooks: () => '/webhooks',
    delivery: () =>
      `/webhooks/${watched.sandbox.outbox.deliveries({ provider: 'stripe' }).at(-1)?.id}`,
    'delivery-braintree': () =>
      `/webhooks/${watched.sandbox.outbox.deliveries({ provider: 'braintree' }).at(-1)?.id}`,
    events: () => '/events',
    event: () =>
      `/events/${watched.sandbox.stripe.events('customer.subscription.updated').at(-1)?.id}`,
    object: () => `/objects/${ada.subscription}`,
    'object-braintree': () => `/objects/${grace.subscription}`,
    'object-of-shop': () => `/objects/${shop.subscription}?merchant=shop`,
    'object-gone': () => `/objects/${shop.token}?merchant=shop`,
    clock: () => '/clock?count=2&unit=months',
    'clock-test': () => `/clock?clock=${leap.id}`,
    trouble: () => '/trouble',
  }

  it.each(Object.keys(paths))(
    'renders the page %s accessibly, for every screen size and color scheme',
    async (name) => {
      const page = await newPage({ reuseTab: true })
      const response = await page.goto(watched.room + paths[name]?.())
      expect(response?.status()).toBe(200)
      await expectAccessibleInAllLooks(page, `control-room-${name}`)
    },
  )

  it('links a customer to a forecast and to the sent webhooks, without scripts', async () => {
    const own = await startObserved()
    try {
      const { sandbox } = own
      sandbox.stripe.registerWebhook('http://127.0.0.1:9/hook')
      const { customer } = await subscribeAda(own)
      const page = await newPage({ script: false })
      await page.goto(own.room)
      await page.getByRole('link', { name: 'Customers', exact: true }).click()
      await page.getByLabel('Name, e-mail or id').fill('ada')
      await page.getByRole('button', { name: 'Find' }).click()
      await page.getByRole('link', { name: 'Ada Lovelace' }).click()
      await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor()

      await page.getByRole('link', { name: 'all charges are declined' }).click()
      await page.getByRole('heading', { name: 'With these assumptions' }).waitFor()
      await page.getByText('canceled', { exact: true }).waitFor()
      await page.getByRole('link', { name: 'Ada Lovelace' }).click()
      expect(sandbox.stripe.subscriptions(customer)).toMatchObject([{ status: 'active' }])

      await page.getByRole('button', { name: /^Go there ?: Invoice paid, 2026-02-28/ }).click()
      await page.getByRole('status').getByText('It is now 2026-02-28 11:00').waitFor()
      expect(sandbox.stripe.paidInvoices(customer)).toHaveLength(2)
      await page
        .getByRole('link', { name: /webhooks?, / })
        .first()
        .click()
      await page.getByRole('heading', { name: 'Attempts' }).waitFor()
      await page.getByRole('button', { name: 'Send again' }).click()
      await page.getByRole('status').getByText('Sent again').waitFor()
    } finally {
      await own.close()
    }
  })

  it('filters the customers of one Braintree merchant, and shows the history of an object', async () => {
    const page = await newPage({ script: false })
    await page.goto(`${watched.room}/customers`)
    await page.getByRole('link', { name: 'Grace Hopper' }).waitFor()
    await page.getByLabel('At').selectOption('Braintree · shop')
    await page.getByRole('button', { name: 'Find' }).click()
    expect(await page.getByRole('link', { name: 'Grace Hopper' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Grace at the shop' }).click()
    await page.getByText('Braintree · shop').waitFor()
    await page.getByRole('link', { name: shop.subscription }).first().click()
    await page.getByRole('heading', { name: 'History' }).waitFor()
    await page.getByText('POST /subscriptions', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'its customer' }).click()
    await page.getByRole('heading', { name: 'Grace at the shop' }).waitFor()
  })

  it('selects a Stripe test clock and moves only that clock, without scripts', async () => {
    const before = watched.sandbox.clock.nowMs()
    const page = await newPage({ script: false })
    await page.goto(`${watched.room}/clock`)
    await page.getByRole('link', { name: 'Leap year' }).click()
    await page.getByText('The test clock Leap year shows 29 Feb 2028, 12:00 UTC.').waitFor()
    await page.getByLabel('By', { exact: true }).first().fill('3')
    await page.getByLabel('Unit').first().selectOption('days')
    await page.getByRole('button', { name: 'Advance', exact: true }).first().click()
    await page.getByRole('status').getByText('It is now 2028-03-03 12:00').waitFor()
    await page.getByText('The test clock Leap year shows 3 Mar 2028, 12:00 UTC.').waitFor()
    await page.getByRole('link', { name: 'the sandbox’s own clock' }).click()
    await page.getByText('The sandbox’s own clock shows').waitFor()
    expect(watched.sandbox.clock.nowMs()).toBe(before)
  })

  it('can simulate failures and move the clock using only the keyboard', async () => {
    const page = await newPage({ script: false })
    await page.goto(`${watched.room}/trouble`)
    await page.getByLabel('Too many requests').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('The next call is affected.').waitFor()
    expect(watched.sandbox.trouble.pending().calls.at(-1)).toMatchObject({ kind: '429' })
    const before = watched.sandbox.clock.nowMs()
    await page.getByRole('button', { name: 'Advance the clock by 1 hour' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('It is now').waitFor()
    expect(watched.sandbox.clock.nowMs() - before).toBe(3_600_000)
  })
})
