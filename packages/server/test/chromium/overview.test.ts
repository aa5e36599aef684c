import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'

describeInChromium("the operators' overview page", ({ newPage }) => {
  let service: TestService
  beforeAll(async () => {
    const broken = () => {
      throw new Error('out of order')
    }
    service = await startTestService({ settings: { handlers: { handleCustomerCreated: broken } } })
    await createMonthOfData(service)
  })
  afterAll(() => service?.stop())

  it('shows the statistics of the last month, in every color scheme', async () => {
    const { email = '', password = '' } = service.demo ?? {}
    const page = await newPage()
    await page.goto(`${service.url}/login?return_to=/admin`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    const plot = page.getByRole('img', { name: 'Active subscriptions, by day' })
    expect(await plot.locator('rect').count()).toBeGreaterThan(20)
    await expectAccessibleInAllLooks(page, 'overview')
  })

  it('shows the numbers behind each chart, and lets an operator retry a dead letter', async () => {
    const { email = '', password = '' } = service.demo ?? {}
    const page = await newPage()
    await page.goto(`${service.url}/login?return_to=/admin`)
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('Details of the chart “Tokens issued”').click()
    const table = page.getByRole('table', { name: 'Tokens issued, by day' })
    expect(await table.getByRole('row').count()).toBe(31)
    await expectAccessible(page)
    await page
      .getByRole('button', { name: /^Try again: customer\.created/ })
      .first()
      .click()
    await page
      .getByRole('status')
      .filter({ hasText: 'The event is handled again in a moment.' })
      .waitFor()
  })
})

/** Creates data to show: people who register, pay, fail and leave. */
async function createMonthOfData(service: TestService): Promise<void> {
  const cards = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const
  const { id: client_id = '', secret } = service.demo?.clients.service ?? {}
  for (let at = 0; at < 10; at++) {
    const provider = at % 3 === 0 ? 'braintree' : 'stripe'
    const plan = ['monthly', 'pro', 'yearly'][at % 3] ?? 'pro'
    const email = `customer-${at}@example.com`
    const user = await service.users.create({ email, password: 'a long password' })
    const billable = await service.billing.user(Number(user.id))
    await billable.chooseProvider(provider)
    const subscription = await billable.newSubscription('main', plan).create(cards[provider])
    if (at === 4) await subscription.cancelNow()
    if (at === 1) service.sandbox?.trouble.declineNextCharge(billable.providerId ?? '', 'lost_card')
    for (let token = 0; token <= (at * 7) % 5; token++) {
      const body = { grant_type: 'client_credentials', client_id, client_secret: secret ?? '' }
      const init = { method: 'POST', body: new URLSearchParams(body) }
      await fetch(`${service.url}/oauth/token`, init)
    }
    await fetch(`${service.url}/stripe/webhook`, { method: 'POST', body: 'forged' })
    await service.advance({ days: 3, hours: 7 })
    service.clock.advance({ days: 3 })
  }
  for (let at = 0; at < 12; at++) await service.advance({ hours: 6 })
}
