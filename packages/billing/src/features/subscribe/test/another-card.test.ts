import { describe, expect, it } from 'vitest'
import { readSandboxState, readTableState } from '../../../../test/provider-truth.ts'
import { type FlowTest, start, sumChargedCents } from '../../../../test/support.ts'
import {
  AlreadySubscribed,
  type BillableUser,
  createBilling,
  InvalidArgument,
  PaymentActionRequired,
  PaymentFailed,
  ProviderChosen,
  ProviderUnavailable,
} from '../../../index.ts'

const CHALLENGED = 'pm_card_authenticationRequired'

/** Subscribes with a card that requires confirmation, and returns the id of the payment. */
async function challenge(user: BillableUser, plan = 'monthly'): Promise<string> {
  const asked = await user
    .newSubscription('main', plan)
    .create(CHALLENGED)
    .catch((error: unknown) => error)
  expect(asked).toBeInstanceOf(PaymentActionRequired)
  return (asked as PaymentActionRequired).payment.id
}

/** Expects one active subscription, no open invoice, and rows that match the provider. */
async function expectOne(test: FlowTest, plan: string, taken: number): Promise<void> {
  const { user, sandbox } = test
  await test.settle()
  expect(await user.subscribedToPlan(plan, 'main')).toBe(true)
  expect(sumChargedCents(test, user)).toBe(taken)
  const customer = user.providerId ?? ''
  const live = sandbox.stripe.subscriptions(customer).filter(({ status }) => status === 'active')
  expect(live).toHaveLength(1)
  expect(sandbox.stripe.invoices(customer).filter(({ status }) => status === 'open')).toEqual([])
  expect(await readTableState(test.database, user.id)).toEqual(
    readSandboxState(sandbox, 'stripe', customer),
  )
}

describe('create() after a failed or abandoned 3-D Secure challenge (threat N3)', () => {
  it.each(['failed', 'unanswered'])(
    'creates the subscription with another card (challenge %s)',
    async (how) => {
      const test = await start('stripe')
      const { user, sandbox } = test
      const payment = await challenge(user)
      if (how === 'failed') sandbox.stripe.failAuthentication(payment)
      await test.settle()
      const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
      expect(subscription.valid()).toBe(true)
      await expectOne(test, 'monthly', 1000)
      expect(user.cardLastFour).toBe('4242')
      // The page with the challenge may still be open: a confirmation now comes too late.
      expect(() => sandbox.stripe.completeAuthentication(payment)).toThrow()
      await test.advance({ hours: 24 })
      await expectOne(test, 'monthly', 1000)
    },
  )

  it.each(['failed', 'unanswered'])(
    'creates a subscription to another plan (challenge %s)',
    async (how) => {
      const test = await start('stripe')
      const { user, sandbox } = test
      const payment = await challenge(user)
      if (how === 'failed') sandbox.stripe.failAuthentication(payment)
      const subscription = await user.newSubscription('main', 'pro').create('pm_card_visa')
      expect(subscription.providerPlan).toBe('pro')
      expect(() => sandbox.stripe.completeAuthentication(payment)).toThrow()
      await expectOne(test, 'pro', 2500)
    },
  )

  it('charges the new card if the card was changed in the meantime', async () => {
    const test = await start('stripe')
    const { user } = test
    await challenge(user)
    await user.updateCard('pm_card_mastercard')
    await user.newSubscription('main', 'monthly').create()
    await expectOne(test, 'monthly', 1000)
  })

  it('applies a coupon that the first call did not have', async () => {
    const test = await start('stripe', { coupon: true })
    const { user, sandbox } = test
    const first = await challenge(user)
    const again = await user
      .newSubscription('main', 'monthly')
      .withCoupon('SPRING')
      .create()
      .catch((error: unknown) => error)
    const { payment } = again as PaymentActionRequired
    expect(payment.id).not.toBe(first)
    sandbox.stripe.completeAuthentication(payment.id)
    await expectOne(test, 'monthly', 700)
  })

  it('throws PaymentActionRequired for the same payment if the terms and the card are the same', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const payment = await challenge(user)
    expect(await challenge(user)).toBe(payment)
    expect(sandbox.stripe.subscriptions(user.providerId ?? '')).toHaveLength(1)
    sandbox.stripe.completeAuthentication(payment)
    await expectOne(test, 'monthly', 1000)
  })

  it('can be repeated with the same card after a failed challenge', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    sandbox.stripe.failAuthentication(await challenge(user))
    const again = await user
      .newSubscription('main', 'monthly')
      .create()
      .catch((error: unknown) => error)
    sandbox.stripe.completeAuthentication((again as PaymentActionRequired).payment.id)
    await expectOne(test, 'monthly', 1000)
  })

  it('charges once if the first payment is confirmed in another window at the same time', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const payment = await challenge(user)
    // The webhook has not arrived, so our row still says that the payment is missing.
    sandbox.stripe.completeAuthentication(payment)
    const other = user.newSubscription('main', 'pro').create('pm_card_visa')
    await expect(other).rejects.toThrow(AlreadySubscribed)
    const otherCard = user.newSubscription('main', 'monthly').create('pm_card_visa')
    await expect(otherCard).rejects.toMatchObject({ terms: [{ term: 'card' }] })
    expect((await user.newSubscription('main', 'monthly').create(CHALLENGED)).valid()).toBe(true)
    await expectOne(test, 'monthly', 1000)
  })

  it('creates one subscription if two windows choose different plans', async () => {
    const test = await start('stripe')
    const { user } = test
    await challenge(user)
    const other = await test.another().user(user.id)
    const outcomes = await Promise.allSettled([
      user.newSubscription('main', 'monthly').create('pm_card_visa'),
      other.newSubscription('main', 'pro').create('pm_card_mastercard'),
    ])
    const made = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(made).toHaveLength(1)
    expect(refused[0]).toBeInstanceOf(AlreadySubscribed)
    const plan = made[0]?.providerPlan ?? ''
    await expectOne(test, plan, plan === 'pro' ? 2500 : 1000)
  })

  it('can be repeated after any of its responses was lost', async () => {
    const test = await start('stripe', { webhooks: false })
    const { sandbox } = test
    for (let call = 0, wasHit = true; wasHit && call < 30; call++) {
      const user = await test.createUser()
      const payment = await challenge(user)
      sandbox.trouble.failNext(call, { slowMs: 0 }, 'stripe')
      sandbox.trouble.failNext(1, 'half-written', 'stripe')
      const first = await user
        .newSubscription('main', 'pro')
        .create('pm_card_visa')
        .catch((error: unknown) => error)
      wasHit = sandbox.trouble.takeCallTrouble('stripe') === null
      sandbox.trouble.clear()
      if (first instanceof Error) expect(first).toBeInstanceOf(ProviderUnavailable)
      await user.newSubscription('main', 'pro').create('pm_card_visa')
      expect(() => sandbox.stripe.completeAuthentication(payment)).toThrow()
      await expectOne({ ...test, user }, 'pro', 2500)
    }
  })
})

describe('chooseProvider()', () => {
  it.each(['challenged', 'declined'])(
    'can switch the provider after a first payment with a %s card, and switch back',
    async (how) => {
      const test = await start('stripe')
      const { user, sandbox } = test
      const card = how === 'declined' ? 'pm_card_chargeCustomerFail' : CHALLENGED
      const tried = user.newSubscription('main', 'monthly').create(card)
      const thrown = await tried.catch((error: unknown) => error)
      const customer = user.providerId ?? ''
      await user.chooseProvider('braintree')
      expect(user).toMatchObject({ provider: 'braintree', providerId: null, cardLastFour: null })
      expect(sandbox.stripe.invoices(customer).map(({ status }) => status)).toEqual(['void'])
      if (thrown instanceof PaymentActionRequired) {
        expect(() => sandbox.stripe.completeAuthentication(thrown.payment.id)).toThrow()
      }
      const declined = user.newSubscription('main', 'monthly')
      await expect(declined.create('fake-processor-declined-visa-nonce')).rejects.toThrow(
        PaymentFailed,
      )
      await user.chooseProvider('stripe')
      await user.newSubscription('main', 'pro').create('pm_card_visa')
      await test.settle()
      expect(await user.subscribedToPlan('pro', 'main')).toBe(true)
      expect(sumChargedCents(test, user)).toBe(2500)
      expect(sandbox.stripe.charges(customer).some(({ status }) => status === 'succeeded')).toBe(
        false,
      )
    },
  )

  it('is rejected while a subscription runs, after a payment, and while an invoice is unpaid', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const subscription = await user.newSubscription('main', 'monthly').create('pm_card_visa')
    await expect(user.chooseProvider('braintree')).rejects.toThrow(AlreadySubscribed)
    await subscription.cancelNow()
    await expect(user.chooseProvider('braintree')).rejects.toThrow(ProviderChosen)
    const owing = await test.createUser()
    await owing.updateCard('pm_card_visa')
    sandbox.trouble.declineNextCharge(owing.providerId ?? '', 'insufficient_funds')
    await expect(owing.invoiceFor('Setup', 5000)).rejects.toThrow(PaymentFailed)
    await expect(owing.chooseProvider('braintree')).rejects.toThrow(ProviderChosen)
    expect(user.provider).toBe('stripe')
  })

  it('rejects a provider that is not configured', async () => {
    const test = await start('stripe')
    const { stripe } = test.sandbox
    const alone = createBilling({
      database: test.database,
      users: { table: 'users' },
      stripe: { secret: stripe.apiKey, webhookSecret: 'whsec_unused', config: stripe.config },
      processEvery: false,
    })
    const user = await alone.user(test.user.id)
    await expect(user.chooseProvider('braintree')).rejects.toThrow(InvalidArgument)
  })
})

describe('a subscription that was never paid', () => {
  it('has no open invoice after cancelNow()', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const payment = await challenge(user)
    await (await user.subscription('main')).cancelNow()
    expect((await user.subscription('main')).ended()).toBe(true)
    expect(() => sandbox.stripe.completeAuthentication(payment)).toThrow()
  })
})

describe('create() after a declined first payment', () => {
  it('voids the unpaid invoice, and succeeds with another card', async () => {
    const test = await start('stripe')
    const { user, sandbox } = test
    const declined = user.newSubscription('main', 'monthly').create('pm_card_chargeCustomerFail')
    await expect(declined).rejects.toThrow(PaymentFailed)
    const [invoice] = sandbox.stripe.invoices(user.providerId ?? '')
    expect(invoice?.status).toBe('void')
    await user.newSubscription('main', 'pro').create('pm_card_visa')
    await expectOne(test, 'pro', 2500)
  })
})
