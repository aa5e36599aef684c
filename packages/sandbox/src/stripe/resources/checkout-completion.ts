import type Stripe from 'stripe'
import { attemptPayment, cardFault } from '../payments/payment-attempt.ts'
import { newPaymentIntent } from '../payments/payment-intent.ts'
import { attachPaymentMethod, usePaymentMethod } from '../payments/payment-methods.ts'
import { newSetupIntent } from '../payments/setup-intent.ts'
import type { CheckoutSessionRow, CustomerRow, PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { invalidRequest } from '../wire/errors.ts'
import { createCustomer } from './customers.ts'

/** What the customer does on the hosted page: pays, subscribes or saves a card. */
export function completeCheckout(
  work: UnitOfWork,
  id: string,
  options: { paymentMethod?: string; email?: string },
): CheckoutSessionRow {
  const session = work.edit('checkout.session', work.require('checkout.session', id))
  if (session.status !== 'open') throw invalidRequest(`This Checkout Session is ${session.status}.`)
  const params = JSON.parse(session.$.params) as Stripe.Checkout.SessionCreateParams
  const email = options.email ?? session.customer_email ?? null
  const customer = customerOf(work, session, email)
  const method = usePaymentMethod(work, options.paymentMethod ?? 'pm_card_visa', 'payment_method')
  attachPaymentMethod(work, method, customer)
  if (session.mode === 'subscription') subscribe(work, session, params, customer, method)
  else if (session.mode === 'payment') pay(work, session, params, customer, method)
  else save(work, session, customer, method)
  session.customer = customer.id
  session.customer_details = {
    address: null,
    business_name: null,
    email: customer.email,
    individual_name: null,
    name: customer.name ?? null,
    phone: customer.phone ?? null,
    tax_exempt: 'none',
    tax_ids: [],
  } as CheckoutSessionRow['customer_details']
  session.status = 'complete'
  session.url = null
  session.$.expiresNextAt = null
  work.emit('checkout.session.completed', 'checkout.session', session)
  return session
}

function customerOf(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  email: string | null,
): CustomerRow {
  if (session.customer) return work.require('customer', session.customer)
  return createCustomer(work, email ? { email } : {})
}

function subscribe(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  params: Stripe.Checkout.SessionCreateParams,
  customer: CustomerRow,
  method: PaymentMethodRow,
): void {
  const recurring = session.$.items.filter((item) => work.find('price', item.price)?.recurring)
  const once = session.$.items.filter((item) => !work.find('price', item.price)?.recurring)
  const data = params.subscription_data
  const subscription = createSubscription(work, {
    customer: customer.id,
    default_payment_method: method.id,
    items: recurring.map((item) => ({ price: item.price, quantity: item.quantity })),
    payment_behavior: 'error_if_incomplete',
    ...(once.length > 0 ? { add_invoice_items: once } : {}),
    ...(params.discounts ? { discounts: params.discounts as never } : {}),
    ...(data?.default_tax_rates ? { default_tax_rates: data.default_tax_rates } : {}),
    ...(data?.billing_mode ? { billing_mode: data.billing_mode as never } : {}),
    ...(data?.billing_cycle_anchor ? { billing_cycle_anchor: data.billing_cycle_anchor } : {}),
    ...(data?.proration_behavior ? { proration_behavior: data.proration_behavior } : {}),
    ...(data?.description ? { description: data.description } : {}),
    ...(data?.trial_settings ? { trial_settings: data.trial_settings } : {}),
    ...(data?.metadata ? { metadata: data.metadata } : {}),
    ...(data?.trial_end ? { trial_end: data.trial_end } : {}),
    ...(data?.trial_period_days ? { trial_period_days: data.trial_period_days } : {}),
  })
  const invoice = work.find('invoice', subscription.latest_invoice ?? '')
  session.subscription = subscription.id
  session.invoice = invoice?.id ?? null
  session.amount_total = invoice?.total ?? 0
  session.amount_subtotal = invoice?.subtotal ?? 0
  session.payment_status = invoice && invoice.amount_paid > 0 ? 'paid' : 'no_payment_required'
}

function pay(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  params: Stripe.Checkout.SessionCreateParams,
  customer: CustomerRow,
  method: PaymentMethodRow,
): void {
  const intent = newPaymentIntent(work, {
    amount: session.amount_total ?? 0,
    currency: session.currency ?? 'usd',
    customer: customer.id,
    description: params.payment_intent_data?.description ?? null,
    invoice: null,
  })
  intent.payment_method = method.id
  // The page carries the customer through any challenge.
  intent.$.authenticated = true
  const outcome = attemptPayment(work, intent)
  if (outcome.status === 'declined') throw cardFault(outcome.decline, {})
  session.payment_intent = intent.id
  session.payment_status = 'paid'
}

function save(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  customer: CustomerRow,
  method: PaymentMethodRow,
): void {
  const intent = newSetupIntent(work, { customer: customer.id, usage: 'off_session' })
  intent.payment_method = method.id
  intent.status = 'succeeded'
  work.edit('payment_method', method).$.authenticated = true
  work.emit('setup_intent.succeeded', 'setup_intent', intent)
  session.setup_intent = intent.id
}
