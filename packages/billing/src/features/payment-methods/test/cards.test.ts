import { describe, expect, it } from 'vitest'
import { createImpatientBilling, LOSSES, loseResponse } from '../../../../test/lost-answers.ts'
import { PROVIDERS, start, stripeSdk, sumChargedCents } from '../../../../test/support.ts'
import {
  InvalidPaymentToken,
  type PendingConfirmation,
  ProviderUnavailable,
} from '../../../index.ts'
import type { BillingTest } from '../../../testing/index.ts'

async function braintreeSdk({ sandbox }: BillingTest) {
  const { default: braintree } = await import('braintree')
  return new braintree.BraintreeGateway(sandbox.braintree.config as never)
}

describe('a card that requires authentication, used for a trial', () => {
  it('starts the trial at Stripe, and can be confirmed until the trial ends', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const subscription = await user
      .newSubscription('main', 'monthly')
      .trialDays(10)
      .create('pm_card_authenticationRequiredOnSetup')
    expect(await user.subscribed('main')).toBe(true)
    const pending = (await subscription.pendingConfirmation()) as PendingConfirmation
    expect(pending).toEqual({
      kind: 'setup',
      id: expect.stringMatching(/^seti_/),
      clientSecret: expect.stringContaining('_secret_'),
    })
    sandbox.stripe.completeAuthentication(pending.id)
    expect(await subscription.pendingConfirmation()).toBeNull()
    await test.advance({ days: 11 })
    expect(sumChargedCents(test, user)).toBe(1000)
  })

  it('leads to an open invoice at Stripe, which the customer has to confirm, if the card was not confirmed before the trial ended', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    await user
      .newSubscription('main', 'monthly')
      .trialDays(10)
      .create('pm_card_authenticationRequired')
    await test.advance({ days: 11 })
    expect(sumChargedCents(test, user)).toBe(0)
    const subscription = await user.subscription('main')
    const pending = (await subscription.pendingConfirmation()) as PendingConfirmation
    expect(pending).toMatchObject({ kind: 'payment', id: expect.stringMatching(/^pi_/) })
    sandbox.stripe.completeAuthentication(pending.id)
    await test.settle()
    expect(sumChargedCents(test, user)).toBe(1000)
    expect(await subscription.pendingConfirmation()).toBeNull()
  })

  it('needs no later confirmation at Braintree, where the browser authenticates the customer beforehand', async () => {
    const { user } = await start('braintree')
    const subscription = await user
      .newSubscription('main', 'monthly')
      .trialDays(10)
      .create('fake-valid-visa-nonce')
    expect(await subscription.pendingConfirmation()).toBeNull()
  })
})

describe('the stored card at Stripe', () => {
  it('is removed from our database row when it is detached at Stripe', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    const stripe = await stripeSdk(test)
    const { data } = await stripe.customers.listPaymentMethods(user.providerId ?? '')
    await stripe.paymentMethods.detach(data[0]?.id ?? '')
    // The detached card no longer names its customer.
    const [event] = test.sandbox.stripe.events('payment_method.detached')
    expect(event).toMatchObject({ data: { previous_attributes: { customer: user.providerId } } })
    await test.settle()
    expect(await test.billing.user(user.id)).toMatchObject({ cardBrand: null, cardLastFour: null })
  })

  it('is updated when the default card is changed in Stripe’s dashboard', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.updateCard('pm_card_visa')
    const stripe = await stripeSdk(test)
    const customer = user.providerId ?? ''
    const { id } = await stripe.paymentMethods.attach('pm_card_mastercard', { customer })
    await stripe.customers.update(customer, { invoice_settings: { default_payment_method: id } })
    await test.settle()
    expect(await test.billing.user(user.id)).toMatchObject({
      cardBrand: 'mastercard',
      cardLastFour: '4444',
    })
  })
})

describe('the stored payment method at Braintree', () => {
  it('is replaced by the remaining payment method when the customer revokes it', async () => {
    const test = await start('braintree')
    const { user, sandbox } = test
    await user.updateCard('fake-valid-visa-nonce')
    await user.updateCard('fake-paypal-billing-agreement-nonce')
    expect(user.paypalEmail).toBe('jane.doe@paypal.com')
    const paypal = sandbox.braintree
      .paymentMethods(user.providerId ?? '')
      .find(({ isDefault }) => isDefault)
    sandbox.braintree.notify('payment_method_revoked_by_customer', paypal?.token ?? '')
    await (await braintreeSdk(test)).paymentMethod.delete(paypal?.token ?? '')
    await test.settle()
    expect(await test.billing.user(user.id)).toMatchObject({
      paypalEmail: null,
      cardBrand: 'Visa',
    })
  })
})

describe.each(PROVIDERS)('updateCard() at $provider', (given) => {
  const { provider, card } = given

  /**
   * A nonce works once. Stripe's test value would create a second card if it were sent again under
   * another key.
   */
  const newCard = ({ sandbox }: BillingTest) =>
    provider === 'braintree' ? sandbox.braintree.createNonce() : 'pm_card_mastercard'

  it.each(LOSSES)(
    'adds one card when it is repeated with the same token after a lost response (kind of failure: %s)',
    async (how) => {
      let wasHit = true
      for (let call = 0; wasHit; call++) {
        const test = await start(provider, { webhooks: false })
        const { user, sandbox } = test
        await user.newSubscription('main', 'monthly').create(card)
        const token = newCard(test)
        const other = await createImpatientBilling(test).user(user.id)
        loseResponse(test, provider, { after: call, how })
        const failed = await other.updateCard(token).catch((error: unknown) => error)
        wasHit = sandbox.trouble.takeCallTrouble(provider) === null
        sandbox.trouble.clear()
        if (failed) expect(failed).toBeInstanceOf(ProviderUnavailable)
        if (wasHit) await other.updateCard(token)
        expect(await methodsOf(test)).toBe(2)
        const { cardLastFour } = await test.billing.user(user.id)
        expect(cardLastFour).toBe(provider === 'stripe' ? '4444' : '1111')
        await test.advance({ months: 1, hours: 2 })
        expect(sumChargedCents(test, user)).toBe(2000)
      }
    },
  )

  it('rejects a token that another customer has used, and keeps the current card', async () => {
    const test = await start(provider)
    const { user } = test
    await user.updateCard(card)
    const otherUser = await test.createUser()
    await expect(otherUser.updateCard(given.unknownToken)).rejects.toThrow(InvalidPaymentToken)
    if (provider === 'stripe') return
    const nonce = newCard(test)
    await otherUser.updateCard(nonce)
    await expect(user.updateCard(nonce)).rejects.toThrow(InvalidPaymentToken)
    expect(user.cardBrand).toBe('Visa')
    expect(await methodsOf(test)).toBe(1)
  })
})

/** Number of the user's payment methods at the provider. */
async function methodsOf(test: BillingTest): Promise<number> {
  const { user, sandbox } = test
  const id = user.providerId ?? ''
  if (user.provider === 'braintree') return sandbox.braintree.paymentMethods(id).length
  return (await (await stripeSdk(test)).customers.listPaymentMethods(id)).data.length
}
