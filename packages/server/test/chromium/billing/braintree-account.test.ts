import { startSandbox } from '@tollgate/sandbox'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { findFreePort } from '../../../../../test-support/free-port.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

const KEYS = { merchantId: 'shop', publicKey: 'public', privateKey: 'private' }

async function openAccount() {
  const sandbox = await startSandbox({ braintree: KEYS })
  sandbox.braintree.definePlan({ id: 'pro', name: 'Pro', price: 2500, billingFrequency: 1 })
  return sandbox
}

describeInChromium('the card form with the keys of a Braintree account', ({ newPage, forgive }) => {
  let sandbox: Awaited<ReturnType<typeof openAccount>>
  let service: TestService
  beforeAll(async () => {
    sandbox = await openAccount()
    const port = await findFreePort()
    service = await startTestService({
      environment: {
        PORT: String(port),
        TOLLGATE_URL: `http://localhost:${port}`,
        TOLLGATE_SECRET: 'a secret of more than thirty-two characters',
        BRAINTREE_ENVIRONMENT: 'sandbox',
        BRAINTREE_MERCHANT_ID: KEYS.merchantId,
        BRAINTREE_PUBLIC_KEY: KEYS.publicKey,
        BRAINTREE_PRIVATE_KEY: KEYS.privateKey,
        BRAINTREE_API_URL: sandbox.braintree.url,
      },
      settings: { plans: [{ id: 'pro', name: 'Pro', amount: 2500, months: 1 }] },
    })
  })
  afterAll(async () => {
    await service?.stop()
    await sandbox?.close()
  })

  let people = 0
  async function enter(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = `account-${++people}@example.com`
    const account = { name: 'Ada', email, password: 'a long password' }
    return newPage({ ...settings, cookies: await signedIn(service, account) })
  }
  const field = (page: Page, label: string) =>
    page.frameLocator(`iframe[title^="${label}"]`).getByRole('textbox', { name: label })

  it("is shown immediately, takes a payment after the bank's confirmation, and later adds another card", async () => {
    const page = await enter()
    await page.goto(`${service.url}/billing`)
    const type = async (number: string) => {
      await field(page, 'Card number').fill(number)
      await field(page, 'Expiry date').fill('12/40')
      await field(page, 'Security code').fill('123')
    }
    await type('4000000000002503')
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-braintree-account')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page
      .frameLocator('#Cardinal-CCA-IFrame')
      .getByRole('button', { name: 'Complete' })
      .click()
    await page.getByRole('status').filter({ hasText: 'You are subscribed.' }).waitFor()
    // The form to add a card is created on demand, because it needs a client token and several
    // frames.
    expect(await page.locator('iframe').count()).toBe(0)
    await page.getByText('Add a card', { exact: true }).click()
    await type('4111111111111111')
    await page.getByRole('button', { name: 'Use this card' }).click()
    await page.getByRole('status').filter({ hasText: 'Your card was changed.' }).waitFor()
  })

  it('says that it needs JavaScript if JavaScript is off, and shows no empty fields', async () => {
    const page = await enter({ script: false })
    await page.goto(`${service.url}/billing`)
    // The browser parses the page with scripts enabled, so it does not display this element.
    expect(await page.locator('.card-entry noscript').innerHTML()).toContain(
      'Please enable JavaScript.',
    )
    expect(await page.getByText('Card number').isVisible()).toBe(false)
    expect(await page.getByText('The card form is loading…').isVisible()).toBe(false)
  })

  it("says so if the provider's script did not load, and sends nothing", async () => {
    const page = await enter()
    forgive(page, /ERR_FAILED/)
    await page.route('**/hosted-fields.min.js', (route) => route.abort())
    await page.goto(`${service.url}/billing`)
    const told = page.getByRole('alert').filter({ hasText: 'script did not load' })
    await told.waitFor()
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await told.waitFor()
    expect(new URL(page.url()).pathname).toBe('/billing')
  })
})
