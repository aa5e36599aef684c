import { expect } from 'vitest'
import type { TestService } from './support.ts'

let people = 0

/** Creates a signed-in person, with functions to use the billing pages. */
export async function newPerson(service: TestService) {
  const browser = service.browser()
  const email = `person-${++people}@example.com`
  const password = 'a long password'
  await service.users.create({ email, password, name: 'Ada' })
  expect((await browser.signIn(email, password)).status).toBe(303)
  const csrf_token = await browser.csrfToken()
  const post = (path: string, fields: Record<string, string> = {}) =>
    browser.post(path, { csrf_token, ...fields })
  return {
    browser,
    email,
    post,
    /** The text of a page. */
    async look(path = '/billing'): Promise<string> {
      const response = await browser.get(path)
      expect(response.status).toBe(200)
      return textOf(await response.text())
    },
    async done(path: string, fields: Record<string, string> = {}): Promise<string> {
      const response = await post(path, fields)
      expect(response.status, await response.clone().text()).toBe(303)
      return response.headers.get('location') ?? ''
    },
    async refused(path: string, fields: Record<string, string> = {}) {
      const response = await post(path, fields)
      const html = await response.text()
      const alert = /role="alert">([^<]*)</.exec(html)?.[1] ?? ''
      return { status: response.status, alert: textOf(alert), html }
    },
    async subscription() {
      const { body } = await browser.api('/api/subscription')
      return body
    },
  }
}

/** The text of a page, without its markup. */
export function textOf(html: string): string {
  return html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, '')
    .replace(/<\/?bdi>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()
}
