import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleInAllLooks,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

const PLANS = [
  { id: 'basic', name: 'Basic', amount: 900, months: 1, description: 'For a first project.' },
  {
    id: 'team',
    name: 'Team',
    description: 'For teams that ship every day.',
    features: ['Unlimited projects', 'Support by e-mail on working days', 'Audit log'],
    seats: { min: 2, max: 50 },
    intervals: [
      { months: 1, amount: 2900 },
      { months: 12, amount: 29_000 },
    ],
    prices: [{ id: 'support', name: 'Telephone support', amount: 1900 }],
  },
  {
    id: 'scale',
    name: 'Scale',
    months: 1,
    trialDays: 14,
    seats: true,
    tiers: [
      { upTo: 10, unitAmount: 1000 },
      { upTo: null, unitAmount: 600 },
    ],
    prices: [
      {
        id: 'calls',
        name: 'API calls',
        unit: 'call',
        meter: 'calls',
        unitAmount: '0.5',
        included: 1000,
      },
    ],
  },
]

let people = 0

describeInChromium('the plans of the billing page', ({ newPage }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ settings: { plans: PLANS } })
  })
  afterAll(() => service?.stop())

  async function open(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = `person-${++people}@example.com`
    const account = { name: 'Ada Lovelace', email, password: 'a long password' }
    const page = await newPage({ ...settings, cookies: await signedIn(service, account) })
    await page.goto(`${service.url}/billing?provider=stripe`)
    return page
  }
  const button = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true, disabled: false })

  it('show the amount on the button after each choice, and keep the keyboard focus', async () => {
    const page = await open()
    await button(page, 'Pay $9.00 and subscribe').waitFor()
    await page.getByRole('radio', { name: /^Team \$58\.00 per month/ }).check()
    await button(page, 'Pay $77.00 and subscribe').waitFor()
    const seats = page.getByLabel('Quantity')
    await seats.fill('3')
    await seats.press('Tab')
    await button(page, 'Pay $106.00 and subscribe').waitFor()
    const code = page.getByRole('textbox', { name: /^Promotion code/ })
    expect(await code.evaluate((input) => input === document.activeElement)).toBe(true)
    await code.fill('AUTUMN')
    await code.press('Tab')
    await page.getByText('This promotion code does not exist, or it cannot be used here.').waitFor()
    await code.fill('SPRING')
    await code.press('Tab')
    await button(page, 'Pay $79.50 and subscribe').waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-plans-chosen')
    await button(page, 'Pay $79.50 and subscribe').click()
    await page.getByRole('status').filter({ hasText: 'You are subscribed.' }).waitFor()
    await page.getByRole('row', { name: /\$79\.50 Paid/ }).waitFor()
    await takeScreenshot(page, 'billing-plans-active')
  })

  it('start a trial with the button, and show what is charged later', async () => {
    const page = await open()
    await page.getByRole('radio', { name: /^Scale / }).check()
    await button(page, 'Start 14-day trial').waitFor()
    await page.getByText('You pay later').waitFor()
    await button(page, 'Start 14-day trial').click()
    await page.getByRole('status').filter({ hasText: 'You are subscribed.' }).waitFor()
    await page.getByRole('heading', { name: 'Usage in this period' }).waitFor()
    await expectAccessibleInAllLooks(page, 'billing-plans-usage')
    await page.getByRole('link', { name: 'Change to Team, per year' }).click()
    await page.getByRole('heading', { name: 'Change to Team?' }).waitFor()
    await expectAccessibleInAllLooks(page, 'billing-plans-swap')
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await expectNoSidewaysScroll(page)
    }
  })

  it.each(['en', 'de'] as const)(
    'have no visual problems in any color scheme or window size (language: %s)',
    async (language) => {
      const page = await open({ language })
      await page.getByRole('radio', { name: /^Team/ }).first().check()
      await page.locator('[data-terms] input[name="quantity"]').waitFor()
      await expectAccessibleInAllLooks(page, `billing-plans-${language}`)
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await expectNoSidewaysScroll(page)
        await takeScreenshot(page, `billing-plans-${language}-${width}`)
      }
    },
  )
})
