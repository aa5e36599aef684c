import { createHash, createHmac } from 'node:crypto'
import { renderXmlDocument, type XmlObject } from '../wire/xml.ts'
import type { BraintreeContext, MerchantKeys } from './context.ts'
import type { SubscriptionRow } from './rows/subscriptions.ts'
import type { TransactionRow } from './rows/transactions.ts'
import { renderSubscriptionXml } from './subscription-xml.ts'
import { renderTransactionXml } from './transaction-xml.ts'

export const SUBSCRIPTION_NOTIFICATIONS = [
  'subscription_billing_skipped',
  'subscription_canceled',
  'subscription_charged_successfully',
  'subscription_charged_unsuccessfully',
  'subscription_expired',
  'subscription_trial_ended',
  'subscription_went_active',
  'subscription_went_past_due',
] as const
export type SubscriptionNotification = (typeof SUBSCRIPTION_NOTIFICATIONS)[number]

type TransactionKind = 'transaction_settled' | 'transaction_settlement_declined'

/**
 * Number of transactions in a notification. It is lower than in responses, because the outbox keeps
 * every notification, and the notifications of a year use much memory.
 */
const TRANSACTIONS_SENT = 3

export function notifySubscription(
  context: BraintreeContext,
  kind: SubscriptionNotification,
  row: SubscriptionRow,
): void {
  sendNotification(context, kind, () => ({
    subscription: renderSubscriptionXml(context, row, TRANSACTIONS_SENT),
  }))
}

export function notifyTransaction(
  context: BraintreeContext,
  kind: TransactionKind,
  row: TransactionRow,
): void {
  sendNotification(context, kind, () => ({ transaction: renderTransactionXml(row) }))
}

/**
 * Queues a notification for every registered webhook URL. The subject is rendered only if there is
 * a URL.
 */
export function sendNotification(
  context: BraintreeContext,
  kind: string,
  subject: () => XmlObject,
): void {
  if (context.tables.webhooks.size === 0) return
  // Braintree has no event ids; this one only identifies deliveries in the outbox.
  const eventId = `bt_${context.store.nextNumber('braintree.notifications')}`
  const xml = renderXmlDocument('notification', {
    timestamp: context.clock.now(),
    kind,
    subject: subject(),
  })
  const body = encodeNotificationForm(signPayload(context.keys, xml))
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

/**
 * Encodes the form with four replacements. This is faster than `URLSearchParams`, which would
 * process the payload byte by byte.
 */
function encodeNotificationForm({ bt_signature, bt_payload }: SignedPayload): string {
  const payload = bt_payload
    .replaceAll('+', '%2B')
    .replaceAll('/', '%2F')
    .replaceAll('=', '%3D')
    .replaceAll('\n', '%0A')
  return `bt_signature=${encodeURIComponent(bt_signature)}&bt_payload=${payload}`
}

export interface SignedPayload {
  readonly bt_signature: string
  readonly bt_payload: string
}

/**
 * Returns the two form fields of a notification: the payload, and its signature by the merchant's
 * key.
 */
export function signPayload(keys: MerchantKeys, xml: string): SignedPayload {
  const base64 = Buffer.from(xml).toString('base64')
  let bt_payload = ''
  for (let at = 0; at < base64.length; at += 60) bt_payload += `${base64.slice(at, at + 60)}\n`
  return { bt_signature: signMessage(keys, bt_payload), bt_payload }
}

/**
 * Returns Braintree's signature of a message, `public_key|hex`. The key of its HMAC is the SHA-1
 * hash of the private key.
 */
export function signMessage(keys: MerchantKeys, message: string): string {
  const key = createHash('sha1').update(keys.privateKey).digest()
  const digest = createHmac('sha1', key).update(message).digest('hex')
  return `${keys.publicKey}|${digest}`
}

/**
 * Sends a challenge to a webhook URL, which must sign it with the API keys, as Braintree's control
 * panel does when a URL is added.
 */
export async function verifyWebhookUrl(
  context: BraintreeContext,
  url: string,
  fetchUrl: typeof fetch = fetch,
): Promise<boolean> {
  const challenge = context.store.randomText(32, '0123456789abcdef')
  const target = new URL(url)
  target.searchParams.set('bt_challenge', challenge)
  const response = await fetchUrl(target)
  const text = await response.text()
  return response.ok && text.trim() === signMessage(context.keys, challenge)
}
