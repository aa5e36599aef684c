import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { register, signIn } from './person.ts'

describeInChromium('an account of a service that sends mail', ({ newPage }) => {
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
})
