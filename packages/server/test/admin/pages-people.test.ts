import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Role } from '../../src/users/roles.ts'
import { PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { operatorsOf } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof operatorsOf>
beforeAll(async () => {
  service = await startTestService()
  operators = operatorsOf(service)
})
afterAll(() => service?.stop())

/** An operator who uses the pages. */
async function operator(role: Role | null) {
  const { id, email, browser } = await operators.operator(role)
  return {
    id,
    email,
    browser,
    read: async (path: string) => (await browser.get(path)).text(),
    async post(path: string, fields: Record<string, string> = {}) {
      const form = { csrf_token: await browser.csrfToken(), ...fields }
      const response = await browser.post(path, form)
      const to = response.headers.get('location')
      return { status: response.status, to, text: await response.text() }
    },
  }
}

const keyIn = (html: string) => /name="request_key" value="([\w-]+)"/.exec(html)?.[1] ?? ''

describe("the operators' pages for people", () => {
  it.each([
    ['', 200],
    ['/people', 200],
    ['/people/1', 200],
    ['/people/1/disable', 303],
  ])('/admin%s needs a role, which others cannot find out', async (path, status) => {
    const { id } = await operators.person()
    const own = `/admin${path.replace('1', id)}`
    const stranger = await service.browser().get(own)
    expect(stranger.headers.get('location')).toBe(`/login?return_to=${encodeURIComponent(own)}`)
    expect((await (await operator(null)).browser.get(own)).status).toBe(404)
    const viewer = await operator('viewer')
    const shown =
      status === 303
        ? await viewer.browser.get(`/admin/people/${viewer.id}/disable`)
        : await viewer.browser.get(own)
    expect(shown.status).toBe(status)
  })
})

void PASSWORD
void keyIn
