import { describe, expect, it } from 'vitest'
import { rowsOf, truthAt } from './provider-truth.ts'
import { type FlowTest, PROVIDERS, start, stripeSdk } from './support.ts'

const CARD = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const

/** `seat` is a price at Stripe and an add-on at Braintree. */
export function defineSeats({ sandbox }: FlowTest): void {
  for (const [id, amount] of [
    ['seat', 500],
    ['support', 733],
  ] as const) {
    sandbox.stripe.seedPrice({ id, unitAmount: amount, interval: 'month', product: 'Extras' })
    sandbox.braintree.defineAddOn({ id, amount })
  }
}

async function braintreeSdk({ sandbox }: FlowTest) {
  const { default: braintree } = await import('braintree')
  return new braintree.BraintreeGateway(sandbox.braintree.config as never)
}

/** Somebody adds a price in the control panel. */
async function addBehindUs(test: FlowTest, id: string, price: string, quantity: number) {
  if (test.user.provider === 'stripe') {
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.update(id, { items: [{ price, quantity }] })
    return
  }
  const sdk = await braintreeSdk(test)
  const addOns = { add: [{ inheritedFromId: price, quantity }] }
  await sdk.subscription.update(id, { addOns } as never)
}

describe.each(PROVIDERS)('several prices at $provider', ({ provider }) => {
  it('are in our rows however they came there, and any of them opens what it is for', async () => {
    const test = await start(provider, { webhooks: false })
    defineSeats(test)
    const made = await test.user.newSubscription('main', 'monthly').create(CARD[provider])
    expect(made.items()).toEqual([{ price: 'monthly', quantity: 1, isMain: true }])
    expect(made.hasPrice('seat')).toBe(false)

    await addBehindUs(test, made.providerId, 'seat', 2)
    await addBehindUs(test, made.providerId, 'support', 1)
    const { drift } = await test.user.sync()
    expect(drift).toMatchObject([
      {
        what: 'outdated row',
        is: {
          plan: 'monthly',
          items: [
            { price: 'seat', quantity: 2 },
            { price: 'support', quantity: 1 },
          ],
        },
      },
    ])
    expect((await test.user.sync()).drift).toEqual([])

    const { user } = test
    const found = await user.subscription('main')
    expect([found.providerPlan, found.quantity]).toEqual(['monthly', 1])
    expect(found.items()).toEqual([
      { price: 'monthly', quantity: 1, isMain: true },
      { price: 'seat', quantity: 2, isMain: false },
      { price: 'support', quantity: 1, isMain: false },
    ])
    expect(found.findItem('seat')).toEqual({ price: 'seat', quantity: 2, isMain: false })
    expect(found.findItem('pro')).toBeNull()
    const asked = ['monthly', 'seat', 'support', 'pro']
    const answers = await Promise.all(asked.map((price) => user.subscribed('main', price)))
    expect(answers).toEqual([true, true, true, false])
    expect(await user.subscribedToPlan(['pro', 'seat'], 'main')).toBe(true)
    expect(await user.subscribedToPlan(['pro', 'yearly'], 'main')).toBe(false)
    const customer = user.providerId ?? (await test.billing.user(user.id)).providerId
    const rows = await rowsOf(test.database, user.id)
    expect(rows).toEqual(truthAt(test.sandbox, provider, customer ?? ''))

    const all = await user.subscriptions()
    expect(all.map(({ providerId }) => providerId)).toEqual([made.providerId])
    await found.cancelNow()
    expect(await user.subscribed('main', 'seat')).toBe(false)
    expect((await user.subscription('main')).hasPrice('seat')).toBe(true)
  })
})

it('tells the product of a price, of the main one by asking the provider', async () => {
  const test = await start('stripe', { webhooks: false })
  defineSeats(test)
  const made = await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
  expect(await made.hasProduct('Extras')).toBe(false)
  await addBehindUs(test, made.providerId, 'seat', 1)
  await test.user.sync()
  const found = await test.user.subscription('main')
  expect([await found.hasProduct('Gold'), await found.hasProduct('Extras')]).toEqual([true, true])
})
