import type Stripe from 'stripe'
import { type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import { INVOICE_EXPAND_PARAM, readCompleteInvoice } from '../invoices/stripe.ts'
import { toUpcomingInvoice } from '../swap/stripe-preview.ts'
import type { InvoiceForecasts } from './contract.ts'
import { previewFirstInvoices } from './stripe-new-subscription.ts'
import type { UpcomingInvoice } from './upcoming-invoice.ts'

/**
 * Statuses with upcoming invoices. Stripe charges nothing before the first payment, after the last
 * retry, and while paused.
 */
const BILLED: readonly Stripe.Subscription.Status[] = ['active', 'trialing', 'past_due']

export function createStripeForecasts(context: StripeContext): {
  readonly forecasts: InvoiceForecasts
} {
  return {
    forecasts: {
      upcoming: (id) => findUpcoming(context, id),
      ofNew: (wanted, now) => previewFirstInvoices(context, wanted, now),
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
      expand: INVOICE_EXPAND_PARAM,
    })
    const isPaused = pause !== null && !(pause.resumes_at && pause.resumes_at <= invoice.period_end)
    if (isPaused) return null
    return toUpcomingInvoice(
      await readCompleteInvoice(context, invoice),
      toDate(invoice.period_end),
    )
  } catch (error) {
    if (isMissingObjectError(error) || isNoUpcomingInvoiceError(error)) return null
    throw error
  }
}

/** Whether Stripe says that the subscription has ended or will end. */
function isNoUpcomingInvoiceError(error: unknown): boolean {
  return error instanceof Error && (error as { code?: unknown }).code === 'invoice_upcoming_none'
}
