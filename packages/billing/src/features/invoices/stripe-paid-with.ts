import type Stripe from 'stripe'
import type { Gateway } from '../../providers/gateway.ts'
import type { InvoicePaymentMethod } from '../../providers/payment-method.ts'
import type { StripeContext } from '../../providers/stripe/client.ts'
import { describeChargedMethod } from '../../providers/stripe/describe-method.ts'

/** Largest number of payments of one invoice that are read. */
const MAX_PAYMENTS = 10

/**
 * Reads how an invoice was paid from its payments. A payment outside Stripe has no payment method.
 */
export function createStripePaidWith({
  stripe,
}: StripeContext): Pick<Gateway, 'findInvoicePaymentMethods'> {
  return {
    async findInvoicePaymentMethods({ id, raw }) {
      if ((raw as Stripe.Invoice).amount_paid === 0) return []
      const { data } = await stripe.invoicePayments.list({
        invoice: id,
        status: 'paid',
        limit: MAX_PAYMENTS,
        expand: ['data.payment.charge', 'data.payment.payment_intent.latest_charge'],
      })
      return data.flatMap(({ payment }) => describePayment(payment))
    },
  }
}

function describePayment({
  charge,
  payment_intent: intent,
}: Stripe.InvoicePayment.Payment): InvoicePaymentMethod[] {
  const made = charge ?? (typeof intent === 'object' ? intent?.latest_charge : null)
  const details = typeof made === 'object' ? made?.payment_method_details : null
  return details ? [describeChargedMethod(details)] : []
}
