import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInChromium } from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { register, signIn } from './person.ts'

describeInChromium('signing in with a browser', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  it('fails with a wrong password and succeeds with the correct one', async () => {
    const page = await newPage()
    forgive(page, /status of 401/)
    await page.goto(`${service.url}/tokens`)
    await signIn(page, service, { password: 'wrong' })
    expect(await page.getByRole('alert').textContent()).toBe('The email or password is wrong.')
    expect(await page.getByLabel('Email').inputValue()).toBe(service.demo?.email)
    await signIn(page, service)
    await page.getByRole('heading', { name: 'Personal access tokens' }).waitFor()
  })

  it('is blocked for a while after too many wrong passwords', async () => {
    const page = await newPage()
    forgive(page, /status of 4(01|29)/)
    const account = { name: 'Eve', email: 'eve@example.com', password: 'a long password' }
    await service.users.create(account)
    for (let attempt = 0; attempt < 9; attempt += 1) {
      expect((await service.browser().signIn(account.email, 'wrong')).status).toBe(401)
    }
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await page.goto(`${service.url}/login`)
      await signIn(page, service, { ...account, password: 'wrong' })
    }
    await page.getByRole('heading', { name: 'Too many attempts' }).waitFor()
    await page.getByText('Please try again in 15 minutes.').waitFor()
    service.clock.advance({ minutes: 16 })
    await page.goto(`${service.url}/login`)
    await signIn(page, service, account)
    await page.getByRole('heading', { name: 'Welcome, Eve' }).waitFor()
  })

  it('is undone by a sign-out, which also makes the cookie of cookie mode invalid', async () => {
    const page = await newPage()
    forgive(page, /status of 401/)
    await register(page, service, {
      name: 'Ada',
      email: 'ada@example.com',
      password: 'a long password',
    })
    const csrf = await page.locator('meta[name="csrf-token"]').getAttribute('content')
    const callApi = () =>
      page.evaluate(async (token) => {
        const headers = { 'x-csrf-token': token ?? '', accept: 'application/json' }
        return (await fetch('/api/user', { headers })).status
      }, csrf)
    expect(await callApi()).toBe(200)
    const cookies = await page.context().cookies()
    expect(cookies.every(({ httpOnly, sameSite }) => httpOnly && sameSite === 'Lax')).toBe(true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await callApi()).toBe(401)
    await page.context().addCookies(cookies)
    expect(await callApi()).toBe(401)
    await page.goto(service.url)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('is offered on the registration page if the e-mail address is invalid or already has an account', async () => {
    const page = await newPage()
    forgive(page, /status of 422/)
    await page.goto(`${service.url}/register`)
    await page.getByLabel('Email').fill('ada@example')
    await page.getByLabel('Password').fill('a long password')
    await page.getByRole('button', { name: 'Register' }).click()
    const email = page.getByLabel('Email')
    expect(await email.getAttribute('aria-invalid')).toBe('true')
    await page.getByText('Enter an email address such as').waitFor()
    await email.fill(service.demo?.email ?? '')
    await page.getByLabel('Password').fill('a long password')
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })
})
