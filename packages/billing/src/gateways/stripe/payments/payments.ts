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
