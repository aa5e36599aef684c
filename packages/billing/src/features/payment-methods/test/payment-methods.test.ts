import { describe, expect, it } from 'vitest'
import {
  countProviderCustomers,
  type FlowTest,
  PROVIDERS,
  start,
  stripeSdk,
  sumChargedCents,
} from '../../../../test/support.ts'
import {
  type BillableUser,
  InvalidArgument,
  InvalidPaymentToken,
  PaymentActionRequired,
  PaymentMethodInUse,
  PaymentMethodNotFound,
  ProviderUnavailable,
  Unsupported,
} from '../../../index.ts'

const shown = (user: BillableUser) => [user.cardBrand, user.cardLastFour, user.cardExpires]

describe.each(PROVIDERS)('payment methods at $provider', (given) => {
  const { provider, card, otherCard, otherLastFour, brand } = given

  /**
   * Braintree's nonces work once, like real ones. Stripe's test value is another card each time.
   */
  const newCard = ({ sandbox }: FlowTest) =>
    provider === 'braintree' ? sandbox.braintree.createNonce() : 'pm_card_amex'

  it('are an empty list for a user without a customer, and reading the list creates no customer', async () => {
    const test = await start(provider)
    const { user } = test
    expect(await user.paymentMethods()).toEqual([])
    expect(await user.defaultPaymentMethod()).toBeNull()
    expect(await user.hasPaymentMethod()).toBe(false)
    await user.deletePaymentMethods()
    await user.deletePaymentMethod('none')
    await expect(user.updateDefaultPaymentMethod('none')).rejects.toThrow(PaymentMethodNotFound)
    await expect(user.addPaymentMethod('')).rejects.toThrow(InvalidArgument)
    expect(countProviderCustomers(test, provider)).toBe(0)
  })

  it('can be added, the first one as the default, and are listed newest first', async () => {
    const test = await start(provider)
    const { user } = test
    const first = await user.addPaymentMethod(card)
    expect(first).toMatchObject({ kind: 'card', brand, isDefault: true, email: null, bank: null })
    const { expires } = first
    const month = String(expires?.month).padStart(2, '0')
    expect(shown(user)).toEqual([brand, first.lastFour, `${expires?.year}-${month}`])
    await test.advance({ hours: 1 })
    const second = await user.addPaymentMethod(otherCard)
    expect(second).toMatchObject({ lastFour: otherLastFour, isDefault: false })
    expect(user.cardLastFour).toBe(first.lastFour)
    const listed = await user.paymentMethods()
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await user.findPaymentMethod(second.id)).toMatchObject({ lastFour: otherLastFour })
    expect(await user.findPaymentMethod('none')).toBeNull()
    expect((await user.defaultPaymentMethod())?.id).toBe(first.id)
    expect([await user.hasPaymentMethod('card'), await user.hasPaymentMethod('paypal')]).toEqual([
      true,
      false,
    ])
    await test.advance({ hours: 1 })
    const third = await user.addPaymentMethod(newCard(test), { makeDefault: true })
    expect(third.isDefault).toBe(true)
    expect(user.cardLastFour).toBe(third.lastFour)
    const defaults = (await user.paymentMethods()).filter(({ isDefault }) => isDefault)
    expect(defaults.map(({ id }) => id)).toEqual([third.id])
  })

  it('can be made the default, which then pays for running subscriptions', async () => {
    const test = await start(provider)
    const { user } = test
    await user.newSubscription('main', 'monthly').create(card)
    const bad = await user.addPaymentMethod(otherCard)
    await user.updateDefaultPaymentMethod(bad.id)
    await user.updateDefaultPaymentMethod(bad.id)
    expect(user.cardLastFour).toBe(otherLastFour)
    expect((await test.billing.user(user.id)).cardLastFour).toBe(otherLastFour)
    const old = (await user.paymentMethods()).find(({ isDefault }) => !isDefault)
    await user.deletePaymentMethod(old?.id ?? '')
    expect(await user.subscribed('main')).toBe(true)
    await test.advance({ months: 1, hours: 2 })
    expect(sumChargedCents(test, user)).toBe(2000)
  })

  it('cannot be deleted while a subscription is billed to them', async () => {
    const test = await start(provider)
    const { user } = test
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    const [method] = await user.paymentMethods()
    const other = await user.addPaymentMethod(otherCard)
    const id = method?.id ?? ''
    await expect(user.deletePaymentMethod(id)).rejects.toThrow(PaymentMethodInUse)
    await expect(user.deletePaymentMethods()).rejects.toThrow(PaymentMethodInUse)
    await expect(user.deletePaymentMethods('card')).rejects.toThrow(PaymentMethodInUse)
    expect(await user.paymentMethods()).toHaveLength(2)
    await user.deletePaymentMethods('paypal')
    await user.deletePaymentMethod(other.id)
    await user.deletePaymentMethod(other.id)
    expect(await user.paymentMethods()).toHaveLength(1)
    await subscription.cancel()
    // In its grace period a subscription can still be resumed.
    await expect(user.deletePaymentMethod(id)).rejects.toThrow(PaymentMethodInUse)
    await subscription.cancelNow()
    await user.deletePaymentMethods()
    expect(await user.paymentMethods()).toEqual([])
    expect(shown(user)).toEqual([null, null, null])
    // A deleted payment method can be added again.
    await user.addPaymentMethod(card)
    await user.newSubscription('main', 'monthly').create()
    expect(await user.subscribed('main')).toBe(true)
  })

  it('cannot be read, made the default or deleted by another user', async () => {
    const test = await start(provider)
    const { user } = test
    const { id } = await user.addPaymentMethod(card)
    const otherUser = await test.createUser({ email: 'mallory@example.com' })
    await otherUser.addPaymentMethod(newCard(test))
    const before = await user.paymentMethods()
    expect(await otherUser.findPaymentMethod(id)).toBeNull()
    await expect(otherUser.updateDefaultPaymentMethod(id)).rejects.toThrow(PaymentMethodNotFound)
    await otherUser.deletePaymentMethod(id)
    await expect(otherUser.addPaymentMethod(id)).rejects.toThrow(InvalidPaymentToken)
    await otherUser.deletePaymentMethods()
    expect(await otherUser.paymentMethods()).toEqual([])
    const after = await user.paymentMethods()
    expect(after.map((each) => [each.id, each.isDefault])).toEqual(
      before.map((each) => [each.id, each.isDefault]),
    )
  })

  it('are not added if the token is unknown', async () => {
    const { user } = await start(provider)
    await expect(user.addPaymentMethod(given.unknownToken)).rejects.toThrow(InvalidPaymentToken)
    expect(await user.paymentMethods()).toEqual([])
    expect(user.cardBrand).toBeNull()
  })

  it('are added once by twenty concurrent calls with one token', async () => {
    const test = await start(provider)
    const { user } = test
    const token = newCard(test)
    const made = await Promise.all(
      Array.from({ length: 20 }, () => user.addPaymentMethod(token, { makeDefault: true })),
    )
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(await user.paymentMethods()).toHaveLength(1)
    expect(countProviderCustomers(test, provider)).toBe(1)
  })

  it('have an expiry and a label', async () => {
    const test = await start(provider)
    const { user } = test
    const method = await user.addPaymentMethod(card)
    const { month, year } = method.expires ?? { month: 0, year: 0 }
    expect(method.isExpiring()).toBe(false)
    expect(method.isExpiring(new Date(Date.UTC(year, month) - 1))).toBe(false)
    expect(method.isExpiring(new Date(Date.UTC(year, month)))).toBe(true)
    expect(method.label()).toBe(`Visa •••• ${method.lastFour}`)
  })
})

describe('payment methods at Stripe', () => {
  it('are updated after changes reported by the bank, such as a new expiry date', async () => {
    const test = await start('stripe')
    const { user } = test
    const { id } = await user.addPaymentMethod('pm_card_visa')
    const stripe = await stripeSdk(test)
    await stripe.paymentMethods.update(id, { card: { exp_month: 2, exp_year: 2026 } })
    await test.settle()
    expect((await test.billing.user(user.id)).cardExpires).toBe('2026-02')
    const method = await user.defaultPaymentMethod()
    // It is the middle of January: the card works until the end of February.
    expect([method?.isExpiring(), method?.isExpiring(new Date('2026-03-01'))]).toEqual([
      false,
      true,
    ])
    await test.advance({ days: 20 })
    expect((await user.defaultPaymentMethod())?.isExpiring()).toBe(true)
  })

  it('can be added with a setup intent, which other users cannot find', async () => {
    const test = await start('stripe')
    const { user } = test
    const pending = await user.createSetupIntent()
    expect(pending).toMatchObject({ kind: 'setup', clientSecret: expect.any(String) })
    expect(user.providerId).not.toBeNull()
    const { id } = pending
    expect(await user.findSetupIntent(id)).toEqual({
      ...{ id, status: 'needs_method', confirmation: pending, paymentMethod: null },
    })
    const otherUser = await test.createUser({ email: 'mallory@example.com' })
    expect(await otherUser.findSetupIntent(pending.id)).toBeNull()
    await otherUser.updateCard('pm_card_visa')
    expect(await otherUser.findSetupIntent(pending.id)).toBeNull()
    for (const none of ['seti_none', 'pi_1', '../customers']) {
      expect(await user.findSetupIntent(none)).toBeNull()
    }
    // Does what the script in the browser does.
    const stripe = await stripeSdk(test)
    const payment_method = 'pm_card_authenticationRequired'
    await stripe.setupIntents.confirm(pending.id, { payment_method })
    expect(await user.findSetupIntent(id)).toMatchObject({
      ...{ status: 'needs_action', confirmation: pending, paymentMethod: null },
    })
    test.sandbox.stripe.completeAuthentication(pending.id)
    const [method] = await user.paymentMethods()
    expect(await user.findSetupIntent(id)).toEqual({
      ...{ id, status: 'succeeded', confirmation: null, paymentMethod: method?.id },
    })
    expect(method).toMatchObject({ lastFour: '3184', isDefault: false })
    await user.updateDefaultPaymentMethod(method?.id ?? '')
    expect(user.cardLastFour).toBe('3184')
  })

  it('are read from the setup intent of the right browser tab, even if several tabs add cards concurrently', async () => {
    const test = await start('stripe')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('pm_card_amex')
    const stripe = await stripeSdk(test)
    const [first, second, third] = [
      await user.createSetupIntent(),
      await user.createSetupIntent(),
      await user.createSetupIntent(),
    ]
    // The code of the return route in the guide.
    const comeBack = async ({ id }: { readonly id: string }) => {
      const setup = await user.findSetupIntent(id)
      if (setup?.paymentMethod) await user.updateDefaultPaymentMethod(setup.paymentMethod)
      return [setup?.status, user.cardLastFour]
    }
    await stripe.setupIntents.confirm(first.id, { payment_method: 'pm_card_visa' })
    await stripe.setupIntents.confirm(second.id, { payment_method: 'pm_card_mastercard' })
    expect(await comeBack(third)).toEqual(['needs_method', '8431'])
    await stripe.setupIntents.cancel(third.id)
    expect(await comeBack(third)).toEqual(['cancelled', '8431'])
    expect(await comeBack(first)).toEqual(['succeeded', '4242'])
    expect(await comeBack(second)).toEqual(['succeeded', '4444'])
    expect(await comeBack(third)).toEqual(['cancelled', '4444'])
  })

  it.each(['saved-500', 'made-500'] as const)(
    'can be added with a setup intent after Stripe answered an earlier attempt with a 500 (case: %s)',
    async (trouble) => {
      const test = await start('stripe')
      const { user, sandbox } = test
      await user.updateCard('pm_card_visa')
      for (let call = 0, wasHit = true; wasHit && call < 8; call++) {
        sandbox.trouble.failNext(call, { slowMs: 0 }, 'stripe')
        sandbox.trouble.failNext(1, trouble, 'stripe')
        const made = await user.createSetupIntent().catch((error: unknown) => error)
        wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
        sandbox.trouble.clear()
        if (made instanceof Error) expect(made).toBeInstanceOf(ProviderUnavailable)
        else expect(made).toMatchObject({ kind: 'setup' })
      }
    },
  )

  it('can be added on a hosted page, which makes the card the default', async () => {
    const test = await start('stripe')
    const { user } = test
    const form = await user.paymentForm({ successPath: '/billing', cancelPath: '/billing' })
    expect(form).toMatchObject({ kind: 'redirect', url: expect.stringMatching(/^http/) })
    const stripe = await stripeSdk(test)
    const { data } = await stripe.checkout.sessions.list({ customer: user.providerId ?? '' })
    test.sandbox.stripe.completeCheckout(data[0]?.id ?? '')
    await user.completeCheckout(data[0]?.id ?? '')
    expect(await user.defaultPaymentMethod()).toMatchObject({ kind: 'card', isDefault: true })
    await expect(user.clientToken()).rejects.toThrow(Unsupported)
  })
})

describe('payment methods at Braintree', () => {
  it('include PayPal accounts', async () => {
    const test = await start('braintree')
    const { user } = test
    await user.addPaymentMethod('fake-valid-visa-nonce')
    const paypal = await user.addPaymentMethod('fake-paypal-billing-agreement-nonce', {
      makeDefault: true,
    })
    expect(paypal).toMatchObject({ kind: 'paypal', email: 'jane.doe@paypal.com', lastFour: null })
    expect([paypal.label('de'), paypal.isExpiring(new Date('2099-01-01'))]).toEqual([
      'PayPal (jane.doe@paypal.com)',
      false,
    ])
    expect(shown(user)).toEqual([null, null, null])
    expect(user.paypalEmail).toBe('jane.doe@paypal.com')
    expect(await user.paymentMethods('paypal')).toHaveLength(1)
    await user.deletePaymentMethods('paypal')
    // Braintree makes the remaining one the default.
    expect([user.cardBrand, user.paypalEmail]).toEqual(['Visa', null])
  })

  it('can be added with the application’s own form and a client token for the customer', async () => {
    const test = await start('braintree')
    const { user } = test
    const read = (token: string) => JSON.parse(Buffer.from(token, 'base64').toString())
    const anonymous = await user.paymentForm({ successPath: '/billing' })
    if (anonymous.kind !== 'token') throw new Error('Braintree has no page for that')
    expect(read(anonymous.clientToken)).toHaveProperty('authorizationFingerprint')
    expect(countProviderCustomers(test, 'braintree')).toBe(0)
    await user.addPaymentMethod('fake-valid-visa-nonce')
    const theirs = await user.clientToken({ makeDefault: true })
    expect(read(theirs)).toHaveProperty('authorizationFingerprint')
    await expect(user.createSetupIntent()).rejects.toThrow(Unsupported)
    await expect(user.findSetupIntent('seti_1')).rejects.toThrow(Unsupported)
  })

  it('are stored with the result of 3-D Secure', async () => {
    const test = await start('braintree')
    const { user } = test
    const nonce = 'fake-three-d-secure-two-visa-successful-step-up-authentication-nonce'
    await user.newSubscription('main', 'monthly').create(nonce)
    expect(await user.subscribed('main')).toBe(true)
    const [kept] = test.sandbox.braintree.paymentMethods(user.providerId ?? '')
    expect(kept?.verifications[0]?.threeDSecure).toMatchObject({ liabilityShifted: true })
  })

  it("are not added again if they are already in the customer's vault", async () => {
    const test = await start('braintree')
    const { user } = test
    await user.newSubscription('main', 'monthly').create('fake-valid-visa-nonce')
    const kept = await user.addPaymentMethod('fake-valid-mastercard-nonce')
    const { default: braintree } = await import('braintree')
    const sdk = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
    // A form returns this nonce for a card that the customer has already.
    const again = async () => {
      const { paymentMethodNonce } = await sdk.paymentMethodNonce.create(kept.id)
      return paymentMethodNonce.nonce
    }
    expect((await user.addPaymentMethod(await again())).id).toBe(kept.id)
    await user.updateCard(await again())
    expect(user.cardLastFour).toBe('4444')
    expect(await user.paymentMethods()).toHaveLength(2)
    const [old] = (await user.paymentMethods()).filter(({ isDefault }) => !isDefault)
    await user.deletePaymentMethod(old?.id ?? '')
    expect(await user.subscribed('main')).toBe(true)
  })
})

describe('the confirmations that a user still has to make', () => {
  it('include payments of subscriptions and invoices, and cards stored for a trial, at Stripe', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    expect(await user.pendingConfirmations()).toEqual([])
    const asked: string[] = []
    const ask = async (made: Promise<unknown>) => {
      const error = await made.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(PaymentActionRequired)
      asked.push((error as PaymentActionRequired).payment.id)
      return error as PaymentActionRequired
    }
    await ask(user.newSubscription('main', 'monthly').create('pm_card_authenticationRequired'))
    const { invoice } = await ask(user.invoiceFor('Setup', 1000))
    // The payment was off-session, so the bank did not ask. Now the customer is present.
    expect(await invoice?.pendingConfirmation()).toBeNull()
    asked.pop()
    await ask(invoice?.pay() ?? Promise.resolve())
    const trial = await user
      .newSubscription('other', 'monthly')
      .trialDays(10)
      .create('pm_card_authenticationRequiredOnSetup')
    const setup = await trial.pendingConfirmation()
    asked.push(setup?.id ?? '')
    const pending = await user.pendingConfirmations()
    expect(new Set(pending.map(({ id }) => id))).toEqual(new Set(asked))
    expect(pending.filter(({ kind }) => kind === 'setup')).toEqual([setup])
    const open = await user.findInvoice(invoice?.id ?? '')
    const ofInvoice = await open?.pendingConfirmation()
    expect(ofInvoice).toMatchObject({ kind: 'payment', id: asked[1] })
    sandbox.stripe.completeAuthentication(ofInvoice?.id ?? '')
    await test.settle()
    expect(await open?.pendingConfirmation()).toBeNull()
    expect(await user.pendingConfirmations()).toHaveLength(asked.length - 1)
    const otherUser = await test.createUser({ email: 'mallory@example.com' })
    await otherUser.updateCard('pm_card_visa')
    expect(await otherUser.pendingConfirmations()).toEqual([])
  })

  it('no longer include a payment at Stripe once another card has paid', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const error = await user
      .newSubscription('main', 'monthly')
      .create('pm_card_authenticationRequired')
      .catch((thrown: unknown) => thrown)
    sandbox.stripe.failAuthentication((error as PaymentActionRequired).payment.id)
    await test.settle()
    expect(await user.pendingConfirmations()).toEqual([])
    const other = await user.addPaymentMethod('pm_card_visa', { makeDefault: true })
    await user.newSubscription('main', 'monthly').create()
    expect(await user.subscribed('main')).toBe(true)
    expect(sumChargedCents(test, user)).toBe(1000)
    const [bad] = (await user.paymentMethods()).filter(({ id }) => id !== other.id)
    await user.deletePaymentMethod(bad?.id ?? '')
    expect(await user.pendingConfirmations()).toEqual([])
  })

  it('are none at Braintree, where the browser authenticates the customer beforehand', async () => {
    const { user } = await start('braintree')
    await user.updateCard('fake-valid-visa-nonce')
    expect(await user.pendingConfirmations()).toEqual([])
    const invoice = await user.invoiceFor('Setup', 10)
    expect(await invoice.pendingConfirmation()).toBeNull()
  })
})
