import { connect } from '@tollgate/database'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { CAPABILITY_BY_METHOD } from './assemble-features.ts'
import type { BraintreeParts } from './braintree-provider.ts'
import { BRAINTREE_MANIFEST } from './braintree-provider.ts'
import { Unsupported } from './core/errors/errors.ts'
import { subscriptionRowMapper } from './core/storage/tables.ts'
import { type BraintreeSubscription, type BraintreeUser, createBilling } from './create-billing.ts'
import type { Invoice } from './features/invoices/invoice.ts'
import type { SubscriptionBuilder } from './features/subscribe/builder.ts'
import type { Capability } from './providers/gateway-parts.ts'
import type { STRIPE_MANIFEST, StripeParts } from './stripe-provider.ts'
import type { Subscription } from './subscription.ts'
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

describe('billing with Braintree as the only provider', () => {
  it('has no types for methods that Braintree does not support', () => {
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

  it('has types that depend on the capabilities of the configured providers', () => {
    expectTypeOf<BraintreeParts>().toEqualTypeOf<(typeof BRAINTREE_MANIFEST)['can'][number]>()
    expectTypeOf<StripeParts>().toEqualTypeOf<(typeof STRIPE_MANIFEST)['can'][number]>()
  })

  it('lacks the methods that change the quantity of a plan in its TypeScript types', async () => {
    const billing = createBilling<Person>({ ...(await options()), braintree })
    const user = await billing.user(1)
    expectTypeOf(user).toEqualTypeOf<BraintreeUser<Person>>()
    expectTypeOf(user.attributes).toEqualTypeOf<Person>()
    type Swapped = Awaited<ReturnType<BraintreeSubscription['swap']>>
    expectTypeOf<Swapped>().toEqualTypeOf<BraintreeSubscription>()
    expectTypeOf<Awaited<ReturnType<typeof user.subscription>>>().toEqualTypeOf<Swapped>()
    type Page = Awaited<ReturnType<typeof billing.subscriptions>>
    expectTypeOf<Page['subscriptions'][number]>().toEqualTypeOf<Swapped>()
    // A price is required: Braintree plans have no quantity, add-ons do.
    type Named = [count: number, price: string]
    expectTypeOf<BraintreeSubscription['incrementQuantity']>().parameters.toEqualTypeOf<Named>()
    expectTypeOf<BraintreeSubscription['decrementQuantity']>().parameters.toEqualTypeOf<Named>()
    expectTypeOf<BraintreeSubscription['updateQuantity']>().parameter(1).toEqualTypeOf<string>()
    expectTypeOf<BraintreeSubscription>().toHaveProperty('cancelNow')
    const builder = user.newSubscription('main', 'monthly').trialDays(3).withCoupon('SPRING')
    expectTypeOf(builder).not.toHaveProperty('quantity')
    expectTypeOf(builder.create).returns.resolves.toEqualTypeOf<BraintreeSubscription>()
  })

  it("lacks the option for a customer's language in its TypeScript types", async () => {
    const billing = createBilling<Person>({ ...(await options()), braintree })
    const user = await billing.user(1)
    expectTypeOf(user.updateCustomer).toBeCallableWith({ name: 'Ada', address: { city: 'York' } })
    // @ts-expect-error Braintree knows no language of a customer.
    await expect(user.updateCustomer({ locale: 'de' })).rejects.toThrow(Unsupported)
    const both = createBilling<Person>({ ...(await options()), braintree, stripe })
    expectTypeOf((await both.user(1)).updateCustomer).toBeCallableWith({ locale: 'de' })
  })

  it('throws Unsupported before any request when plain JavaScript calls a missing method', async () => {
    // No server has this address, so a request would fail with another error.
    const billing = createBilling({ ...(await options()), braintree })
    const user = await billing.user(1)
    const builder = user.newSubscription('main', 'monthly')
    // @ts-expect-error not there for the compiler
    const several = builder.quantity(2)
    const thrown = await several.create('nonce').catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(Unsupported)
    expect(thrown).toMatchObject({ provider: 'braintree', capability: 'quantities' })
  })

  it.each(missing(CAPABILITY_BY_METHOD.user))(
    'throws Unsupported before any request from user.%s()',
    async (...of) => {
      const billing = createBilling({ ...(await options()), braintree })
      await expectUnsupported(await billing.user(1), of)
    },
  )

  it.each(missing(CAPABILITY_BY_METHOD.subscription))(
    'throws Unsupported before any request from subscription.%s()',
    async (...of) => {
      const { database, ...others } = await options()
      const billing = createBilling({ database, ...others, braintree })
      const user = await billing.user(1)
      const row = subscriptionRowMapper.toRow({
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
        plannedPrice: null,
        plannedAt: null,
        periodStartsAt: null,
        periodEndsAt: null,
        createdAt: new Date(0),
        updatedAt: new Date(0),
      })
      await database.kysely.insertInto('subscriptions').values(row).execute()
      await expectUnsupported(await user.subscription('main'), of)
    },
  )
})

/** Lists the methods that Braintree does not support, each with the capability that it needs. */
function missing(needs: Readonly<Record<string, Capability>>): [string, Capability][] {
  const can: readonly Capability[] = BRAINTREE_MANIFEST.can
  return Object.entries(needs).filter(([, part]) => !can.includes(part))
}

/**
 * Calls the method as plain JavaScript would. No server has the configured address, so a request
 * would fail with another error.
 */
async function expectUnsupported(of: object, [method, part]: [string, Capability]): Promise<void> {
  const methods = of as Readonly<Record<string, () => Promise<unknown>>>
  const thrown = await methods[method]?.().catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(Unsupported)
  expect(thrown).toMatchObject({ provider: 'braintree', capability: part })
}

describe('the type of a user', () => {
  it.each([
    ['alone', { stripe }],
    ['with Braintree', { stripe, braintree }],
  ])('includes quantities if Stripe is configured %s', async (_how, providers) => {
    const billing = createBilling<Person>({ ...(await options()), ...providers })
    const user = await billing.user(1)
    const builder = user.newSubscription('main', 'monthly').quantity(3)
    expectTypeOf(builder.create).returns.resolves.toEqualTypeOf<Subscription>()
    expect(typeof builder.create).toBe('function')
  })
})
