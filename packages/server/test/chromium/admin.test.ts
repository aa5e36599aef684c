import type { Locator, Page } from 'playwright-core'
import Stripe from 'stripe'
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

const WIDTHS = [320, 768, 1280, 1600]
const LONG_NAME = 'Adalbertina-Wilhelmina-Friederike-von-Hohenzollern-Sigmaringen'

describeInChromium("the operators' pages for people", ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  /** Opens a page for a signed-in operator with this role. */
  async function signedIn(
    role: 'viewer' | 'support' | 'owner',
    settings: Parameters<typeof newPage>[0] = {},
  ): Promise<Page> {
    const email = `${role}@example.com`
    if (!(await service.users.findByEmail(email))) {
      await service.users.create({ email, password: PASSWORD, role })
    }
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    return newPage({ ...settings, cookies: { url: service.url, values: browser.cookies } })
  }

  /** A person who pays, is signed in, and has approved an application. */
  async function customer(name: string) {
    const email = `${name}-with-a-long-address@example.com`
    const { id } = await service.users.create({ email, password: PASSWORD, name: LONG_NAME })
    const browser = service.browser()
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    await browser.post('/login', { email, password: PASSWORD }, { 'user-agent': firefox })
    await service.oauth.tokens.createPersonal({ userId: id, name: 'W'.repeat(60), scopes: [] })
    const billable = await service.billing.user(Number(id))
    await billable.chooseProvider('stripe')
    await billable.newSubscription('main', 'pro').create('pm_card_visa')
    return { id, email, browser, billable }
  }

  /** Presses Tab until the element has the focus, as a person without a mouse does. */
  async function tabTo(page: Page, element: Locator): Promise<void> {
    for (let count = 0; count < 120; count++) {
      if (await element.evaluate((it) => it === document.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach ${element}`)
  }

  const focusAndPress = async (page: Page, element: Locator, key: string) => {
    await tabTo(page, element)
    await page.keyboard.press(key)
  }

  it('let a support person find, sign out and disable a person using only the keyboard', async () => {
    const ada = await customer('ada')
    const page = await signedIn('support')
    const press = async (role: 'link' | 'button', name: string) => {
      await page.getByRole(role, { name, exact: true }).focus()
      await page.keyboard.press('Enter')
    }
    await page.goto(`${service.url}/admin`)
    await page.getByLabel('Email, ID, customer ID or invoice number').focus()
    await page.keyboard.type(ada.email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: ada.email }).waitFor()
    for (const name of ['Subscriptions', 'Invoices', 'Sessions', 'Tokens', 'Timeline']) {
      await page.getByRole('heading', { name, exact: true }).waitFor()
    }
    expect(await page.getByRole('link', { name: 'Delete permanently' }).count()).toBe(0)
    expect(await page.getByText('$25.00').count()).toBeGreaterThan(1)

    await press('link', 'Sign out everywhere')
    await press('button', 'Change nothing')
    await press('link', 'Sign out everywhere')
    await press('button', 'Sign out everywhere')
    await page.getByRole('status').filter({ hasText: 'is signed out everywhere' }).waitFor()
    await page.getByText('Not signed in anywhere.').waitFor()
    expect((await ada.browser.get('/account')).status).toBe(302)

    await press('link', 'Disable')
    await page.getByRole('heading', { name: /^Disable / }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('End the subscription when the paid period ends').focus()
    await page.keyboard.press('Space')
    await press('button', 'Disable the account')
    await page.getByRole('status').filter({ hasText: 'is disabled' }).waitFor()
    await page.getByText('is cancelled and ends on').waitFor()
    await expectAccessible(page)
    expect(await service.users.findByEmail(ada.email)).toBeNull()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('Account disabled').waitFor()
    await timeline.getByText('by support@example.com').first().waitFor()

    await press('button', 'Enable')
    await page.getByRole('status').filter({ hasText: 'may sign in again' }).waitFor()
    expect(await service.users.findByEmail(ada.email)).not.toBeNull()
  })

  it('let a support person cancel and resume a subscription using only the keyboard', async () => {
    const kim = await customer('kim')
    const page = await signedIn('support')
    const press = (role: 'link' | 'button', name: string) =>
      focusAndPress(page, page.getByRole(role, { name }), 'Enter')
    const isCancelled = async () => (await kim.billable.subscription('main')).cancelled()
    await page.goto(`${service.url}/admin/people/${kim.id}`)

    await press('link', 'Cancel at the end of the period')
    await page.getByRole('heading', { name: /^Cancel the subscription of/ }).waitFor()
    await expectAccessible(page)
    await press('button', 'Change nothing')
    await page.getByRole('heading', { name: kim.email }).waitFor()
    expect(await isCancelled()).toBe(false)

    await press('link', 'Cancel at the end of the period')
    await press('button', 'Cancel at the end of the period')
    await page.getByRole('status').filter({ hasText: 'is cancelled and ends' }).waitFor()
    expect(await isCancelled()).toBe(true)
    await expectAccessible(page)

    await press('button', 'Resume the subscription main')
    await page.getByRole('status').filter({ hasText: 'The subscription continues.' }).waitFor()
    expect(await isCancelled()).toBe(false)
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('Subscription cancelled').waitFor()
    await timeline.getByText('Subscription resumed').waitFor()
  })

  it('let a support person refund an invoice in part', async () => {
    const bob = await customer('bob')
    const page = await signedIn('support')
    await page.goto(`${service.url}/admin/people/${bob.id}`)
    await page.getByRole('link', { name: /^Refund invoice/ }).click()
    await page.getByLabel('Amount in USD').fill('nothing')
    forgive(page, /status of 422/)
    await page.getByRole('button', { name: 'Refund' }).click()
    await page.getByRole('alert').filter({ hasText: 'Enter an amount above zero' }).waitFor()
    await takeScreenshot(page, 'admin-refund-problem')
    await expectAccessible(page)
    await page.getByLabel('Amount in USD').fill('7.50')
    await page.getByLabel('Reason (optional)').selectOption({ label: 'Charged twice' })
    await page.getByRole('button', { name: 'Refund' }).dblclick()
    await page.getByRole('status').filter({ hasText: 'The refund was made.' }).waitFor()
    const [invoice] = await bob.billable.invoices()
    expect(await invoice?.refunded()).toMatchObject({ amount: 750 })
  })

  it('let a support person refund an invoice in part, and then the rest, using only the keyboard', async () => {
    const zoe = await customer('zoe')
    const page = await signedIn('support')
    forgive(page, /status of 422/)
    const refunded = async () => (await (await zoe.billable.invoices())[0]?.refunded())?.amount
    const refundLink = page.getByRole('link', { name: /^Refund invoice/ })
    const refundButton = page.getByRole('button', { name: 'Refund', exact: true })
    const done = page.getByRole('status').filter({ hasText: 'The refund was made.' })
    await page.goto(`${service.url}/admin/people/${zoe.id}`)

    await focusAndPress(page, refundLink, 'Enter')
    await page.getByRole('heading', { name: `Refund an invoice of ${zoe.email}?` }).waitFor()
    // The Enter key in a field presses the first button, which is the safe one.
    await tabTo(page, page.getByLabel('Amount in USD'))
    await page.keyboard.type('7.50')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: zoe.email, exact: true }).waitFor()
    expect(await refunded()).toBe(0)

    await focusAndPress(page, refundLink, 'Enter')
    await focusAndPress(page, page.getByRole('button', { name: 'Change nothing' }), 'Enter')
    await page.getByRole('heading', { name: zoe.email, exact: true }).waitFor()
    expect(await refunded()).toBe(0)

    await focusAndPress(page, refundLink, 'Enter')
    await tabTo(page, page.getByLabel('Amount in USD'))
    await page.keyboard.type('nothing')
    await focusAndPress(page, refundButton, 'Enter')
    await page.getByRole('alert').filter({ hasText: 'Enter an amount above zero' }).waitFor()
    expect(await refunded()).toBe(0)
    await tabTo(page, page.getByLabel('Amount in USD'))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('7.50')
    await tabTo(page, page.getByLabel('Reason (optional)'))
    // Chooses the option that begins with these letters.
    await page.keyboard.type('Charged')
    await focusAndPress(page, refundButton, 'Enter')
    await done.waitFor()
    expect(await refunded()).toBe(750)
    await expectAccessible(page)

    await focusAndPress(page, refundLink, 'Enter')
    await page.getByText('Leave it empty to refund the rest, $17.50.').waitFor()
    await focusAndPress(page, refundButton, 'Enter')
    await done.waitFor()
    expect(await refunded()).toBe(2500)
    const [charge] = service.sandbox?.stripe.charges(zoe.billable.providerId ?? '') ?? []
    const stripe = new Stripe(service.sandbox?.stripe.apiKey ?? '', service.sandbox?.stripe.config)
    const { data } = await stripe.refunds.list({ charge: String(charge?.id) })
    expect(data.map(({ amount, reason }) => [amount, reason])).toEqual([
      [1750, null],
      [750, 'duplicate'],
    ])
  })

  it('let a support person issue a credit note in part', async () => {
    const kim = await customer('ines')
    const page = await signedIn('support')
    await page.goto(`${service.url}/admin/people/${kim.id}`)
    await page.getByRole('link', { name: /^Credit note for invoice/ }).click()
    await page.getByRole('heading', { name: /^Issue a credit note to / }).waitFor()
    await expectAccessibleInAllLooks(page, 'admin-credit-note')
    await page.getByLabel('Amount in USD').fill('7.50')
    await page.getByLabel(/^To the customer’s balance/).check()
    await page.getByLabel('Reason (optional)').selectOption({ label: 'The order was changed' })
    await page.getByLabel('Text on the credit note (optional)').fill('Thank you')
    await page.getByRole('button', { name: 'Issue the credit note' }).dblclick()
    await page.getByRole('status').filter({ hasText: 'The credit note was issued.' }).waitFor()
    await page.getByRole('region', { name: 'Credit notes' }).getByText('$7.50').waitFor()
    await expectAccessibleInAllLooks(page, 'admin-person-credited')
    const notes = await kim.billable.creditNotes()
    expect(notes.map(({ data }) => [data.total, data.givenBack.toBalance])).toEqual([[750, 750]])
  })

  it('ask an owner to sign in again before a deletion, and then return to the deletion', async () => {
    const eve = await customer('eve')
    const page = await signedIn('owner')
    service.clock.advance({ minutes: 11 })
    await page.goto(`${service.url}/admin/people/${eve.id}`)
    await page.getByRole('link', { name: 'Delete permanently' }).click()
    await page.getByText('This needs a sign-in of the last ten minutes.').waitFor()
    await takeScreenshot(page, 'admin-stale')
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor()
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('End the subscription now').check()
    await page.getByLabel('I want to delete this account').check()
    await takeScreenshot(page, 'admin-delete')
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByRole('heading', { name: 'Account deleted' }).waitFor()
    expect(await service.users.findAccount(eve.id)).toBeNull()
  })

  it('have no visual problems in either color scheme', async () => {
    const joe = await customer('joe')
    const page = await signedIn('owner')
    for (const [name, path] of Object.entries({
      people: '/admin/people',
      person: `/admin/people/${joe.id}`,
      role: `/admin/people/${joe.id}/role`,
    })) {
      await page.goto(service.url + path)
      await expectAccessibleInAllLooks(page, `admin-${name}`)
    }
  })

  it.each(['en', 'de'] as const)(
    'are no wider than the window in the language %s',
    async (language) => {
      const mia = await customer(`mia-${language}`)
      const subscription = await mia.billable.subscription('main')
      const [invoice] = await mia.billable.invoices()
      const page = await signedIn('owner', { language })
      const paths = [
        '',
        '/sign-out',
        '/role',
        '/delete',
        '/timeline',
        '/invoices',
        '/credit',
        '/comp',
        '/add-tax-id',
        '/tax-exempt',
        '/address',
      ]
      const ofObjects = [
        `/cancel?object=${subscription.id}`,
        `/cancel-now?object=${subscription.id}`,
        `/coupon?object=${subscription.id}`,
        `/refund?object=${invoice?.id}`,
        `/credit-note?object=${invoice?.id}`,
        `/plan-change?object=${subscription.id}`,
        `/pause?object=${subscription.id}`,
      ]
      for (const path of [...paths, ...ofObjects]) {
        await page.goto(`${service.url}/admin/people/${mia.id}${path}`)
        const name = path.replace(/[/?].*?(?=[a-z]|$)/, '').replace(/\?.*/, '')
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 })
          await expectNoSidewaysScroll(page)
          await takeScreenshot(page, `admin-person-${name}-${language}-${width}`)
        }
        await expectAccessible(page)
      }
    },
  )
})
