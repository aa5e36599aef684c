import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Billing } from '@tollgate/billing'
import { startBilling } from '@tollgate/billing/testing'
import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import {
  clickToClose,
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { importFromDocs } from '../../../../../test-support/docs-module.ts'

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Guide {
  payRoutes(
    billing: Billing,
    signedIn: () => Promise<number>,
  ): { fetch(request: Request): Promise<Response> }
}

/** Opens the page of docs/guides/pay-page.md, unchanged except for the host of the scripts. */
async function openPayPage() {
  const { billing, sandbox, user, close } = await startBilling({ defaultProvider: 'braintree' })
  closing.push(close)
  const { payRoutes } = await importFromDocs<Guide>('docs/guides/pay-page.md', 'payRoutes')
  const app = payRoutes(billing, async () => Number(user.id))
  const server = createServer(async (message, response) => {
    const { method = 'GET', url = '/', headers } = message
    const body = method === 'POST' ? await text(message) : null
    const type = headers['content-type'] ?? ''
    const request = new Request(`http://localhost${url}`, {
      method,
      body,
      headers: { 'content-type': type },
    })
    const answer = url === '/pay' ? await app.fetch(request) : new Response('Your account')
    const html = await answer.text()
    response
      .writeHead(answer.status, Object.fromEntries(answer.headers))
      .end(html.replaceAll('https://js.braintreegateway.com', sandbox.braintree.url))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  return { user, url: `http://127.0.0.1:${port}/pay` }
}

describeInChromium('the payment page of the guide for Braintree', ({ newPage, forgive }) => {
  async function open() {
    const { user, url } = await openPayPage()
    const page = await newPage()
    forgive(page, /422|favicon|ERR_FAILED/)
    await page.goto(url)
    await page.getByRole('button', { name: 'Subscribe', disabled: false }).waitFor()
    return { user, page }
  }
  const field = (page: Page, label: string) =>
    page.frameLocator(`iframe[title="${label}"]`).getByRole('textbox', { name: label })
  async function subscribe(page: Page, number: string): Promise<void> {
    await field(page, 'Card number').fill(number)
    await field(page, 'Expiry date').fill('12/30')
    await field(page, 'Security code').fill('123')
    await page.getByRole('button', { name: 'Subscribe' }).click()
  }
  const bank = (page: Page) => page.frameLocator('#Cardinal-CCA-IFrame')
  const told = (page: Page, words: string) =>
    page.getByRole('alert').filter({ hasText: words }).waitFor()

  it('accepts a card that pays after a declined one', async () => {
    const { user, page } = await open()
    await expectAccessible(page)
    await takeScreenshot(page, 'guide-pay-page')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await told(page, 'Please enter your card.')
    await subscribe(page, '4111111111111112')
    await told(page, 'Please check the fields')
    await subscribe(page, '4000111111111115')
    await told(page, 'The card was declined')
    expect(await user.subscribed('main')).toBe(false)
    await page.getByRole('button', { name: 'Subscribe', disabled: false }).waitFor()
    await subscribe(page, '4111111111111111')
    await page.getByText('Your account').waitFor()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('accepts the card once its bank has confirmed it', async () => {
    const { user, page } = await open()
    await subscribe(page, '4000000000002503')
    await bank(page).getByRole('button', { name: 'Fail' }).click()
    await told(page, 'Your bank did not confirm the card.')
    expect(await user.subscribed('main')).toBe(false)
    await subscribe(page, '4000000000002503')
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    await page.getByText('Your account').waitFor()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('accepts a PayPal account after the customer closed the PayPal window once and opened it again', async () => {
    const { user, page } = await open()
    const button = page.frameLocator('iframe[title="PayPal"]').getByRole('button')
    const [closed] = await Promise.all([page.waitForEvent('popup'), button.click()])
    await closed.close()
    await told(page, 'PayPal was closed.')
    const [popup] = await Promise.all([page.waitForEvent('popup'), button.click()])
    await popup.waitForURL(/ba_token=/)
    await clickToClose(popup, popup.getByRole('button', { name: 'Agree and Continue' }))
    await page.getByText('Your account').waitFor()
    expect(await user.subscribed('main')).toBe(true)
    expect(await user.hasPaymentMethod('paypal')).toBe(true)
  })

  it('says that the card form could not be loaded', async () => {
    const { url } = await openPayPage()
    const page = await newPage()
    forgive(page, /favicon|ERR_FAILED/)
    await page.route('**/hosted-fields.min.js', (route) => route.abort())
    await page.goto(url)
    await told(page, 'The card form did not load.')
  })
})
