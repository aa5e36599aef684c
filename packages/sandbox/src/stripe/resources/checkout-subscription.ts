import { collectInvoice } from '../invoices/invoice-payment.ts'
import { cardFault, needsSetup } from '../payments/payment-attempt.ts'
import { attachPaymentMethod } from '../payments/payment-methods.ts'
import type {
  CheckoutSessionRow,
  CustomerRow,
  InvoiceRow,
  PaymentMethodRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { nameDiscounts } from './checkout-order.ts'
import { type Order, toSubscription } from './checkout-quote.ts'

interface Subscriber {
  readonly customer: CustomerRow
  readonly method: PaymentMethodRow | null
}

/** What the customer of a session in `subscription` mode gets. */
export function subscribe(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  { customer, method }: Subscriber,
): void {
  if (session.$.subscribesFirst && method) {
    payAfterwards(work, session, order, { customer, method })
  } else {
    if (method) keep(work, method, customer)
    const made = createSubscription(
      work,
      {
        ...toSubscription(work, order, customer.id),
        ...(method ? { default_payment_method: method.id } : {}),
        payment_behavior: 'error_if_incomplete',
      },
      { authenticated: true },
    )
    name(work, session, made)
  }
  session.payment_status = session.amount_total ? 'paid' : 'no_payment_required'
  awaitBank(work, session)
}

/** A debit is on its way: the session is told what became of it. */
function awaitBank(work: UnitOfWork, session: CheckoutSessionRow): void {
  const invoice = work.find('invoice', session.invoice ?? '')
  const intent = work.find('payment_intent', invoice?.$.paymentIntent ?? '')
  if (intent?.status !== 'processing') return
  work.edit('payment_intent', intent).$.checkout = session.id
  session.payment_status = 'unpaid'
}

/** As before basil: the subscription is there as soon as somebody tries to pay, and incomplete until they did. */
function payAfterwards(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  { customer, method }: Subscriber & { readonly method: PaymentMethodRow },
): void {
  const subscription = begun(work, session, order, customer)
  const invoice = work.find('invoice', session.invoice ?? '')
  session.customer = customer.id
  if (invoice?.status === 'open') {
    const outcome = collectInvoice(work, invoice, { method: method.id, authenticated: true })
    if (outcome.status === 'declined') throw cardFault(outcome.decline, {}, true)
  }
  keep(work, method, customer)
  work.edit('subscription', subscription).default_payment_method = method.id
}

function begun(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  customer: CustomerRow,
): SubscriptionRow {
  if (session.subscription !== null) return work.require('subscription', session.subscription)
  const params = toSubscription(work, order, customer.id)
  const made = createSubscription(work, { ...params, payment_behavior: 'default_incomplete' })
  name(work, session, made)
  return made
}

function keep(work: UnitOfWork, method: PaymentMethodRow, customer: CustomerRow): void {
  attachPaymentMethod(work, method, customer)
  if (needsSetup(method)) work.edit('payment_method', method).$.authenticated = true
}

function name(work: UnitOfWork, session: CheckoutSessionRow, subscription: SubscriptionRow): void {
  const invoice = work.find('invoice', subscription.latest_invoice ?? '')
  session.subscription = subscription.id
  session.invoice = invoice?.id ?? null
  nameDiscounts(session, redeemedBy(invoice))
}

export function redeemedBy(invoice: InvoiceRow | undefined): string[] {
  return (invoice?.total_discount_amounts ?? []).map(({ discount }) => discount)
}
