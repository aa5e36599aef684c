import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import { throwIfUnpaid } from '../confirmations/stripe.ts'
import { updateAndPay } from '../confirmations/stripe-pay-update.ts'
import {
  discardPendingUpdate,
  getPendingUpdateInvoice,
  isInvoiceAwaitingAuthentication,
  listPendingUpdateItems,
} from '../confirmations/stripe-pending-update.ts'
import { isSamePriceList, listSubscriptionPriceItems } from '../swap/stripe-change-params.ts'

/** Implements extending and ending trials for Stripe. */
export function createStripeTrials(context: StripeContext): Pick<GatewayParts, 'trials'> {
  const { stripe } = context
  return {
    trials: {
      async setEnd(id, endsAt) {
        if (endsAt !== 'now') {
          const end = { trial_end: toSeconds(endsAt), proration_behavior: 'none' } as const
          await discardPendingUpdate(context, await retrieveSubscription(stripe, id))
          await stripe.subscriptions.update(id, end)
          return
        }
        const found = await retrieveSubscription(stripe, id)
        const held = getPendingUpdateInvoice(found)
        const isSame = isSamePriceList(
          listPendingUpdateItems(found),
          listSubscriptionPriceItems(found),
        )
        if (
          held !== null &&
          isSame &&
          (await isInvoiceAwaitingAuthentication(context, held, found.customer))
        ) {
          await throwIfUnpaid(stripe, held)
        }
        const current = await discardPendingUpdate(context, found)
        if (current.status !== 'trialing') return
        await updateAndPay(context, current, { trial_end: 'now' }, null)
      },
    },
  }
}
