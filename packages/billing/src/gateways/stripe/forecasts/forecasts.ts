import type Stripe from 'stripe'
import type { Forecasts } from '../../contract/parts/subscriptions/forecasts.ts'
import type { UpcomingInvoice } from '../../contract/upcoming-invoice.ts'
import { completeInvoice, INVOICE_DETAILS } from '../payments/invoices.ts'
import { type StripeContext, toDate } from '../sdk/client.ts'
import { isMissing } from '../sdk/errors.ts'
import { upcomingOf } from '../subscriptions/preview.ts'
import { firstInvoices } from './of-new.ts'

/** Without a first payment, after the last attempt at another, and while it is paused Stripe charges nothing. */
const BILLED: readonly Stripe.Subscription.Status[] = ['active', 'trialing', 'past_due']

export function stripeForecasts(context: StripeContext): { readonly forecasts: Forecasts } {
  return {
    forecasts: {
      upcoming: (id) => findUpcoming(context, id),
      ofNew: (wanted, now) => firstInvoices(context, wanted, now),
    },
  }
}

async function findUpcoming(context: StripeContext, id: string): Promise<UpcomingInvoice | null> {
  const { stripe } = context
  try {
    const { status, pause_collection: pause } = await stripe.subscriptions.retrieve(id)
    if (!BILLED.includes(status)) return null
    const invoice = await stripe.invoices.createPreview({
      subscription: id,
      expand: INVOICE_DETAILS,
    })
    const isPaused = pause !== null && !(pause.resumes_at && pause.resumes_at <= invoice.period_end)
    if (isPaused) return null
    return upcomingOf(await completeInvoice(context, invoice), toDate(invoice.period_end))
  } catch (error) {
    if (isMissing(error) || hasNone(error)) return null
    throw error
  }
}

/** Stripe's word for one that ends, or has. */
function hasNone(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'invoice_upcoming_none'
}
