import { redeemDiscounts } from '../catalog/redeem-discounts.ts'
import { collectInvoice, finalizeInvoice } from '../invoices/invoice-payment.ts'
import { requireCustomer } from '../payments/customer.ts'
import { attemptPayment } from '../payments/debits/bank-debit.ts'
import { resolvePaymentMethod } from '../payments/new-payment-method.ts'
import { createCardFault, needsFirstUseAuthentication } from '../payments/payment-attempt.ts'
import { createPaymentIntentRow } from '../payments/payment-intent.ts'
import {
  attachPaymentMethod,
  checkAttachable,
  createEmptyAddress,
} from '../payments/payment-methods.ts'
import { createSetupIntentRow } from '../payments/setup-intent.ts'
import type {
  CheckoutSessionRow,
  CustomerRow,
  InvoiceRow,
  PaymentIntentRow,
  PaymentMethodRow,
  SubscriptionRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createSubscription } from '../subscriptions/subscription-create.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { applyCheckoutCode } from './checkout-changes.ts'
import { checkAcceptedMethodType, findEnteredBankAccount } from './checkout-methods.ts'
import {
  buildCheckoutCustomerDetails,
  needsCard,
  quoteSession,
  replaceDiscountIds,
  setCustomerAddress,
  toCheckoutOrder,
} from './checkout-order.ts'
import { answerQuestions, type CheckoutAnswers, readEnteredTaxId } from './checkout-questions.ts'
import {
  type CheckoutOrder,
  createsCustomer,
  draftOrder,
  toSubscriptionParams,
} from './checkout-quote.ts'
import { createAddressRequiredFault } from './checkout-tax.ts'
import { createCustomer } from './customers.ts'

type Address = NonNullable<CustomerRow['address']>

/** The input of a customer on the checkout page, for `completeCheckout()`. */
export interface CheckoutInput {
  /**
   * Id of a payment method, or a test value such as `pm_card_visa` or
   * `pm_sepaDebit_successDelayed_de`.
   * @default 'pm_card_visa'
   */
  readonly paymentMethod?: string
  /**
   * E-mail address of a customer that the checkout creates. Ignored if the session sets an address.
   */
  readonly email?: string
  /** Name on the card. Also the name of a customer that the checkout creates. */
  readonly name?: string
  /**
   * Billing address; `country` is a two-letter code. If the session has automatic tax, the tax is
   * calculated from this address.
   */
  readonly address?: {
    readonly line1?: string
    readonly city?: string
    readonly state?: string
    readonly postal_code?: string
    readonly country?: string
  }
  /** Promotion code as the customer types it. The session must allow promotion codes. */
  readonly promotionCode?: string
  /** Answers to the session's `custom_fields`, by key. */
  readonly fields?: Readonly<Record<string, string>>
  /** The customer's tax id, for a session with `tax_id_collection`. */
  readonly taxId?: { readonly type: string; readonly value: string }
}

/** Complete input of the checkout page. A 3-D Secure challenge counts as passed. */
export interface CheckoutForm extends CheckoutInput, CheckoutAnswers {
  readonly phone?: string
}

/** Customer and payment method of a checkout. `customer` is `null` for a guest, `method` if no payment method is needed. */
interface Payer {
  readonly customer: CustomerRow | null
  readonly method: PaymentMethodRow | null
}

/**
 * Completes a checkout session as its page does: makes the payment, creates the subscription, or
 * saves the card.
 */
export function completeCheckout(
  work: UnitOfWork,
  id: string,
  form: CheckoutForm,
): CheckoutSessionRow {
  const session = work.require('checkout.session', id)
  if (session.status !== 'open')
    throw createInvalidRequestFault(`This Checkout Session is ${session.status}.`)
  if (form.promotionCode !== undefined) applyCheckoutCode(work, session, form.promotionCode)
  work.edit('checkout.session', session)
  const typed = readForm(session, form)
  if (typed.address) setCustomerAddress(session, typed.address)
  // Must come first: pricing the order rolls back a trial run, which replaces rows by copies.
  const quote = quoteSession(work, session, readEnteredTaxId(session, form))
  if (quote?.taxStatus === 'requires_location_inputs') throw createAddressRequiredFault()
  const order = toCheckoutOrder(session)
  const customer = resolveCheckoutCustomer(work, order, typed)
  session.customer_details = buildCheckoutCustomerDetails(customer, typed)
  answerQuestions(work, session, customer, form)
  const method = needsCard(session, quote)
    ? resolveCheckoutMethod(work, session, form, { ...typed, customer })
    : null
  const payer = { customer, method }
  if (order.mode === 'subscription') subscribe(work, session, order, withCustomer(payer))
  else if (order.mode === 'setup') completeSetup(work, session, order, payer)
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

interface EnteredDetails {
  email: string | null
  name: string | null
  phone: string | null
  address: Address | null
}

function readForm(session: CheckoutSessionRow, form: CheckoutForm): EnteredDetails {
  return {
    email: session.customer_email ?? form.email ?? null,
    name: form.name ?? null,
    phone: form.phone ?? null,
    address: form.address
      ? { ...createEmptyAddress(), ...form.address }
      : session.automatic_tax.enabled
        ? (session.customer_details?.address ?? null)
        : null,
  }
}

function resolveCheckoutCustomer(
  work: UnitOfWork,
  order: CheckoutOrder,
  typed: EnteredDetails,
): CustomerRow | null {
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

/** Updates an existing customer only where the session asks for it or a value was missing. */
function updateCustomer(
  work: UnitOfWork,
  order: CheckoutOrder,
  typed: EnteredDetails,
): CustomerRow {
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

function resolveCheckoutMethod(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  form: CheckoutForm,
  { customer, ...typed }: EnteredDetails & Pick<Payer, 'customer'>,
): PaymentMethodRow {
  const value = form.paymentMethod ?? 'pm_card_visa'
  const method =
    findEnteredBankAccount(work, value) ?? resolvePaymentMethod(work, value, 'payment_method')
  checkAcceptedMethodType(session, method)
  if (method.customer !== null && method.customer !== customer?.id) {
    throw createInvalidRequestFault(
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
  order: CheckoutOrder,
  { customer, method }: Payer,
): void {
  const currency = session.currency ?? 'usd'
  const target = { customer, checkoutSession: session.id, currency }
  replaceDiscountIds(session, redeemDiscounts(work, order.discounts, target))
  session.payment_status = method ? 'paid' : 'no_payment_required'
  if (!method) return
  const intent = createPaymentIntentRow(work, {
    amount: session.amount_total ?? 0,
    currency,
    customer: customer?.id ?? null,
    description: order.params.payment_intent_data?.description ?? null,
    invoice: null,
  })
  describeIntent(intent, order)
  intent.payment_method = method.id
  intent.$.checkout = session.id
  // The customer passes any 3-D Secure challenge on the page.
  intent.$.authenticated = true
  if (customer && intent.setup_future_usage) attachPaymentMethod(work, method, customer)
  const outcome = attemptPayment(work, intent)
  if (outcome.status === 'declined') throw createCardFault(outcome.decline, {})
  session.payment_intent = intent.id
  if (intent.status !== 'succeeded') session.payment_status = 'unpaid'
}

/** Pays through an invoice, if the session has `invoice_creation`. */
function payByInvoice(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: CheckoutOrder,
  { customer, method }: Payer,
): void {
  if (!customer) throw new TypeError('An invoice needs a customer')
  const invoice = draftOrder(work, order, customer)
  describeInvoice(invoice, order)
  work.emit('invoice.created', 'invoice', invoice)
  finalizeInvoice(work, invoice, { ignoresBalance: true })
  session.invoice = invoice.id
  replaceDiscountIds(session, listRedeemedDiscounts(invoice))
  session.payment_status = method ? 'paid' : 'no_payment_required'
  if (!method) return
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  describeIntent(work.edit('payment_intent', intent), order)
  intent.$.checkout = session.id
  if (intent.setup_future_usage) attachPaymentMethod(work, method, customer)
  const outcome = collectInvoice(work, invoice, { method: method.id, authenticated: true })
  if (outcome.status === 'declined') throw createCardFault(outcome.decline, {})
  if (outcome.status === 'processing') session.payment_status = 'unpaid'
  session.payment_intent = intent.id
}

function describeIntent(intent: PaymentIntentRow, order: CheckoutOrder): void {
  const data = order.params.payment_intent_data
  intent.setup_future_usage = data?.setup_future_usage ?? null
  if (!data) return
  Object.assign(
    intent,
    pickSentFields(data, 'capture_method', 'description', 'receipt_email', 'transfer_group'),
    pickSentFields(data, 'statement_descriptor', 'statement_descriptor_suffix'),
  )
  intent.metadata = mergeMetadata(intent.metadata, data.metadata)
  if (!data.shipping) return
  const address = { ...createEmptyAddress(), ...data.shipping.address }
  intent.shipping = { ...data.shipping, address } as PaymentIntentRow['shipping']
}

function describeInvoice(invoice: InvoiceRow, order: CheckoutOrder): void {
  const data = order.params.invoice_creation?.invoice_data
  if (!data) return
  Object.assign(invoice, pickSentFields(data, 'custom_fields', 'description', 'footer'))
  invoice.metadata = mergeMetadata(invoice.metadata, data.metadata)
}

function completeSetup(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: CheckoutOrder,
  { customer, method }: Payer,
): void {
  if (!method) throw new TypeError('There is no card to save')
  const data = order.params.setup_intent_data
  if (customer) attachPaymentMethod(work, method, customer)
  else checkAttachable(method)
  const intent = createSetupIntentRow(work, {
    customer: customer?.id ?? null,
    usage: 'off_session',
  })
  intent.payment_method = method.id
  intent.payment_method_types = [method.type]
  intent.description = data?.description ?? null
  intent.metadata = mergeMetadata(intent.metadata, data?.metadata)
  intent.status = 'succeeded'
  work.edit('payment_method', method).$.authenticated = true
  work.emit('setup_intent.succeeded', 'setup_intent', intent)
  session.setup_intent = intent.id
}

interface Subscriber {
  readonly customer: CustomerRow
  readonly method: PaymentMethodRow | null
}

/** Creates the subscription of a session in `subscription` mode. */
function subscribe(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: CheckoutOrder,
  { customer, method }: Subscriber,
): void {
  if (session.$.subscribesFirst && method) {
    subscribeBeforePayment(work, session, order, { customer, method })
  } else {
    if (method) saveMethod(work, method, customer)
    const made = createSubscription(
      work,
      {
        ...toSubscriptionParams(work, order, customer.id),
        ...(method ? { default_payment_method: method.id } : {}),
        payment_behavior: 'error_if_incomplete',
      },
      { authenticated: true },
    )
    attachSubscription(work, session, made)
  }
  session.payment_status = session.amount_total ? 'paid' : 'no_payment_required'
  markDebitPending(work, session)
}

/**
 * Marks the session unpaid while a bank debit is pending. The result of the debit updates the
 * session.
 */
function markDebitPending(work: UnitOfWork, session: CheckoutSessionRow): void {
  const invoice = work.find('invoice', session.invoice ?? '')
  const intent = work.find('payment_intent', invoice?.$.paymentIntent ?? '')
  if (intent?.status !== 'processing') return
  work.edit('payment_intent', intent).$.checkout = session.id
  session.payment_status = 'unpaid'
}

/**
 * Creates the subscription before the payment, as API versions before basil do. It stays incomplete
 * until it is paid.
 */
function subscribeBeforePayment(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: CheckoutOrder,
  { customer, method }: Subscriber & { readonly method: PaymentMethodRow },
): void {
  const subscription = findOrCreateSubscription(work, session, order, customer)
  const invoice = work.find('invoice', session.invoice ?? '')
  session.customer = customer.id
  if (invoice?.status === 'open') {
    const outcome = collectInvoice(work, invoice, { method: method.id, authenticated: true })
    if (outcome.status === 'declined') throw createCardFault(outcome.decline, {}, true)
  }
  saveMethod(work, method, customer)
  work.edit('subscription', subscription).default_payment_method = method.id
}

function findOrCreateSubscription(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  order: CheckoutOrder,
  customer: CustomerRow,
): SubscriptionRow {
  if (session.subscription !== null) return work.require('subscription', session.subscription)
  const params = toSubscriptionParams(work, order, customer.id)
  const made = createSubscription(work, { ...params, payment_behavior: 'default_incomplete' })
  attachSubscription(work, session, made)
  return made
}

function saveMethod(work: UnitOfWork, method: PaymentMethodRow, customer: CustomerRow): void {
  attachPaymentMethod(work, method, customer)
  if (needsFirstUseAuthentication(method))
    work.edit('payment_method', method).$.authenticated = true
}

function attachSubscription(
  work: UnitOfWork,
  session: CheckoutSessionRow,
  subscription: SubscriptionRow,
): void {
  const invoice = work.find('invoice', subscription.latest_invoice ?? '')
  session.subscription = subscription.id
  session.invoice = invoice?.id ?? null
  replaceDiscountIds(session, listRedeemedDiscounts(invoice))
}

function listRedeemedDiscounts(invoice: InvoiceRow | undefined): string[] {
  return (invoice?.total_discount_amounts ?? []).map(({ discount }) => discount)
}
