import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import Stripe from 'stripe'
import { afterEach, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { startSandbox } from '../../src/index.ts'

const LOADER = readFileSync(
  join(
    dirname(createRequire(import.meta.url).resolve('@stripe/stripe-js/package.json')),
    'dist/index.mjs',
  ),
)

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Opens a shop on another origin whose page uses Stripe's own loader with the sandbox's script. */
async function openShop(
  script: (secrets: { readonly pay: string; readonly save: string }) => string,
) {
  const sandbox = await startSandbox({ stripe: true })
  closing.push(() => sandbox.close())
  const { url, publishableKey, apiKey, config } = sandbox.stripe
  const stripe = new Stripe(apiKey, config)
  const customer = await stripe.customers.create({ email: 'ada@example.com' })
  const intent = await stripe.paymentIntents.create({
    amount: 1999,
    currency: 'usd',
    customer: customer.id,
  })
  const setup = await stripe.setupIntents.create({ customer: customer.id })
  const secrets = { pay: intent.client_secret ?? '', save: setup.client_secret ?? '' }
  const html = `<!doctype html><html lang="en"><meta name="color-scheme" content="light dark">
    <title>Shop</title><link rel="icon" href="data:,">
    <main><h1>Pay</h1><form id="form"><div id="card"></div><div id="number"></div><div id="date"></div>
    <div id="cvc"></div><button>Pay</button></form><output id="said"></output></main>
    <script src="${url}/v3/"></script>
    <script type="module">import { loadStripe } from '/stripe-js.mjs'
    const said = (text) => { document.querySelector('#said').textContent = text }
    const pay = (run) => document.querySelector('#form').addEventListener('submit', async (event) => {
      event.preventDefault()
      said('working')
      try {
        const result = await run()
        const { error, paymentIntent, setupIntent, paymentMethod, token } = result
        const object = paymentIntent || setupIntent || paymentMethod || token
        said(error ? 'error ' + (error.code || error.type) : 'done ' + (object.status || object.id))
      } catch (error) { said(error.name + ': ' + error.message) }
    })
    const stripe = await loadStripe(${JSON.stringify(publishableKey)})
    ${script(secrets)}
    said('ready')</script></html>`
  const server = createServer((request, response) => {
    const isScript = request.url === '/stripe-js.mjs'
    const type = isScript ? 'text/javascript' : 'text/html; charset=utf-8'
    response.writeHead(200, { 'content-type': type }).end(isScript ? LOADER : html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { sandbox, stripe, intent, setup, customer, url: `http://127.0.0.1:${port}/` }
}

const CARD = `const card = stripe.elements().create('card'); card.mount('#card')`
const PAYMENT = (secret: string) => `
  const elements = stripe.elements({ clientSecret: '${secret}' })
  elements.create('payment').mount('#card')`

const GOOD = '4242424242424242'
const ASKS = '4000 0000 0000 3220'
const DECLINED = '4000000000000002'

describeInChromium('the replacement for Stripe.js', ({ newPage, forgive }) => {
  const fields = (page: Page) => page.frameLocator('iframe[name^=__privateStripeFrame]')

  async function open(url: string, settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const page = await newPage(settings)
    forgive(page, /status of 402/)
    await page.goto(url)
    await page.locator('#said').filter({ hasText: 'ready' }).waitFor()
    return page
  }
  async function type(page: Page, number: string): Promise<void> {
    await fields(page).getByPlaceholder('Card number').fill(number)
    await fields(page).getByPlaceholder('MM / YY').fill('12 / 34')
    await fields(page).getByPlaceholder('CVC').fill('123')
  }
  async function pay(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Pay' }).click()
    return said(page)
  }
  async function said(page: Page, text = /^(?:done|error|\w+Error)/): Promise<string> {
    const output = page.locator('#said')
    await output.filter({ hasText: text }).waitFor()
    return (await output.textContent()) ?? ''
  }
  const bank = (page: Page) => page.frameLocator('iframe[title="3D Secure challenge"]')

  it.each(['light', 'dark'] as const)(
    'renders an accessible card form in %s mode',
    async (scheme) => {
      const { url } = await openShop(
        ({ pay }) => `${CARD}
        pay(() => stripe.confirmCardPayment('${pay}', { payment_method: { card } }))`,
      )
      const page = await open(url, { scheme })
      await type(page, ASKS)
      await expectAccessible(page)
      await takeScreenshot(page, `stripe-js-card-${scheme}`)
      await page.getByRole('button', { name: 'Pay' }).click()
      await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
      await expectAccessible(page)
      await takeScreenshot(page, `stripe-js-bank-${scheme}`)
    },
  )

  it('pays with a card after an incomplete form, a declined card and a failed 3-D Secure challenge', async () => {
    const { url, sandbox, intent } = await openShop(
      ({ pay }) => `${CARD}
        pay(() => stripe.confirmCardPayment('${pay}', { payment_method: { card, billing_details: { name: 'Ada' } } }))`,
    )
    const page = await open(url)
    expect(await pay(page)).toBe('error incomplete_number')
    await type(page, '4242424242424241')
    expect(await pay(page)).toBe('error invalid_number')
    await type(page, DECLINED)
    expect(await pay(page)).toBe('error card_declined')
    await type(page, ASKS)
    await page.getByRole('button', { name: 'Pay' }).click()
    await bank(page).getByRole('button', { name: 'Fail' }).click()
    expect(await said(page)).toBe('error payment_intent_authentication_failure')
    await type(page, ASKS)
    await page.getByRole('button', { name: 'Pay' }).click()
    await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await said(page)).toBe('error payment_intent_authentication_failure')
    await type(page, ASKS)
    await page.getByRole('button', { name: 'Pay' }).click()
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    expect(await said(page)).toBe('done succeeded')
    const [charge] = sandbox.stripe.charges().filter(({ paid }) => paid)
    expect(charge).toMatchObject({
      payment_intent: intent.id,
      billing_details: { name: 'Ada' },
      payment_method_details: { card: { last4: '3220', exp_year: 2034 } },
    })
    // The page itself never receives the number.
    expect(await page.content()).not.toContain('3220')
  })

  it('saves a card, and creates a payment method and a token', async () => {
    const shop = await openShop(
      ({ save }) => `${CARD}
        const ways = [
          () => stripe.confirmCardSetup('${save}', { payment_method: { card } }),
          () => stripe.createPaymentMethod({ type: 'card', card, billing_details: { email: 'a@example.com' } }),
          () => stripe.createToken(card, { name: 'Ada' }),
        ]
        pay(() => ways.shift()())`,
    )
    const page = await open(shop.url)
    await type(page, GOOD)
    expect(await pay(page)).toBe('done succeeded')
    const saved = await shop.stripe.paymentMethods.list({ customer: shop.customer.id })
    expect(saved.data).toMatchObject([{ card: { last4: '4242', exp_year: 2034 } }])
    const method = (await pay(page)).replace('done ', '')
    expect((await shop.stripe.paymentMethods.retrieve(method)).billing_details.email).toBe(
      'a@example.com',
    )
    const source = (await pay(page)).replace('done ', '')
    const owner = await shop.stripe.customers.create({ source, expand: ['sources'] })
    expect(owner.sources?.data).toMatchObject([{ name: 'Ada', last4: '4242' }])
  })

  it('reads a card from three separate elements, and emits their events', async () => {
    const { url } = await openShop(
      () => `const elements = stripe.elements()
        const number = elements.create('cardNumber')
        number.on('change', ({ brand, complete }) => { document.title = brand + ' ' + complete })
        number.mount('#number')
        elements.create('cardExpiry').mount('#date')
        elements.create('cardCvc').mount('#cvc')
        pay(() => stripe.createPaymentMethod({ type: 'card', card: number }))`,
    )
    const page = await open(url)
    const frame = (title: string) => page.frameLocator(`iframe[title="${title}"]`)
    await frame('Secure card number input frame').getByPlaceholder('Card number').fill(GOOD)
    expect(await pay(page)).toBe('error incomplete_expiry')
    expect(await page.title()).toBe('visa true')
    await frame('Secure expiration date input frame').getByPlaceholder('MM / YY').fill('1134')
    const cvc = frame('Secure CVC input frame').getByPlaceholder('CVC')
    await cvc.fill('123')
    await cvc.press('Enter')
    // The message of the previous attempt stays until then.
    await said(page, /^done pm_/)
  })

  it('pays with the Payment Element, on the page or with a redirect to the return URL', async () => {
    const shop = await openShop(
      ({ pay }) => `${PAYMENT(pay)}
        const back = new URLSearchParams(location.search)
        if (back.has('redirect_status')) document.title = back.get('redirect_status') + ' ' + back.get('payment_intent')
        pay(() => stripe.confirmPayment({ elements, confirmParams: { return_url: location.origin + '/done' } }))`,
    )
    const page = await open(shop.url)
    await fields(page).getByLabel('Card number').fill(ASKS)
    await fields(page).getByLabel('Expiration date').fill('1234')
    await fields(page).getByLabel('Security code').fill('123')
    await takeScreenshot(page, 'stripe-js-payment-element')
    await page.getByRole('button', { name: 'Pay' }).click()
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    await page.waitForURL(/\/done\?/)
    await page.locator('#said').filter({ hasText: 'ready' }).waitFor()
    expect(await page.title()).toBe(`succeeded ${shop.intent.id}`)
    const paid = await shop.stripe.paymentIntents.retrieve(shop.intent.id)
    expect(paid.status).toBe('succeeded')
  })

  it('collects a payment method that the server confirms, and then completes 3-D Secure on the page', async () => {
    const shop = await openShop(
      () => `const elements = stripe.elements({ mode: 'payment', amount: 1999, currency: 'usd' })
        elements.create('payment').mount('#card')
        pay(async () => {
          const secret = document.title.startsWith('pi_') && document.title
          if (secret) return stripe.handleNextAction({ clientSecret: secret })
          const { error } = await elements.submit()
          return error ? { error } : stripe.createPaymentMethod({ elements })
        })`,
    )
    const page = await open(shop.url)
    expect(await pay(page)).toBe('error incomplete_number')
    await fields(page).getByLabel('Card number').fill(ASKS)
    await fields(page).getByLabel('Expiration date').fill('1234')
    await fields(page).getByLabel('Security code').fill('123')
    const method = (await pay(page)).replace('done ', '')
    const intent = await shop.stripe.paymentIntents.create({
      amount: 1999,
      currency: 'usd',
      payment_method: method,
      confirm: true,
      use_stripe_sdk: true,
    })
    expect(intent.status).toBe('requires_action')
    await page.evaluate((title) => {
      document.title = title
    }, intent.client_secret ?? '')
    await page.getByRole('button', { name: 'Pay' }).click()
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    expect(await said(page)).toBe('done succeeded')
  })

  it('saves a card with the Payment Element, and redirects to Checkout', async () => {
    const shop = await openShop(
      ({ save }) => `${PAYMENT(save)}
        const ways = [
          () => stripe.confirmSetup({ elements, redirect: 'if_required' }),
          () => stripe.redirectToCheckout({ sessionId: document.title }),
        ]
        pay(() => ways.shift()())`,
    )
    const page = await open(shop.url)
    await fields(page).getByLabel('Card number').fill(GOOD)
    await fields(page).getByLabel('Expiration date').fill('1234')
    await fields(page).getByLabel('Security code').fill('123')
    expect(await pay(page)).toBe('done succeeded')
    const session = await shop.stripe.checkout.sessions.create({
      mode: 'setup',
      currency: 'usd',
      success_url: 'https://shop.example/done',
    })
    await page.evaluate((title) => {
      document.title = title
    }, session.id)
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.waitForURL(/\/pages\/checkout\//)
  })
})
