import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium, PHONE, takeScreenshot } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { signedIn } from './person.ts'
import { startThirdParty } from './third-party.ts'

describeInChromium("a user's clients", ({ newPage, forgive }) => {
  let service: TestService
  let people = 0
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  async function openClients(): Promise<Page> {
    people += 1
    const email = `grace${people}@example.com`
    const account = { name: 'Grace', email, password: 'a long password' }
    const page = await newPage({ cookies: await signedIn(service, account) })
    await page.goto(service.url)
    await page.getByRole('link', { name: 'Clients' }).first().click()
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor()
    return page
  }

  /** Creates a client by the form. The dialog that shows the secret is open afterwards. */
  async function create(page: Page, client: { name: string; redirect: string }): Promise<string> {
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Name').fill(client.name)
    await form.getByLabel('Redirect URIs').fill(client.redirect)
    await form.getByRole('button', { name: 'Create client' }).click()
    return page
      .getByRole('dialog', { name: 'Save this client secret' })
      .getByLabel('Client secret')
      .inputValue()
  }

  const close = (page: Page) => page.getByRole('button', { name: 'Done' }).click()
  const idOf = async (page: Page) => (await page.locator('td code').first().textContent()) ?? ''

  it('can be created in the form, and an application can use the copied secret', async () => {
    const application = await startThirdParty(service)
    const page = await openClients()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const secret = await create(page, { name: 'Photo book', redirect: application.redirect })
    expect(secret).toMatch(/^tgs_/)
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await close(page)
    expect(await page.content()).not.toContain(secret)
    await expect.poll(() => page.locator('#secret-value').inputValue()).toBe('')
    await page.reload()
    expect(await page.content()).not.toContain(secret)

    application.configure({ id: await idOf(page), secret })
    await page.goto(`${application.url}/connect`)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(await application.useToken()).toBe(200)

    await page.goto(`${service.url}/clients`)
    await page.getByRole('button', { name: 'Delete Photo book' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'No clients yet' }).waitFor()
    expect(await page.getByRole('status').textContent()).toBe('The client was deleted.')
    expect(await application.useToken()).toBe(401)
    await application.close()
  })

  it('can be registered as public clients if they cannot keep a secret', async () => {
    const page = await openClients()
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Name').fill('Pocket')
    await form
      .getByLabel('Redirect URIs')
      .fill('com.example.pocket:/callback\nhttp://127.0.0.1/callback')
    await form.getByLabel('In a browser, on a phone or in a terminal').check()
    await form.getByLabel('Allow the implicit flow').check()
    await form.getByRole('button', { name: 'Create client' }).click()
    await page.getByText('Public', { exact: true }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    const client = await service.oauth.clients.find(await idOf(page))
    expect(client).toMatchObject({
      confidential: false,
      redirectUris: ['com.example.pocket:/callback', 'http://127.0.0.1/callback'],
      grantTypes: ['authorization_code', 'refresh_token', 'implicit'],
    })
    expect(await page.getByRole('button', { name: 'New secret for Pocket' }).count()).toBe(0)
  })

  it('keep what was typed if a field is invalid, and show the problem at the field', async () => {
    const page = await openClients()
    forgive(page, /status of 422/)
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Redirect URIs').fill('https://app.example.com/#fragment')
    await form.getByRole('button', { name: 'Create client' }).click()
    await form.getByText('must not have a fragment').waitFor()
    await form.getByText('The name field is required.').waitFor()
    const name = form.getByLabel('Name')
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    expect(await name.evaluate((field) => field === document.activeElement)).toBe(true)
    expect(await form.getByLabel('Redirect URIs').inputValue()).toContain('#fragment')
    await form.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'New client' }).click()
    expect(await form.getByLabel('Redirect URIs').inputValue()).toBe('')
    expect(await form.getByText('must not have a fragment').count()).toBe(0)
  })

  it('can be edited and get a new secret in dialogs that return the keyboard focus when they close', async () => {
    const page = await openClients()
    const redirect = 'https://app.example.com/callback'
    const first = await create(page, { name: 'Photo book', redirect })
    await close(page)
    const id = await idOf(page)

    await page.getByRole('button', { name: 'Edit Photo book' }).click()
    const form = page.getByRole('dialog', { name: 'Edit client' })
    expect(await form.getByLabel('Redirect URIs').inputValue()).toBe(redirect)
    await page.keyboard.press('Escape')
    const opener = page.getByRole('button', { name: 'Edit Photo book' })
    expect(await opener.evaluate((button) => button === document.activeElement)).toBe(true)
    await page.keyboard.press('Enter')
    await form.getByLabel('Name').fill('Picture book')
    await form.getByLabel('Redirect URIs').fill(`${redirect}\nhttps://b.example.com/`)
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Edit Picture book' }).waitFor()
    expect(await service.oauth.clients.find(id)).toMatchObject({
      name: 'Picture book',
      redirectUris: [redirect, 'https://b.example.com/'],
    })
    await page.waitForFunction(() => document.activeElement?.id === 'main')

    await page.getByRole('button', { name: 'New secret for Picture book' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create a new secret' }).click()
    const shown = page.getByRole('dialog', { name: 'Save this client secret' })
    const second = await shown.getByLabel('Client secret').inputValue()
    expect(second).toMatch(/^tgs_/)
    expect(second).not.toBe(first)
    expect(await authenticates(id, first)).toBe(false)
    expect(await authenticates(id, second)).toBe(true)
  })

  /** Whether the token endpoint accepts this secret. */
  async function authenticates(id: string, secret: string): Promise<boolean> {
    const form = {
      grant_type: 'authorization_code',
      client_id: id,
      client_secret: secret,
      code: 'x',
    }
    const body = new URLSearchParams(form)
    const response = await fetch(`${service.url}/oauth/token`, { method: 'POST', body })
    const { error } = (await response.json()) as { error: string }
    return error !== 'invalid_client'
  }

  it('are listed without JavaScript, with a notice that names the actions that need JavaScript', async () => {
    const hedy = { name: 'Hedy', email: 'hedy@example.com', password: 'a long password' }
    const page = await newPage({ script: false, cookies: await signedIn(service, hedy) })
    await page.goto(`${service.url}/clients`)
    await page.locator('noscript .notice').waitFor()
    expect(await page.getByRole('button', { name: 'New client' }).isVisible()).toBe(false)
  })

  it('keep the buttons of a long dialog visible on a small phone', async () => {
    const page = await openClients()
    await page.setViewportSize({ width: 360, height: 560 })
    await page.getByRole('button', { name: 'New client' }).click()
    const button = page.getByRole('button', { name: 'Create client' })
    const { bottom, dialogBottom } = await button.evaluate((element) => ({
      bottom: element.getBoundingClientRect().bottom,
      dialogBottom: element.closest('dialog')?.getBoundingClientRect().bottom ?? 0,
    }))
    expect(bottom).toBeLessThanOrEqual(Math.min(dialogBottom, 560))
    await takeScreenshot(page, 'new-client-small-phone')
    await page.keyboard.press('Escape')
    await page.setViewportSize(PHONE)
    const redirect = 'https://accounting.example.com/integrations/tollgate/callback?tenant=acme'
    await create(page, { name: 'Accounting', redirect })
    await close(page)
    await takeScreenshot(page, 'clients-phone')
    const address = page.locator('.addresses li')
    expect(await address.textContent()).toBe(redirect)
    // A line may break only between the parts of a URL.
    expect(await address.innerHTML()).toContain('/<wbr>integrations/<wbr>')
  })

  it('lead to the sign-in page if the person was signed out elsewhere', async () => {
    const page = await openClients()
    forgive(page, /status of 401/)
    const other = await newPage({ context: page.context() })
    await other.goto(service.url)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'New client' }).click()
    const form = page.getByRole('dialog', { name: 'New client' })
    await form.getByLabel('Name').fill('Late')
    await form.getByLabel('Redirect URIs').fill('https://late.example.com/')
    await form.getByRole('button', { name: 'Create client' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(page.url()).toBe(`${service.url}/login?return_to=%2Fclients`)
  })
})
