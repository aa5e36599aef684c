import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { register, signedIn, signIn } from './person.ts'
import { startThirdParty, type ThirdParty } from './third-party.ts'

describeInChromium('a third-party application in a browser', ({ newPage }) => {
  let service: TestService
  let application: ThirdParty
  let people = 0
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())
  beforeEach(async () => {
    application = await startThirdParty(service)
    return () => application.close()
  })

  /** An account that has not approved anything yet. */
  const newAccount = () => {
    people += 1
    return { name: `Ada ${people}`, email: `ada${people}@example.com`, password: 'a long password' }
  }

  async function registerApplication(grants?: 'implicit', confidential = true): Promise<void> {
    const { client, secret } = await service.oauth.clients.create({
      name: 'Photo book',
      redirect: application.redirect,
      confidential,
      ...(grants === undefined ? {} : { grants: [grants] }),
    })
    application.configure({ id: client.id, secret })
  }

  const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

  it("gets the person's approval, uses its token, and needs no second approval", async () => {
    await registerApplication()
    const account = newAccount()
    const page = await newPage()
    await register(page, service, account)
    await page.getByRole('button', { name: 'Sign out' }).click()

    await page.goto(application.url)
    await page.getByRole('link', { name: 'Connect' }).click()
    await signIn(page, service, account)
    expect(await heading(page)).toBe('Photo book asks for access to your account')
    expect(await page.getByRole('listitem').allTextContents()).toEqual([
      'Place orders',
      'Check order status',
    ])
    await page.getByText(`You are signed in as ${account.email}.`).waitFor()
    await page
      .getByText(
        `${new URL(application.url).host} on your own computer, whether you approve or deny`,
      )
      .waitFor()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await application.useToken()).toBe(200)

    await page.goto(`${application.url}/connect`)
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  it('gets its response immediately after sign-in if the person approved it before', async () => {
    await registerApplication()
    const account = newAccount()
    const page = await newPage({ cookies: await signedIn(service, account) })
    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await page.goto(service.url)
    await page.getByRole('button', { name: 'Sign out' }).click()
    // The sign-in form redirects to the application, which its policy has to allow, even if the
    // request has no redirect_uri.
    await page.goto(`${application.url}/connect?bare`)
    await signIn(page, service, account)
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  it('needs a new approval when it requests more scopes', async () => {
    await registerApplication()
    const page = await newPage({ cookies: await signedIn(service, newAccount()) })
    await page.goto(`${application.url}/connect?scope=check-status`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await application.useToken()).toBe(403)
    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await application.useToken()).toBe(200)
  })

  it('receives the error access_denied if the person denies', async () => {
    await registerApplication()
    const page = await newPage({ cookies: await signedIn(service, newAccount()) })
    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Refused: access_denied' }).waitFor()
    expect(application.accessToken()).toBeNull()
  })

  it('gets and uses a token by the implicit flow, or receives access_denied if the person denies', async () => {
    await registerApplication('implicit', false)
    const page = await newPage({ cookies: await signedIn(service, newAccount()) })
    await page.goto(`${application.url}/connect?type=token`)
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('heading', { name: 'Refused: access_denied' }).waitFor()
    await page.goto(`${application.url}/connect?type=token`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await application.useToken()).toBe(200)
  })

  it('loses its token as soon as it is revoked, and needs a new approval', async () => {
    await registerApplication()
    const page = await newPage({ cookies: await signedIn(service, newAccount()) })
    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()

    await page.goto(`${service.url}/applications`)
    await page.getByRole('cell', { name: 'Place orders Check order status' }).waitFor()
    await page.getByRole('link', { name: 'Revoke Photo book' }).click()
    await page.getByRole('button', { name: 'Keep access' }).click()
    await page.getByRole('heading', { name: 'Authorized applications' }).waitFor()
    expect(await application.useToken()).toBe(200)
    await page.getByRole('link', { name: 'Revoke Photo book' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor()
    expect(await application.useToken()).toBe(401)

    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
  })

  it('works in a browser without JavaScript, from sign-in to revocation', async () => {
    await registerApplication()
    const account = newAccount()
    await service.users.create(account)
    const page = await newPage({ script: false })
    await page.goto(`${application.url}/connect`)
    await signIn(page, service, account)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    await page.goto(`${service.url}/applications`)
    await page.getByRole('link', { name: 'Revoke Photo book' }).click()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('heading', { name: 'No applications yet' }).waitFor()
    expect(await application.useToken()).toBe(401)
  })

  it('can be approved using only the keyboard', async () => {
    await registerApplication()
    const account = newAccount()
    await service.users.create(account)
    const page = await newPage()
    await page.goto(`${application.url}/connect`)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type(account.email)
    await page.keyboard.press('Tab')
    await page.keyboard.type(account.password)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    const seen: string[] = []
    for (let step = 0; step < 7 && seen.at(-1) !== 'Approve'; step += 1) {
      await page.keyboard.press('Tab')
      seen.push(await focused(page))
    }
    expect(seen).toEqual([
      'Skip to content',
      'Tollgate',
      'Not you?',
      'Applications',
      'Deny',
      'Approve',
    ])
    await page.keyboard.press('Space')
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  })

  it('can be tried out in the demo, with each flow', async () => {
    const page = await newPage()
    await signIn(page, service)
    for (const name of ['Web application', 'Mobile application']) {
      await page.getByRole('button', { name }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('button', { name: 'Exchange the code for a token' }).click()
      await page.getByText('responds with status 200').waitFor()
      await page.getByRole('link', { name: 'Go to the home page' }).click()
    }
    await page.getByRole('button', { name: 'Browser application' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('access_token').waitFor()
  })
})

const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
