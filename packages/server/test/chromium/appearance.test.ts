import type { Client } from '@tollgate/oauth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'

type Browser = ReturnType<TestService['browser']>

const LARGEST_PAGE = 64_000

interface View {
  readonly name: string
  readonly path: (service: TestService) => string
  readonly stranger?: boolean
  /** Actions on the page before it is checked. */
  readonly act?: (page: Page) => Promise<void>
  /** HTTP status of an error page, which the console reports. */
  readonly status?: number
}

const VIEWS: readonly View[] = [
  { name: 'sign-in', path: () => '/login', stranger: true },
  { name: 'sign-in-de', path: () => '/login?ui_locales=de', stranger: true },
  { name: 'home-de', path: () => '/?ui_locales=de' },
  { name: 'tokens-de', path: () => '/tokens?ui_locales=de' },
  { name: 'clients-de', path: () => '/clients?ui_locales=de' },
  { name: 'applications-de', path: () => '/applications?ui_locales=de' },
  { name: 'sessions-de', path: () => '/account/sessions?ui_locales=de' },
  { name: 'billing-de', path: () => '/billing?ui_locales=de' },
  { name: 'consent-de', path: () => `${askedBy(unverified)}&ui_locales=de` },
  { name: 'device-de', path: () => '/oauth/device?ui_locales=de' },
  {
    name: 'refused-de',
    path: () => '/oauth/authorize?client_id=nobody&ui_locales=de',
    status: 400,
  },
  {
    name: 'sign-in-refused',
    path: () => '/login',
    stranger: true,
    status: 401,
    async act(page) {
      await page.getByLabel('Email').fill('ada@example.com')
      await page.getByLabel('Password').fill('wrong')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  {
    name: 'sign-in-asked',
    path: () => `/login?return_to=${encodeURIComponent(askedBy(unverified))}`,
    stranger: true,
  },
  {
    name: 'sign-in-other-account',
    path: () => askedBy(unverified),
    async act(page) {
      await page.getByRole('link', { name: 'Not you?' }).click()
      await page.getByText('Signing in with another account ends this session').waitFor()
    },
  },
  {
    name: 'sign-in-device',
    path: () => `/login?return_to=${encodeURIComponent('/oauth/device?user_code=BCDF-GHJK')}`,
    stranger: true,
  },
  {
    name: 'register-asked',
    path: () => `/register?return_to=${encodeURIComponent(askedBy(unverified))}`,
    stranger: true,
  },
  { name: 'account', path: () => '/account' },
  {
    name: 'account-refused',
    path: () => '/account',
    status: 422,
    async act(page) {
      await page.getByLabel('Current password').fill('wrong')
      await page.getByLabel('New password').fill('long enough')
      await page.getByRole('button', { name: 'Change password' }).click()
      await page.getByText('This is not your current password.').waitFor()
    },
  },
  { name: 'register', path: () => '/register', stranger: true },
  {
    name: 'register-refused',
    path: () => '/register',
    stranger: true,
    status: 422,
    async act(page) {
      await page.getByLabel('Email').fill('ada@example')
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
      await page.getByRole('textbox', { name: 'Name' }).fill('Photo book')
      await page.getByRole('textbox', { name: 'Redirect URIs' }).fill('javascript:alert(1)')
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
  {
    name: 'consent-unverified',
    path: () => askedBy(unverified),
    async act(page) {
      await page.getByLabel('See your email address').uncheck()
    },
  },
  { name: 'consent-of-the-service', path: () => askedBy(verified, 'check-status') },
  { name: 'consent-own-computer', path: () => askedBy(local) },
  { name: 'consent-refused', path: () => '/oauth/authorize?client_id=nobody', status: 400 },
  {
    name: 'consent-too-late',
    path: () => askedBy(unverified),
    status: 401,
    async act(page) {
      await page.context().clearCookies()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByRole('link', { name: 'Try again' }).waitFor()
    },
  },
  { name: 'sessions', path: () => '/account/sessions' },
  { name: 'sign-out', path: () => '/oauth/logout' },
  { name: 'signed-out', path: () => '/oauth/logout', stranger: true },
  { name: 'device', path: () => '/oauth/device?user_code=BCDF-GHJK' },
  {
    name: 'device-refused',
    path: () => '/oauth/device',
    status: 400,
    async act(page) {
      await page.getByLabel('Code').fill('bcdfghjk')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('This code is unknown, has been used, or has expired.').waitFor()
    },
  },
  {
    name: 'device-confirm',
    path: () => '/oauth/device',
    async act(page) {
      await page.getByLabel('Code').fill(await newUserCode(new URL(page.url()).origin))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('Approve only if you started this yourself').waitFor()
    },
  },
  {
    name: 'device-approved',
    path: () => '/oauth/device',
    async act(page) {
      await page.getByLabel('Code').fill(await newUserCode(new URL(page.url()).origin))
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('Return to your device').waitFor()
    },
  },
  { name: 'demo-callback', path: () => '/callback?code=abc&state=xyz#access_token=secret' },
]

let television = ''
let unverified: Client
let verified: Client
let local: Client

function askedBy(
  { id, redirectUris: [redirect_uri = ''] }: Client,
  scope = 'openid place-orders check-status email',
): string {
  const query = { client_id: id, redirect_uri, response_type: 'code', scope }
  return `/oauth/authorize?${new URLSearchParams(query)}`
}

/** Requests a user code, as a device does. */
async function newUserCode(url: string): Promise<string> {
  const body = new URLSearchParams({ client_id: television, scope: 'place-orders check-status' })
  const reply = await fetch(`${url}/oauth/device_authorization`, { method: 'POST', body })
  return ((await reply.json()) as { user_code: string }).user_code
}

function authorize({ demo, url }: TestService, scope: string): string {
  const query = new URLSearchParams({
    client_id: demo?.clients.web?.id ?? '',
    redirect_uri: `${url}/callback`,
    response_type: 'code',
    scope,
    prompt: 'consent',
  })
  return `/oauth/authorize?${query}`
}

describeInChromium('all pages', ({ newPage, forgive }) => {
  let service: TestService
  let demoUser: ReadonlyMap<string, string>
  beforeAll(async () => {
    service = await startTestService({ settings: { optionalScopes: ['check-status', 'email'] } })
    const user = await service.users.findByEmail(service.demo?.email ?? '')
    const userId = user?.id ?? ''
    await service.oauth.tokens.createPersonal({ userId, name: 'Backup', scopes: ['check-status'] })
    // User input must not make a page wider than the window.
    const name = 'W'.repeat(191)
    const redirect = `https://app.example.com/${'a'.repeat(300)}`
    await service.oauth.clients.create({ userId, name, redirect })
    await service.oauth.tokens.createPersonal({ userId, name, scopes: [] })
    const grants = ['urn:ietf:params:oauth:grant-type:device_code']
    const made = await service.oauth.clients.create({ name, grants, confidential: false })
    television = made.client.id
    const owner = await service.users.create({
      email: 'grace@example.com',
      password: 'correct horse',
      name: 'Grace Hopper',
    })
    const photos = 'https://photos.example/callback'
    const others = { userId: owner.id, name: 'Photo book', redirect: photos }
    unverified = (await service.oauth.clients.create(others)).client
    const settings = {
      policy_uri: 'https://shop.example/privacy',
      tos_uri: 'https://shop.example/terms',
    }
    const own = { name: 'Shop', redirect: 'https://shop.example/callback', settings }
    verified = (await service.oauth.clients.create(own)).client
    const tool = { userId: owner.id, name: 'Notes', redirect: 'http://127.0.0.1:53682/callback' }
    local = (await service.oauth.clients.create(tool)).client
    const browser = service.browser()
    await browser.signIn(service.demo?.email ?? '', service.demo?.password ?? '')
    await approve(browser, authorize(service, 'place-orders'))
    await browser.get('/')
    // A second session of the same person, so that there is one to end.
    const { email = '', password = '' } = service.demo ?? {}
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    await service.browser().post('/login', { email, password }, { 'user-agent': firefox })
    demoUser = browser.cookies
  })
  afterAll(() => service?.stop())

  it.each(VIEWS)('are accessible and fit the window in every color scheme: $name', async (view) => {
    const cookies = { url: service.url, values: demoUser }
    const page = await newPage(view.stranger ? { reuseTab: true } : { reuseTab: true, cookies })
    if (view.status) forgive(page, new RegExp(`status of ${view.status}`))
    const bodies: Array<Promise<Buffer>> = []
    page.on('response', (response) => bodies.push(response.body()))
    await page.goto(service.url + view.path(service))
    const loaded = (await Promise.all(bodies)).reduce((sum, body) => sum + body.length, 0)
    expect(loaded).toBeGreaterThan(1000)
    expect(loaded).toBeLessThan(LARGEST_PAGE)
    await view.act?.(page)
    await expectAccessibleInAllLooks(page, view.name)
  })
})

async function approve(browser: Browser, address: string): Promise<void> {
  const html = await (await browser.get(address)).text()
  const [, action = ''] = /action="([^"]+interaction[^"]+)"/.exec(html) ?? []
  const [, token = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
  await browser.post(action, { csrf_token: token, decision: 'approve' })
}
