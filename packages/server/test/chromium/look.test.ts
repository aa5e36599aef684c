import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { signIn } from './person.ts'
import {
  DESKTOP,
  describeInChromium,
  expectAccessible,
  expectNoSidewaysScroll,
  PHONE,
  SCHEMES,
  takeScreenshot,
} from './support.ts'

const LARGEST_PAGE = 60_000

interface View {
  readonly name: string
  readonly path: (service: TestService) => string
  readonly stranger?: boolean
  /** What somebody does there before it is looked at. */
  readonly act?: (page: Page) => Promise<void>
  /** The console notes the status of an error page. */
  readonly status?: number
}

const VIEWS: readonly View[] = [
  { name: 'sign-in', path: () => '/login', stranger: true },
  {
    name: 'sign-in-refused',
    path: () => '/login',
    stranger: true,
    status: 401,
    async act(page) {
      await page.getByLabel('E-mail').fill('ada@example.com')
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'register', path: () => '/register', stranger: true },
  {
    name: 'register-refused',
    path: () => '/register',
    stranger: true,
    status: 422,
    async act(page) {
      await page.getByLabel('E-mail').fill('ada@example')
      await page.getByLabel('Password').fill('long enough')
      await page.getByRole('button', { name: 'Register' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'home', path: () => '/' },
  { name: 'not-found', path: () => '/nowhere', status: 404 },
  { name: 'clients', path: () => '/clients' },
  {
    name: 'client-new',
    path: () => '/clients',
    async act(page) {
      await page.getByRole('button', { name: 'New client' }).click()
      await page.getByLabel('Name').fill('Photo book')
      await page.getByLabel('Redirect addresses').fill('javascript:alert(1)')
      await page.getByRole('button', { name: 'Create client' }).click()
      await page.getByText('must not use the scheme').waitFor()
    },
    status: 422,
  },
  {
    name: 'client-delete',
    path: () => '/clients',
    async act(page) {
      await page.getByRole('button', { name: 'Delete Demo web application' }).click()
    },
  },
  { name: 'tokens', path: () => '/tokens' },
  {
    name: 'token-new',
    path: () => '/tokens',
    async act(page) {
      await page.getByRole('button', { name: 'New token' }).click()
    },
  },
  {
    name: 'token-shown',
    path: () => '/tokens',
    async act(page) {
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('Name').fill('Nightly report')
      await page.getByLabel('Place orders').check()
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByRole('heading', { name: 'Your new token' }).waitFor()
    },
  },
  { name: 'applications', path: () => '/applications' },
  {
    name: 'consent',
    path: (service) => authorize(service, 'place-orders check-status'),
    async act(page) {
      await page.getByRole('button', { name: 'Approve' }).waitFor()
    },
  },
  { name: 'consent-refused', path: () => '/oauth/authorize?client_id=nobody', status: 400 },
  { name: 'demo-callback', path: () => '/callback?code=abc&state=xyz#access_token=secret' },
]

function authorize({ demo, url }: TestService, scope: string): string {
  const query = new URLSearchParams({
    client_id: demo?.clients.web.id ?? '',
    redirect_uri: `${url}/callback`,
    response_type: 'code',
    scope,
    prompt: 'consent',
  })
  return `/oauth/authorize?${query}`
}

describeInChromium('how the pages look', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
    const user = await service.users.findByEmail(service.demo?.email ?? '')
    const userId = user?.id ?? ''
    await service.oauth.tokens.createPersonal({ userId, name: 'Backup', scopes: ['check-status'] })
    await approveDemoApplication(service)
  })
  afterAll(() => service?.stop())

  describe.each(SCHEMES)('in the %s scheme', (scheme) => {
    describe.each([
      ['desktop', DESKTOP],
      ['phone', PHONE],
    ] as const)('on a %s', (device, viewport) => {
      it.each(VIEWS)('$name is accessible, fits and is light', async (view) => {
        const page = await newPage({ scheme, viewport })
        if (view.status) forgive(page, new RegExp(`status of ${view.status}`))
        if (!view.stranger) {
          await signIn(page, service)
          await page.getByRole('heading', { name: 'Welcome' }).waitFor()
        }
        let transferred = 0
        const counting = async (response: { body(): Promise<Buffer> }) => {
          const body = await response.body().catch(() => Buffer.alloc(0))
          transferred += body.length
        }
        page.on('response', counting)
        await page.goto(service.url + view.path(service))
        await view.act?.(page)
        await page.waitForLoadState('networkidle')
        await takeScreenshot(page, `${view.name}-${device}-${scheme}`)
        await expectAccessible(page)
        await expectNoSidewaysScroll(page)
        expect(transferred).toBeGreaterThan(1000)
        expect(transferred).toBeLessThan(LARGEST_PAGE)
      })
    })
  })
})

/** So that there is an application to list. */
async function approveDemoApplication(service: TestService): Promise<void> {
  const browser = service.browser()
  await browser.signIn(service.demo?.email ?? '', service.demo?.password ?? '')
  const html = await (await browser.get(authorize(service, 'place-orders'))).text()
  const [, action = ''] = /action="([^"]+interaction[^"]+)"/.exec(html) ?? []
  const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
  await browser.post(action, { csrf_token: token, decision: 'approve' })
}
