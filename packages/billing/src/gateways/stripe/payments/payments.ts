import type Stripe from 'stripe'
import { idOf, type StripeContext } from '../sdk/client.ts'

/** The payment of an invoice; null when it has none, since nothing is due. */
export async function paymentOf(
  { stripe }: StripeContext,
  invoiceId: string,
): Promise<Stripe.PaymentIntent | null> {
  const { payments } = await stripe.invoices.retrieve(invoiceId, { expand: ['payments'] })
  const id = idOf(payments?.data[0]?.payment.payment_intent)
  return id === null ? null : stripe.paymentIntents.retrieve(id)
}

/**
 * Closes an invoice, and its payment with it; false when it was paid before that. Stripe decides in
 * one step, so of voiding and paying at the same time only one happens.
 */
export async function voidInvoice({ stripe }: StripeContext, id: string): Promise<boolean> {
  try {
    await stripe.invoices.voidInvoice(id)
    return true
  } catch (error) {
    const { status } = await stripe.invoices.retrieve(id)
    if (status === 'paid' || status === 'void') return status === 'void'
    throw error
  }
}
