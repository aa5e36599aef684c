import type { Page } from 'playwright-core'
import type { PageSettings } from '../../../../test-support/chromium.ts'
import type { TestService } from '../support.ts'

interface Account {
  readonly name: string
  readonly email: string
  readonly password: string
}

/** Opens a page for a new person who is already signed in, for tests of what follows. */
export async function signedIn(
  service: TestService,
  account: Account,
): Promise<NonNullable<PageSettings['cookies']>> {
  await service.users.create(account)
  const browser = service.browser()
  await browser.signIn(account.email, account.password)
  return { url: service.url, values: browser.cookies }
}

/** Registers by keyboard and mouse. */
export async function register(page: Page, service: TestService, account: Account): Promise<void> {
  await page.goto(`${service.url}/register`)
  await page.getByLabel('Name (optional)').fill(account.name)
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Password').fill(account.password)
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByRole('heading', { name: `Welcome, ${account.name}` }).waitFor()
}

/** Signs in on the current page, as the demo's user by default. */
export async function signIn(
  page: Page,
  service: TestService,
  account: Partial<Account> = {},
): Promise<void> {
  if (!page.url().startsWith(`${service.url}/login`)) await page.goto(`${service.url}/login`)
  await page.getByLabel('Email').fill(account.email ?? service.demo?.email ?? '')
  await page.getByLabel('Password').fill(account.password ?? service.demo?.password ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
}
