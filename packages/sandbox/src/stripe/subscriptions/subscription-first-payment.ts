import type Stripe from 'stripe'
import { collectInvoice, methodFor } from '../invoices/invoice-payment.ts'
import { methodOfCustomer } from '../payments/customer.ts'
import { cardFault, needsSetup, nextAction } from '../payments/payment-attempt.ts'
import { newSetupIntent } from '../payments/setup-intent.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, StripeFault, withDocs } from '../wire/errors.ts'

export interface FirstPayment {
  /** The customer is there and passes the bank's challenge, as on a page of Stripe's. */
  readonly authenticated?: boolean
}

/** Pays the first invoice as payment_behavior says. */
export function payFirst(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  invoice: InvoiceRow,
  params: Stripe.SubscriptionCreateParams,
  { authenticated = false }: FirstPayment = {},
): void {
  const behavior = params.payment_behavior ?? 'allow_incomplete'
  subscription.status = 'incomplete'
  subscription.$.incompleteUntil = work.now + 23 * 3600
  if (behavior === 'default_incomplete') return
  if (methodFor(work, invoice) === null) throw noMethod()
  const offSession = params.off_session ?? false
  const outcome = collectInvoice(work, invoice, { offSession, authenticated })
  const isTaken = outcome.status === 'succeeded' || outcome.status === 'processing'
  if (isTaken || behavior !== 'error_if_incomplete') return
  if (outcome.status === 'declined') throw cardFault(outcome.decline, {})
  throw new StripeFault(402, {
    type: 'card_error',
    ...withDocs('subscription_payment_intent_requires_action'),
    message:
      'Payment for this subscription requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with `subscription.latest_invoice`.',
  })
}

/** A free start still wants a usable card: a setup intent asks for it. */
export function askForMethod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): void {
  const customer = work.find('customer', subscription.customer)
  const id = subscription.default_payment_method ?? methodOfCustomer(customer)
  const method = work.find('payment_method', id ?? '')
  const wanted = method ? needsSetup(method) : params.payment_behavior === 'default_incomplete'
  if (!wanted) return
  const intent = newSetupIntent(work, {
    customer: subscription.customer,
    usage: 'off_session',
    subscription: subscription.id,
  })
  if (method) {
    intent.payment_method = method.id
    intent.status = 'requires_action'
    intent.next_action = nextAction(work, intent)
  }
  work.edit('subscription', subscription).pending_setup_intent = intent.id
}

export function noMethod(): StripeFault {
  return invalidRequest(
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.',
    undefined,
    'resource_missing',
  )
}
