import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { signIn } from './person.ts'
import { type SinglePageApp, startSinglePageApp } from './single-page-app.ts'

describeInChromium(
  'oidc-client-ts (a browser library) on another origin',
  ({ newPage, forgive }) => {
    let service: TestService
    beforeAll(async () => {
      service = await startTestService({
        settings: { cors: true },
        options: { clock: { now: () => new Date() } },
      })
    })
    afterAll(() => service?.stop())

    const sameHost = () => new URL(service.url).hostname
    const otherHost = () => (sameHost() === 'localhost' ? '127.0.0.1' : 'localhost')

    let app: SinglePageApp
    let clientId: string
    let people = 0
    let ada = { email: '', password: 'correct horse battery', name: 'Ada Lovelace' }
    beforeEach(async () => {
      people += 1
      ada = { ...ada, email: `ada${people}@example.com` }
      await service.users.create(ada)
      app = await start(otherHost())
      return () => app.close()
    })

    async function start(host: string): Promise<SinglePageApp> {
      const started = await startSinglePageApp(host)
      const { client } = await service.oauth.clients.create({
        name: 'Single page',
        redirect: [`${started.url}/callback`, `${started.url}/silent`],
        confidential: false,
        settings: {
          allowed_origins: [started.url],
          post_logout_redirect_uris: [`${started.url}/`],
        },
      })
      clientId = client.id
      started.configure({ authority: service.url, clientId })
      return started
    }

    const press = (page: Page, name: string) =>
      page.getByRole('button', { name, exact: true }).click()
    const says = (page: Page, text: string) => page.locator('output', { hasText: text }).waitFor()

    /** Signs in at the service, and returns to the application. */
    async function arrive(from: SinglePageApp, decision = 'Approve'): Promise<Page> {
      const page = await newPage()
      await page.goto(from.url)
      await press(page, 'signIn')
      await page.waitForURL(`${service.url}/login**`)
      await signIn(page, service, ada)
      await page.getByRole('button', { name: decision }).click()
      return page
    }

    it('signs in, calls the API, renews tokens with a refresh token, and signs out', async () => {
      const page = await arrive(app)
      await says(page, 'Hello Ada Lovelace')
      expect(new URL(page.url()).origin).toBe(app.url)
      await press(page, 'callUserInfo')
      await says(page, ada.email)
      await press(page, 'callApi')
      await says(page, 'API 200')
      await press(page, 'renew')
      await says(page, `Renewed ${ada.email}`)
      await press(page, 'callApi')
      await says(page, 'API 200')
      await press(page, 'signOut')
      await says(page, 'Signed out')
      await press(page, 'signIn')
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      expect(page.url()).toContain(`${service.url}/login`)
    })

    it('cannot renew tokens in a hidden frame, but detects in the frame whether the session has ended', async () => {
      const near = await start(sameHost())
      const page = await arrive(near)
      await says(page, 'Hello Ada Lovelace')
      // Anyone could act for a public client, so the person is asked each time.
      await press(page, 'renewInFrame')
      await says(page, 'Failed: consent_required')
      const account = await newPage({ context: page.context() })
      await account.goto(service.url)
      await account.getByRole('button', { name: 'Sign out' }).click()
      await account.getByRole('button', { name: 'Sign in' }).waitFor()
      await press(page, 'renewInFrame')
      await says(page, 'Failed: login_required')
      await near.close()
    })

    it('gets an error after the person denied or revoked the access', async () => {
      const denied = await arrive(app, 'Deny')
      await says(denied, 'Failed: access_denied')
      const page = await arrive(app)
      await says(page, 'Hello Ada Lovelace')
      const account = await newPage({ context: page.context() })
      await account.goto(`${service.url}/applications`)
      await account.getByRole('link', { name: 'Revoke Single page' }).click()
      await account.getByRole('button', { name: 'Revoke' }).click()
      await account.getByRole('heading', { name: 'No applications yet' }).waitFor()
      forgive(page, /status of 40[01]/)
      await press(page, 'callApi')
      await says(page, 'API 401')
      await press(page, 'renew')
      await says(page, 'Failed: invalid_grant')
    })

    it('revokes its tokens, which are refused afterwards', async () => {
      const page = await arrive(app)
      await says(page, 'Hello Ada Lovelace')
      const stored = await page.evaluate(() => JSON.stringify(sessionStorage))
      const token = /access_token\\*":\\*"([^"\\]+)/.exec(stored)?.[1] ?? ''
      const call = () =>
        fetch(`${service.url}/api/orders`, { headers: { authorization: `Bearer ${token}` } })
      expect((await call()).status).toBe(200)
      await press(page, 'revoke')
      await says(page, 'Revoked')
      expect((await call()).status).toBe(401)
    })

    it('is blocked by the browser if its origin is not registered', async () => {
      const stranger = await startSinglePageApp(otherHost())
      stranger.configure({ authority: service.url, clientId })
      const page = await newPage()
      forgive(page, /CORS|ERR_FAILED/)
      await page.goto(stranger.url)
      const answer = await page.evaluate(
        (url) => fetch(`${url}/oauth/token`, { method: 'POST' }).catch(() => 'blocked'),
        service.url,
      )
      expect(answer).toBe('blocked')
      await stranger.close()
    })
  },
)
