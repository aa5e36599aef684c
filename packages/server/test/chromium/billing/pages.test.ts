import { readFileSync } from 'node:fs'
import type { ProviderName } from '@tollgate/billing'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleInAllLooks,
  PHONE,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

const NAMES = { stripe: 'Stripe', braintree: 'Braintree' } as const
const WORKS = { stripe: /^Visa 4242/, braintree: /^Visa 1881/ } as const
const FAILS_LATER = { stripe: /^Visa 0341/, braintree: /^Discover 1117/ } as const

/** The button that names the amount, or the trial. */
const PAY = /and subscribe$|^Start/

let people = 0

describeInChromium('the billing pages', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  async function open(settings: Parameters<typeof newPage>[0] = {}): Promise<Page> {
    const email = `person-${++people}@example.com`
    const account = { name: 'Ada Lovelace', email, password: 'a long password' }
    const page = await newPage({ ...settings, cookies: await signedIn(service, account) })
    await page.goto(`${service.url}/billing`)
    await page.getByRole('heading', { name: 'Billing', exact: true }).waitFor()
    return page
  }

  const state = (page: Page) => page.locator('.badge').first().textContent()
  const pressed = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click()
  const told = async (page: Page, text: string) => {
    await page.getByRole('status').filter({ hasText: text }).waitFor()
  }

  async function chooseCard(page: Page, label: RegExp): Promise<void> {
    const select = page.getByLabel('Test card').first()
    const texts = await select.locator('option').allTextContents()
    await select.selectOption({
      label: texts.find((text) => label.test(text.trim()))?.trim() ?? '',
    })
  }

  async function subscribe(page: Page, provider: ProviderName, plan: string, card: RegExp) {
    const choice = page.getByRole('navigation', { name: 'Payment provider' })
    await choice.getByRole('link', { name: NAMES[provider] }).click()
    await choice.locator('[aria-current]', { hasText: NAMES[provider] }).waitFor()
    await page.getByRole('radio', { name: new RegExp(`^${plan} `) }).check()
    await chooseCard(page, card)
    await pressed(page, PAY)
  }

  async function later(page: Page, step: 'day' | 'week' | 'month', times = 1) {
    for (let at = 0; at < times; at++) {
      await pressed(page, `Go forward one ${step}`)
      await told(page, 'The sandbox’s clock was moved.')
    }
  }

  it.each(['stripe', 'braintree'] as const)(
    'show immediately that a renewal failed at %s, also on a phone',
    async (provider) => {
      const page = await open()
      await page.setViewportSize(PHONE)
      await subscribe(page, provider, 'Pro', WORKS[provider])
      await told(page, 'You are subscribed.')
      expect(await page.getByLabel('Quantity').count()).toBe(provider === 'stripe' ? 1 : 0)
      if (provider === 'stripe') {
        await page.getByLabel('Quantity').fill('3')
        await pressed(page, 'Change the quantity')
        await page.getByText('(3 × $25.00)').waitFor()
      }
      await pressed(page, 'Fail the next charge')
      await later(page, 'month')
      expect(await state(page)).toBe('Payment failed')
      // Each value of an invoice is labelled with its column.
      const amount = page.locator('td[data-label="Amount"]').first()
      const label = await amount.evaluate((cell) => getComputedStyle(cell, '::before').content)
      expect(label).toBe('"Amount"')
      await expectAccessible(page)
      await takeScreenshot(page, `billing-failed-phone-${provider}`)
    },
  )

  it('let a person plan a change of plan using the keyboard, and enter the details for invoices', async () => {
    const page = await open()
    await subscribe(page, 'stripe', 'Pro', WORKS.stripe)
    await told(page, 'You are subscribed.')
    await page.getByRole('link', { name: 'Change to Monthly' }).click()
    await page.getByRole('heading', { name: 'Or change the plan later' }).waitFor()
    await expectAccessibleInAllLooks(page, 'billing-plan-change')
    await page.getByRole('button', { name: /^Change on \d+ \w+ \d{4}$/ }).focus()
    await page.keyboard.press('Enter')
    await told(page, 'Your plan changes at the end of the current period.')
    await page.getByText(/^Your subscription changes to Monthly on /).waitFor()
    await page.getByText('Add a billing address').click()
    await page.getByLabel('Street and number').fill('Mill Lane 1')
    await page.getByLabel('Country code').fill('gb')
    await pressed(page, 'Save the address')
    await told(page, 'Your billing address was changed.')
    await page.getByText('Add a tax ID').first().click()
    await page.getByLabel('Tax ID', { exact: true }).fill('DE123456789')
    await pressed(page, 'Add a tax ID')
    await told(page, 'The tax ID was added.')
    await page.getByText('Mill Lane 1, GB').waitFor()
    await expectAccessibleInAllLooks(page, 'billing-details')
    await later(page, 'month')
    await later(page, 'day')
    await page.getByRole('heading', { name: 'Monthly' }).first().waitFor()
  })

  it.each(['stripe', 'braintree'] as const)(
    'work from the first subscription to the cancellation at %s',
    async (provider) => {
      const page = await open()
      await subscribe(page, provider, 'Monthly', WORKS[provider])
      await told(page, 'You are subscribed.')
      expect(await state(page)).toBe('Trial')
      await page.getByText(/^Trial until \d+ \w+ \d{4}\./).waitFor()
      await expectAccessible(page)

      await later(page, 'week', 2)
      await later(page, 'day', 2)
      expect(await state(page)).toBe('Active')
      const row = page.getByRole('row', { name: /\$10\.00 Paid/ })
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        row.getByRole('link').click(),
      ])
      expect(download.suggestedFilename()).toMatch(/^Subscription_\d+_\d{4}\.pdf$/)
      const pdf = readFileSync(await download.path())
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
      expect(pdf.length).toBeGreaterThan(1000)

      await page.getByRole('link', { name: 'Change to Yearly' }).click()
      await page.getByRole('heading', { name: 'Change to Yearly?' }).waitFor()
      await expectAccessible(page)
      const pay = page.getByRole('button', { name: /^Change and pay/ })
      const amount = /\$[\d.]+/.exec((await pay.textContent()) ?? '')?.[0] ?? 'none'
      await takeScreenshot(page, `billing-swap-${provider}`)
      await pay.click()
      await told(page, 'Your plan was changed.')
      await page.getByRole('row', { name: new RegExp(`\\${amount} `) }).waitFor()

      await page.getByRole('link', { name: 'Cancel subscription', exact: true }).click()
      await expectAccessible(page)
      await takeScreenshot(page, `billing-cancel-${provider}`)
      const cancel = page.getByRole('button', { name: /^Cancel on/ })
      const day = (await cancel.textContent())?.replace('Cancel on ', '').trim() ?? 'none'
      await cancel.click()
      await page
        .getByText(`The subscription is cancelled and remains active until ${day}.`)
        .waitFor()
      expect(await state(page)).toBe('Cancelled')
      await pressed(page, 'Resume')
      await told(page, 'Your subscription was resumed.')
      expect(await state(page)).toBe('Active')

      await page.getByText('Add a card').click()
      await chooseCard(page, /^Mastercard/)
      await page.getByLabel('Save the card for later').check()
      await pressed(page, 'Use this card')
      await told(page, 'Your card was added.')
      await pressed(page, 'Make default: Mastercard ending in 4444')
      await told(page, 'Your card was changed.')
      await page.getByRole('link', { name: /^Delete Visa ending in/ }).click()
      await pressed(page, 'Delete the payment method')
      await told(page, 'The payment method was deleted.')
      const methods = page.getByRole('table', { name: 'Payment methods' }).getByRole('row')
      expect(await methods.count()).toBe(2)
      await methods.filter({ hasText: 'Mastercard ending in 4444' }).waitFor()
      await expectAccessible(page)

      // The yearly plan has no seats.
      expect(await page.getByLabel('Quantity').count()).toBe(0)

      await page.getByRole('link', { name: 'Cancel subscription', exact: true }).click()
      await pressed(page, 'Cancel now')
      // The browser itself requires the checkbox first.
      await page.getByLabel('End the subscription immediately').check()
      await pressed(page, 'Cancel now')
      await told(page, 'Your subscription has ended.')
      await page.getByRole('heading', { name: 'Subscribe again' }).waitFor()
    },
  )

  it.each(['stripe', 'braintree'] as const)(
    'show the retries of a failing card until the subscription ends at %s',
    async (provider) => {
      const page = await open()
      await subscribe(page, provider, 'Monthly', FAILS_LATER[provider])
      await told(page, 'You are subscribed.')
      await later(page, 'week', 2)
      await later(page, 'day')
      expect(await state(page)).toBe('Payment failed')
      await expectAccessible(page)
      await takeScreenshot(page, `billing-failed-${provider}`)
      await later(page, 'week', 3)
      await page.getByRole('heading', { name: 'Subscribe again' }).waitFor()
      await page
        .getByText(/^The payment failed, so the subscription ended on \d+ \w+ \d{4}\.$/)
        .waitFor()
    },
  )

  it.each(['stripe', 'braintree'] as const)(
    'show that the card was declined at %s',
    async (provider) => {
      const page = await open()
      forgive(page, /status of 402/)
      await subscribe(page, provider, 'Pro', /declined immediately/)
      const alert = page.getByRole('alert')
      expect(await alert.textContent()).toMatch(/declined.*you can try another card\.$/)
      expect(await page.getByRole('radio', { name: /^Pro / }).isChecked()).toBe(true)
      await expectAccessible(page)
      await takeScreenshot(page, `billing-declined-${provider}`)
    },
  )

  it('let the bank ask for confirmation of the payment, and then start the subscription', async () => {
    const page = await open()
    await subscribe(page, 'stripe', 'Pro', /3-D Secure/)
    await page.getByRole('heading', { name: 'Confirm the payment' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Back to billing' }).click()
    expect(await state(page)).toBe('Not paid')
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-unpaid')
    await page.getByRole('link', { name: 'Confirm the payment' }).click()
    await pressed(page, /^Confirm$/)
    await told(page, 'Your payment is confirmed.')
    expect(await state(page)).toBe('Active')
  })

  it('accept a promotion code in every color scheme, and reject an unknown one', async () => {
    const page = await open()
    forgive(page, /status of 422/)
    await subscribe(page, 'stripe', 'Pro', WORKS.stripe)
    await told(page, 'You are subscribed.')
    await page.getByLabel('Promotion code').fill('AUTUMN')
    await pressed(page, 'Use the code')
    await page
      .getByRole('alert')
      .filter({ hasText: 'This promotion code does not exist' })
      .waitFor()
    await expectAccessible(page)
    await page.getByLabel('Promotion code').fill('spring')
    await pressed(page, 'Use the code')
    await told(page, 'The promotion code applies from your next invoice.')
    await page.getByText(/^Spring: 25% off until /).waitFor()
    await expectAccessibleInAllLooks(page, 'billing-code')
  })

  it('accept another card after a rejected confirmation, and do not keep the first card', async () => {
    const page = await open()
    await subscribe(page, 'stripe', 'Pro', /3-D Secure/)
    await pressed(page, 'Deny')
    await told(page, 'The payment was not confirmed, so nothing was charged.')
    expect(await state(page)).toBe('Not paid')
    await takeScreenshot(page, 'billing-refused')
    await chooseCard(page, WORKS.stripe)
    await pressed(page, PAY)
    await told(page, 'You are subscribed.')
    expect(await state(page)).toBe('Active')
    await page.getByRole('row', { name: /\$25\.00 Paid/ }).waitFor()
    await expectAccessibleInAllLooks(page, 'billing-methods')
    await page.getByRole('link', { name: 'Delete Visa ending in 3184' }).click()
    await pressed(page, 'Delete the payment method')
    await told(page, 'The payment method was deleted.')
    await page.getByText('Your subscription is paid with this payment method').waitFor()
    expect(await page.getByRole('row', { name: /3184/ }).count()).toBe(0)
  })

  it('let a person in the demo choose that the next charge is declined', async () => {
    const page = await open()
    await subscribe(page, 'stripe', 'Pro', WORKS.stripe)
    await pressed(page, 'Fail the next charge')
    await told(page, 'Your next charge will be declined.')
    await later(page, 'month')
    await later(page, 'day')
    expect(await state(page)).toBe('Payment failed')
    await page.getByText('Your card has insufficient funds.').waitFor()
  })

  it('work in a browser without JavaScript', async () => {
    const page = await open({ script: false })
    await page.getByRole('radio', { name: /^Pro / }).check()
    await pressed(page, 'Show the price')
    await pressed(page, 'Pay $25.00 and subscribe')
    await told(page, 'You are subscribed.')
    await page.getByRole('link', { name: 'Change to Monthly' }).click()
    await pressed(page, 'Change the plan')
    await told(page, 'Your plan was changed.')
  })

  it('send a form once, however often the person clicks', async () => {
    const page = await open()
    await page.getByRole('radio', { name: /^Pro / }).check()
    const posts: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(request.url())
    })
    await page.getByRole('button', { name: PAY }).dblclick()
    await told(page, 'You are subscribed.')
    expect(posts.filter((url) => url.endsWith('/billing/subscribe'))).toHaveLength(1)
  })

  it('have no visual problems in any color scheme', async () => {
    const page = await open()
    await expectAccessibleInAllLooks(page, 'billing-new')
    await subscribe(page, 'stripe', 'Monthly', WORKS.stripe)
    await told(page, 'You are subscribed.')
    await later(page, 'month')
    await later(page, 'day')
    await expectAccessibleInAllLooks(page, 'billing-active')
    const parts = await page
      .locator('.stack')
      .first()
      .evaluate((stack) =>
        [...stack.children]
          .map((part) => part.getBoundingClientRect())
          .filter(({ height }) => height > 0)
          .map(({ top, bottom }) => ({ top, bottom })),
      )
    const gaps = parts.slice(1).map(({ top }, at) => Math.round(top - (parts[at]?.bottom ?? 0)))
    expect(new Set(gaps).size, `gaps of ${gaps} pixels`).toBe(1)
    await page.goto(`${service.url}/billing/swap?plan=yearly`)
    await expectAccessibleInAllLooks(page, 'billing-swap')
    await page.goto(`${service.url}/billing/cancel`)
    await expectAccessibleInAllLooks(page, 'billing-cancel')
    forgive(page, /status of (404|503)/)
    for (const reason of ['checkout_not_found', 'unavailable']) {
      await page.goto(`${service.url}/billing/returned?reason=${reason}`)
      await expectAccessibleInAllLooks(page, `billing-returned-${reason}`)
    }
  })
})
