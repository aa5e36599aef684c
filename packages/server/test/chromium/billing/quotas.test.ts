import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  describeInChromium,
  expectAccessible,
  takeScreenshot,
} from '../../../../../test-support/chromium.ts'
import { startTestService, type TestService } from '../../support.ts'
import { signedIn } from '../person.ts'

describeInChromium('a person whose free plan is used up', ({ newPage }) => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      settings: {
        meters: { calls: { kind: 'count', name: 'API calls' } },
        freePlan: { scopes: ['check-status'], quota: { calls: '2/month' } },
        plans: [{ id: 'pro', name: 'Pro', amount: 2500, months: 1, quota: { calls: '100/month' } }],
      },
    })
  })
  afterAll(() => service?.stop())

  it('reads why on the way from the refusal to the page, upgrades there, and goes on with the same token', async () => {
    const account = { name: 'Ada', email: 'quota@example.com', password: 'a long password' }
    const cookies = await signedIn(service, account)
    const { id = '' } = (await service.users.findByEmail(account.email)) ?? {}
    const scopes = ['check-status', 'place-orders']
    const { accessToken } = await service.oauth.tokens.createPersonal({
      ...{ userId: id, name: 'Script', scopes },
    })
    const order = () =>
      fetch(`${service.url}/api/orders`, { headers: { authorization: `Bearer ${accessToken}` } })
    const subject = { type: 'user', id }
    for (let calls = 0; calls < 2; calls += 1) await service.gate?.admit(subject, 'calls')
    expect(await service.gate?.admit(subject, 'calls')).toMatchObject({ reason: 'quota_used_up' })
    const refused = await order()
    expect(refused.status).toBe(402)
    const { upgrade_url: url } = (await refused.json()) as { upgrade_url: string }

    const page = await newPage({ cookies })
    await page.goto(url)
    await page.getByText('2 of 2', { exact: true }).waitFor()
    await page.getByRole('img', { name: 'API calls: 100 % used' }).waitFor()
    await expectAccessible(page)
    await takeScreenshot(page, 'billing-quotas')
    await page.getByRole('link', { name: 'See the plans' }).click()
    await page.getByRole('button', { name: /Pay .* and subscribe/ }).click()
    await page.getByRole('status').filter({ hasText: 'You are subscribed.' }).waitFor()
    await service.advance({ minutes: 1 })

    await expect.poll(async () => (await order()).status).toBe(200)
    await expect
      .poll(() => service.gate?.admit(subject, 'calls'))
      .toMatchObject({ allowed: true, plan: 'pro' })
    await page.reload()
    await page.getByText(/^[3-9] of 100$/).waitFor()
    await expectAccessible(page)
  })
})
