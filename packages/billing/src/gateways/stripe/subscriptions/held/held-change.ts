import type Stripe from 'stripe'
import type { WantedItem } from '../../../contract/item.ts'
import { requireMethod } from '../../payments/customers.ts'
import { paymentOf } from '../../payments/payments.ts'
import { voidInvoice } from '../../payments/void-invoice.ts'
import { idOf, type StripeContext } from '../../sdk/client.ts'
import { itemsOf } from '../change-params.ts'
import { retrieve } from '../retrieve.ts'
import { putTaxBack } from './tax-before.ts'

/**
 * The unpaid invoice of a change that Stripe holds back until it is paid, for a day at most; null where there is none. Until
 * then all is as it was before.
 */
export function heldInvoice({
  pending_update,
  latest_invoice,
}: Stripe.Subscription): string | null {
  return pending_update ? idOf(latest_invoice) : null
}

/** The prices that there are once it is paid: Stripe tells those that change. */
export function heldItems(subscription: Stripe.Subscription): WantedItem[] {
  const { pending_update: held, items, metadata } = subscription
  const changed = held?.subscription_items ?? []
  const kept = items.data.map((item) => changed.find(({ id }) => id === item.id) ?? item)
  const added = changed.filter(({ id }) => !items.data.some((item) => item.id === id))
  return itemsOf({
    ...subscription,
    items: { ...items, data: [...kept, ...added] },
    metadata: { ...metadata, ...held?.metadata },
  })
}

/** Whether the customer is asked about this invoice, and by the card that they have now. */
export async function isAsked(
  context: StripeContext,
  invoice: string,
  customer: Stripe.Subscription['customer'],
): Promise<boolean> {
  const payment = await paymentOf(context, invoice)
  if (payment?.status !== 'requires_action') return false
  return idOf(payment.payment_method) === (await requireMethod(context, idOf(customer) ?? ''))
}

/** Takes back what is held, or has lapsed, so that nobody can pay it any more. What is paid in this very moment stands. */
export async function letGo(
  context: StripeContext,
  subscription: Stripe.Subscription,
): Promise<Stripe.Subscription> {
  const invoice = heldInvoice(subscription)
  if (invoice === null) return putTaxBack(context, subscription)
  await voidInvoice(context, invoice)
  return putTaxBack(context, await retrieve(context.stripe, subscription.id))
}
