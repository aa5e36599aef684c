import type { Page } from 'playwright-core'
import Stripe from 'stripe'
import { expect, it, onTestFinished } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'
import { startSandbox } from '../../src/index.ts'

const SHOP = 'https://shop.example'

async function startShop() {
  const sandbox = await startSandbox({ stripe: true, now: new Date('2026-01-31T10:00:00Z') })
  onTestFinished(() => sandbox.close())
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const seed = (id: string, unitAmount: number, product: string) =>
    sandbox.stripe.seedPrice({ id, unitAmount, product, interval: 'month' }).id
  const gold = seed('gold', 1000, 'Gold')
  const silver = seed('silver', 400, 'Silver')
  const rate = await stripe.taxRates.create({
    display_name: 'VAT',
    percentage: 19,
    inclusive: false,
  })
  const coupon = await stripe.coupons.create({ percent_off: 25, duration: 'forever' })
  await stripe.promotionCodes.create({
    promotion: { type: 'coupon', coupon: coupon.id },
    code: 'SPRING',
  })
  return { sandbox, stripe, gold, silver, rate }
}

/** Serves the shop's own pages, which are not part of the test. */
async function serveShop(page: Page) {
  await page.route(`${SHOP}/**`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1></main></html>',
    }),
  )
}

function rowOf(page: Page, name: string) {
  return page.locator('tr', { has: page.locator('td:first-child', { hasText: name }) }).last()
}

describeInChromium('the hosted pages of the sandbox', ({ newPage, forgive }) => {
  it('Checkout sells a subscription with a promotion code, paid with a second card after the 3-D Secure challenge of the first one failed', async () => {
    const { sandbox, stripe, gold, silver, rate } = await startShop()
    const session = await stripe.checkout.sessions.create({
      mode: 'subscription',
      success_url: `${SHOP}/done?session={CHECKOUT_SESSION_ID}`,
      cancel_url: `${SHOP}/cart`,
      allow_promotion_codes: true,
      line_items: [
        { price: gold, quantity: 2, adjustable_quantity: { enabled: true, maximum: 9 } },
        { price: silver, quantity: 1 },
      ],
      subscription_data: { default_tax_rates: [rate.id] },
    })
    const page = await newPage()
    // A form that is shown again after an error has a 4xx status.
    forgive(page, /the server responded with a status of 40[02]/)
    await serveShop(page)
    await page.goto(session.url ?? '')
    await expectAccessibleInAllLooks(page, 'checkout')
    await page.getByLabel('Quantity').fill('3')
    await page.getByRole('button', { name: 'Update' }).click()
    await page.getByLabel('Promotion code').fill('autumn')
    await page.getByRole('button', { name: 'Apply' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('This code is invalid.')
    await expectAccessibleInAllLooks(page, 'checkout-refused')
    await page.getByLabel('Promotion code').fill('spring')
    await page.getByRole('button', { name: 'Apply' }).click()
    // 3 × 10 and 4 dollars, a quarter off, 19 % on 22.50 and on 3: 4.28 and .57.
    expect(await rowOf(page, 'Total').locator('.amount').textContent()).toBe('$30.35')
    await expectAccessibleInAllLooks(page, 'checkout-reduced')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page
      .getByLabel('Card')
      .selectOption({ label: 'Visa •••• 3220, the bank asks (3-D Secure)' })
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await expectAccessibleInAllLooks(page, 'checkout-bank')
    await page.getByRole('button', { name: 'Fail' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('unable to authenticate')
    expect(await page.getByLabel('E-mail').inputValue()).toBe('ada@example.com')
    await page.getByLabel('Card').selectOption('pm_card_visa')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.waitForURL(`${SHOP}/done?session=${session.id}`)
    expect(sandbox.stripe.paidInvoices()).toMatchObject([{ total: 3035, amount_paid: 3035 }])
    await page.goto(session.url ?? '')
    await expectAccessibleInAllLooks(page, 'checkout-complete')
    forgive(page, /status of 410/)
  })

  it('Checkout accepts a bank debit, which succeeds minutes later', async () => {
    const { sandbox, stripe } = await startShop()
    const poster = { currency: 'eur', unit_amount: 1999, product_data: { name: 'Poster' } }
    const session = await stripe.checkout.sessions.create({
      mode: 'payment',
      success_url: `${SHOP}/done`,
      line_items: [{ price_data: poster, quantity: 1 }],
    })
    const page = await newPage()
    await serveShop(page)
    await page.goto(session.url ?? '')
    await expectAccessibleInAllLooks(page, 'checkout-debit')
    await page.getByLabel('E-mail').fill('ada@example.com')
    await page
      .getByLabel('Card or bank account')
      .selectOption({ label: 'SEPA: DE •••• 3003, pays after three minutes' })
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.waitForURL(`${SHOP}/done`)
    const status = async () => (await stripe.checkout.sessions.retrieve(session.id)).payment_status
    expect(await status()).toBe('unpaid')
    await sandbox.clock.advance({ minutes: 4 })
    expect(await status()).toBe('paid')
  })

  it('Checkout in setup mode saves a card', async () => {
    const { stripe } = await startShop()
    const session = await stripe.checkout.sessions.create({
      mode: 'setup',
      currency: 'usd',
      success_url: `${SHOP}/done`,
      billing_address_collection: 'required',
      phone_number_collection: { enabled: true },
      tax_id_collection: { enabled: true },
      consent_collection: { terms_of_service: 'required' },
      custom_fields: [
        { key: 'team', label: { type: 'custom', custom: 'Team' }, type: 'text' },
        {
          key: 'size',
          label: { type: 'custom', custom: 'Size' },
          type: 'dropdown',
          dropdown: { options: [{ label: 'Large', value: 'l' }] },
        },
      ],
    })
    const page = await newPage()
    await serveShop(page)
    await page.goto(session.url ?? '')
    await expectAccessibleInAllLooks(page, 'checkout-setup')
    for (const [label, text] of [
      ['E-mail', 'ada@example.com'],
      ['Phone', '+4930123'],
      ['Address', 'Unter den Linden 1'],
      ['City', 'Berlin'],
      ['Postal code', '10117'],
      ['Country', 'DE'],
      ['Team', 'Ants'],
      ['Tax id, if you have one', 'DE123456789'],
    ] as const) {
      await page.getByLabel(label).fill(text)
    }
    await page.getByLabel('Size').selectOption('l')
    await page.getByLabel('terms of service').check()
    await page.getByRole('button', { name: 'Save card' }).click()
    await page.waitForURL(`${SHOP}/done`)
    expect(await stripe.checkout.sessions.retrieve(session.id)).toMatchObject({
      status: 'complete',
      consent: { terms_of_service: 'accepted' },
      custom_fields: [{ text: { value: 'Ants' } }, { dropdown: { value: 'l' } }],
      customer_details: {
        phone: '+4930123',
        address: { country: 'DE' },
        tax_ids: [{ type: 'eu_vat', value: 'DE123456789' }],
      },
    })
  })

  it('the customer portal lets a customer change the plan, card and details, cancel and renew', async () => {
    const { sandbox, stripe, gold, silver } = await startShop()
    const customer = await stripe.customers.create({ email: 'ada@example.com', name: 'Ada' })
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: silver }],
      default_payment_method: card.id,
    })
    const { url } = await stripe.billingPortal.sessions.create({
      customer: customer.id,
      return_url: `${SHOP}/account`,
    })
    const page = await newPage()
    forgive(page, /the server responded with a status of 40[02]/)
    await serveShop(page)
    await page.goto(url)
    await expectAccessibleInAllLooks(page, 'portal')
    await page.getByRole('link', { name: 'Update plan' }).click()
    await expectAccessibleInAllLooks(page, 'portal-plans')
    await page.getByLabel('Gold').check()
    await page.getByRole('button', { name: 'Continue' }).click()
    await expectAccessibleInAllLooks(page, 'portal-confirm')
    // Nothing is due today; the next invoice has ten dollars plus the difference of this month,
    // which just started.
    expect(await rowOf(page, 'Next bill').locator('.amount').textContent()).toBe('$16.00')
    await page.getByRole('button', { name: 'Confirm' }).click()
    expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({
      items: { data: [{ price: { id: gold } }] },
    })
    await page.getByRole('link', { name: 'Add a card' }).click()
    await expectAccessibleInAllLooks(page, 'portal-card')
    await page.getByLabel('Card').selectOption('pm_card_chargeDeclined')
    await page.getByRole('button', { name: 'Add card' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('Your card was declined.')
    await page.getByLabel('Card').selectOption('pm_card_mastercard')
    await page.getByRole('button', { name: 'Add card' }).click()
    await page.getByRole('link', { name: 'Update details' }).click()
    await expectAccessibleInAllLooks(page, 'portal-details')
    await page.getByLabel('Name').fill('Ada King')
    await page.getByRole('button', { name: 'Save' }).click()
    expect(sandbox.stripe.customer(customer.id)).toMatchObject({ name: 'Ada King' })
    await page.getByRole('link', { name: 'Cancel' }).click()
    await expectAccessibleInAllLooks(page, 'portal-cancel')
    await page.getByRole('button', { name: 'Cancel subscription' }).click()
    expect(await page.textContent('main')).toContain('Ends on February 28, 2026')
    await page.getByRole('button', { name: 'Renew' }).click()
    expect(sandbox.stripe.subscription(subscription.id)).toMatchObject({ cancel_at: null })
    await page.getByRole('link', { name: 'Return' }).click()
    await page.waitForURL(`${SHOP}/account`)
  })
})
