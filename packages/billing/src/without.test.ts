import { connect } from '@tollgate/database'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { type BraintreeSubscription, type BraintreeUser, createBilling } from './create-billing.ts'
import { Unsupported } from './errors.ts'
import type { BraintreeParts } from './gateways/braintree/gateway.ts'
import { BRAINTREE } from './gateways/braintree/provider.ts'
import type { Capability } from './gateways/contract/parts.ts'
import type { StripeParts } from './gateways/stripe/gateway.ts'
import type { STRIPE } from './gateways/stripe/provider.ts'
import type { Invoice } from './invoices/invoice.ts'
import { subscriptionRow } from './storage/tables.ts'
import type { SubscriptionBuilder } from './subscriptions/builder.ts'
import { SUBSCRIPTION_NEEDS } from './subscriptions/needs.ts'
import type { Subscription } from './subscriptions/subscription.ts'
import { USER_NEEDS } from './users/needs.ts'
import type { ItemQuantities, MethodsNeeding, Without } from './without.ts'

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
    type Missing = Exclude<Capability, BraintreeParts>
    type Builder = Without<Missing, SubscriptionBuilder>
    type StillThere =
      | Extract<keyof BraintreeUser, MethodsNeeding<Missing, 'user'>>
      | Extract<
          Exclude<keyof BraintreeSubscription, keyof ItemQuantities<unknown>>,
          MethodsNeeding<Missing, 'subscription'>
        >
      | Extract<keyof Builder, MethodsNeeding<Missing, 'builder'>>
      | Extract<keyof Without<Missing, Invoice>, MethodsNeeding<Missing, 'invoice'>>
    expectTypeOf<StillThere>().toEqualTypeOf<never>()
    expectTypeOf<'void'>().toExtend<MethodsNeeding<Missing, 'invoice'>>()
    expectTypeOf<'updateQuantity'>().toExtend<MethodsNeeding<Missing, 'subscription'>>()
  })

  it('is typed by what the providers say of themselves', () => {
    expectTypeOf<BraintreeParts>().toEqualTypeOf<(typeof BRAINTREE)['can'][number]>()
    expectTypeOf<StripeParts>().toEqualTypeOf<(typeof STRIPE)['can'][number]>()
  })

  it('has no quantities, for the compiler', async () => {
    const billing = createBilling<Person>({ ...(await options()), braintree })
    const user = await billing.user(1)
    expectTypeOf(user).toEqualTypeOf<BraintreeUser<Person>>()
    expectTypeOf(user.attributes).toEqualTypeOf<Person>()
    type Swapped = Awaited<ReturnType<BraintreeSubscription['swap']>>
    expectTypeOf<Swapped>().toEqualTypeOf<BraintreeSubscription>()
    expectTypeOf<Awaited<ReturnType<typeof user.subscription>>>().toEqualTypeOf<Swapped>()
    // Of the plan; other prices have them.
    type Named = [count: number, price: string]
    expectTypeOf<BraintreeSubscription['incrementQuantity']>().parameters.toEqualTypeOf<Named>()
    expectTypeOf<BraintreeSubscription['decrementQuantity']>().parameters.toEqualTypeOf<Named>()
    expectTypeOf<BraintreeSubscription['updateQuantity']>().parameter(1).toEqualTypeOf<string>()
    expectTypeOf<BraintreeSubscription>().toHaveProperty('cancelNow')
    const builder = user.newSubscription('main', 'monthly').trialDays(3).withCoupon('SPRING')
    expectTypeOf(builder).not.toHaveProperty('quantity')
    expectTypeOf(builder.create).returns.resolves.toEqualTypeOf<BraintreeSubscription>()
  })

  it('has no language, for the compiler', async () => {
    const billing = createBilling<Person>({ ...(await options()), braintree })
    const user = await billing.user(1)
    expectTypeOf(user.updateCustomer).toBeCallableWith({ name: 'Ada', address: { city: 'York' } })
    // @ts-expect-error Braintree knows no language of a customer.
    await expect(user.updateCustomer({ locale: 'de' })).rejects.toThrow(Unsupported)
    const both = createBilling<Person>({ ...(await options()), braintree, stripe })
    expectTypeOf((await both.user(1)).updateCustomer).toBeCallableWith({ locale: 'de' })
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

  it.each(missing(USER_NEEDS))('throws Unsupported before any call of user.%s()', async (...of) => {
    const billing = createBilling({ ...(await options()), braintree })
    await expectUnsupported(await billing.user(1), of)
  })

  it.each(missing(SUBSCRIPTION_NEEDS))(
    'throws Unsupported before any call of subscription.%s()',
    async (...of) => {
      const { database, ...others } = await options()
      const billing = createBilling({ database, ...others, braintree })
      const user = await billing.user(1)
      const row = subscriptionRow.toRow({
        owner: user.owner,
        name: 'main',
        provider: 'braintree',
        providerId: 'tg-1',
        providerCustomer: null,
        providerPlan: 'monthly',
        providerStatus: 'Active',
        quantity: 1,
        trialEndsAt: null,
        endsAt: null,
        disputedAt: null,
        pausedAt: null,
        plannedPlan: null,
        plannedAt: null,
        createdAt: new Date(0),
        updatedAt: new Date(0),
      })
      await database.kysely.insertInto('subscriptions').values(row).execute()
      await expectUnsupported(await user.subscription('main'), of)
    },
  )
})

/** The methods that Braintree cannot do, with the part that each needs. */
function missing(needs: Readonly<Record<string, Capability>>): [string, Capability][] {
  const can: readonly Capability[] = BRAINTREE.can
  return Object.entries(needs).filter(([, part]) => !can.includes(part))
}

/** Plain JavaScript asks, whatever the compiler says. No server has this address: a call would fail otherwise. */
async function expectUnsupported(of: object, [method, part]: [string, Capability]): Promise<void> {
  const methods = of as Readonly<Record<string, () => Promise<unknown>>>
  const thrown = await methods[method]?.().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(Unsupported)
  expect(thrown).toMatchObject({ provider: 'braintree', capability: part })
}

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
