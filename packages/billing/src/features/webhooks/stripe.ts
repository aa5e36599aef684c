import type Stripe from 'stripe'
import { InvalidSignature } from '../../core/errors/errors.ts'
import type { Gateway } from '../../providers/gateway.ts'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import type { EventObject, EventSubject } from '../../providers/webhook.ts'
import { requireRecentSignature, SIGNATURE_TOLERANCE_SECONDS } from './stripe-signature-time.ts'

type Webhooks = Pick<Gateway, 'verifyWebhook' | 'readEvent' | 'subjectOf'>

export function createStripeWebhooks({ stripe, options }: StripeContext): Webhooks {
  const secrets =
    typeof options.webhookSecret === 'string' ? [options.webhookSecret] : options.webhookSecret
  const isLive = /^[rs]k_live_/.test(options.secret)

  /**
   * Verifies the signature. `constructEvent` would reject thin events, although they are signed in
   * the same way.
   */
  function verify(body: string, header: string, secret: string, now: Date): void {
    const { signature } = stripe.webhooks
    if (!signature) throw new Error('The Stripe SDK cannot verify signatures in this runtime')
    signature.verifyHeader(
      body,
      header,
      secret,
      SIGNATURE_TOLERANCE_SECONDS,
      undefined,
      now.getTime(),
    )
  }

  function construct(body: string, signature: string, now: Date): Stripe.Event {
    requireRecentSignature(signature, now)
    let failure: unknown
    for (const secret of secrets) {
      try {
        verify(body, signature, secret, now)
        return JSON.parse(body)
      } catch (error) {
        failure = error
      }
    }
    throw new InvalidSignature('The signature does not match', { cause: failure })
  }

  return {
    async verifyWebhook({ body, header }, realNow) {
      const event = construct(body, header('stripe-signature') ?? '', realNow)
      if (typeof event.id !== 'string' || typeof event.type !== 'string') {
        throw new InvalidSignature('The event has no id or type')
      }
      const foreign = event.livemode !== isLive || isOtherAccountEvent(event)
      return { id: event.id, type: event.type, payload: body, foreign }
    },
    readEvent: async (payload) => JSON.parse(payload),
    subjectOf: (event) => readStripeEventSubject(event as Stripe.Event),
  }
}

/** Whether an event belongs to another account, which a thin event states differently. */
function isOtherAccountEvent(event: Stripe.Event): boolean {
  const { object, account, context } = event as {
    object: string
    account?: string
    context?: unknown
  }
  return object === 'v2.core.event' ? context != null : account !== undefined
}

/** Reads the ids from an event. Everything else is read again from Stripe. */
function readStripeEventSubject(event: Stripe.Event): EventSubject {
  const object: Readonly<Record<string, unknown>> = { ...event.data?.object }
  // A detached card no longer names its customer, but previous_attributes does.
  const before = (event.data?.previous_attributes ?? {}) as { customer?: unknown }
  const customer =
    object.object === 'customer' ? object.id : (object.customer ?? before.customer ?? null)
  return {
    subscriptionId: findObjectSubscription(object),
    customerId: getReferencedId(customer as string | { id: string } | null | undefined),
    disputeId: object.object === 'dispute' ? String(object.id) : null,
    customerDeleted: event.type === 'customer.deleted',
    cardChanged: event.type.startsWith('payment_method.') || event.type === 'customer.updated',
    failedCharges:
      event.type === 'invoice.payment_failed' ? ((object.attempt_count as number) ?? null) : null,
    news: readEventObject(event),
  }
}

function readEventObject(event: Stripe.Event): EventObject | null {
  switch (event.type) {
    case 'invoice.paid':
    case 'invoice.payment_succeeded':
      return { type: 'invoice.paid', id: event.data.object.id }
    case 'invoice.voided':
      return { type: event.type, id: event.data.object.id }
    case 'invoice.payment_failed': {
      const { id, attempt_count: attempt, hosted_invoice_url: url } = event.data.object
      const { next_payment_attempt: next } = event.data.object
      const nextAttemptAt = next === null ? null : toDate(next)
      return { type: event.type, id, attempt, nextAttemptAt, url: url ?? null }
    }
    case 'invoice.payment_action_required': {
      const { id, attempt_count: attempt, hosted_invoice_url: url } = event.data.object
      return { type: 'invoice.action_required', id, attempt, url: url ?? null }
    }
    case 'charge.refunded':
      return { type: 'refund.created', id: event.data.object.id }
    case 'credit_note.created':
      return { type: event.type, id: event.data.object.id }
    default:
      return null
  }
}

function findObjectSubscription(
  object: Record<string, unknown> & { object?: string },
): string | null {
  if (object.object === 'subscription') return String(object.id)
  if (object.object === 'checkout.session')
    return getReferencedId(object.subscription as string | null)
  if (object.object === 'subscription_schedule') {
    return getReferencedId((object.subscription ?? object.released_subscription) as string | null)
  }
  if (object.object !== 'invoice') return null
  const parent = object.parent as Stripe.Invoice['parent'] | undefined
  return getReferencedId(parent?.subscription_details?.subscription)
}
