import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newPerson } from './billing-person.ts'
import { startTestService, type TestService } from './support.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.stop())

const CARDS = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const

/** A signed-in person who is subscribed to the plan `pro`. */
async function subscriber(provider: 'stripe' | 'braintree' = 'stripe') {
  const person = await newPerson(service)
  await person.done('/billing/subscribe', { plan: 'pro', provider, token: CARDS[provider] })
  const { body } = await person.browser.api('/api/user')
  const billable = await service.billing.user(Number(body.id))
  return { ...person, billable, subscription: async () => billable.subscription('main') }
}

describe('a planned change on the billing page', () => {
  it('is made by the person, is shown, and can be cancelled', async () => {
    const ada = await subscriber()
    const preview = await ada.look('/billing/swap?plan=monthly')
    expect(preview).toMatch(/Or change later .* Change on \d+ \w+ \d{4}/)
    for (let i = 0; i < 2; i++) {
      const at = await ada.done('/billing/plan-change', { plan: 'monthly', quantity: '1' })
      expect(at).toBe('/billing?done=change-planned')
    }
    expect(await ada.look('/billing?done=change-planned')).toMatch(
      /Your plan changes at the end of the current period\. .*Your subscription changes to Monthly on \d+ \w+ \d{4}\. Keep the current plan/,
    )
    for (let i = 0; i < 2; i++) {
      expect(await ada.done('/billing/keep-plan')).toBe('/billing?done=plan-kept')
    }
    expect(await ada.look()).not.toContain('Your subscription changes to')
    expect((await ada.subscription()).plannedPrice).toBeNull()
  })

  it('is previewed again if the person approved another quantity', async () => {
    const ada = await subscriber()
    const at = await ada.done('/billing/plan-change', { plan: 'monthly', quantity: '7' })
    expect(at).toBe('/billing/swap?plan=monthly&changed=yes')
    expect((await ada.subscription()).plannedPrice).toBeNull()
    const unknown = await ada.refused('/billing/plan-change', { plan: 'nope', quantity: '1' })
    expect(unknown).toMatchObject({ status: 422, alert: 'Please choose a plan.' })
  })

  it('is neither offered nor made after a cancellation, without a subscription, or at Braintree', async () => {
    const [ada, bob] = [await subscriber(), await subscriber('braintree')]
    await ada.done('/billing/cancel')
    expect(await ada.look('/billing/swap?plan=monthly')).not.toContain('Or change later')
    const wanted = { plan: 'monthly', quantity: '1' }
    expect(await ada.done('/billing/plan-change', wanted)).toContain('/billing/swap')
    expect(await bob.look('/billing/swap?plan=monthly')).not.toContain('Or change later')
    expect(await bob.refused('/billing/plan-change', wanted)).toMatchObject({
      status: 422,
      alert: 'The payment provider does not support this.',
    })
    const eve = await newPerson(service)
    expect((await eve.refused('/billing/plan-change', wanted)).status).toBe(404)
  })
})

describe('a pause on the billing page', () => {
  it('is shown and can be ended, but not begun', async () => {
    const ada = await subscriber()
    expect(await ada.look()).not.toContain('End the pause')
    await (await ada.subscription()).pause()
    expect(await ada.look()).toMatch(
      /The subscription is paused: you are not charged until it resumes\. .*End the pause/,
    )
    for (let i = 0; i < 2; i++) {
      expect(await ada.done('/billing/unpause')).toBe('/billing?done=unpaused')
    }
    expect(await ada.look()).not.toContain('End the pause')
    expect((await ada.subscription()).paused()).toBe(false)
  })
})
