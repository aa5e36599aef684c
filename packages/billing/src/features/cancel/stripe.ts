import type { GatewayParts } from '../../providers/gateway-parts.ts'
import { type StripeContext, toSeconds } from '../../providers/stripe/client.ts'
import { retrieveSubscription } from '../../providers/stripe/describe-subscription.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { discardPendingUpdate } from '../confirmations/stripe-pending-update.ts'
import { creditsRemainingTime } from '../proration/stripe-overdue.ts'
import { haveSameInterval, listCurrentInvoices } from '../proration/stripe-running.ts'
import { buildEndChangeWithheldParams } from '../proration/stripe-withheld.ts'

const OVER: readonly string[] = ['canceled', 'incomplete_expired']

/**
 * Cancels the subscription at the end of its longest billing period. If its prices have different
 * billing intervals, Stripe's `cancel_at_period_end` would end it with the shortest period: a year
 * that is paid would end after a month.
 */
export async function cancelAtPeriodEnd(context: StripeContext, id: string): Promise<void> {
  const { stripe } = context
  const { items } = await discardPendingUpdate(context, await retrieveSubscription(stripe, id))
  const hasOneEnd = haveSameInterval(items.data.map(({ price }) => price))
  await stripe.subscriptions.update(
    id,
    hasOneEnd ? { cancel_at_period_end: true } : { cancel_at: 'max_period_end' },
  )
}

/**
 * Cancels the subscription immediately. Does nothing if the subscription has ended or does not
 * exist.
 */
export async function cancelNow(
  context: StripeContext,
  id: string,
  { invoiceNow = false }: { readonly invoiceNow?: boolean } = {},
): Promise<void> {
  const { stripe } = context
  try {
    await discardPendingUpdate(context, await retrieveSubscription(stripe, id))
    await stripe.subscriptions.cancel(id, invoiceNow ? { invoice_now: true } : {})
  } catch (error) {
    if (isMissingObjectError(error)) return
    const { status } = await stripe.subscriptions.retrieve(id)
    if (!OVER.includes(status)) throw error
  }
}

/** Implements ending subscriptions on any day for Stripe. */
export function createStripeEndDates(context: StripeContext): Pick<GatewayParts, 'endDates'> {
  const { stripe } = context
  return {
    endDates: {
      async set(id, at, { prorate }) {
        const current = await discardPendingUpdate(context, await retrieveSubscription(stripe, id))
        const invoices = prorate ? await listCurrentInvoices(context, current) : []
        if (!prorate || !creditsRemainingTime(current, invoices, at)) {
          await stripe.subscriptions.update(id, {
            cancel_at: toSeconds(at),
            proration_behavior: 'none',
          })
          return
        }
        const end = { cancel_at: toSeconds(at), proration_behavior: 'create_prorations' } as const
        await stripe.subscriptions.update(id, {
          ...end,
          ...(await buildEndChangeWithheldParams(context, current, { details: end, invoices })),
        })
      },
    },
  }
}
