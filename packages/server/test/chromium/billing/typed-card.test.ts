import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

let people = 0

describeInChromium('a card typed in at Stripe', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  async function open(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = `typist-${++people}@example.com`
    const account = { name: 'Ada Lovelace', email, password: 'a long password' }
    const page = await newPage({ ...settings, cookies: await signedIn(service, account) })
    await page.goto(`${service.url}/billing`)
    await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor()
    return page
  }

  async function type(page: Page, number: string): Promise<void> {
    const form = page.locator('form[action="/billing/subscribe"]')
    await page.getByRole('radio', { name: /^Pro / }).check()
    const isOpen = (await form.locator('details[open]').count()) > 0
    if (!isOpen) await form.getByText('Enter a card instead').click()
    const fields = page.frameLocator('iframe[title="Secure card payment input frame"]')
    await fields.getByPlaceholder('Card number').fill(number)
    await fields.getByPlaceholder('MM / YY').fill('1240')
    await fields.getByPlaceholder('CVC').fill('123')
  }
  const subscribe = (page: Page) => page.getByRole('button', { name: 'Subscribe' }).click()
  const told = (page: Page, text: string) =>
    page.getByRole('status').filter({ hasText: text }).waitFor()
  const bank = (page: Page) => page.frameLocator('iframe[title="3D Secure challenge"]')

  it.each(['light', 'dark'] as const)(
    'pays for a subscription, and has no visual problems in the %s color scheme',
    async (scheme) => {
      const page = await open({ scheme })
      await type(page, '4242 4242 4242 4242')
      await expectAccessible(page)
      await takeScreenshot(page, `billing-typed-card-${scheme}`)
      await subscribe(page)
      await told(page, 'You are subscribed.')
      await page.getByText('Visa ending in 4242').first().waitFor()
    },
  )

  it("is rejected on the billing page, which shows the reason or the bank's message", async () => {
    const page = await open()
    forgive(page, /status of 4(?:02|22)/)
    await type(page, '4242 4242 4242 4241')
    await subscribe(page)
    await page.getByText('Your card number is invalid.').waitFor()
    await type(page, '4000000000000002')
    await subscribe(page)
    await page
      .getByRole('alert')
      .filter({ hasText: /declined.*another card/ })
      .waitFor()
    await type(page, '5555555555554444')
    await subscribe(page)
    await told(page, 'You are subscribed.')
  })

  it('lets the bank ask for confirmation on the page', async () => {
    const page = await open()
    await type(page, '4000002760003184')
    await subscribe(page)
    await page.getByRole('heading', { name: 'Confirm the payment' }).waitFor()
    await page.getByRole('button', { name: 'Let the bank ask for confirmation' }).click()
    await bank(page).getByRole('button', { name: 'Complete' }).waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-bank-asks')
    await bank(page).getByRole('button', { name: 'Complete' }).click()
    await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor()
    expect(await page.locator('.badge').first().textContent()).toBe('Active')
  })

  it('can be replaced if the bank rejects it', async () => {
    const page = await open()
    await type(page, '4000002760003184')
    await subscribe(page)
    await page.getByRole('button', { name: 'Let the bank ask for confirmation' }).click()
    await bank(page).getByRole('button', { name: 'Fail' }).click()
    await page.getByText('We are unable to authenticate your payment method.').waitFor()
    await page.getByRole('link', { name: 'Back to billing' }).click()
    await page.getByRole('heading', { name: 'Another card or plan' }).waitFor()
    await type(page, '4242424242424242')
    await subscribe(page)
    await told(page, 'You are subscribed.')
    expect(await page.locator('.badge').first().textContent()).toBe('Active')
  })
})
