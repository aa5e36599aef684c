import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { collectInvoice, finalizeInvoice } from '../invoices/invoice-payment.ts'
import { requireCustomer } from '../payments/customer.ts'
import { attemptPayment } from '../payments/debits/bank-debit.ts'
import { usePaymentMethod } from '../payments/new-payment-method.ts'
import { cardFault } from '../payments/payment-attempt.ts'
import { newPaymentIntent } from '../payments/payment-intent.ts'
import { attachPaymentMethod, checkAttachable, emptyAddress } from '../payments/payment-methods.ts'
import { newSetupIntent } from '../payments/setup-intent.ts'
import type {
  CheckoutSessionRow,
  CustomerRow,
  InvoiceRow,
  PaymentIntentRow,
  PaymentMethodRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { applyCode } from './checkout-changes.ts'
import { checkTaken, findTypedAccount } from './checkout-methods.ts'
import {
  customerDetails,
  nameDiscounts,
  needsCard,
  orderOf,
  priceSession,
} from './checkout-order.ts'
import { type Answers, answerQuestions, taxIdOf } from './checkout-questions.ts'
import { createsCustomer, draftOrder, type Order } from './checkout-quote.ts'
import { redeemedBy, subscribe } from './checkout-subscription.ts'
import { addressNeeded, noteAddress } from './checkout-tax.ts'
import { createCustomer } from './customers.ts'

type Address = NonNullable<CustomerRow['address']>

/** What the customer types into the page. A challenge of the bank is passed. */
export interface CheckoutForm extends Answers {
  readonly paymentMethod?: string
  readonly email?: string
  readonly name?: string
  readonly phone?: string
  readonly address?: Partial<Address>
  readonly promotionCode?: string
}

/** Who pays, and with what; a guest is nobody, and what costs nothing may need no card. */
interface Payer {
  readonly customer: CustomerRow | null
  readonly method: PaymentMethodRow | null
}

/** What the customer does on the hosted page: pays, subscribes or saves a card. */
export function completeCheckout(
  work: UnitOfWork,
  id: string,
  form: CheckoutForm,
): CheckoutSessionRow {
  const session = work.require('checkout.session', id)
  if (session.status !== 'open') throw invalidRequest(`This Checkout Session is ${session.status}.`)
  if (form.promotionCode !== undefined) applyCode(work, session, form.promotionCode)
  work.edit('checkout.session', session)
  const typed = readForm(session, form)
  if (typed.address) noteAddress(session, typed.address)
  // First, because trying the order puts back copies of the rows it touches.
  const quote = priceSession(work, session, taxIdOf(session, form))
  if (quote?.taxStatus === 'requires_location_inputs') throw addressNeeded()
  const order = orderOf(session)
  const customer = customerOf(work, order, typed)
  session.customer_details = customerDetails(customer, typed)
  answerQuestions(work, session, customer, form)
  const method = needsCard(session, quote)
    ? methodOf(work, session, form, { ...typed, customer })
    : null
  const payer = { customer, method }
  if (order.mode === 'subscription') subscribe(work, session, order, withCustomer(payer))
  else if (order.mode === 'setup') save(work, session, order, payer)
  else if (order.params.invoice_creation?.enabled) payByInvoice(work, session, order, payer)
  else pay(work, session, order, payer)
  session.customer = customer?.id ?? null
  session.status = 'complete'
  session.url = null
  session.$.expiresNextAt = null
  work.emit('checkout.session.completed', 'checkout.session', session)
  return session
}

function withCustomer({ customer, method }: Payer) {
  if (!customer) throw new TypeError('A subscription needs a customer')
  return { customer, method }
}

interface Typed {
  email: string | null
  name: string | null
  phone: string | null
  address: Address | null
}

function readForm(session: CheckoutSessionRow, form: CheckoutForm): Typed {
  return {
    email: session.customer_email ?? form.email ?? null,
    name: form.name ?? null,
    phone: form.phone ?? null,
    address: form.address
      ? { ...emptyAddress(), ...form.address }
      : session.automatic_tax.enabled
        ? (session.customer_details?.address ?? null)
        : null,
  }
}

function customerOf(work: UnitOfWork, order: Order, typed: Typed): CustomerRow | null {
  if (order.customer !== null) return updateCustomer(work, order, typed)
  if (!createsCustomer(order)) return null
  const { email, name, phone, address } = typed
  return createCustomer(work, {
    ...(email ? { email } : {}),
    ...(name ? { name } : {}),
    ...(phone ? { phone } : {}),
    ...(address ? { address: compact(address) } : {}),
  })
}

/** A known customer keeps their details, unless the session says otherwise or there were none. */
function updateCustomer(work: UnitOfWork, order: Order, typed: Typed): CustomerRow {
  const customer = requireCustomer(work, order.customer ?? '', 'customer')
  const { address, name } = order.params.customer_update ?? {}
  const email = customer.email === null ? typed.email : null
  if (email === null && address !== 'auto' && name !== 'auto' && !typed.phone) return customer
  work.edit('customer', customer)
  if (email !== null) customer.email = email
  if (name === 'auto' && typed.name) customer.name = typed.name
  if (address === 'auto' && typed.address) customer.address = typed.address
  if (typed.phone) customer.phone = typed.phone
  return customer
}

function compact(address: Address): Record<string, string> {
  const known = Object.entries(address).filter(([, value]) => value !== null)
  return Object.fromEntries(known) as Record<string, string>
}

function methodOf(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  form: CheckoutForm,
  { customer, ...typed }: Typed & Pick<Payer, 'customer'>,
): PaymentMethodRow {
  const value = form.paymentMethod ?? 'pm_card_visa'
  const method = findTypedAccount(work, value) ?? usePaymentMethod(work, value, 'payment_method')
  checkTaken(session, method)
  if (method.customer !== null && method.customer !== customer?.id) {
    throw invalidRequest(
      'The payment method you provided has already been attached to a customer.',
      'payment_method',
    )
  }
  if (method.customer !== null) return method
  work.edit('payment_method', method)
  method.billing_details = {
    ...method.billing_details,
    email: typed.email ?? customer?.email ?? null,
    name: typed.name,
    phone: typed.phone,
    ...(typed.address ? { address: typed.address } : {}),
  }
  return method
}

function pay(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  { customer, method }: Payer,
): void {
  const currency = session.currency ?? 'usd'
  const target = { customer, checkoutSession: session.id, currency }
  nameDiscounts(session, redeemDiscounts(work, order.discounts, target))
  session.payment_status = method ? 'paid' : 'no_payment_required'
  if (!method) return
  const intent = newPaymentIntent(work, {
    amount: session.amount_total ?? 0,
    currency,
    customer: customer?.id ?? null,
    description: order.params.payment_intent_data?.description ?? null,
    invoice: null,
  })
  describeIntent(intent, order)
  intent.payment_method = method.id
  intent.$.checkout = session.id
  // The page carries the customer through any challenge.
  intent.$.authenticated = true
  if (customer && intent.setup_future_usage) attachPaymentMethod(work, method, customer)
  const outcome = attemptPayment(work, intent)
  if (outcome.status === 'declined') throw cardFault(outcome.decline, {})
  session.payment_intent = intent.id
  if (intent.status !== 'succeeded') session.payment_status = 'unpaid'
}

/** The customer gets an invoice of what they paid. */
function payByInvoice(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  { customer, method }: Payer,
): void {
  if (!customer) throw new TypeError('An invoice needs a customer')
  const invoice = draftOrder(work, order, customer)
  describeInvoice(invoice, order)
  work.emit('invoice.created', 'invoice', invoice)
  finalizeInvoice(work, invoice, { leavesBalance: true })
  session.invoice = invoice.id
  nameDiscounts(session, redeemedBy(invoice))
  session.payment_status = method ? 'paid' : 'no_payment_required'
  if (!method) return
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  describeIntent(work.edit('payment_intent', intent), order)
  intent.$.checkout = session.id
  if (intent.setup_future_usage) attachPaymentMethod(work, method, customer)
  const outcome = collectInvoice(work, invoice, { method: method.id, authenticated: true })
  if (outcome.status === 'declined') throw cardFault(outcome.decline, {})
  if (outcome.status === 'processing') session.payment_status = 'unpaid'
  session.payment_intent = intent.id
}

function describeIntent(intent: PaymentIntentRow, order: Order): void {
  const data = order.params.payment_intent_data
  intent.setup_future_usage = data?.setup_future_usage ?? null
  if (!data) return
  intent.capture_method = data.capture_method ?? intent.capture_method
  intent.description = data.description ?? intent.description
  intent.metadata = mergeMetadata(intent.metadata, data.metadata)
  intent.receipt_email = data.receipt_email ?? null
  intent.statement_descriptor = data.statement_descriptor ?? null
  intent.statement_descriptor_suffix = data.statement_descriptor_suffix ?? null
  intent.transfer_group = data.transfer_group ?? null
  if (!data.shipping) return
  const { address, name, carrier, phone, tracking_number: tracking } = data.shipping
  intent.shipping = {
    address: { ...emptyAddress(), ...address },
    name,
    ...(carrier === undefined ? {} : { carrier }),
    ...(phone === undefined ? {} : { phone }),
    ...(tracking === undefined ? {} : { tracking_number: tracking }),
  } as PaymentIntentRow['shipping']
}

function describeInvoice(invoice: InvoiceRow, order: Order): void {
  const data = order.params.invoice_creation?.invoice_data
  if (!data) return
  invoice.description = data.description ?? null
  invoice.footer = data.footer ?? null
  invoice.custom_fields = data.custom_fields || null
  invoice.metadata = mergeMetadata(invoice.metadata, data.metadata)
}

function save(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: Order,
  { customer, method }: Payer,
): void {
  if (!method) throw new TypeError('There is no card to save')
  const data = order.params.setup_intent_data
  if (customer) attachPaymentMethod(work, method, customer)
  else checkAttachable(method)
  const intent = newSetupIntent(work, { customer: customer?.id ?? null, usage: 'off_session' })
  intent.payment_method = method.id
  intent.payment_method_types = [method.type]
  intent.description = data?.description ?? null
  intent.metadata = mergeMetadata(intent.metadata, data?.metadata)
  intent.status = 'succeeded'
  work.edit('payment_method', method).$.authenticated = true
  work.emit('setup_intent.succeeded', 'setup_intent', intent)
  session.setup_intent = intent.id
}
