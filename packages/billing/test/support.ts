import { onTestFinished } from 'vitest'
import { createTestDatabase, type Template } from '../../../test-support/create-test-database.ts'
import type { BillableUser, ProviderName, Subscription } from '../src/index.ts'
import { type BillingTest, type StartBillingOptions, startBilling } from '../src/testing/index.ts'

export const BASE_URL = 'https://app.example.com'
export const START = new Date('2026-01-15T10:00:00Z')

/** The test data of a provider. */
export interface ProviderCase {
  readonly provider: ProviderName
  readonly card: string
  readonly otherCard: string
  readonly declined: string
  readonly brand: string
  readonly otherLastFour: string
  /** The amount 10.00 in the provider's own unit. */
  readonly ten: number
  readonly unknownToken: string
}

export const PROVIDERS: readonly ProviderCase[] = [
  {
    provider: 'stripe',
    card: 'pm_card_visa',
    otherCard: 'pm_card_mastercard',
    declined: 'pm_card_chargeCustomerFail',
    brand: 'visa',
    otherLastFour: '4444',
    ten: 1000,
    unknownToken: 'pm_none',
  },
  {
    provider: 'braintree',
    card: 'fake-valid-visa-nonce',
    otherCard: 'fake-valid-mastercard-nonce',
    declined: 'fake-processor-declined-visa-nonce',
    brand: 'Visa',
    otherLastFour: '4444',
    ten: 10,
    unknownToken: 'no-such-nonce',
  },
]

export interface FlowOptions extends StartBillingOptions {
  /**
   * Whether the coupon SPRING (3.00 off one invoice) exists at Stripe too. At Braintree it always
   * exists.
   */
  readonly coupon?: boolean
}

export interface FlowTest extends BillingTest {
  /** URL of the database, for another connection. */
  readonly url: string
}

/** The application's user table and all tables of billing. */
export const billingTables: Template = {
  name: 'billing',
  async fill(database) {
    const test = await startBilling({ database })
    await test.close()
    await database.kysely.deleteFrom('users').execute()
  },
}

/**
 * Starts the sandbox and the database of this test project. Both are removed when the test is done.
 */
export async function start(
  provider: ProviderName,
  { coupon = false, ...options }: FlowOptions = {},
  template: Template = billingTables,
): Promise<FlowTest> {
  const created = await createTestDatabase(options.users ? {} : { template })
  const test = await startBilling({
    now: START,
    database: created.database,
    defaultProvider: provider,
    baseUrl: BASE_URL,
    logger: { error: () => undefined },
    ...options,
  })
  onTestFinished(async () => {
    await test.close()
    await created.drop()
  })
  test.sandbox.braintree.defineDiscount({ id: 'SPRING', amount: 300, numberOfBillingCycles: 2 })
  if (coupon) {
    const { coupons } = await stripeSdk(test)
    await coupons.create({ id: 'SPRING', amount_off: 300, currency: 'usd', duration: 'once' })
  }
  return { ...test, url: created.url }
}

export async function stripeSdk({ sandbox }: BillingTest) {
  const { default: Stripe } = await import('stripe')
  return new Stripe(sandbox.stripe.apiKey, { ...sandbox.stripe.config, maxNetworkRetries: 0 })
}

/** Creates a meter at Stripe that counts `calls`, and its price of two cents per call. */
export async function createCallPrice(test: BillingTest): Promise<string> {
  const { products, prices } = await stripeSdk(test)
  const meter = await test.billing.usage.createMeter({ name: 'Calls', eventName: 'calls' })
  const { id } = await prices.create({
    product: (await products.create({ name: 'Calls' })).id,
    currency: 'usd',
    unit_amount: 2,
    recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
  })
  return id
}

/** Returns the state in our row, for comparison. */
export function pickComparableState(subscription: Subscription) {
  const { providerPlan: plan, providerStatus: status, trialEndsAt, endsAt } = subscription
  return { plan, status, trialEndsAt, endsAt }
}

/** Counts the user's subscriptions at the provider, including ended ones. */
export function countProviderSubscriptions({ sandbox }: BillingTest, user: BillableUser): number {
  const id = user.providerId ?? ''
  return user.provider === 'stripe'
    ? sandbox.stripe.subscriptions(id).length
    : sandbox.braintree.subscriptions(id).length
}

export function countProviderCustomers({ sandbox }: BillingTest, provider: ProviderName): number {
  return provider === 'stripe'
    ? sandbox.stripe.customers().length
    : sandbox.braintree.customers().length
}

/** Total charged to the user's card, in cents. */
export function sumChargedCents({ sandbox }: BillingTest, user: BillableUser): number {
  const id = user.providerId ?? ''
  if (user.provider === 'stripe') {
    return sandbox.stripe
      .charges(id)
      .filter((charge) => charge.status === 'succeeded')
      .reduce((sum, charge) => sum + Number(charge.amount), 0)
  }
  const failed = ['processor_declined', 'gateway_rejected', 'failed', 'voided']
  return sandbox.braintree
    .transactions(id)
    .filter(({ type, status }) => type === 'sale' && !failed.includes(status))
    .reduce((sum, { amount }) => sum + amount, 0)
}

/** Total returned to the user, refunded or voided, in cents. */
export function sumRefundedCents({ sandbox }: BillingTest, user: BillableUser): number {
  const id = user.providerId ?? ''
  if (user.provider === 'stripe') {
    return sandbox.stripe
      .charges(id)
      .reduce((sum, charge) => sum + Number(charge.amount_refunded), 0)
  }
  return sandbox.braintree
    .transactions(id)
    .filter(({ type, status }) => type === 'credit' || status === 'voided')
    .reduce((sum, { amount }) => sum + amount, 0)
}

/**
 * Settles a charge at Braintree, which takes a day or two. At Stripe charges settle immediately.
 */
export async function settleCharge(
  { sandbox }: BillingTest,
  provider: ProviderName,
  id: string,
): Promise<void> {
  if (provider === 'stripe') return
  const { default: braintree } = await import('braintree')
  const sdk = new braintree.BraintreeGateway(sandbox.braintree.config as never)
  const { testing } = sdk as unknown as { testing: { settle(id: string): Promise<unknown> } }
  await testing.settle(id)
}
