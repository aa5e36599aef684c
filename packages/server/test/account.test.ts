import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

let count = 0
async function newPerson() {
  count += 1
  const email = `ada${count}@example.com`
  await service.users.create({ email, password: 'correct horse' })
  const browser = service.browser()
  await browser.signIn(email, 'correct horse')
  const change = async (current: string, password: string) =>
    browser.post('/account/password', {
      csrf_token: await browser.csrfToken(),
      current,
      password,
    })
  return { email, browser, change }
}

describe('the form to change the password', () => {
  it('ends all other sessions and all tokens, and continues with a new session', async () => {
    const { email, browser, change } = await newPerson()
    const elsewhere = service.browser()
    await elsewhere.signIn(email, 'correct horse')
    const body = { name: 'script', scopes: [] }
    const made = await elsewhere.api('/oauth/personal-access-tokens', { method: 'POST', body })
    const authorization = `Bearer ${made.body.accessToken}`
    const callApi = async () =>
      (await fetch(`${service.url}/api/user`, { headers: { authorization } })).status
    expect(await callApi()).toBe(200)
    const before = browser.cookies.get('tollgate_session')

    const reply = await change('correct horse', 'battery staple')
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/account?changed'])
    expect(browser.cookies.get('tollgate_session')).not.toBe(before)
    expect(await (await browser.get('/account?changed')).text()).toContain('was changed')
    expect((await elsewhere.get('/account')).status).toBe(302)
    expect((await elsewhere.api('/api/user')).status).toBe(401)
    expect(await callApi()).toBe(401)
    expect((await service.browser().signIn(email, 'correct horse')).status).toBe(401)
    expect((await service.browser().signIn(email, 'battery staple')).status).toBe(303)
    service.clock.advance({ seconds: 1 })
    expect((await browser.api('/api/user')).status).toBe(200)
  })

  it('contains a hidden field with the e-mail address for password managers', async () => {
    const { email, browser } = await newPerson()
    const html = await (await browser.get('/account')).text()
    const field = /<input[^>]*autocomplete="username"[^>]*>/.exec(html)?.[0]
    expect(field).toContain(`value="${email}"`)
    expect(field).toContain('hidden')
    expect(field).not.toContain('name=')
  })

  it.each([
    ['a wrong password', 'wrong', 'battery staple', 'This is not your current password.'],
    ['one that is too short', 'correct horse', 'short', 'needs at least 8 characters'],
  ])('rejects %s, and changes nothing', async (_, current, password, words) => {
    const { email, browser, change } = await newPerson()
    const reply = await change(current, password)
    expect(reply.status).toBe(422)
    expect(await reply.text()).toContain(words)
    expect((await browser.get('/account')).status).toBe(200)
    expect((await service.browser().signIn(email, 'correct horse')).status).toBe(303)
  })

  it('is rejected without the CSRF token, and without a session', async () => {
    const { browser } = await newPerson()
    const form = { current: 'correct horse', password: 'battery staple' }
    expect((await browser.post('/account/password', form)).status).toBe(403)
    expect((await service.browser().post('/account/password', form)).status).toBe(303)
  })

  it('limits wrong passwords in each session, without affecting sign-ins', async () => {
    const { email, change } = await newPerson()
    const statuses: number[] = []
    for (let i = 0; i < 11; i += 1) statuses.push((await change('wrong', 'battery staple')).status)
    expect(statuses).toEqual([...Array(10).fill(422), 429])
    expect((await change('correct horse', 'battery staple')).status).toBe(429)
    expect((await service.browser().signIn(email, 'correct horse')).status).toBe(303)
  })
})
