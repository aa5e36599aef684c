import { createHash } from 'node:crypto'
import type braintree from 'braintree'
import { InvalidSignature } from '../../core/errors/errors.ts'
import { fromDecimal } from '../../core/values/money.ts'
import type { BraintreeContext } from '../../providers/braintree/client.ts'
import type { Gateway } from '../../providers/gateway.ts'
import type { EventObject, EventSubject } from '../../providers/webhook.ts'

type Webhooks = Pick<Gateway, 'verifyWebhook' | 'answerChallenge' | 'readEvent' | 'subjectOf'>

interface Signed {
  readonly signature: string
  readonly payload: string
}

export function createBraintreeWebhooks({ gateway }: BraintreeContext): Webhooks {
  async function parse({ signature, payload }: Signed): Promise<braintree.WebhookNotification> {
    try {
      return await gateway.webhookNotification.parse(signature, payload)
    } catch (cause) {
      throw new InvalidSignature('The signature does not match', { cause })
    }
  }

  return {
    async verifyWebhook({ body }) {
      const form = new URLSearchParams(body)
      const signature = form.get('bt_signature') ?? ''
      const payload = form.get('bt_payload') ?? ''
      if (signature === '' || payload === '') throw new InvalidSignature('The signature is missing')
      const { kind } = await parse({ signature, payload })
      if (typeof kind !== 'string') throw new InvalidSignature('The notification has no kind')
      return {
        // Notifications have no id. Identical ones mean the same, so one of them is enough.
        id: createHash('sha256').update(payload.trimEnd()).digest('hex'),
        type: kind,
        payload: JSON.stringify({ signature, payload }),
        foreign: false,
      }
    },
    answerChallenge(query) {
      const challenge = query.get('bt_challenge')
      if (challenge === null || !/^[0-9a-f]{20,32}$/.test(challenge)) return null
      return gateway.webhookNotification.verify(challenge)
    },
    readEvent: (stored) => parse(JSON.parse(stored) as Signed),
    subjectOf: (event) => readNotificationSubject(event as braintree.WebhookNotification),
  }
}

/** Reads the ids from a notification. Everything else is read again from Braintree. */
function readNotificationSubject(notification: braintree.WebhookNotification): EventSubject {
  const { kind } = notification
  const {
    subscription,
    dispute,
    revokedPaymentMethodMetadata: revoked,
  } = notification as {
    dispute?: { readonly id?: string }
    subscription?: braintree.Subscription
    revokedPaymentMethodMetadata?: { readonly customerId?: string }
  }
  return {
    subscriptionId: subscription?.id ?? null,
    customerId: subscription?.transactions?.[0]?.customer?.id ?? revoked?.customerId ?? null,
    disputeId: dispute?.id ?? null,
    customerDeleted: false,
    cardChanged: revoked !== undefined,
    failedCharges:
      kind === 'subscription_charged_unsuccessfully' ? (subscription?.failureCount ?? null) : null,
    news: describeNewestTransaction(kind, subscription),
  }
}

/** Describes the newest transaction, which is the one the notification is about. */
function describeNewestTransaction(
  kind: string,
  subscription: braintree.Subscription | undefined,
): EventObject | null {
  const newest = subscription?.transactions?.[0]
  if (!newest) return null
  if (kind === 'subscription_charged_successfully') return { type: 'invoice.paid', id: newest.id }
  if (kind !== 'subscription_charged_unsuccessfully') return null
  return {
    type: 'invoice.payment_failed',
    id: newest.id,
    attempt: subscription?.failureCount ?? null,
    amount: fromDecimal(newest.amount, newest.currencyIsoCode.toLowerCase()),
  }
}
