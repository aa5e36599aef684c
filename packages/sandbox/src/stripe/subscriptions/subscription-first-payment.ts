import type Stripe from 'stripe'
import {
  type CollectOutcome,
  collectInvoice,
  findPaymentMethodForInvoice,
} from '../invoices/invoice-payment.ts'
import { findDefaultPaymentMethod } from '../payments/customer.ts'
import {
  buildNextAction,
  createCardFault,
  needsFirstUseAuthentication,
} from '../payments/payment-attempt.ts'
import { createSetupIntentRow } from '../payments/setup-intent.ts'
import type { InvoiceRow, SubscriptionRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createCardErrorFault,
  createInvalidRequestFault,
  type StripeFault,
} from '../wire/errors.ts'

export interface FirstPayment {
  /** Whether the customer is present and passes a 3-D Secure challenge, as on a hosted page. */
  readonly authenticated?: boolean
}

/**
 * Pays a subscription's first invoice, or leaves it open, as the parameter `payment_behavior` says.
 */
export function payFirstInvoice(
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
  if (findPaymentMethodForInvoice(work, invoice) === null) throw createNoPaymentMethodFault()
  const offSession = params.off_session ?? false
  const outcome = collectInvoice(work, invoice, { offSession, authenticated })
  if (outcome.status === 'succeeded' || outcome.status === 'processing') return
  if (behavior !== 'error_if_incomplete') return
  throw createNotPaidFault(
    outcome,
    ' Payment can be completed using the PaymentIntent associated with `subscription.latest_invoice`.',
  )
}

/** Creates the error of a call with `error_if_incomplete` whose payment did not succeed. */
export function createNotPaidFault(
  outcome: Exclude<CollectOutcome, { status: 'succeeded' | 'processing' }>,
  hint = '',
): StripeFault {
  if (outcome.status === 'declined') return createCardFault(outcome.decline, {})
  return createCardErrorFault(
    'subscription_payment_intent_requires_action',
    `Payment for this subscription requires additional user action before it can be completed successfully.${hint}`,
  )
}

/**
 * Creates the pending setup intent of a subscription that starts free, if it still needs a usable
 * payment method.
 */
export function requestPaymentMethod(
  work: UnitOfWork,
  subscription: SubscriptionRow,
  params: Stripe.SubscriptionCreateParams,
): void {
  const customer = work.find('customer', subscription.customer)
  const id = subscription.default_payment_method ?? findDefaultPaymentMethod(customer)
  const method = work.find('payment_method', id ?? '')
  const wanted = method
    ? needsFirstUseAuthentication(method)
    : params.payment_behavior === 'default_incomplete'
  if (!wanted) return
  const intent = createSetupIntentRow(work, {
    customer: subscription.customer,
    usage: 'off_session',
    subscription: subscription.id,
  })
  if (method) {
    intent.payment_method = method.id
    intent.status = 'requires_action'
    intent.next_action = buildNextAction(work, intent)
  }
  work.edit('subscription', subscription).pending_setup_intent = intent.id
}

export function createNoPaymentMethodFault(): StripeFault {
  return createInvalidRequestFault(
    'This customer has no attached payment source or default payment method. Please consider adding a default payment method. For more information, visit https://stripe.com/docs/billing/subscriptions/payment-methods-setting#payment-method-priority.',
    undefined,
    'resource_missing',
  )
}
