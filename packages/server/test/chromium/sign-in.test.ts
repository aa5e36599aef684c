import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support.ts'
import { describeInChromium, expectAccessible } from './support.ts'

describeInChromium('signing in', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service?.stop())

  it('is refused with a wrong password and done with the right one', async () => {
    const { email = '', password = '' } = service.demo ?? {}
    const page = await newPage()
    forgive(page, /status of 401/)
    await page.goto(service.url)
    await expectAccessible(page)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toBe('E-mail or password is wrong.')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Welcome, Demo' }).waitFor()
    await expectAccessible(page)
  })
})
