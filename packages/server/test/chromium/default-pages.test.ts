import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ConsentView, type DeviceQuestion, defaultPages } from '@tollgate/oauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessibleInAllLooks,
} from '../../../../test-support/chromium.ts'

const fixed = (id: string, description: string) => ({ id, description, checkbox: null })
const optional = (id: string, description: string, checked = true) => ({
  id,
  description,
  checkbox: { name: `scope:${id}`, value: 'allow', checked },
})

const ENGLISH = { language: 'en', locales: [] }

const CONSENT: ConsentView = {
  ...ENGLISH,
  client: { id: 'photos', name: 'Photo book', userId: null },
  verified: true,
  logo: '/oauth/logo',
  policyUri: 'https://photos.example/privacy',
  termsUri: 'https://photos.example/terms',
  selfRegistered: null,
  userId: 'ada',
  otherAccount: '/login?prompt=select_account',
  scopes: [
    fixed('place-orders', 'Place orders'),
    optional('check-status', 'Check order status'),
    optional('email', 'See your email address', false),
  ],
  resources: [],
  destination: 'photos.example',
  toOwnComputer: false,
  opensProgram: null,
  action: '/oauth/authorize?interaction=x',
  csrfToken: 'x',
}

const STRANGER = {
  resources: [
    { uri: `https://${'long.'.repeat(20)}example/mcp`, name: null },
    { uri: 'https://api.example/orders', name: 'The API of orders' },
  ],
  toOwnComputer: true,
  opensProgram: null,
  client: { id: 'x', name: 'W'.repeat(191), userId: null },
  verified: false,
  logo: null,
  selfRegistered: { host: `${'long.'.repeat(20)}example`, verified: false },
}

const DEVICE: DeviceQuestion = { ...CONSENT, step: 'confirm', userCode: 'WDJB-MJHT' }
const FORM = { ...ENGLISH, step: 'enter', action: '/oauth/device', csrfToken: 'x' } as const

const SIGN_OUT = {
  client: CONSENT.client,
  userId: 'ada',
  destination: 'photos.example',
  problem: null,
  action: '/oauth/logout',
  fields: { csrf_token: 'x' },
  ...ENGLISH,
}

const ERROR = {
  ...ENGLISH,
  status: 400,
  message: 'No such client',
  hint: 'Ask again',
  isTechnical: true,
  again: '/',
}

const GERMAN = { language: 'de' }

const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  consent: () => defaultPages.consent(CONSENT),
  'consent-of-a-stranger': () => defaultPages.consent({ ...CONSENT, ...STRANGER }),
  'consent-for-nothing': () => defaultPages.consent({ ...CONSENT, scopes: [] }),
  device: () => defaultPages.device({ ...FORM, userCode: '', problem: null }),
  'device-refused': () => defaultPages.device({ ...FORM, userCode: 'BCDF', problem: 'No.' }),
  'device-confirm': () => defaultPages.device(DEVICE),
  'device-of-a-stranger': () => defaultPages.device({ ...DEVICE, ...STRANGER }),
  'device-answered': () =>
    defaultPages.device({ ...ENGLISH, step: 'done', approved: true, client: CONSENT.client }),
  error: () => defaultPages.error(ERROR),
  'sign-out': () => defaultPages.signOut(SIGN_OUT),
  'consent-de': () => defaultPages.consent({ ...CONSENT, ...GERMAN }),
  'consent-of-a-stranger-de': () => defaultPages.consent({ ...CONSENT, ...STRANGER, ...GERMAN }),
  'device-de': () => defaultPages.device({ ...FORM, ...GERMAN, userCode: '', problem: null }),
  'device-confirm-de': () => defaultPages.device({ ...DEVICE, ...GERMAN }),
  'error-de': () => defaultPages.error({ ...ERROR, ...GERMAN }),
  'sign-out-de': () => defaultPages.signOut({ ...SIGN_OUT, ...GERMAN }),
  'signed-out': () => defaultPages.signedOut({ ...ENGLISH, stillSignedIn: false }),
}

/** A PNG with one green pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkqGf4DwAEBQH/3nNKPgAAAABJRU5ErkJggg==',
  'base64',
)

async function answer(name: string): Promise<[type: string, body: string | Buffer]> {
  if (name === 'logo') return ['image/png', PICTURE]
  if (name === 'pages.css') return ['text/css', defaultPages.stylesheet]
  return ['text/html; charset=utf-8', (await PAGES[name]?.()) ?? '']
}

describeInChromium('the default pages of the library', ({ newPage }) => {
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const name = request.url?.split('/').at(-1) ?? ''
      const [type, body] = await answer(name)
      response.setHeader('content-type', type).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server?.close())

  it.each(Object.keys(PAGES))('are accessible and fit in every color scheme: %s', async (name) => {
    const page = await newPage({ reuseTab: true })
    await page.goto(`${url}/oauth/${name}`)
    expect(await page.evaluate(() => document.scripts.length)).toBe(0)
    await expectAccessibleInAllLooks(page, `default-${name}`)
  })
})
