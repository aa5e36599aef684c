import type Stripe from 'stripe'
import type { FirstPayment, Gateway } from '../../contract/gateway.ts'
import { requireMethod } from '../payments/customers.ts'
import { paymentOf } from '../payments/payments.ts'
import { idOf, type StripeContext } from '../sdk/client.ts'
import { cancelNow } from './cancel.ts'

/** A payment that may still come without anybody trying again. */
const ON_ITS_WAY: readonly string[] = ['requires_action', 'processing', 'succeeded']

/** The first payment of a subscription that is incomplete. */
export function stripeFirstPayments(
  context: StripeContext,
): Pick<Gateway, 'isAwaiting' | 'abandon'> {
  return {
    async isAwaiting({ raw }, wanted) {
      const subscription = raw as Stripe.Subscription
      const invoiceId = idOf(subscription.latest_invoice)
      if (invoiceId === null || !isFor(subscription, wanted)) return false
      const payment = await paymentOf(context, invoiceId)
      if (!payment || !ON_ITS_WAY.includes(payment.status)) return false
      return idOf(payment.payment_method) === (await requireMethod(context, wanted.customerId))
    },

    async abandon({ id, raw }) {
      const invoiceId = idOf((raw as Stripe.Subscription).latest_invoice)
      // Cancelling alone would leave an open invoice, which the customer could still pay.
      const isClosed = invoiceId === null || (await voidInvoice(context, invoiceId))
      if (isClosed) await cancelNow(context, id)
    },
  }
}

function isFor({ items, metadata }: Stripe.Subscription, wanted: FirstPayment): boolean {
  const [item] = items.data
  return (
    item?.price.id === wanted.plan &&
    item.quantity === wanted.quantity &&
    (metadata.coupon ?? null) === wanted.coupon
  )
}

/**
 * Closes an invoice, and its payment with it; false when it was paid before that. Stripe decides in
 * one step, so that of voiding and paying at the same time only one happens.
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
