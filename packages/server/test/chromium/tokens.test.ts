import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { signedIn } from './person.ts'

describeInChromium('personal access tokens in a browser', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  const call = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(service.url + path, { headers })).status
  }

  it('are created with scopes, shown once, used and revoked', async () => {
    const ada = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }
    const page = await newPage({ cookies: await signedIn(service, ada) })
    await page.goto(`${service.url}/tokens`)
    await page.getByRole('heading', { name: 'No tokens yet' }).waitFor()

    async function create(name: string, scopes: string[]): Promise<string> {
      await page.getByRole('button', { name: 'New token' }).click()
      const form = page.getByRole('dialog', { name: 'New token' })
      await form.getByLabel('Name').fill(name)
      for (const scope of scopes) await form.getByLabel(scope).check()
      await form.getByRole('button', { name: 'Create token' }).click()
      const shown = page.getByRole('dialog', { name: 'Your new token' })
      const token = await shown.getByLabel('Token', { exact: true }).inputValue()
      await shown.getByRole('button', { name: 'Done' }).click()
      return token
    }

    const full = await create('Nightly report', ['Place orders', 'Check order status'])
    const little = await create('Doorbell', ['Check order status'])
    await page.getByRole('cell', { name: 'Place orders Check order status' }).waitFor()
    expect(await page.content()).not.toContain(full)
    expect(await call('/api/orders', full)).toBe(200)
    expect(await call('/api/orders', little)).toBe(403)
    expect(await call('/api/orders/status', little)).toBe(200)

    await page.getByRole('button', { name: 'Revoke Nightly report' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('The token was revoked.').waitFor()
    expect(await page.getByRole('cell', { name: 'Nightly report' }).count()).toBe(0)
    expect(await call('/api/orders', full)).toBe(401)
    expect(await call('/api/orders/status', little)).toBe(200)
  })

  it('require a name', async () => {
    const grace = { name: 'Grace', email: 'grace@example.com', password: 'a long password' }
    const page = await newPage({ cookies: await signedIn(service, grace) })
    forgive(page, /status of 422/)
    await page.goto(`${service.url}/tokens`)
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('The name field is required.').waitFor()
  })

  it('show an error while the service is unavailable, and can be created once it is available again', async () => {
    const hedy = { name: 'Hedy', email: 'hedy@example.com', password: 'a long password' }
    const page = await newPage({ cookies: await signedIn(service, hedy) })
    forgive(page, /ERR_/)
    await page.goto(`${service.url}/tokens`)
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Name').fill('Radio')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByText('The service could not be reached.').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('heading', { name: 'Your new token' }).waitFor()
  })
})
