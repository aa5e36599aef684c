import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'
import { computeTotpCode, totpStepAt } from '../../src/factors/totp.ts'
import { PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { signedIn } from './person.ts'

/** Presses Tab until the element has the focus, as people without a mouse do. */
async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  for (let count = 0; count < 80; count += 1) {
    if (await element.evaluate((node) => node === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${page.url()}: Tab does not reach ${element}`)
}

async function press(page: Page, role: 'link' | 'button', name: string): Promise<void> {
  await tabTo(page, page.getByRole(role, { name, exact: true }))
  await page.keyboard.press('Enter')
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label))
  await page.keyboard.type(text)
}

async function signInByKeyboard(page: Page, email: string): Promise<void> {
  await type(page, 'Email', email)
  await type(page, 'Password', PASSWORD)
  await press(page, 'button', 'Sign in')
}

describeInChromium('the account of a person who uses only the keyboard', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  it('gets an authenticator app, which is then lost and replaced by a recovery code', async () => {
    const ada = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }
    const page = await newPage({ cookies: await signedIn(service, ada) })
    forgive(page, /status of 4(01|22)/)
    await page.goto(`${service.url}/account/security`)
    await press(page, 'link', 'Add the authenticator app')
    const secret = ((await page.locator('code.code').textContent()) ?? '').replaceAll(' ', '')
    const codeNow = () => computeTotpCode(secret, totpStepAt(service.clock.now()))
    await type(page, 'Code from the app', codeNow())
    await press(page, 'button', 'Add the authenticator app')
    await press(page, 'button', 'Create new recovery codes')
    await page.getByRole('heading', { name: 'Save these recovery codes' }).waitFor()
    const [code = ''] = await page.locator('.recovery-codes code').allTextContents()
    expect(code).toMatch(/^[\w-]{8,}$/)
    await press(page, 'link', 'I have saved the codes')
    await page.getByRole('heading', { name: 'Authenticator app' }).waitFor()

    await press(page, 'button', 'Sign out')
    service.clock.advance({ minutes: 1 })
    await signInByKeyboard(page, ada.email)
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await type(page, 'Code from your authenticator app', '000000')
    await press(page, 'button', 'Continue')
    await page.getByRole('alert').or(page.getByText('This code is wrong')).first().waitFor()
    await type(page, 'Code from your authenticator app', codeNow())
    await press(page, 'button', 'Continue')
    await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()

    // The phone is lost.
    await press(page, 'button', 'Sign out')
    await signInByKeyboard(page, ada.email)
    const useRecoveryCode = async () => {
      await tabTo(page, page.locator('summary', { hasText: 'I cannot use my second factor' }))
      await page.keyboard.press('Enter')
      await type(page, 'Recovery code', code)
      await press(page, 'button', 'Use the recovery code')
    }
    await useRecoveryCode()
    await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()

    await press(page, 'button', 'Sign out')
    await signInByKeyboard(page, ada.email)
    await useRecoveryCode()
    await page.getByText('This recovery code is wrong, or was already used.').waitFor()
  })

  it('is exported and deleted, and the person then registers again with the same address', async () => {
    const eve = { name: 'Eve', email: 'eve@example.com', password: PASSWORD }
    const page = await newPage({ cookies: await signedIn(service, eve) })
    service.clock.advance({ minutes: 11 })
    forgive(page, /status of 422/)
    await page.goto(`${service.url}/account`)
    await press(page, 'link', 'Download your data')
    await type(page, 'Current password', PASSWORD)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      press(page, 'button', 'Download'),
    ])
    expect(download.suggestedFilename()).toBe('account.json')
    const exported = JSON.parse(await readFile(await download.path(), 'utf8'))
    expect(exported.account).toEqual([expect.objectContaining({ email: eve.email, name: 'Eve' })])

    await press(page, 'link', 'Back to your account')
    await press(page, 'link', 'Delete your account')
    await page.getByRole('heading', { name: 'Delete your account permanently?' }).waitFor()
    await press(page, 'button', 'Keep the account')
    await press(page, 'link', 'Delete your account')
    await type(page, 'Current password', 'a wrong password')
    await tabTo(page, page.getByLabel('I want to delete my account'))
    await page.keyboard.press('Space')
    await press(page, 'button', 'Delete permanently')
    await page.getByText('This is not your current password.').waitFor()
    expect(await service.users.findByEmail(eve.email)).not.toBeNull()
    await type(page, 'Current password', PASSWORD)
    const box = page.getByLabel('I want to delete my account')
    if (!(await box.isChecked())) {
      await tabTo(page, box)
      await page.keyboard.press('Space')
    }
    await press(page, 'button', 'Delete permanently')
    await page.getByRole('heading', { name: 'Your account was deleted' }).waitFor()
    expect(await service.users.findByEmail(eve.email)).toBeNull()

    await page.goto(`${service.url}/register`)
    await type(page, 'Name (optional)', 'Eve again')
    await type(page, 'Email', eve.email)
    await type(page, 'Password', PASSWORD)
    await press(page, 'button', 'Register')
    await page.getByRole('heading', { name: 'Welcome, Eve again' }).waitFor()
  })
})

describeInChromium('the pages on which people manage their own account', ({ newPage, forgive }) => {
  let service: TestService
  let cookies: ReadonlyMap<string, string>
  let pending: ReadonlyMap<string, string>
  let newcomer: ReadonlyMap<string, string>
  beforeAll(async () => {
    service = await startTestService({ options: { mailbox: true } })
    const account = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }
    const user = await service.users.create(account)
    const enrolment = service.factors.beginTotp(user)
    const signedInBrowser = service.browser()
    await signedInBrowser.signIn(account.email, PASSWORD)
    cookies = signedInBrowser.cookies
    const code = computeTotpCode(enrolment.secret, totpStepAt(service.clock.now()))
    expect(await service.factors.addTotp(user.id, enrolment, code)).toBe(true)
    await service.factors.renewRecoveryCodes(user.id)
    const halfway = service.browser()
    await halfway.signIn(account.email, PASSWORD)
    pending = halfway.cookies
    const other = { name: 'Eve', email: 'eve@example.com', password: PASSWORD }
    newcomer = (await signedIn(service, other)).values
  })
  afterAll(() => service?.stop())

  const VIEWS = [
    ['forgotten-password', '/recovery/forgot', 'nobody'],
    ['unusable-link', '/recovery/reset?token=wrong', 'nobody'],
    ['second-step', '/login/second-step', 'pending'],
    ['security', '/account/security', 'person'],
    ['new-app', '/account/security/app', 'newcomer'],
    ['email', '/account/email', 'person'],
    ['export', '/account/export', 'person'],
    ['delete', '/account/delete', 'person'],
  ] as const

  it.each(VIEWS.flatMap((view) => (['en', 'de'] as const).map((each) => [each, ...view] as const)))(
    'are accessible and fit the window in every color scheme: %s, %s',
    async (language, name, path, who) => {
      const values = { nobody: undefined, pending, newcomer, person: cookies }[who]
      const page = await newPage({
        language,
        ...(values && { cookies: { url: service.url, values } }),
      })
      forgive(page, /status of 4\d\d/)
      await page.goto(service.url + path)
      expect(new URL(page.url()).pathname).toBe(path.split('?')[0])
      expect(await page.getAttribute('html', 'lang')).toBe(language)
      for (const summary of await page.locator('summary').all()) {
        if (await summary.isVisible()) await summary.click()
      }
      await expectAccessibleInAllLooks(page, `own-account-${name}-${language}`)
    },
  )
})
