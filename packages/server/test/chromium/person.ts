import type { Page } from 'playwright-core'
import type { TestService } from '../support.ts'

/** What somebody does with the keyboard and the mouse on the way to what a test is about. */
export async function register(
  page: Page,
  service: TestService,
  account: { readonly name: string; readonly email: string; readonly password: string },
): Promise<void> {
  await page.goto(`${service.url}/register`)
  await page.getByLabel('Name (optional)').fill(account.name)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill(account.password)
  await page.getByRole('button', { name: 'Register' }).click()
  await page.getByRole('heading', { name: `Welcome, ${account.name}` }).waitFor()
}

/** On whatever page asks for it; the demo's user unless told otherwise. */
export async function signIn(
  page: Page,
  service: TestService,
  account: { readonly email?: string; readonly password?: string } = {},
): Promise<void> {
  if (!page.url().startsWith(`${service.url}/login`)) await page.goto(`${service.url}/login`)
  await page.getByLabel('E-mail').fill(account.email ?? service.demo?.email ?? '')
  await page.getByLabel('Password').fill(account.password ?? service.demo?.password ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
}
