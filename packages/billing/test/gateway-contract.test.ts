import { startSandbox } from '@tollgate/sandbox'
import { describe, it, onTestFinished } from 'vitest'
import { braintreeProvider } from '../src/braintree-provider.ts'
import { stripeProvider } from '../src/stripe-provider.ts'
import { type GatewayUnderTest, gatewayContract } from '../src/testing/index.ts'
import { START } from './support.ts'

const SECRET = 'whsec_contract'

async function startTwins() {
  const sandbox = await startSandbox({ stripe: true, braintree: true, now: START })
  onTestFinished(() => sandbox.close())
  return sandbox
}

async function stripeAccount(): Promise<GatewayUnderTest> {
  const { stripe: twin, clock } = await startTwins()
  twin.seedPrice({ id: 'monthly', unitAmount: 1000, interval: 'month', product: 'Gold' })
  twin.seedPrice({ id: 'pro', unitAmount: 2500, interval: 'month', product: 'Gold' })
  for (const id of ['seat', 'support']) {
    twin.seedPrice({ id, unitAmount: 500, interval: 'month', product: 'Extras' })
  }
  const { default: Stripe } = await import('stripe')
  const sdk = new Stripe(twin.apiKey, { ...twin.config, maxNetworkRetries: 0 })
  await sdk.coupons.create({ id: 'SPRING', percent_off: 25, duration: 'forever' })
  const promotion = { type: 'coupon', coupon: 'SPRING' } as const
  await sdk.promotionCodes.create({ code: 'HELLO', promotion })
  await sdk.promotionCodes.create({ code: 'BYE', promotion, active: false })
  const meter = await sdk.billing.meters.create({
    display_name: 'Calls',
    event_name: 'calls',
    default_aggregation: { formula: 'sum' },
  })
  const calls = await sdk.prices.create({
    product_data: { name: 'Calls' },
    currency: 'usd',
    unit_amount: 2,
    recurring: { interval: 'month', usage_type: 'metered', meter: meter.id },
  })
  return {
    provider: stripeProvider({
      secret: twin.apiKey,
      webhookSecret: SECRET,
      config: { ...twin.config, maxNetworkRetries: 0 },
    }),
    prices: ['monthly', 'pro'],
    furtherPrices: ['seat', 'support'],
    metered: { price: calls.id, meter: 'calls' },
    currency: 'usd',
    cards: ['pm_card_visa', 'pm_card_mastercard'],
    declinedCard: 'pm_card_chargeCustomerFail',
    promotionCodes: { works: 'HELLO', isOver: 'BYE', coupon: 'SPRING' },
    async disputeNewestCharge(customer) {
      return String(twin.disputeCharge(String(twin.charges(customer).at(-1)?.id)).id)
    },
    now: () => clock.now(),
    async webhookAbout(id) {
      const payload = JSON.stringify(
        twin
          .events('customer.subscription.created')
          .find(({ data }) => (data as { object: { id: string } }).object.id === id),
      )
      const signature = sdk.webhooks.generateTestHeaderString({ payload, secret: SECRET })
      const header = (name: string) => (name === 'stripe-signature' ? signature : null)
      return { body: payload, header }
    },
  }
}

async function braintreeAccount(): Promise<GatewayUnderTest> {
  const { braintree: twin, clock } = await startTwins()
  twin.definePlan({ id: 'monthly', price: 1000, billingFrequency: 1 })
  twin.definePlan({ id: 'pro', price: 2500, billingFrequency: 1 })
  for (const id of ['seat', 'support']) twin.defineAddOn({ id, amount: 500 })
  twin.defineDiscount({ id: 'plan-credit', amount: 0, numberOfBillingCycles: 1 })
  twin.changeSettings({ customFields: ['description'] })
  const { default: braintree } = await import('braintree')
  const sdk = new braintree.BraintreeGateway(twin.config as never)
  return {
    provider: braintreeProvider({
      ...twin.config,
      timeout: 10_000,
      metered: { calls: { unitAmount: 5 } },
    } as never),
    prices: ['monthly', 'pro'],
    furtherPrices: ['seat', 'support'],
    metered: { price: 'calls', meter: 'calls' },
    currency: 'usd',
    cards: ['fake-valid-visa-nonce', 'fake-valid-mastercard-nonce'],
    declinedCard: 'fake-processor-declined-visa-nonce',
    async disputeNewestCharge(customer) {
      const { id = '' } = twin.transactions(customer).at(-1) ?? {}
      twin.notify('dispute_opened', id)
      return `dispute_${id}`
    },
    now: () => clock.now(),
    async webhookAbout(id) {
      const kind = 'subscription_charged_successfully'
      const sample = await sdk.webhookTesting.sampleNotification(kind, id)
      return { body: new URLSearchParams({ ...sample }).toString(), header: () => null }
    },
  }
}

describe('Stripe keeps the gateway contract', () =>
  gatewayContract({ describe, it }, stripeAccount))
describe('Braintree keeps the gateway contract', () =>
  gatewayContract({ describe, it }, braintreeAccount))
