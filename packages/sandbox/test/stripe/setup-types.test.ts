import type Stripe from 'stripe'
import { expect, it } from 'vitest'
import { catchStripeError, startStripeSandbox } from './support.ts'

const CARD = 'pm_card_visa'
const ACCOUNT = 'pm_usBankAccount_success'
type Allowed = NonNullable<Stripe.SetupIntentCreateParams['allowed_payment_method_types']>

async function startSetup() {
  const { stripe } = await startStripeSandbox()
  const { id: customer } = await stripe.customers.create({})
  return {
    stripe,
    create: (params: Stripe.SetupIntentCreateParams) =>
      stripe.setupIntents.create({ customer, ...params }),
  }
}

it.each<[Allowed | null, string | null, string[]]>([
  [null, null, ['card']],
  [null, CARD, ['card']],
  [null, ACCOUNT, ['card', 'us_bank_account']],
  [['card'], null, ['card']],
  [['us_bank_account'], null, ['us_bank_account']],
  [['us_bank_account'], ACCOUNT, ['us_bank_account']],
  [['us_bank_account', 'card'], CARD, ['us_bank_account', 'card']],
])(
  'a new setup intent for the payment method types %j and the payment method %s has the types %j',
  async (allowed, method, types) => {
    const { create } = await startSetup()
    const intent = await create({
      ...(allowed ? { allowed_payment_method_types: allowed } : {}),
      ...(method ? { payment_method: method } : {}),
    })
    expect(intent).toMatchObject({
      allowed_payment_method_types: allowed,
      payment_method_types: types,
      status: method ? 'requires_confirmation' : 'requires_payment_method',
    })
  },
)

it('the Stripe sandbox rejects a payment method whose type the setup intent does not allow, on creation and later', async () => {
  const { stripe, create } = await startSetup()
  const allowed_payment_method_types: Allowed = ['card']
  const wrong = { statusCode: 400, param: 'payment_method', code: 'setup_intent_invalid_parameter' }
  const made = create({ allowed_payment_method_types, payment_method: ACCOUNT })
  expect(await catchStripeError(made)).toMatchObject({
    ...wrong,
    message: expect.stringContaining('(us_bank_account) is not allowed for this SetupIntent'),
  })
  const { id } = await create({ allowed_payment_method_types })
  const { update, confirm } = stripe.setupIntents
  const more = { payment_method: ACCOUNT }
  expect(await catchStripeError(update.call(stripe.setupIntents, id, more))).toMatchObject(wrong)
  expect(await catchStripeError(confirm.call(stripe.setupIntents, id, more))).toMatchObject(wrong)
  await stripe.setupIntents.update(id, { payment_method: CARD })
  const others: Allowed = ['us_bank_account']
  const narrowed = stripe.setupIntents.update(id, { allowed_payment_method_types: others })
  expect(await catchStripeError(narrowed)).toMatchObject(wrong)
  const both = { allowed_payment_method_types: others, payment_method: ACCOUNT }
  expect(await stripe.setupIntents.update(id, both)).toMatchObject({
    payment_method_types: ['us_bank_account'],
  })
})

it('the Stripe sandbox removes the type of a payment method from a setup intent that no longer uses it', async () => {
  const { stripe, create } = await startSetup()
  const { id } = await create({ payment_method: ACCOUNT })
  const changed = await stripe.setupIntents.update(id, { payment_method: CARD })
  expect(changed.payment_method_types).toEqual(['card'])
})
