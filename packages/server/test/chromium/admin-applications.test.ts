import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { de } from '../../src/messages/de.ts'
import { en } from '../../src/messages/en.ts'
import type { Role } from '../../src/users/roles.ts'
import { newAddress, PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'

/** Tables become lists of cards below 769 pixels. */
const WIDTHS = [320, 769, 1280, 1600]
const REDIRECT = 'https://app.example/callback'
const LONG = `https://app.example.com/${'a'.repeat(200)}`

describeInChromium("the operators' pages for the service", ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      environment: {
        TOLLGATE_DELIVERIES_URL: 'http://127.0.0.1:9/events-with-a-rather-long-address',
        TOLLGATE_DELIVERIES_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      },
    })
  })
  afterAll(() => service?.stop())

  /** A signed-in page of a new operator. */
  async function signedIn(role: Role, settings: Parameters<typeof newPage>[0] = {}) {
    const email = newAddress(role)
    const { id } = await service.users.create({ email, password: PASSWORD, role })
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const cookies = { url: service.url, values: browser.cookies }
    return { id, email, page: await newPage({ ...settings, cookies }) }
  }

  /** Presses Tab until the element has the focus, as a person without a mouse does. */
  async function tabTo(page: Page, element: Locator): Promise<void> {
    for (let count = 0; count < 120; count++) {
      if (await element.evaluate((it) => it === document.activeElement)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`Tab does not reach ${element}`)
  }

  const focusAndPress = async (page: Page, element: Locator, key: string) => {
    await tabTo(page, element)
    await page.keyboard.press(key)
  }

  /** A token request of the application. */
  async function requestToken(form: Record<string, string>) {
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }

  /** Lets a person approve the application, and returns its first refresh token. */
  async function approve(client_id: string, client_secret: string): Promise<string> {
    const email = newAddress('person')
    await service.users.create({ email, password: PASSWORD })
    const browser = service.browser()
    await browser.signIn(email, PASSWORD)
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      scope: 'check-status',
      redirect_uri: REDIRECT,
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })
    const html = await (await browser.get(`/oauth/authorize?${query}`)).text()
    const [, action = ''] = /action="([^"]+interaction[^"]+)"/.exec(html) ?? []
    const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(html) ?? []
    const answer = await browser.post(action, { csrf_token, decision: 'approve' })
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const { body } = await requestToken({
      grant_type: 'authorization_code',
      client_id,
      client_secret,
      code,
      redirect_uri: REDIRECT,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    })
    return body.refresh_token ?? ''
  }

  it('let an admin create an application and rotate its secret with the keyboard, while the application refreshes its tokens', async () => {
    const { page } = await signedIn('admin')
    await page.goto(`${service.url}/admin/applications`)
    await focusAndPress(page, page.getByRole('link', { name: 'New application' }), 'Enter')
    await page.getByRole('heading', { name: 'New application' }).waitFor()
    await tabTo(page, page.getByLabel('Name', { exact: true }))
    await page.keyboard.type('Photo book')
    await focusAndPress(page, page.getByLabel('Client credentials'), 'Space')
    await tabTo(page, page.getByLabel('Redirect URIs'))
    await page.keyboard.type(REDIRECT)
    expect(await page.getByLabel('check-status').isVisible()).toBe(false)
    await tabTo(page, page.getByLabel('Any scope of this service'))
    await page.keyboard.press('ArrowDown')
    await focusAndPress(page, page.getByLabel('check-status'), 'Space')
    await takeScreenshot(page, 'application-new-filled')
    await focusAndPress(page, page.getByRole('button', { name: 'Create application' }), 'Enter')
    const shown = page.getByLabel('Client secret')
    const first = await shown.inputValue()
    expect(first).toMatch(/^tgs_[\w-]+$/)
    await takeScreenshot(page, 'application-secret')
    await expectAccessible(page)
    await focusAndPress(page, page.getByRole('link', { name: 'To the application' }), 'Enter')
    await page.getByRole('heading', { name: 'Photo book' }).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    expect(await page.content()).not.toContain(first)
    expect(await service.oauth.clients.find(id)).toMatchObject({
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['check-status'],
    })

    let refreshToken = await approve(id, first)
    const refresh = async (client_secret: string) => {
      const form = { grant_type: 'refresh_token', client_id: id, client_secret }
      const answer = await requestToken({ ...form, refresh_token: refreshToken })
      refreshToken = answer.body.refresh_token ?? refreshToken
      return answer.status
    }
    expect(await refresh(first)).toBe(200)

    await focusAndPress(page, page.getByRole('link', { name: 'Replace as planned' }), 'Enter')
    await tabTo(page, page.getByLabel('Hours in which both secrets work'))
    await page.keyboard.press('Control+A')
    await page.keyboard.type('3')
    expect(await refresh(first)).toBe(200)
    await page.keyboard.press('Enter')
    const second = await shown.inputValue()
    expect(second).not.toBe(first)
    expect(await refresh(first)).toBe(200)
    expect(await refresh(second)).toBe(200)
    await page.goto(`${service.url}/admin/applications/${id}`)
    await page.getByText('Two secrets work').waitFor()
    await takeScreenshot(page, 'application-two-secrets')
    service.clock.advance({ hours: 4 })
    await expect.poll(() => refresh(first)).toBe(401)
    expect(await refresh(second)).toBe(200)
  })

  it('let an admin replace a leaked secret with the keyboard, which ends the old secret, its refresh tokens and a running overlap at once', async () => {
    const { page } = await signedIn('admin')
    const { client, secret } = await service.oauth.clients.create({
      name: 'Leaky',
      redirect: REDIRECT,
      grants: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['check-status'],
    })
    const { id } = client
    const first = secret ?? ''
    const stolen = await approve(id, first)
    const issue = async (client_secret: string) =>
      requestToken({ grant_type: 'client_credentials', client_id: id, client_secret })
    const refresh = async (client_secret: string, refresh_token: string) => {
      const form = { grant_type: 'refresh_token', client_id: id, client_secret, refresh_token }
      const { status, body } = await requestToken(form)
      return [status, body.error]
    }
    const own = await issue(first)
    expect(own.status).toBe(200)
    const isActive = async (client_secret: string) => {
      const token = own.body.access_token ?? ''
      const response = await fetch(`${service.url}/oauth/introspect`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: id, client_secret, token }),
      })
      return ((await response.json()) as { active?: boolean }).active
    }
    expect(await isActive(first)).toBe(true)
    // The leak is noticed while a planned replacement is under way.
    const planned = await service.oauth.clients.rotateSecret(id, { overlap: '2h' })
    const address = `${service.url}/admin/applications/${id}`

    await page.goto(address)
    await focusAndPress(page, page.getByRole('link', { name: 'Replace a leaked secret' }), 'Enter')
    await page.getByRole('heading', { name: 'Replace the leaked secret of Leaky?' }).waitFor()
    await expectAccessible(page)
    await focusAndPress(page, page.getByRole('button', { name: 'Change nothing' }), 'Enter')
    await page.getByRole('heading', { name: 'Leaky', exact: true }).waitFor()
    expect((await issue(first)).status).toBe(200)

    await focusAndPress(page, page.getByRole('link', { name: 'Replace a leaked secret' }), 'Enter')
    const go = page.getByRole('button', { name: 'Replace the secret now' })
    await focusAndPress(page, go, 'Enter')
    const third = await page.getByLabel('Client secret').inputValue()
    expect(third).toMatch(/^tgs_[\w-]+$/)
    expect([first, planned.secret]).not.toContain(third)
    await takeScreenshot(page, 'application-leaked-replaced')
    await expectAccessible(page)

    for (const ended of [first, planned.secret ?? '']) {
      expect((await issue(ended)).status).toBe(401)
    }
    expect(await refresh(first, stolen)).toEqual([401, 'invalid_client'])
    expect(await refresh(third, stolen)).toEqual([400, 'invalid_grant'])
    expect(await isActive(third)).toBe(false)
    expect((await issue(third)).status).toBe(200)
    const renewed = await approve(id, third)
    expect(await refresh(third, renewed)).toEqual([200, undefined])
    await page.goto(address)
    await page.getByText('One secret works.').waitFor()
  })

  it('do not show a secret again when the page is reloaded', async () => {
    const { page } = await signedIn('admin')
    const { client } = await service.oauth.clients.create({
      name: 'Shown once',
      grants: ['client_credentials'],
    })
    const own = `${service.url}/admin/applications/${client.id}`
    await page.goto(`${own}/rotate-secret`)
    await page.getByRole('button', { name: 'Create the new secret' }).click()
    const secret = await page.getByLabel('Client secret').inputValue()
    expect(page.url()).toBe(`${own}/rotate-secret`)
    // Sends the form again, as the browser does after it has asked.
    await page.reload()
    await page.getByText('cannot be shown again').waitFor()
    expect(await page.content()).not.toContain(secret)
  })

  it('show an operator who saves second what another operator has changed', async () => {
    const { client } = await service.oauth.clients.create({
      name: 'Shared',
      grants: ['client_credentials'],
    })
    const address = `${service.url}/admin/applications/${client.id}/edit`
    const [one, other] = [await signedIn('admin'), await signedIn('admin')]
    forgive(one.page, /status of 412/)
    for (const { page } of [one, other]) await page.goto(address)
    await other.page.getByLabel('Name', { exact: true }).fill('Renamed')
    await other.page.getByRole('button', { name: 'Save' }).click()
    await other.page.getByRole('status').filter({ hasText: 'was saved' }).waitFor()
    await one.page.getByLabel('Home page').fill('https://shared.example/')
    await one.page.getByRole('button', { name: 'Save' }).click()
    const alert = one.page.getByRole('alert')
    await alert.filter({ hasText: 'Name is now Renamed.' }).waitFor()
    await takeScreenshot(one.page, 'application-stale')
    await expectAccessible(one.page)
    expect(await one.page.getByLabel('Name', { exact: true }).inputValue()).toBe('Renamed')
    await one.page.getByRole('button', { name: 'Save' }).click()
    await one.page.getByRole('status').filter({ hasText: 'was saved' }).waitFor()
    expect(await service.oauth.clients.find(client.id)).toMatchObject({
      name: 'Renamed',
      settings: { client_uri: 'https://shared.example/' },
    })
  })

  it('let a support person handle a webhook again, and an admin see this in the audit log', async () => {
    const id = await failedEvent(service)
    const support = await signedIn('support')
    const { page } = support
    await page.goto(`${service.url}/admin`)
    await focusAndPress(page, page.getByRole('link', { name: 'Webhooks', exact: true }), 'Enter')
    await focusAndPress(page, page.locator(`a[href$="/received/${id}"]`), 'Enter')
    await page.getByText('out of order').waitFor()
    await page.getByText('"object": "event"').waitFor()
    await takeScreenshot(page, 'webhook-failed')
    await focusAndPress(page, page.getByRole('button', { name: 'Handle again' }), 'Enter')
    await page.getByRole('status').filter({ hasText: 'handled again' }).waitFor()
    await service.billing.process()
    await page.reload()
    await page.getByText('Done', { exact: true }).waitFor()
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)

    await service.auditChain.process()
    const admin = await signedIn('admin')
    await admin.page.goto(`${service.url}/admin`)
    const audit = admin.page
    await focusAndPress(audit, audit.getByRole('link', { name: 'Audit log' }), 'Enter')
    await focusAndPress(audit, audit.getByText('Show only some entries'), 'Enter')
    await tabTo(audit, audit.getByLabel('Done by'))
    await audit.keyboard.type('An operator')
    await tabTo(audit, audit.getByLabel('Operator, client or name'))
    await audit.keyboard.type(support.email)
    await audit.keyboard.press('Enter')
    await audit.waitForURL(/actor_id=/)
    expect(await audit.getByRole('row').filter({ hasText: 'webhooks.retry' }).count()).toBe(2)
    await takeScreenshot(audit, 'audit-filtered')
    await focusAndPress(
      audit,
      audit.getByRole('link', { name: /^webhooks\.retry/ }).first(),
      'Enter',
    )
    await audit.getByText(support.email).waitFor()
    await focusAndPress(
      audit,
      audit.getByRole('link', { name: 'The entry before the act' }),
      'Enter',
    )
    await audit.getByText('Started', { exact: true }).waitFor()
    await audit.goto(`${service.url}/admin/audit/verify`)
    await audit.getByText('The log is unchanged.').waitFor()
    const downloading = audit.waitForEvent('download')
    await audit.goto(`${service.url}/admin/audit`)
    await audit.getByRole('link', { name: 'Export as JSON lines' }).click()
    expect((await downloading).suggestedFilename()).toBe('audit-log.jsonl')
  })

  it.each([
    ['en', 'light', WIDTHS],
    ['en', 'dark', [320, 1280]],
    ['de', 'light', [320, 1280]],
  ] as const)(
    'are accessible and fit the window in the language %s and the color scheme %s, at widths %j',
    async (language, scheme, widths) => {
      const pages = await everyPage(service)
      const { page } = await signedIn('owner', { language, scheme })
      forgive(page, /status of 4\d\d/)
      const problems: string[] = []
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(service.url + path)
        for (const folded of await page.locator('main details:not([open]) > summary').all()) {
          await folded.click()
        }
        if (language === 'de') {
          for (const text of await untranslated(page)) problems.push(`${name}: ${text}`)
        }
        for (const width of widths) {
          await page.setViewportSize({ width, height: 800 })
          await takeScreenshot(page, `admin-${name}-${language}-${scheme}-${width}`)
          await expectNoSidewaysScroll(page)
          const wide = await clipped(page)
          problems.push(...wide.map((text) => `${name} at ${width}: ${text}`))
        }
        await expectAccessible(page)
      }
      expect(problems).toEqual([])
    },
  )
})

let events = 0

/** An event that failed at every attempt. */
async function failedEvent(service: TestService): Promise<number> {
  const email = newAddress('payer')
  const { id } = await service.users.create({ email, password: PASSWORD })
  const payer = await service.billing.user(Number(id))
  await payer.newSubscription('main', 'pro').create('pm_card_visa')
  await service.advance({})
  const done = await service.billing.webhooks.page('done', { limit: 100 })
  const event = done[events++]
  if (!event) throw new Error('There is no event')
  await service.database.kysely
    .updateTable('billing_webhooks')
    .set({ state: 'dead', attempts: 12, last_error: 'Error: the handler is out of order' })
    .where('id', '=', event.id)
    .execute()
  return event.id
}

/** Creates more prices at Stripe than fit on a page, and coupons and codes of each kind. */
async function fillCatalog({ sandbox }: TestService): Promise<void> {
  if (!sandbox) throw new Error('The sandbox is missing')
  const name = 'Donaudampfschifffahrtsgesellschaftskapitän '.repeat(3).trim()
  for (let n = 0; n < 26; n++) {
    const id = `price_${'x'.repeat(40)}_${n}`
    sandbox.stripe.seedPrice({ id, unitAmount: 99_999, interval: 'week', product: name })
  }
  const { default: Stripe } = await import('stripe')
  const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
  const coupon = 'THREE_MONTHS_FOR_LESS'
  const { data } = await stripe.coupons.list({ limit: 100 })
  if (data.some(({ id }) => id === coupon)) return
  await stripe.coupons.create({ id: coupon, percent_off: 12.5, duration: 'forever', name })
  await stripe.coupons.create({
    amount_off: 300,
    currency: 'usd',
    duration: 'repeating',
    duration_in_months: 3,
  })
  const promotion = { type: 'coupon', coupon } as const
  const expires_at = Math.floor(sandbox.clock.now().getTime() / 1000) + 86_400
  await stripe.promotionCodes.create({ code: 'Z'.repeat(60), promotion, expires_at })
  await stripe.promotionCodes.create({ code: 'OVER', promotion, active: false })
}

/** Fills a service with data for these pages, and lists their addresses. */
async function everyPage(service: TestService): Promise<Record<string, string>> {
  const { id: userId } = await service.users.create({
    email: newAddress('developer'),
    password: PASSWORD,
  })
  const { client: theirs } = await service.oauth.clients.create({
    name: 'W'.repeat(191),
    redirect: LONG,
    userId,
  })
  const { client } = await service.oauth.clients.create({
    name: 'Reports',
    redirect: [REDIRECT, LONG],
    grants: ['authorization_code', 'refresh_token', 'client_credentials'],
    scopes: ['check-status'],
    resourceServer: true,
    settings: { logo_uri: 'https://app.example/logo.png', tos_uri: LONG },
  })
  await service.oauth.clients.rotateSecret(client.id, { overlap: '2h' })
  await fillCatalog(service)
  const received = await failedEvent(service)
  await service.billing.process()
  const [sent] = await service.billing.deliveries.page('pending', { limit: 1 })
  await service.auditChain.process()
  const [entry] = await service.database.kysely
    .selectFrom('audit_entries')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .execute()
  const [key] = await service.oauth.keys.list()
  const own = `/admin/applications/${client.id}`
  return {
    applications: '/admin/applications',
    'applications-none': '/admin/applications?search=nothing-has-this-name',
    application: own,
    'application-of-person': `/admin/applications/${theirs.id}`,
    'application-new': '/admin/applications/new',
    'application-new-management': '/admin/applications/new-management',
    'application-edit': `${own}/edit`,
    'application-rotate': `${own}/rotate-secret`,
    'application-leaked': `${own}/replace-leaked-secret`,
    'application-end-secret': `${own}/end-previous-secret`,
    'application-delete': `${own}/delete`,
    plans: '/admin/plans',
    'plans-gone': '/admin/plans?stripe-prices=gone',
    keys: '/admin/keys',
    'key-rotate': '/admin/keys/rotate',
    'key-revoke': `/admin/keys/${key?.kid}/revoke`,
    mail: '/admin/mail',
    'mail-accounts': '/admin/mail/accounts',
    'mail-preview': '/admin/mail/preview?kind=payment_failed',
    'mail-preview-arabic': '/admin/mail/preview?kind=receipt&language=ar',
    webhooks: '/admin/webhooks',
    'webhooks-waiting': '/admin/webhooks?state=pending',
    webhook: `/admin/webhooks/received/${received}`,
    deliveries: '/admin/webhooks/sent?state=pending',
    delivery: `/admin/webhooks/sent/${sent?.id}`,
    audit: '/admin/audit',
    'audit-entry': `/admin/audit/${entry?.id}`,
    'audit-verify': '/admin/audit/verify',
    settings: '/admin/settings',
  }
}

/** Fields that are outside the window, or hide a part of their content. */
function clipped(page: Page): Promise<string[]> {
  return page
    .locator('input:visible, select:visible, textarea:visible, pre:visible')
    .evaluateAll((all) =>
      all
        .filter((element) => {
          const { left, right } = element.getBoundingClientRect()
          const isOutside = left < -1 || right > document.documentElement.clientWidth + 1
          return (
            isOutside || (element.matches('pre') && element.scrollWidth > element.clientWidth + 1)
          )
        })
        .map((element) => `${element.tagName} ${element.id} is clipped`),
    )
}

/** English texts that differ from the German ones. */
const ENGLISH_ONLY: ReadonlySet<string> = new Set(
  Object.entries(en).flatMap(([id, text]) => (text === de[id as keyof typeof en] ? [] : [text])),
)

/** The texts of a German page that are in English. */
async function untranslated(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const found: string[] = []
    while (walker.nextNode()) found.push(walker.currentNode.textContent?.trim() ?? '')
    return found
  })
  return texts.filter((text) => ENGLISH_ONLY.has(text))
}
