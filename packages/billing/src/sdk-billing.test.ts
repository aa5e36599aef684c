import { connect } from '@tollgate/database'
import type braintree from 'braintree'
import type Stripe from 'stripe'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { type BraintreeUser, createBilling } from './create-billing.ts'
import type { ChargeOptions, InvoiceForOptions } from './features/payments/charge-contract.ts'
import type { CustomerDetails } from './providers/customer.ts'
import type { Provider } from './providers/provider.ts'
import type { SdkUser } from './sdk-billing.ts'

const PROVIDERS = {
  stripe: { secret: 'sk_test_1', webhookSecret: 'whsec_1' },
  braintree: { environment: 'sandbox', merchantId: 'm', publicKey: 'p', privateKey: 'k' },
} as const

async function options() {
  const database = await connect('sqlite::memory:')
  onTestFinished(() => database.close())
  return { database, users: { table: 'users' }, processEvery: false } as const
}

type Charged<User extends { charge(...args: never[]): unknown }> = Awaited<
  ReturnType<User['charge']>
>

describe('the TypeScript type of charge()', () => {
  it('returns the SDK type of the only configured provider', () => {
    expectTypeOf<Charged<SdkUser<'stripe'>>>().toEqualTypeOf<Stripe.PaymentIntent>()
    expectTypeOf<Charged<BraintreeUser>>().toEqualTypeOf<braintree.Transaction>()
  })

  it('depends on the providers in the options of createBilling()', async () => {
    const shared = await options()
    const { stripe, braintree } = PROVIDERS
    const one = createBilling({ ...shared, stripe })
    const both = createBilling({ ...shared, stripe, braintree })
    const providers: readonly Provider[] = []
    const others = createBilling({ ...shared, stripe, providers })
    type UserOf<T extends { user(id: number): unknown }> = Awaited<ReturnType<T['user']>>
    expectTypeOf<Charged<UserOf<typeof one>>>().toEqualTypeOf<Stripe.PaymentIntent>()
    expectTypeOf<Charged<UserOf<typeof both>>>().toEqualTypeOf<
      Stripe.PaymentIntent | braintree.Transaction
    >()
    expectTypeOf<Charged<UserOf<typeof others>>>().toEqualTypeOf<unknown>()
    for (const billing of [one, both, others]) await billing.close()
  })

  it("accepts the options of the provider's SDK, and rejects misspelt options and options that charge() sets itself", () => {
    const suffix: ChargeOptions<'stripe'> = { statement_descriptor_suffix: 'MUG' }
    const order: ChargeOptions<'braintree'> = { orderId: 'mug-1', idempotencyKey: 'mug-1' }
    const either: ChargeOptions[] = [suffix, order]
    // @ts-expect-error: `suffix` has two letters f.
    const misspelt: ChargeOptions<'stripe'> = { statement_descriptor_sufix: 'MUG' }
    // @ts-expect-error: `orderId` ends with a small d.
    const misspeltToo: ChargeOptions = { orderID: 'mug-1' }
    // @ts-expect-error: Braintree's options are not Stripe's.
    const other: ChargeOptions<'stripe'> = { orderId: 'mug-1' }
    // @ts-expect-error: The first argument is the amount.
    const decided: ChargeOptions<'stripe'> = { amount: 1000 }
    expect([...either, misspelt, misspeltToo, other, decided]).toHaveLength(6)
  })
})

it('the TypeScript types of invoice and customer options reject misspelt names', () => {
  const invoice: InvoiceForOptions = { voidOnFailure: true, footer: 'Thank you', orderId: 'mug-1' }
  const customer: CustomerDetails = { name: 'Ada', company: 'Mills', address: { city: 'Bath' } }
  // @ts-expect-error: `footer` has two letters o.
  const misspelt: InvoiceForOptions = { foter: 'Thank you' }
  // @ts-expect-error: `company` is written with a y.
  const misspeltToo: CustomerDetails = { companie: 'Mills' }
  expect([invoice, customer, misspelt, misspeltToo]).toHaveLength(4)
})
