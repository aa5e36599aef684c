import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeInChromium, PHONE } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { register, signedIn, signIn } from './person.ts'
import { startThirdParty, type ThirdParty } from './third-party.ts'

/** Detours that applications do not expect. None may end at a page that leads nowhere. */
describeInChromium(
  'a person who left the approval screen for other pages',
  ({ newPage, forgive }) => {
    let service: TestService
    let application: ThirdParty
    let clientId = ''
    let people = 0
    beforeAll(async () => {
      service = await startTestService()
    })
    afterAll(() => service?.stop())
    beforeEach(async () => {
      application = await startThirdParty(service)
      const { redirect } = application
      const { client, secret } = await service.oauth.clients.create({
        name: 'Photo book',
        redirect,
      })
      clientId = client.id
      application.configure({ id: client.id, secret })
      return () => application.close()
    })

    const newAccount = () => {
      people += 1
      return {
        name: `Ada ${people}`,
        email: `ada${people}@example.com`,
        password: 'a long password',
      }
    }

    /** Opens the approval screen, and a second tab in the same browser. */
    async function openConsent() {
      const account = newAccount()
      const page = await newPage({ cookies: await signedIn(service, account) })
      await page.goto(`${application.url}/connect`)
      return { account, page, other: await newPage({ context: page.context() }) }
    }

    it('can approve an application after an hour', async () => {
      const { page } = await openConsent()
      forgive(page, /status of 400/)
      service.clock.advance({ hours: 1 })
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('Nothing has been approved or denied').waitFor()
      await page.getByRole('link', { name: 'Try again' }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('heading', { name: 'Connected' }).waitFor()
    })

    it('is asked to sign in when approving an application after a sign-out in another tab', async () => {
      const { account, page, other } = await openConsent()
      forgive(page, /status of 401/)
      await other.goto(service.url)
      await other.getByRole('button', { name: 'Sign out' }).click()
      await other.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('You are no longer signed in').waitFor()
      await page.getByRole('link', { name: 'Try again' }).click()
      await page.getByText('to continue to Photo book').waitFor()
      await signIn(page, service, account)
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('heading', { name: 'Connected' }).waitFor()
    })

    it('is asked for approval under the account that is now signed in, after changing accounts in another tab', async () => {
      const { page, other } = await openConsent()
      forgive(page, /status of 400/)
      await other.goto(service.url)
      await other.getByRole('button', { name: 'Sign out' }).click()
      await other.getByRole('heading', { name: 'Sign in' }).waitFor()
      const somebody = newAccount()
      await register(other, service, somebody)
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('link', { name: 'Try again' }).click()
      await page.getByText(`You are signed in as ${somebody.email}`).waitFor()
    })

    it('is told that the application was deleted before the approval', async () => {
      const { page } = await openConsent()
      forgive(page, /status of 400/)
      await service.oauth.clients.revoke(clientId)
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('This application no longer exists').waitFor()
    })

    it('can go back without entering the password, although an application requires a new sign-in', async () => {
      const { page } = await openConsent()
      service.clock.advance({ minutes: 1 })
      const query = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: application.redirect,
        prompt: 'login',
      })
      await page.goto(`${service.url}/oauth/authorize?${query}`)
      await page.getByRole('link', { name: 'Go back without signing in again' }).click()
      await page.waitForURL(/error=login_required/)
      expect(page.url()).toContain(application.redirect)
    })

    it('can enter a device code after signing out in another tab, in lower case, and a second time', async () => {
      const grants = ['urn:ietf:params:oauth:grant-type:device_code']
      const made = await service.oauth.clients.create({
        name: 'Telly',
        grants,
        confidential: false,
      })
      const body = new URLSearchParams({ client_id: made.client.id, scope: 'place-orders' })
      const begun = await fetch(`${service.url}/oauth/device_authorization`, {
        method: 'POST',
        body,
      })
      const { user_code: code } = (await begun.json()) as { user_code: string }
      const account = newAccount()
      const page = await newPage({ viewport: PHONE, cookies: await signedIn(service, account) })
      forgive(page, /status of 40[01]/)
      await page.goto(`${service.url}/oauth/device`)
      await page.context().clearCookies()
      await page.getByLabel('Code').fill(code)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('link', { name: 'Try again' }).click()
      await signIn(page, service, account)
      await page.getByLabel('Code').fill(` ${code.toLowerCase().replace('-', ' ')} `)
      await page.getByRole('button', { name: 'Continue' }).click()
      service.clock.advance({ minutes: 10 })
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('link', { name: 'Try again' }).click()
      expect(await page.getByLabel('Code').inputValue()).toBe(code)
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('This code is unknown, has been used, or has expired').waitFor()
    })
  },
)
