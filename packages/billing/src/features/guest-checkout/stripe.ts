import { createHash } from 'node:crypto'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { createIdempotently } from '../../providers/stripe/once.ts'
import { describeCheckout } from '../checkout/stripe.ts'
import { buildCheckoutParams } from '../checkout/stripe-params.ts'

export function createStripeGuestPages({
  stripe,
  currency,
}: StripeContext): Pick<GatewayParts, 'guestCheckout'> {
  return {
    guestCheckout: {
      async create({ key, ...wanted }) {
        // Stored with the subscription, so it is derived from the key: a repeat has to send the
        // same parameters.
        const operation = createHash('sha256').update(key).digest('hex').slice(0, 24)
        const page = { ...wanted, customerId: null, operation }
        const { metadata, ...params } = buildCheckoutParams(page, { rates: [], currency })
        const { operation: _, ...kept } = metadata as Record<string, string>
        const session = await createIdempotently(
          `${key}:guest`,
          (request) => stripe.checkout.sessions.create({ ...params, metadata: kept }, request),
          // A lost page can be forgotten, because it never reached the guest.
          async () => null,
        )
        return describeCheckout(session)
      },
    },
  }
}
