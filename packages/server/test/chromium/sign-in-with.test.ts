import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { findFreePort } from '../../../../test-support/free-port.ts'
import { startTestService, type TestService } from '../support.ts'
import { signIn } from './person.ts'

const ADA = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }
const GRACE = { name: 'Grace', email: 'grace@example.com', password: 'another password' }

describeInChromium('signing in with an account at another Tollgate service', ({ newPage }) => {
  let upstream: TestService
  let service: TestService
  beforeAll(async () => {
    const [first, second] = [await findFreePort(), await findFreePort()]
    // Hosts of their own, because cookies do not distinguish ports.
    const issuer = `http://127.0.0.1:${first}`
    upstream = await startTestService({
      environment: { PORT: String(first), TOLLGATE_URL: issuer },
      settings: { name: 'Upstream', claims: () => ({ email_verified: true }) },
    })
    const { client, secret } = await upstream.oauth.clients.create({
      name: 'Downstream',
      redirect: `http://localhost:${second}/login/with/upstream/callback`,
      scopes: ['openid', 'email', 'profile'],
    })
    service = await startTestService({
      environment: {
        PORT: String(second),
        TOLLGATE_SIGN_IN_UPSTREAM_SECRET: secret ?? '',
      },
      settings: {
        signInWith: { custom: { upstream: { name: 'Upstream', issuer, clientId: client.id } } },
      },
    })
    for (const account of [ADA, GRACE]) await upstream.users.create(account)
  })
  afterAll(async () => {
    await service?.stop()
    await upstream?.stop()
  })

  const press = (page: Page, name: string) => page.getByRole('button', { name }).click()

  it('creates a new account, and later signs in to it, without JavaScript', async () => {
    const page = await newPage({ script: false })
    await page.goto(`${service.url}/tokens`)
    await takeScreenshot(page, 'sign-in-with-buttons')
    await press(page, 'Continue with Upstream')
    await signIn(page, upstream, ADA)
    await press(page, 'Approve')
    await page.getByRole('heading', { name: 'Personal access tokens' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/tokens')

    await press(page, 'Sign out')
    await press(page, 'Continue with Upstream')
    await page.getByRole('heading', { name: 'Welcome, Ada' }).waitFor()
    await page.goto(`${service.url}/account`)
    await page.getByText('Your account has no password yet').waitFor()
    await takeScreenshot(page, 'account-without-password')
  })

  it('links an existing account after its password was entered, and removes the link again', async () => {
    const own = { ...GRACE, password: 'her own password' }
    await service.users.create(own)
    const page = await newPage()
    await page.goto(`${service.url}/login`)
    await press(page, 'Continue with Upstream')
    await signIn(page, upstream, GRACE)
    await press(page, 'Approve')
    await page.getByText('There is already an account').waitFor()
    expect(await page.getByLabel('Email').inputValue()).toBe(GRACE.email)
    await expectAccessibleInAllLooks(page, 'sign-in-pending-link')
    await page.getByLabel('Password').fill(own.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Welcome, Grace' }).waitFor()

    await page.goto(`${service.url}/account`)
    await page.getByRole('link', { name: 'Sign-in with other providers' }).click()
    await page.getByText(GRACE.email).waitFor()
    await expectAccessibleInAllLooks(page, 'links')
    await press(page, 'Remove the link with Upstream')
    await page.getByText('The link was removed').waitFor()
    await press(page, 'Link Upstream')
    await page.getByText('The account is linked').waitFor()
    await takeScreenshot(page, 'links-added')
  })
})
