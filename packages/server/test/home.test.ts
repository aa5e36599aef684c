import { afterAll, beforeAll, expect, it } from 'vitest'
import { newPerson } from './billing-person.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service.stop())

async function findBillable(email: string) {
  const user = await service.users.findByEmail(email)
  return service.billing.user(Number(user?.id))
}

it('the home page shows what a person has on the other pages, and the state of the subscription', async () => {
  const { browser, email, look } = await newPerson(service)
  const fresh = await look('/')
  expect(fresh).toContain('You have no clients.')
  expect(fresh).toContain('You have no tokens.')
  expect(fresh).toContain('No application has access.')
  expect(fresh).toContain('You have no subscription.')

  const redirect = `${service.url}/callback`
  for (const name of ['One', 'Two'])
    await browser.api('/oauth/clients', { method: 'POST', body: { name, redirect } })
  await browser.api('/oauth/personal-access-tokens', {
    method: 'POST',
    body: { name: 'Backup', scopes: ['check-status'] },
  })
  await (await findBillable(email)).newSubscription('main', 'pro').create('pm_card_visa')
  const used = await look('/')
  expect(used).toContain('You have 2 clients.')
  expect(used).toContain('You have 1 token.')
  expect(used).toContain('Pro Active')
})

it('the home page shows that the payment for a subscription is missing', async () => {
  const { email, look } = await newPerson(service)
  const billable = await findBillable(email)
  await billable.addPaymentMethod('pm_card_visa')
  await billable
    .newSubscription('main', 'pro')
    .create('pm_card_threeDSecure2Required')
    .catch(() => undefined)
  expect(await look('/')).toContain('Pro Not paid')
})
