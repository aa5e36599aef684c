import { money } from '../../core/values/money.ts'
import type { Stripe } from '../../providers/sdk-types.ts'
import { getReferencedId, type StripeContext, toDate } from '../../providers/stripe/client.ts'
import { isMissingObjectError } from '../../providers/stripe/errors.ts'
import type { CustomerPayments, ProviderPayment } from './contract.ts'

const STATUSES: Readonly<Record<string, ProviderPayment['status']>> = {
  succeeded: 'succeeded',
  processing: 'processing',
  requires_capture: 'processing',
  requires_action: 'needs_action',
  requires_confirmation: 'needs_method',
  requires_payment_method: 'needs_method',
  canceled: 'cancelled',
}

/** Implements payments of subscriptions for Stripe. */
export function createStripePayments({ stripe }: StripeContext): {
  readonly payments: CustomerPayments
} {
  return {
    payments: {
      async findLatest(subscription) {
        const query = { subscription, limit: 100, expand: ['data.payments'] }
        try {
          // Invoices paid by credit, and those of trials, have no payment.
          for await (const { payments } of stripe.invoices.list(query)) {
            const id = intentOf(payments)
            if (id !== null) return describe(await stripe.paymentIntents.retrieve(id))
          }
        } catch (error) {
          if (!isMissingObjectError(error)) throw error
        }
        return null
      },
    },
  }
}

function describe(intent: Stripe.PaymentIntent): ProviderPayment {
  const { id, client_secret: clientSecret, last_payment_error: failure } = intent
  const status = STATUSES[intent.status] ?? 'processing'
  const isAsked = status === 'needs_action' && clientSecret !== null
  return {
    id,
    amount: money(intent.amount, intent.currency),
    status,
    confirmation: isAsked ? { kind: 'payment', id, clientSecret } : null,
    declineCode:
      status === 'needs_method' ? (failure?.decline_code ?? failure?.code ?? null) : null,
    createdAt: toDate(intent.created),
    raw: intent,
  }
}

/** Returns the payment intent of an invoice. `null` if there is none, because nothing is due. */
export async function findInvoicePayment(
  { stripe }: StripeContext,
  invoiceId: string,
): Promise<Stripe.PaymentIntent | null> {
  const { payments } = await stripe.invoices.retrieve(invoiceId, { expand: ['payments'] })
  const id = intentOf(payments)
  return id === null ? null : stripe.paymentIntents.retrieve(id)
}

/** Finds the invoice that a payment intent pays. `null` if there is none. */
export async function findPaidInvoice(
  { stripe }: StripeContext,
  payment: string | null,
): Promise<Stripe.Invoice | null> {
  if (payment === null) return null
  const { data } = await stripe.invoicePayments.list({
    payment: { type: 'payment_intent', payment_intent: payment },
    limit: 1,
    expand: ['data.invoice'],
  })
  const invoice = data[0]?.invoice
  return !invoice || typeof invoice === 'string' || 'deleted' in invoice ? null : invoice
}

function intentOf(payments: Stripe.Invoice['payments']): string | null {
  return getReferencedId(payments?.data[0]?.payment.payment_intent)
}
