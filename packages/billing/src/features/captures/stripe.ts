import type Stripe from 'stripe'
import type { AuthorizationState } from '../../core/errors/errors.ts'
import { money } from '../../core/values/money.ts'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import type { CardAuthorization } from './contract.ts'

type Intent = Stripe.PaymentIntent

export function createStripeCaptures({ stripe }: StripeContext): Pick<GatewayParts, 'captures'> {
  const { paymentIntents } = stripe
  const retrieve = (id: string) => paymentIntents.retrieve(id, { expand: ['latest_charge'] })

  /**
   * Changes an authorization that is still open. In a race the first change wins: Stripe refuses
   * the second one.
   */
  async function change(id: string, make: () => Promise<Intent>): Promise<CardAuthorization> {
    try {
      await make()
    } catch (error) {
      const now = describe(await retrieve(id))
      if (isOpen(now)) throw error
      return now
    }
    return describe(await retrieve(id))
  }

  return {
    captures: {
      async find(id, customerId) {
        if (!/^pi_\w{1,100}$/.test(id)) return null
        try {
          const intent = await retrieve(id)
          // Charges captured immediately have nothing left to capture, and an invoice's payment
          // ends with its invoice.
          const isOurs =
            getReferencedId(intent.customer) === customerId && intent.capture_method === 'manual'
          return isOurs ? describe(intent) : null
        } catch (error) {
          if (isMissingObjectError(error)) return null
          throw error
        }
      },
      capture: (id, { amount }) =>
        change(id, () =>
          createIdempotently(
            `${id}:capture:${amount}`,
            (request) => paymentIntents.capture(id, { amount_to_capture: amount }, request),
            async () => {
              const now = await retrieve(id)
              return now.status === 'requires_capture' ? null : now
            },
          ),
        ),
      release: (id) =>
        change(id, () =>
          createIdempotently(
            `${id}:release`,
            (request) => paymentIntents.cancel(id, undefined, request),
            async () => {
              const now = await retrieve(id)
              return now.status === 'canceled' ? now : null
            },
          ),
        ),
    },
  }
}

function isOpen({ status }: CardAuthorization): boolean {
  return status === 'authorized' || status === 'pending'
}

function describe(intent: Intent): CardAuthorization {
  const { id, amount, amount_received, currency, latest_charge: charge } = intent
  const status = toAuthorizationState(intent)
  const before =
    typeof charge === 'object' ? charge?.payment_method_details?.card?.capture_before : undefined
  return {
    id,
    status,
    authorized: money(amount, currency),
    captured: money(amount_received, currency),
    expiresAt: status === 'authorized' && before !== undefined ? toDate(before) : null,
    raw: intent,
  }
}

function toAuthorizationState({ status, cancellation_reason: reason }: Intent): AuthorizationState {
  if (status === 'requires_capture') return 'authorized'
  if (status === 'succeeded') return 'captured'
  if (status !== 'canceled') return 'pending'
  return reason === 'expired' || reason === 'automatic' ? 'expired' : 'released'
}
