import { createHash, createHmac } from 'node:crypto'
import type { BraintreeContext, Credentials } from './context.ts'
import { subscriptionXml } from './subscription-xml.ts'
import type { SubscriptionRow, TransactionRow } from './tables.ts'
import { transactionXml } from './transaction-xml.ts'
import { isoSecond, type XmlObject, xmlDocument } from './xml.ts'

export type SubscriptionKind =
  | 'subscription_billing_skipped'
  | 'subscription_canceled'
  | 'subscription_charged_successfully'
  | 'subscription_charged_unsuccessfully'
  | 'subscription_expired'
  | 'subscription_trial_ended'
  | 'subscription_went_active'
  | 'subscription_went_past_due'

export type TransactionKind =
  | 'transaction_settled'
  | 'transaction_settlement_declined'
  | 'transaction_disbursed'
  | 'refund_failed'

export function notifySubscription(
  context: BraintreeContext,
  kind: SubscriptionKind,
  row: SubscriptionRow,
): void {
  notify(context, kind, () => ({ subscription: subscriptionXml(context, row) }))
}

export function notifyTransaction(
  context: BraintreeContext,
  kind: TransactionKind,
  row: TransactionRow,
): void {
  notify(context, kind, () => ({ transaction: transactionXml(context, row) }))
}

/** Queues a notification for every registered URL. The subject is written only if there is one. */
export function notify(context: BraintreeContext, kind: string, subject: () => XmlObject): void {
  if (context.tables.webhooks.size === 0) return
  const timestamp = isoSecond(context.clock.now())
  // Braintree has no event ids; ours only tells deliveries apart in the outbox.
  const eventId = `bt_${context.store.nextNumber('braintree.notifications')}`
  const xml = xmlDocument('notification', {
    timestamp,
    kind,
    source_merchant_id: context.credentials.merchantId,
    subject: subject(),
  })
  const { bt_signature, bt_payload } = signPayload(context.credentials, xml)
  const body = new URLSearchParams({ bt_signature, bt_payload }).toString()
  for (const { url } of context.tables.webhooks.values()) {
    context.outbox.enqueue({
      provider: 'braintree',
      eventId,
      eventType: kind,
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
    })
  }
}

/** The two form fields of a notification, signed with the merchant's key. */
export function signPayload(
  credentials: Credentials,
  xml: string,
): { bt_signature: string; bt_payload: string } {
  const bt_payload = Buffer.from(xml)
    .toString('base64')
    .replace(/.{1,60}/g, '$&\n')
  return { bt_signature: signatureOf(credentials, bt_payload), bt_payload }
}

/** `public_key|hex`, where the HMAC's key is the SHA-1 of the private key. */
export function signatureOf(credentials: Credentials, message: string): string {
  const key = createHash('sha1').update(credentials.privateKey).digest()
  const digest = createHmac('sha1', key).update(message).digest('hex')
  return `${credentials.publicKey}|${digest}`
}

/** Asks the URL to prove that it holds the keys, as the control panel does when one is added. */
export async function verifyWebhookUrl(
  context: BraintreeContext,
  url: string,
  fetchUrl: typeof fetch = fetch,
): Promise<boolean> {
  const challenge = context.store.randomText(32, '0123456789abcdef')
  const target = new URL(url)
  target.searchParams.set('bt_challenge', challenge)
  const response = await fetchUrl(target)
  const answer = await response.text()
  return response.ok && answer.trim() === signatureOf(context.credentials, challenge)
}
