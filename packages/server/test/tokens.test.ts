import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperatorHelpers } from './admin/operators.ts'
import { newPerson } from './billing-person.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

describe('the last use of a personal access token', () => {
  it('is on the page of tokens, in the list of operators, and in the export', async () => {
    const { browser, email, look } = await newPerson(service)
    const body = { name: 'Backup', scopes: ['check-status'] }
    const made = await browser.api('/oauth/personal-access-tokens', { method: 'POST', body })
    expect(made.body.token).toMatchObject({ name: 'Backup', last_used_at: null })
    expect(await look('/tokens')).toMatch(/Last used.* Backup .* Not used yet/)

    const headers = { authorization: `Bearer ${made.body.accessToken}` }
    const used = await fetch(`${service.url}/api/orders/status`, { headers })
    expect(used.status).toBe(200)
    const readUse = async () => {
      const [token] = (await browser.api('/oauth/personal-access-tokens', {})).body
      return token.last_used_at
    }
    await expect.poll(readUse).toMatch(/^\d{4}-/)
    expect(await look('/tokens')).not.toContain('Not used yet')

    const at = await readUse()
    const viewer = await createOperatorHelpers(service).operator('viewer')
    const person = await service.users.findByEmail(email)
    const listed = await viewer.call('GET', `/users/${person?.id}/tokens`)
    expect(listed.body.data).toEqual([
      expect.objectContaining({ name: 'Backup', last_used_at: at }),
    ])
    const page = await browser.post('/account/export', { csrf_token: await browser.csrfToken() })
    expect(JSON.parse(await page.text()).tokens).toEqual([
      expect.objectContaining({ name: 'Backup', last_used_at: at }),
    ])
  })
})
