import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleInAllLooks,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { newTeam } from '../teams/team-people.ts'

const WIDTHS = [320, 768, 1280, 1600]

describeInChromium("the operators' pages for teams", ({ newPage }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ settings: { teams: true } })
  })
  afterAll(() => service?.stop())

  /** Opens a page for a signed-in support person. */
  async function support(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = 'support@example.com'
    if (!(await service.users.findByEmail(email))) {
      await service.users.create({ email, password: PASSWORD, role: 'support' })
    }
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    return newPage({ ...settings, cookies: { url: service.url, values: browser.cookies } })
  }

  /** A team with a long name that has paid an invoice. */
  async function payingTeam(name: string) {
    const { id } = await newTeam(service, `${name} ${'W'.repeat(60)}`)
    const billable = await service.billing.owner('team', id)
    await billable.chooseProvider('stripe')
    await billable.newSubscription('main', 'pro').create('pm_card_visa')
    return { id, billable: await service.billing.owner('team', id) }
  }

  it('let a support person find a team by an invoice, and refund and cancel using only the keyboard', async () => {
    const { id, billable } = await payingTeam('Keys')
    await service.advance({ hours: 1 })
    const [invoice] = await billable.invoices()
    const page = await support()
    const press = async (role: 'link' | 'button', name: string | RegExp) => {
      await page.getByRole(role, { name }).focus()
      await page.keyboard.press('Enter')
    }
    await page.goto(`${service.url}/admin/people`)
    await page.getByLabel('Email, ID, customer ID or invoice number').focus()
    await page.keyboard.type(invoice?.number ?? '')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Keys W/, level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/admin/teams/${id}`)

    await press('link', /^Refund invoice/)
    await page.getByRole('heading', { name: /^Refund an invoice of Keys W/ }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Amount in USD').focus()
    await page.keyboard.type('7.50')
    await press('button', 'Refund')
    await page.getByRole('status').filter({ hasText: 'The refund was made.' }).waitFor()
    expect(await invoice?.refunded()).toMatchObject({ amount: 750 })

    await press('link', 'Cancel at the end of the period')
    await press('button', 'Cancel at the end of the period')
    await page.getByRole('status').filter({ hasText: 'is cancelled and ends' }).waitFor()
    expect((await billable.subscription('main')).cancelled()).toBe(true)
    await expectAccessible(page)
  })

  it('have no visual problems in either color scheme', async () => {
    const { id } = await payingTeam('Looks')
    const page = await support()
    for (const [name, path] of Object.entries({
      teams: '/admin/teams?search=looks',
      team: `/admin/teams/${id}`,
    })) {
      await page.goto(service.url + path)
      await expectAccessibleInAllLooks(page, `admin-${name}`)
    }
  })

  it.each(['en', 'de'] as const)(
    'are no wider than the window in the language %s',
    async (language) => {
      const { id, billable } = await payingTeam(`Wide ${language}`)
      const subscription = await billable.subscription('main')
      const [invoice] = await billable.invoices()
      const page = await support({ language })
      const paths = [
        '',
        `/${id}`,
        `/${id}/invoices`,
        `/${id}/credit`,
        `/${id}/cancel?object=${subscription.id}`,
        `/${id}/refund?object=${invoice?.id}`,
      ]
      for (const path of paths) {
        await page.goto(`${service.url}/admin/teams${path}`)
        const name = /([a-z]+)(\?.*)?$/.exec(path)?.[1] ?? 'page'
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 })
          await expectNoSidewaysScroll(page)
          await takeScreenshot(page, `admin-teams-${name}-${language}-${width}`)
        }
        await expectAccessible(page)
      }
    },
  )
})
