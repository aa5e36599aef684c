import { describe, expect, it } from 'vitest'
import { type BillingError, money } from '../../src/index.ts'
import type { BillingTest } from '../../src/testing/index.ts'
import { PROVIDERS, type ProviderCase, start } from '../support.ts'
import { catchError, withoutCalls } from './no-calls.ts'

interface Row {
  readonly act: (test: BillingTest, given: ProviderCase) => unknown
  readonly code: string
  readonly status: number
  readonly message: RegExp
}

const main = ({ user }: BillingTest, plan = 'monthly') => user.newSubscription('main', plan)

/** Calls that are rejected before any request is sent, with the expected error. */
const BEFORE_ANY_CALL: Readonly<Record<string, Row>> = {
  'a charge of a negative amount': {
    act: ({ user }) => user.charge(-5),
    code: 'invalid_amount',
    status: 400,
    message: /-.* usd is not a valid amount/,
  },
  'a charge of zero': {
    act: ({ user }) => user.charge(0),
    code: 'invalid_amount',
    status: 400,
    message: /0.00 usd is not a valid amount/,
  },
  'a charge of half a cent': {
    act: ({ user }) => user.charge(10.005),
    code: 'invalid_amount',
    status: 400,
    message: /10.005 is not/,
  },
  'an invoice of a negative amount': {
    act: ({ user }) => user.invoiceFor('Setup', money(-1, 'usd')),
    code: 'invalid_amount',
    status: 400,
    message: /-0.01 usd is not a valid amount/,
  },
  'an invoice without a description': {
    act: ({ user }) => user.invoiceFor(' ', 5),
    code: 'invalid_argument',
    status: 400,
    message: /description is empty/,
  },
  'a charge without a customer': {
    act: ({ user }, { ten }) => user.charge(ten),
    code: 'no_customer',
    status: 400,
    message: /no customer yet: call updateCard/,
  },
  'an empty plan': {
    act: (test) => main(test, ''),
    code: 'invalid_argument',
    status: 400,
    message: /plan is empty/,
  },
  'a plan that is not in the configured prices': {
    act: async (test, { card }) =>
      main({ ...test, user: await named(test).user(1) } as BillingTest, 'gold').create(card),
    code: 'unknown_price',
    status: 400,
    message: /'gold' is not one of .*prices: monthly, yearly/,
  },
  'an empty coupon': {
    act: (test) => main(test).withCoupon(''),
    code: 'invalid_argument',
    status: 400,
    message: /coupon is empty/,
  },
  'an empty token': {
    act: (test) => main(test).create(''),
    code: 'invalid_argument',
    status: 400,
    message: /card token is empty/,
  },
  'updateCard() with an empty token': {
    act: ({ user }) => user.updateCard(''),
    code: 'invalid_argument',
    status: 400,
    message: /card token is empty/,
  },
  'a trial of -1 days': {
    act: (test) => main(test).trialDays(-1),
    code: 'invalid_argument',
    status: 400,
    message: /trial of -1 days; expected 0 to 730/,
  },
  'a quantity of half a seat': {
    act: (test) => main(test).quantity(0.5),
    code: 'invalid_argument',
    status: 400,
    message: /0.5 is not a quantity/,
  },
  'a subscription that does not exist': {
    act: ({ user }) => user.subscription('main'),
    code: 'no_subscription',
    status: 404,
    message: /no subscription 'main'/,
  },
  'an invoice that does not exist': {
    act: ({ user }) => user.downloadInvoice('in_1', { vendor: 'V', product: 'P' }),
    code: 'invoice_not_found',
    status: 404,
    message: /no such invoice/,
  },
  'a user that does not exist': {
    act: ({ billing }) => billing.user(404),
    code: 'user_not_found',
    status: 404,
    message: /no user 404/,
  },
}
for (const percentage of [-1, 100.01, 101, 7.125, Number.NaN, '19']) {
  Object.assign(BEFORE_ANY_CALL, {
    [`a tax of ${typeof percentage === 'string' ? 'text' : percentage}`]: {
      act: async (test: BillingTest, { card }: ProviderCase) => {
        const taxed = test.another({ taxPercentage: () => percentage as number })
        await (await taxed.user(1)).newSubscription('main', 'monthly').create(card)
      },
      code: 'invalid_tax_percentage',
      status: 400,
      message: /taxPercentage returned .*; expected 0 to 100 with at most two decimals/,
    } satisfies Row,
  })
}

function named({ another, sandbox }: BillingTest) {
  const prices = ['monthly', 'yearly']
  const { stripe, braintree } = sandbox
  return another({
    stripe: { secret: stripe.apiKey, webhookSecret: 'whsec', config: stripe.config, prices },
    braintree: { ...braintree.config, prices } as never,
  })
}

describe.each(PROVIDERS)('input checks before any request, at $provider', (given) => {
  it.each(Object.entries(BEFORE_ANY_CALL))('reject %s', async (_name, row) => {
    const test = await start(given.provider, { webhooks: false })
    const error = (await withoutCalls(test, () =>
      catchError(() => row.act(test, given)),
    )) as BillingError
    expect(error).toMatchObject({ code: row.code, status: row.status })
    expect(error.message).toMatch(row.message)
    expect(error.name).toBe(error.constructor.name)
  })
})

describe.each(PROVIDERS)('the errors of calls at $provider', (given) => {
  const { provider, card, ten, unknownToken } = given
  const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
  const providerCode = provider === 'stripe' ? 'card_declined' : '2001'

  it('charge() and invoiceFor() throw PaymentFailed when the card is declined', async () => {
    const { user, sandbox } = await start(provider)
    await user.updateCard(card)
    for (const pay of [() => user.charge(ten), () => user.invoiceFor('Setup', ten)]) {
      sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
      expect(await catchError(pay)).toMatchObject({
        name: 'PaymentFailed',
        code: 'payment_failed',
        status: 402,
        provider,
        providerCode,
        message: expect.stringMatching(/insufficient funds/i),
      })
    }
  })

  it('resume() outside of the grace period throws NotOnGracePeriod, and no request is sent', async () => {
    const test = await start(provider, { webhooks: false })
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    const refused = { name: 'NotOnGracePeriod', code: 'not_on_grace_period', status: 409 }
    const resume = () => withoutCalls(test, () => catchError(() => subscription.resume()))
    expect(await resume()).toMatchObject(refused)
    await subscription.cancelNow()
    expect(await resume()).toMatchObject(refused)
  })

  it.each([
    ['plan', 'UnknownPrice', 'unknown_price'],
    ['coupon', 'UnknownCoupon', 'unknown_coupon'],
    ['token', 'InvalidPaymentToken', 'invalid_payment_token'],
  ])('create() with an unknown %s throws %s', async (what, name, ours) => {
    const { user } = await start(provider)
    const builder = user.newSubscription('main', what === 'plan' ? 'none' : 'monthly')
    const wanted = what === 'coupon' ? builder.withCoupon('NONE') : builder
    const error = await catchError(() => wanted.create(what === 'token' ? unknownToken : card))
    expect(error).toMatchObject({ name, code: ours, status: 400, provider })
    expect(await user.subscriptions()).toEqual([])
  })

  it('swap() to an unknown plan changes nothing', async () => {
    const { user } = await start(provider)
    const subscription = await user.newSubscription('main', 'monthly').create(card)
    expect(await catchError(() => subscription.swap('none'))).toMatchObject({
      code: 'unknown_price',
    })
    expect(await user.subscribedToPlan('monthly', 'main')).toBe(true)
  })

  it('every change of an ended subscription throws an error, and no request is sent', async () => {
    const test = await start(provider, { webhooks: false })
    const subscription = await test.user.newSubscription('main', 'monthly').create(card)
    await subscription.cancelNow()
    const error = await withoutCalls(test, () => catchError(() => subscription.swap('pro')))
    expect(error).toMatchObject({ code: 'subscription_ended', status: 409 })
  })

  it('create() with another plan under an existing name throws an error', async () => {
    const { user } = await start(provider)
    await user.newSubscription('main', 'monthly').create(card)
    expect(await catchError(() => user.newSubscription('main', 'pro').create())).toMatchObject({
      code: 'already_subscribed',
      status: 409,
      message:
        "There is a subscription 'main' already, with other terms: plan is 'monthly', asked for 'pro' (use swap())",
    })
  })

  it('a provider that does not respond is reported as unavailable, without a secret in the message', async () => {
    const { user, sandbox } = await start(provider, { webhooks: false })
    sandbox.trouble.failNext(3, '500', provider)
    const error = (await catchError(() => user.updateCard(card))) as BillingError
    expect(error).toMatchObject({ code: 'provider_unavailable', status: 503, provider })
    expect(error.message).not.toContain(card)
  })
})

describe.each(PROVIDERS)('the limits at $provider', ({ provider, card }) => {
  it.each([0, 0.01, 19, 19.25, 100])('allow a tax of %d percent', async (percentage) => {
    const test = await start(provider, { taxPercentage: () => percentage, webhooks: false })
    await test.user.newSubscription('main', 'monthly').create(card)
    const [invoice] = await test.user.invoicesIncludingPending()
    expect(invoice?.rawTotal().amount).toBe(1000 + Math.round(percentage * 10))
  })

  it('include the number of failed charges after which the provider ends a subscription, normally three', async () => {
    const test = await start(provider)
    const { user, sandbox } = test
    await user.newSubscription('main', 'monthly').create(card)
    const code = provider === 'stripe' ? 'insufficient_funds' : '2001'
    for (let n = 0; n < 10; n++) sandbox.trouble.declineNextCharge(user.providerId ?? '', code)
    await test.advance({ days: 32 })
    expect(await user.subscribed('main')).toBe(true)
    await test.advance({ days: 40 })
    expect(await user.subscribed('main')).toBe(false)
  })
})
