import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { register, signIn } from './person.ts'

describeInChromium('an account of a service that sends mail', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ options: { mailbox: true } })
  })
  afterAll(() => service?.stop())

  /** Opens the link in the mail to an address whose subject begins like this. */
  async function openLink(page: Page, email: string, subject: string): Promise<void> {
    const find = () =>
      service.sandbox?.mail
        ?.messages()
        .find((mail) => mail.to.includes(email) && mail.subject.startsWith(subject))
    await expect.poll(find, { timeout: 10_000 }).toBeTruthy()
    const [, link = ''] = /(http:\S+\/recovery\/\w+\?token=[\w.-]+)/.exec(find()?.text ?? '') ?? []
    await page.goto(link)
  }

  it('is registered, confirmed and recovered by mail, and then gets another e-mail address', async () => {
    const page = await newPage()
    const ada = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }
    await register(page, service, ada)
    await openLink(page, ada.email, 'Confirm your email address')
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('Your email address is confirmed.').waitFor()
    await page.goto(`${service.url}/account`)
    await page.getByText('Confirmed', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()

    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByLabel('Email').fill(ada.email)
    await page.getByRole('button', { name: 'Send email' }).click()
    await page.getByRole('heading', { name: 'We have sent you an email' }).waitFor()
    await openLink(page, ada.email, 'Reset your password')
    await page.getByLabel('Password').fill('a new password')
    await page.getByRole('button', { name: 'Save password' }).click()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await signIn(page, service, { ...ada, password: 'a new password' })
    await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()

    await page.goto(`${service.url}/account/email`)
    await page.getByLabel('New email address').fill('ada@example.org')
    await page.getByLabel('Current password').fill('a new password')
    await page.getByRole('button', { name: 'Change email address' }).click()
    await page.getByText('We have sent an email to the new address.').waitFor()
    await openLink(page, 'ada@example.org', 'Confirm your new email address')
    await page.getByRole('button', { name: 'Confirm the address' }).click()
    await page.getByText('Your email address is confirmed.').waitFor()
    await page.goto(`${service.url}/account`)
    await page.getByText('ada@example.org').waitFor()
  })

  it('is recovered, confirmed and moved to another address using only the keyboard', async () => {
    const page = await newPage()
    const grace = { name: 'Grace', email: 'grace@example.com', password: 'a long password' }
    await service.users.create(grace)

    await page.goto(`${service.url}/login`)
    await press(page, page.getByRole('link', { name: 'Forgot your password?' }))
    await page.getByRole('heading', { name: 'Forgotten password' }).waitFor()
    // The browser stops a form without an address, and focuses the field.
    await press(page, page.getByRole('button', { name: 'Send email' }))
    await expectFocus(page.getByLabel('Email'))
    await page.keyboard.type(grace.email)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'We have sent you an email' }).waitFor()

    await openLink(page, grace.email, 'Reset your password')
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type('short')
    await page.keyboard.press('Enter')
    await expectFocus(page.getByLabel('Password'))
    await page.keyboard.type(', but longer now')
    await press(page, page.getByRole('button', { name: 'Save password' }))
    await page.getByText('Your new password is saved.').waitFor()
    await press(page, page.locator('main').getByRole('link', { name: 'Sign in' }))
    await tabTo(page, page.getByLabel('Email'))
    await page.keyboard.type(grace.email)
    await tabTo(page, page.getByLabel('Password'))
    await page.keyboard.type('short, but longer now')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()

    await page.goto(`${service.url}/account`)
    await press(page, page.getByRole('link', { name: 'Change email address' }))
    await tabTo(page, page.getByLabel('New email address'))
    await page.keyboard.type('grace@example.org')
    await tabTo(page, page.getByLabel('Current password'))
    await page.keyboard.type('a wrong password')
    forgive(page, /status of 422/)
    await page.keyboard.press('Enter')
    await page.getByText('This is not your current password.').waitFor()
    await tabTo(page, page.getByLabel('Current password'))
    await page.keyboard.type('short, but longer now')
    await press(page, page.getByRole('button', { name: 'Change email address' }))
    await page.getByText('We have sent an email to the new address.').waitFor()
    await openLink(page, 'grace@example.org', 'Confirm your new email address')
    await press(page, page.getByRole('button', { name: 'Confirm the address' }))
    await page.getByText('Your email address is confirmed.').waitFor()
    expect(await service.users.findByEmail('grace@example.org')).not.toBeNull()
  })

  it('can be confirmed using only the keyboard after registration', async () => {
    const page = await newPage()
    const linus = { name: 'Linus', email: 'linus@example.com', password: 'a long password' }
    await register(page, service, linus)
    await page.goto(`${service.url}/account/email`)
    await press(page, page.getByRole('button', { name: 'Send email to confirm the address' }))
    await openLink(page, linus.email, 'Confirm your email address')
    await press(page, page.getByRole('button', { name: 'Confirm the address' }))
    await page.getByText('Your email address is confirmed.').waitFor()
    expect((await service.users.findByEmail(linus.email))?.emailVerifiedAt).not.toBeNull()
  })
})

const isFocused = (target: Locator) =>
  target.evaluate((element) => element === document.activeElement)

const expectFocus = (target: Locator) => expect.poll(() => isFocused(target)).toBe(true)

/** More stops than a page has. */
const MOST_STOPS = 40

/** Moves the focus with the Tab key to an element, which must show that it has it. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let stops = 0; !(await isFocused(target)); stops += 1) {
    expect(stops).toBeLessThan(MOST_STOPS)
    await page.keyboard.press('Tab')
  }
  expect(await target.evaluate((element) => element.matches(':focus-visible'))).toBe(true)
}

async function press(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}
