import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import { retrieve } from '../../providers/stripe/describe-subscription.ts'
import { throwUnpaid } from '../confirmations/stripe.ts'
import { payUpdate } from '../confirmations/stripe-pay-update.ts'
import {
  awaitsAuthentication,
  discardPendingUpdate,
  pendingUpdateInvoice,
  pendingUpdateItems,
} from '../confirmations/stripe-pending-update.ts'
import { isWanted, itemsOf } from '../swap/stripe-change-params.ts'

/** Implements moving the end of a trial for Stripe. */
export function stripeTrials(context: StripeContext): Pick<GatewayParts, 'trials'> {
  const { stripe } = context
  return {
    trials: {
      async setEnd(id, endsAt) {
        if (endsAt !== 'now') {
          const end = { trial_end: toSeconds(endsAt), proration_behavior: 'none' } as const
          await discardPendingUpdate(context, await retrieve(stripe, id))
          await stripe.subscriptions.update(id, end)
          return
        }
        const found = await retrieve(stripe, id)
        const held = pendingUpdateInvoice(found)
        const isSame = isWanted(pendingUpdateItems(found), itemsOf(found))
        if (
          held !== null &&
          isSame &&
          (await awaitsAuthentication(context, held, found.customer))
        ) {
          await throwUnpaid(stripe, held)
        }
        const current = await discardPendingUpdate(context, found)
        if (current.status !== 'trialing') return
        await payUpdate(context, current, { trial_end: 'now' }, null)
      },
    },
  }
}
