import { connect } from '@tollgate/database'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { type BraintreeSubscription, type BraintreeUser, createBilling } from './create-billing.ts'
import { Unsupported } from './errors.ts'
import type { BRAINTREE } from './gateways/braintree/provider.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import type { OptionalMethods } from './without.ts'

const braintree = {
  environment: 'sandbox',
  merchantId: 'm',
  publicKey: 'p',
  privateKey: 'k',
} as const
const stripe = { secret: 'sk_test_1', webhookSecret: 'whsec_1' }

interface Person {
  readonly country: string
}

async function options() {
  const database = await connect('sqlite::memory:')
  onTestFinished(() => database.close())
  await database.kysely.schema.createTable('users').addColumn('id', 'integer').execute()
  await database.kysely.insertInto('users').values({ id: 1 }).execute()
  return { database, users: { table: 'users' }, processEvery: false } as const
}

describe('a user where Braintree alone is configured', () => {
  it('lacks for the compiler what the provider lacks', () => {
    type Missing = Exclude<keyof OptionalMethods, (typeof BRAINTREE)['can'][number]>
    expectTypeOf<Missing>().toEqualTypeOf<'quantities'>()
  })

  it('has no quantities, for the compiler', async () => {
    const billing = createBilling<Person>({ ...(await options()), braintree })
    const user = await billing.user(1)
    expectTypeOf(user).toEqualTypeOf<BraintreeUser<Person>>()
    expectTypeOf(user.attributes).toEqualTypeOf<Person>()
    type Swapped = Awaited<ReturnType<BraintreeSubscription['swap']>>
    expectTypeOf<Swapped>().toEqualTypeOf<BraintreeSubscription>()
    expectTypeOf<Awaited<ReturnType<typeof user.subscription>>>().toEqualTypeOf<Swapped>()
    expectTypeOf<BraintreeSubscription>().not.toHaveProperty('incrementQuantity')
    expectTypeOf<BraintreeSubscription>().not.toHaveProperty('decrementQuantity')
    expectTypeOf<BraintreeSubscription>().not.toHaveProperty('updateQuantity')
    expectTypeOf<BraintreeSubscription>().toHaveProperty('cancelNow')
    const builder = user.newSubscription('main', 'monthly').trialDays(3).withCoupon('SPRING')
    expectTypeOf(builder).not.toHaveProperty('quantity')
    expectTypeOf(builder.create).returns.resolves.toEqualTypeOf<BraintreeSubscription>()
  })

  it('throws Unsupported before any call when plain JavaScript asks for one', async () => {
    // No server has this address: a call would fail in another way.
    const billing = createBilling({ ...(await options()), braintree })
    const user = await billing.user(1)
    const builder = user.newSubscription('main', 'monthly')
    // @ts-expect-error not there for the compiler
    const several = builder.quantity(2)
    const thrown = await several.create('nonce').catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Unsupported)
    expect(thrown).toMatchObject({ provider: 'braintree', capability: 'quantities' })
  })
})

describe('a user where Stripe is configured', () => {
  it.each([
    ['alone', { stripe }],
    ['with Braintree', { stripe, braintree }],
  ])('%s has quantities', async (_how, providers) => {
    const billing = createBilling<Person>({ ...(await options()), ...providers })
    const user = await billing.user(1)
    const builder = user.newSubscription('main', 'monthly').quantity(3)
    expectTypeOf(builder.create).returns.resolves.toEqualTypeOf<Subscription>()
    expect(typeof builder.create).toBe('function')
  })
})
