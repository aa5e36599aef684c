import type { Billing, ProviderName } from '../src/index.ts'
import type { BillingTest } from '../src/testing/index.ts'
import { stripeSdk } from './support.ts'

export interface SignedEvent {
  readonly path: string
  readonly body: string
  readonly headers: Record<string, string>
}

/** Ends a subscription in the provider's control panel. Returns the webhook about it. */
export async function endAtProvider(
  test: BillingTest,
  provider: ProviderName,
  id: string,
  secret: string,
): Promise<SignedEvent> {
  if (provider === 'stripe') {
    const stripe = await stripeSdk(test)
    await stripe.subscriptions.cancel(id)
    return signedByStripe(test, { type: 'customer.subscription.deleted', id, secret })
  }
  const { default: braintree } = await import('braintree')
  const gateway = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  await gateway.subscription.cancel(id)
  return signedByBraintree(test, 'subscription_canceled', id)
}

/** Loses a dispute about the newest charge of a customer. Returns the webhook about it. */
export async function loseDispute(
  test: BillingTest,
  provider: ProviderName,
  customer: string,
  secret: string,
): Promise<SignedEvent> {
  const { stripe, braintree } = test.sandbox
  if (provider === 'stripe') {
    const { id } = stripe.disputeCharge(String(stripe.charges(customer).at(-1)?.id))
    stripe.decideDispute(String(id), 'lost')
    return signedByStripe(test, { type: 'charge.dispute.closed', id: String(id), secret })
  }
  const { id = '' } = braintree.transactions(customer).at(-1) ?? {}
  braintree.notify('dispute_opened', id)
  braintree.notify('dispute_lost', id)
  return signedByBraintree(test, 'dispute_lost', `dispute_${id}`)
}

async function signedByStripe(
  test: BillingTest,
  about: { readonly type: string; readonly id: string; readonly secret: string },
): Promise<SignedEvent> {
  const { sandbox } = test
  const stripe = await stripeSdk(test)
  const body = JSON.stringify(
    sandbox.stripe
      .events(about.type)
      .find(({ data }) => (data as { object: { id: string } }).object.id === about.id),
  )
  const signed = { payload: body, secret: about.secret }
  const signature = stripe.webhooks.generateTestHeaderString(signed)
  return { path: '/stripe/webhook', body, headers: { 'stripe-signature': signature } }
}

async function signedByBraintree(
  test: BillingTest,
  kind: 'subscription_canceled' | 'dispute_lost',
  id: string,
): Promise<SignedEvent> {
  const { default: braintree } = await import('braintree')
  const gateway = new braintree.BraintreeGateway(test.sandbox.braintree.config as never)
  const sample = await gateway.webhookTesting.sampleNotification(kind, id)
  const body = new URLSearchParams({ ...sample }).toString()
  return { path: '/braintree/webhook', body, headers: {} }
}

/** Delivers a webhook as the provider does. Returns the status of the response. */
export async function deliver(
  billing: Billing,
  { path, body, headers }: SignedEvent,
): Promise<number> {
  const request = new Request(`https://app.example.com${path}`, { method: 'POST', body, headers })
  return (await billing.fetch(request)).status
}
