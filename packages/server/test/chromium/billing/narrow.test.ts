import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'

/** The size that WCAG 1.4.10 requires: a window of 1280 pixels at 400 %. */
const NARROW = { width: 320, height: 640 }
const LONG = 'Adalbertina-Wilhelmina-Friederike-von-Hohenzollern-Sigmaringen'
const PLANS = [
  { id: 'pro', name: 'خطة المحترفين', amount: 2500, months: 1 },
  {
    id: 'yearly',
    name: 'Donaudampfschifffahrtskapitänsjahresabonnement',
    amount: 10_000,
    months: 12,
  },
]

let people = 0

describeInChromium('the billing pages in a narrow window', ({ newPage }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ settings: { plans: PLANS } })
  })
  afterAll(() => service?.stop())

  /**
   * Opens the page for a person with a long name who has sent the form to subscribe. `null`: not
   * yet.
   */
  async function subscribed(
    token: string | null,
    settings: Parameters<typeof newPage>[0],
  ): Promise<Page> {
    const browser = service.browser()
    const account = { email: `person-${++people}@example.com`, password: 'a long password' }
    await service.users.create({ ...account, name: LONG })
    await browser.signIn(account.email, account.password)
    const csrf_token = await browser.csrfToken()
    const form = { plan: 'pro', provider: 'stripe', token: token ?? '', csrf_token }
    if (token !== null) await browser.post('/billing/subscribe', form)
    return newPage({ ...settings, cookies: { url: service.url, values: browser.cookies } })
  }

  it('fits the window with long names of people and plans', async () => {
    const newcomer = await subscribed(null, { viewport: NARROW })
    await newcomer.goto(`${service.url}/billing`)
    await expectNoSidewaysScroll(newcomer)
    const page = await subscribed('pm_card_visa', { viewport: NARROW })
    for (const path of ['', '/swap?plan=yearly', '/cancel']) {
      await page.goto(`${service.url}/billing${path}`)
      await expectNoSidewaysScroll(page)
    }
  })

  it('shows each amount beside its label', async () => {
    const page = await subscribed('pm_card_visa', { viewport: NARROW })
    await page.goto(`${service.url}/billing/swap?plan=yearly`)
    await takeScreenshot(page, 'billing-swap-narrow')
    const rows = page.locator('.amounts tr')
    for (const row of await rows.all()) {
      const [what, amount] = [row.locator('th'), row.locator('td')]
      const [left, right] = [await what.boundingBox(), await amount.boundingBox()]
      expect(right?.y).toBe(left?.y)
      expect(right?.x).toBeGreaterThan(left?.x ?? 0)
    }
    expect(await rows.count()).toBeGreaterThan(1)
  })

  it('shows the price after a name that is written from right to left', async () => {
    const page = await subscribed('pm_card_visa', {})
    await page.goto(`${service.url}/billing/swap?plan=yearly`)
    const [name, whole] = [page.locator('dd bdi').first(), page.locator('dd').first()]
    const leftOf = (text: string) =>
      whole.evaluate((element, wanted) => {
        const node = [...element.childNodes].find((each) => each.textContent?.includes(wanted))
        const range = document.createRange()
        if (node) range.selectNodeContents(node)
        return range.getBoundingClientRect().left
      }, text)
    expect(await leftOf('$25.00')).toBeGreaterThan((await name.boundingBox())?.x ?? 0)
  })

  it('offers no controls that need JavaScript in a browser without it', async () => {
    const page = await subscribed('pm_card_authenticationRequired', { script: false })
    await page.goto(`${service.url}/billing/confirm`)
    await page.getByRole('button', { name: 'Confirm', exact: true }).waitFor()
    expect(
      await page.getByRole('button', { name: 'Let the bank ask for confirmation' }).isVisible(),
    ).toBe(false)
  })
})
