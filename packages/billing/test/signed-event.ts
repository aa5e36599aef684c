import type { ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'
import { stripeSdk } from './support.ts'

export interface SignedEvent {
  readonly path: string
  readonly body: string
  readonly headers: Record<string, string>
}

/** Ends a subscription in the provider's control panel, and gives the event about it. */
export async function endAtProvider(
  test: BillingTest,
  provider: ProviderName,
  id: string,
  secret: string,
): Promise<SignedEvent> {
  if (provider === 'stripe') {
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.cancel(id)
    const body = JSON.stringify(
      test.sandbox.stripe
        .events('customer.subscription.deleted')
        .find(({ data }) => (data as { object: { id: string } }).object.id === id),
    )
    const timestamp = Math.floor(test.sandbox.clock.nowMs() / 1000)
    const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp })
    return { path: '/stripe/webhook', body, headers: { 'stripe-signature': signature } }
  }
  const { default: braintree } = await import('braintree')
  const gateway = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  await gateway.subscription.cancel(id)
  const sample = await gateway.webhookTesting.sampleNotification('subscription_canceled', id)
  const body = new URLSearchParams({ ...sample }).toString()
  return { path: '/braintree/webhook', body, headers: {} }
}
