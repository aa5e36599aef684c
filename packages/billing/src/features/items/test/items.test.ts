import { describe, expect, it } from 'vitest'
import { readSandboxState, readTableState } from '../../../../test/provider-truth.ts'
import {
  countProviderSubscriptions,
  type FlowTest,
  PROVIDERS,
  type ProviderCase,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  InvalidArgument,
  ItemNotFound,
  PaymentFailed,
  type Subscription,
  UnknownPrice,
  Unsupported,
} from '../../../index.ts'

const CARD = { stripe: 'pm_card_visa', braintree: 'fake-valid-visa-nonce' } as const

/** Defines `seat` and `support`, which are prices at Stripe and add-ons at Braintree. */
function defineSeats({ sandbox }: FlowTest): void {
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

/** Adds a price without billing, as an operator does in the control panel. */
async function addInControlPanel(test: FlowTest, id: string, price: string, quantity: number) {
  if (test.user.provider === 'stripe') {
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.update(id, { items: [{ price, quantity }] })
    return
  }
  const sdk = await braintreeSdk(test)
  const addOns = { add: [{ inheritedFromId: price, quantity }] }
  await sdk.subscription.update(id, { addOns } as never)
}

describe.each(PROVIDERS)('several prices in one subscription at $provider', ({ provider }) => {
  it('are all stored, even if they were added in the provider’s dashboard, and each of them counts in subscribed() and subscribedToPlan()', async () => {
    const test = await start(provider, { webhooks: false })
    defineSeats(test)
    const made = await test.user.newSubscription('main', 'monthly').create(CARD[provider])
    expect(made.items()).toEqual([{ price: 'monthly', quantity: 1, isMain: true }])
    expect(made.hasPrice('seat')).toBe(false)

    await addInControlPanel(test, made.providerId, 'seat', 2)
    await addInControlPanel(test, made.providerId, 'support', 1)
    const { drift } = await test.user.sync()
    expect(drift).toMatchObject([
      {
        what: 'outdated row',
        is: {
          price: 'monthly',
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
    const rows = await readTableState(test.database, user.id)
    expect(rows).toEqual(readSandboxState(test.sandbox, provider, customer ?? ''))

    const all = await user.subscriptions()
    expect(all.map(({ providerId }) => providerId)).toEqual([made.providerId])
    await found.cancelNow()
    expect(await user.subscribed('main', 'seat')).toBe(false)
    expect((await user.subscription('main')).hasPrice('seat')).toBe(true)
  })
})

it('hasProduct() finds the products of the main and the additional prices of a subscription', async () => {
  const test = await start('stripe', { webhooks: false })
  defineSeats(test)
  const made = await test.user.newSubscription('main', 'monthly').create('pm_card_visa')
  expect(await made.hasProduct('Extras')).toBe(false)
  await addInControlPanel(test, made.providerId, 'seat', 1)
  await test.user.sync()
  const found = await test.user.subscription('main')
  expect([await found.hasProduct('Gold'), await found.hasProduct('Extras')]).toEqual([true, true])
})

/** Formats the prices as `seat × 2`, the main price first. */
const shown = (subscription: Subscription) =>
  subscription.items().map(({ price, quantity }) => `${price} × ${quantity}`)

/** Starts a subscription in a month of 31 days. */
async function startHalfway({ provider, card }: ProviderCase) {
  const test = await start(provider, { webhooks: false })
  defineSeats(test)
  const made = await test.user.newSubscription('main', 'monthly').create(card)
  return { ...test, made }
}

describe.each(PROVIDERS)('the prices of a subscription at $provider', (given) => {
  const { provider, card } = given

  it('are all billed if they are chosen when the subscription is created', async () => {
    const test = await start(provider, { webhooks: false, taxPercentage: () => 19.6 })
    defineSeats(test)
    const { user } = test
    const builder = user.newSubscription('main', 'monthly').price('seat', 3).price('support')
    const made = await builder.create(card)
    expect(shown(made)).toEqual(['monthly × 1', 'seat × 3', 'support × 1'])
    // 10.00, 3 × 5.00 and 7.33, with 19.6 % on the sum at Stripe, and on each price at Braintree.
    expect(sumChargedCents(test, user)).toBe(
      provider === 'stripe' ? 3233 + 634 : 1196 + 3 * 598 + 877,
    )
    const again = await builder.create(card)
    expect([again.providerId, countProviderSubscriptions(test, user)]).toEqual([made.providerId, 1])
    const [invoice] = await user.invoicesIncludingPending()
    expect(invoice?.rawTotal().amount).toBe(sumChargedCents(test, user))
    expect(() => builder.price('seat')).toThrow(InvalidArgument)
    const other = user.newSubscription('main', 'monthly').price('seat', 4)
    await expect(other.create(card)).rejects.toMatchObject({ code: 'already_subscribed' })
  })

  it('can be added, changed, swapped and removed, and repeating one of these calls changes nothing more', async () => {
    const test = await startHalfway(given)
    const { user } = test
    let { made } = test
    for (let i = 0; i < 2; i++) {
      made = await (await user.subscription('main')).addPrice('seat', 2)
      expect(shown(made)).toEqual(['monthly × 1', 'seat × 2'])
    }
    await expect(made.addPrice('seat', 3)).rejects.toThrow(InvalidArgument)
    expect(shown(await made.updateQuantity(5, 'seat'))).toEqual(['monthly × 1', 'seat × 5'])
    expect(shown(await made.incrementQuantity(2, 'seat'))).toEqual(['monthly × 1', 'seat × 7'])
    expect(shown(await made.decrementQuantity(9, 'seat'))).toEqual(['monthly × 1', 'seat × 1'])
    await expect(made.updateQuantity(2, 'support')).rejects.toThrow(ItemNotFound)
    for (let i = 0; i < 2; i++) {
      made = await (await user.subscription('main')).swapItem('seat', 'support')
      expect(shown(made)).toEqual(['monthly × 1', 'support × 1'])
    }
    await expect(made.swapItem('seat', 'none')).rejects.toThrow(ItemNotFound)
    await expect(made.addPrice('no-such-price')).rejects.toThrow(UnknownPrice)
    await expect(made.removePrice('monthly')).rejects.toThrow(InvalidArgument)
    // A swap to one plan keeps the other prices; a swap to a list replaces all of them.
    made = await made.swap('pro')
    expect(shown(made)).toEqual(['pro × 1', 'support × 1'])
    made = await made.swap([{ price: 'monthly' }, { price: 'seat', quantity: 4 }])
    expect(shown(made)).toEqual(['monthly × 1', 'seat × 4'])
    made = await made.swap([{ price: 'pro' }, { price: 'seat' }])
    expect(shown(made)).toEqual(['pro × 1', 'seat × 4'])
    for (let i = 0; i < 2; i++) {
      made = await (await user.subscription('main')).removePrice('seat')
      expect(shown(made)).toEqual(['pro × 1'])
    }
    expect(countProviderSubscriptions(test, user)).toBe(1)
    const customer = (await test.billing.user(user.id)).providerId ?? ''
    expect(await readTableState(test.database, user.id)).toEqual(
      readSandboxState(test.sandbox, provider, customer),
    )
  })

  it('are prorated for the rest of the period in which they were added, and charged in full from the next invoice on', async () => {
    const test = await startHalfway(given)
    const { user, sandbox } = test
    // 15 January to 15 February: 31 days. On the 30th, 16 are left; at Stripe 14 hours less.
    await sandbox.clock.advance({ days: 15 })
    const before = sumChargedCents(test, user)
    await test.made.addPriceAndInvoice('seat', 2)
    const share = Math.round((1000 * 16) / 31)
    expect(sumChargedCents(test, user) - before).toBe(share)
    await sandbox.clock.advance({ days: 17 })
    expect(sumChargedCents(test, user) - before - share).toBe(2000)
  })

  it('stay unchanged if the payment for a change is declined', async () => {
    const test = await startHalfway(given)
    const { user, sandbox } = test
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    sandbox.trouble.declineNextCharge((await test.billing.user(user.id)).providerId ?? '', code)
    await expect(test.made.addPriceAndInvoice('seat', 2)).rejects.toThrow(PaymentFailed)
    expect(shown(await user.subscription('main'))).toEqual(['monthly × 1'])
    await test.made.addPriceAndInvoice('seat', 2)
    expect(shown(await user.subscription('main'))).toEqual(['monthly × 1', 'seat × 2'])
  })

  it('can be changed in the grace period without resuming the subscription', async () => {
    const test = await startHalfway(given)
    await test.made.cancel()
    const made = await test.made.addPrice('seat')
    expect([shown(made), made.onGracePeriod()]).toEqual([['monthly × 1', 'seat × 1'], true])
    expect(sumChargedCents(test, test.user)).toBe(1500)
  })
})

it('a swap to another interval at Braintree needs a list of the add-ons to keep', async () => {
  const test = await startHalfway({ provider: 'braintree', card: CARD.braintree } as ProviderCase)
  const made = await test.made.addPrice('seat', 2)
  await expect(made.swap('yearly')).rejects.toThrow(InvalidArgument)
  const swapped = await made.swap([{ price: 'yearly' }, { price: 'seat', quantity: 12 }])
  expect(shown(swapped)).toEqual(['yearly × 1', 'seat × 12'])
  expect(countProviderSubscriptions(test, test.user)).toBe(2)
})

it('a plan at Braintree has no quantity, even if add-ons have one', async () => {
  const test = await startHalfway({ provider: 'braintree', card: CARD.braintree } as ProviderCase)
  await expect(test.made.updateQuantity(2)).rejects.toThrow(Unsupported)
  await expect(test.made.updateQuantity(2, 'monthly')).rejects.toThrow(Unsupported)
  await expect(test.made.swap([{ price: 'pro', quantity: 2 }])).rejects.toThrow(Unsupported)
})

it('a change of the tax percentage at Braintree applies to add-ons too', async () => {
  let tax = 10
  const test = await start('braintree', { webhooks: false, taxPercentage: () => tax })
  defineSeats(test)
  const { user } = test
  const made = await user.newSubscription('main', 'monthly').price('seat', 2).create(CARD.braintree)
  expect(sumChargedCents(test, user)).toBe(1100 + 2 * 550)
  tax = 20
  await made.syncTaxPercentage()
  await made.syncTaxPercentage()
  await made.noProrate().addPrice('support')
  await test.sandbox.clock.advance({ months: 1 })
  expect(sumChargedCents(test, user)).toBe(1100 + 2 * 550 + 1200 + 2 * 600 + 880)
})
