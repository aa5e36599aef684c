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
  it('can be made, is shown, and can be cancelled', async () => {
    const ada = await subscriber()
    const preview = await ada.look('/billing/swap?plan=monthly')
    expect(preview).toMatch(/Or change the plan later .* Change on \d+ \w+ \d{4}/)
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

  it('is previewed again if the quantity differs from the approved one', async () => {
    const ada = await subscriber()
    const at = await ada.done('/billing/plan-change', { plan: 'monthly', quantity: '7' })
    expect(at).toBe('/billing/swap?plan=monthly&changed=yes')
    expect((await ada.subscription()).plannedPrice).toBeNull()
    const unknown = await ada.refused('/billing/plan-change', { plan: 'nope', quantity: '1' })
    expect(unknown).toMatchObject({ status: 422, alert: 'Please choose a plan.' })
  })

  it('is neither offered nor accepted after a cancellation, without a subscription, or at Braintree', async () => {
    const [ada, bob] = [await subscriber(), await subscriber('braintree')]
    await ada.done('/billing/cancel')
    expect(await ada.look('/billing/swap?plan=monthly')).not.toContain('Or change the plan later')
    const wanted = { plan: 'monthly', quantity: '1' }
    expect(await ada.done('/billing/plan-change', wanted)).toContain('/billing/swap')
    expect(await bob.look('/billing/swap?plan=monthly')).not.toContain('Or change the plan later')
    expect(await bob.refused('/billing/plan-change', wanted)).toMatchObject({
      status: 422,
      alert: 'The payment provider does not support this action.',
    })
    const eve = await newPerson(service)
    expect((await eve.refused('/billing/plan-change', wanted)).status).toBe(404)
  })
})

describe('a pause on the billing page', () => {
  it('is shown and can be ended, but cannot be started', async () => {
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

describe('the details for invoices on the billing page', () => {
  it('include an address, which the person changes as a whole', async () => {
    const ada = await subscriber()
    expect(await ada.look()).toContain('Add a billing address')
    const address = { line1: 'Mill Lane 1', city: 'Bath', postal_code: 'BA1', country: 'gb' }
    expect(await ada.done('/billing/address', address)).toBe('/billing?done=address-changed')
    expect(await ada.look()).toContain('Mill Lane 1, BA1, Bath, GB')
    const wrong = await ada.refused('/billing/address', { ...address, country: 'England' })
    expect(wrong).toMatchObject({ status: 422, alert: expect.stringContaining('not valid') })
    await ada.done('/billing/address', { line1: 'Hill 3', country: 'GB' })
    expect(await ada.billable.billingAddress()).toEqual({ line1: 'Hill 3', country: 'GB' })
  })

  it('include tax ids, which the person adds and removes', async () => {
    const ada = await subscriber()
    const wanted = { type: 'eu_vat', tax_id: ' DE123456789 ' }
    for (let i = 0; i < 2; i++) {
      expect(await ada.done('/billing/tax-id', wanted)).toBe('/billing?done=tax-id-added')
    }
    const [taxId, ...others] = await ada.billable.taxIds()
    expect([taxId?.value, others]).toEqual(['DE123456789', []])
    expect(await ada.look()).toContain('VAT number (European Union) DE123456789')
    const wrong = await ada.refused('/billing/tax-id', { ...wanted, tax_id: 'nonsense' })
    expect(wrong).toMatchObject({
      status: 422,
      alert: 'This is not a valid tax ID of the chosen type.',
      html: expect.stringContaining('value="nonsense"'),
    })
    const odd = await ada.refused('/billing/tax-id', { type: 'xx_none', tax_id: '1' })
    expect(odd.status).toBe(422)
    const eve = await subscriber()
    await eve.done('/billing/tax-id/delete', { id: taxId?.id ?? '' })
    expect(await ada.billable.taxIds()).toHaveLength(1)
    for (let i = 0; i < 2; i++) {
      const at = await ada.done('/billing/tax-id/delete', { id: taxId?.id ?? '' })
      expect(at).toBe('/billing?done=tax-id-removed')
    }
    expect(await ada.billable.taxIds()).toEqual([])
  })

  it('include only an address at Braintree, and are not shown before the first payment', async () => {
    const bob = await subscriber('braintree')
    const page = await bob.look()
    expect(page).toContain('Add a billing address')
    expect(page).not.toContain('Add a tax ID')
    const refused = await bob.refused('/billing/tax-id', { type: 'eu_vat', tax_id: 'DE123456789' })
    expect(refused.status).toBe(422)
    expect(await (await newPerson(service)).look()).not.toContain('Add a billing address')
  })
})
