import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  expectNoSidewaysScroll,
  takeScreenshot,
} from '../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../support.ts'
import { signedIn } from './person.ts'

const ADA = { name: 'Ada Lovelace', email: 'ada@example.com', password: 'a long password' }
const GRACE = { name: 'Grace Hopper', email: 'grace@example.com', password: 'a long password' }

describeInChromium('the pages of a team', ({ newPage, forgive }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ settings: { teams: true } })
  })
  afterAll(() => service?.stop())

  it('let a person create a team, invite another one, subscribe for the team, and remove the member', async () => {
    const page = await newPage({ cookies: await signedIn(service, ADA) })
    await page.goto(`${service.url}/teams`)
    await page.getByLabel('Name').fill('Analytical Engines')
    await page.getByRole('button', { name: 'Create team' }).click()
    await page.getByText('The team was created.').waitFor()
    await page.getByLabel('Email address').fill(GRACE.email)
    await page.getByRole('button', { name: 'Create invitation' }).click()
    const link = page.locator('#invitation-link')
    await link.waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'team-invitation')
    const address = (await link.textContent()) ?? ''

    const other = await newPage({ cookies: await signedIn(service, GRACE) })
    await other.goto(address)
    await other.getByRole('heading', { name: 'Join the team Analytical Engines?' }).waitFor()
    await expectAccessible(other)
    await takeScreenshot(other, 'team-join')
    await other.getByRole('button', { name: 'Join the team' }).click()
    await other.getByText('You have joined the team.').waitFor()
    await other.getByText('This team has no subscription.').waitFor()
    expect(await other.getByRole('link', { name: 'Manage billing' }).count()).toBe(0)

    await page.goto(page.url().replace(/\/invite$/, ''))
    await page.getByRole('link', { name: 'Manage billing' }).click()
    await page.getByRole('heading', { name: 'Billing of Analytical Engines' }).waitFor()
    // A choice asks the billing page of the team for the price.
    const priced = page.waitForResponse((response) => response.url().endsWith('/billing/price'))
    await page.getByRole('radio').nth(1).check()
    expect(new URL((await priced).url()).pathname).toMatch(/^\/teams\/\w+\/billing\/price$/)
    await page
      .getByRole('button', { name: /^(Pay|Subscribe|Start)/, disabled: false })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Payment methods' }).waitFor()
    await takeScreenshot(page, 'team-billing')
    await page.getByRole('link', { name: 'Back to the team' }).click()

    await other.reload()
    await other.getByText('Active').waitFor()
    await expectNoSidewaysScroll(other)
    await takeScreenshot(other, 'team-member')

    await page.getByRole('link', { name: `Remove ${GRACE.email}` }).click()
    await page.getByRole('button', { name: 'Remove from the team' }).click()
    await page.getByText('The member was removed.').waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'team')
    forgive(other, /status of 404/)
    expect((await other.reload())?.status()).toBe(404)
  })
})
