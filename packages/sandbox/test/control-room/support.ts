import braintree from 'braintree'
import Stripe from 'stripe'
import { expect, onTestFinished } from 'vitest'
import {
  type BraintreeOptions,
  type SandboxOptions,
  type StripeOptions,
  startSandbox,
} from '../../src/index.ts'

export const NOW = new Date('2026-01-31T10:00:00Z')

interface Merchants {
  readonly stripe?: StripeOptions
  readonly braintree?: BraintreeOptions
}

/** Starts a sandbox with its control room and both SDKs. */
export async function startObserved(
  options: Pick<SandboxOptions, 'now' | 'stateFile'> & Merchants = {},
) {
  const sandbox = await startSandbox({
    ...(options.stateFile === undefined ? {} : { stateFile: options.stateFile }),
    stripe: options.stripe ?? {},
    braintree: options.braintree ?? {},
    controlRoom: true,
    now: options.now ?? NOW,
  })
  const close = () => sandbox.close()
  const room = sandbox.controlRoom?.url ?? ''
  const stripe = new Stripe(sandbox.stripe.apiKey, {
    ...sandbox.stripe.config,
    maxNetworkRetries: 0,
  })
  const gateway = new braintree.BraintreeGateway(
    sandbox.braintree.config as unknown as braintree.GatewayConfig,
  )
  return {
    sandbox,
    stripe,
    gateway,
    room,
    close,
    read: async <Data>(path: string): Promise<Data> => {
      const response = await fetch(`${room}${path}`)
      expect(response.status, path).toBe(200)
      return (await response.json()) as Data
    },
    page: async (path: string): Promise<string> => (await fetch(`${room}${path}`)).text(),
    send: (path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      fetch(`${room}${path}`, {
        method: 'POST',
        body: new URLSearchParams(form),
        redirect: 'manual',
        headers,
      }),
  }
}

export type ObservedTestSandbox = Awaited<ReturnType<typeof startObserved>>

export async function startForTest(
  options: Parameters<typeof startObserved>[0] = {},
): Promise<ObservedTestSandbox> {
  const watched = await startObserved(options)
  onTestFinished(() => watched.close())
  return watched
}

/** Creates Ada, who pays ten dollars a month by card. */
export async function subscribeAda({ stripe, sandbox }: ObservedTestSandbox, trialDays?: number) {
  sandbox.stripe.seedPrice({ id: 'gold', unitAmount: 1000, interval: 'month', product: 'Gold' })
  const customer = await stripe.customers.create({ name: 'Ada Lovelace', email: 'ada@example.com' })
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id })
  const subscription = await stripe.subscriptions.create({
    customer: customer.id,
    default_payment_method: card.id,
    items: [{ price: 'gold' }],
    ...(trialDays === undefined ? {} : { trial_period_days: trialDays }),
  })
  return { customer: customer.id, subscription: subscription.id }
}

/** Creates Grace, who pays seven dollars a month at Braintree. */
export async function subscribeGrace(
  { gateway, sandbox }: ObservedTestSandbox,
  nonce = 'fake-valid-nonce',
) {
  sandbox.braintree.definePlan({ id: 'silver', name: 'Silver', price: 700 })
  const made = await gateway.customer.create({
    id: 'grace',
    firstName: 'Grace',
    lastName: 'Hopper',
    paymentMethodNonce: nonce,
  })
  const token = made.customer.paymentMethods?.[0]?.token ?? ''
  const { subscription } = await gateway.subscription.create({
    planId: 'silver',
    paymentMethodToken: token,
  })
  return { customer: 'grace', subscription: subscription.id, token }
}

/** An additional Braintree merchant. */
export const SHOP = { merchantId: 'shop', publicKey: 'shop_public', privateKey: 'shop_private' }

/** Creates a customer `grace` of the merchant `shop`, where the plan is cheaper. */
export async function subscribeAtShop({ sandbox }: ObservedTestSandbox) {
  const shop = sandbox.braintree.merchant('shop')
  shop.definePlan({ id: 'silver', name: 'Silver of the shop', price: 300 })
  const gateway = new braintree.BraintreeGateway(shop.config as never)
  const { customer } = await gateway.customer.create({
    id: 'grace',
    firstName: 'Grace',
    lastName: 'at the shop',
    paymentMethodNonce: 'fake-paypal-billing-agreement-nonce',
  })
  const token = customer.paymentMethods?.[0]?.token ?? ''
  const made = await gateway.subscription.create({ planId: 'silver', paymentMethodToken: token })
  return { gateway, token, subscription: made.subscription.id }
}
