import type Stripe from 'stripe'
import { methodOfCustomer } from '../payments/customer.ts'
import { attemptPayment } from '../payments/debits/bank-debit.ts'
import type { PaymentOutcome } from '../payments/payment-attempt.ts'
import { newPaymentIntent } from '../payments/payment-intent.ts'
import { type Decline, isFinal, toDecline } from '../payments/test-cards.ts'
import { dunningOf } from '../state/context.ts'
import { couponOf, endDiscount } from '../state/discounts.ts'
import type { InvoiceRow, PaymentIntentRow } from '../state/rows.ts'
import {
  onInvoicePaid,
  onInvoiceProcessing,
  onInvoiceUnpaid,
  onInvoiceVoided,
} from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { minimumCharge } from '../wire/money.ts'
import { settleLocation, type WithoutLocation } from './automatic-tax.ts'
import { adjustBalance } from './customer-balance.ts'
import { printedTaxIds, refreshTotals } from './invoice-draft.ts'
import { refreshUsage } from './usage-lines.ts'

const DAY = 86_400
/** A renewal's invoice stays a draft for an hour before it is finalized and charged. */
const DRAFT_SECONDS = 3600

export function holdAsDraft(work: UnitOfWork, invoice: InvoiceRow): void {
  work.edit('invoice', invoice)
  invoice.auto_advance = true
  const at = work.now + DRAFT_SECONDS
  invoice.automatically_finalizes_at = at
  invoice.next_payment_attempt = invoice.collection_method === 'charge_automatically' ? at : null
  invoice.$.nextAt = at
}

/** Draft → open, or paid at once when nothing is due. */
export function finalizeInvoice(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { leavesBalance?: boolean; withoutLocation?: WithoutLocation } = {},
): void {
  refreshUsage(work, invoice)
  refreshTotals(work, invoice)
  settleLocation(work, invoice, options.withoutLocation ?? 'refused')
  const customer = work.require('customer', invoice.customer ?? '')
  work.editQuietly('customer', customer)
  invoice.customer_tax_ids = printedTaxIds(work, customer)
  invoice.number ??= `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`
  customer.next_invoice_sequence = (customer.next_invoice_sequence ?? 1) + 1
  if (options.leavesBalance) leaveBalance(invoice)
  else applyBalance(work, invoice)
  invoice.status = 'open'
  invoice.automatically_finalizes_at = null
  invoice.effective_at ??= work.now
  invoice.status_transitions = { ...invoice.status_transitions, finalized_at: work.now }
  invoice.hosted_invoice_url = `${work.context.baseUrl}/pages/invoices/${invoice.id}`
  invoice.invoice_pdf = `${work.context.baseUrl}/pages/invoices/${invoice.id}/pdf`
  invoice.$.nextAt = null
  consumeOnceDiscounts(work, invoice)
  if (invoice.amount_due > 0) openPayment(work, invoice)
  work.emit('invoice.finalized', 'invoice', invoice)
  if (invoice.amount_due === 0) markPaid(work, invoice)
}

/** The customer's credit pays first; what is too small to charge is carried over. */
function applyBalance(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.require('customer', invoice.customer ?? '')
  const starting = customer.balance
  const due = invoice.total + starting
  const charged = due >= minimumCharge(invoice.currency) ? due : 0
  const ending = due - charged
  invoice.starting_balance = starting
  invoice.ending_balance = ending
  invoice.amount_due = charged
  invoice.amount_remaining = charged
  if (ending !== starting) {
    adjustBalance(work, customer, ending - starting, {
      type: 'applied_to_invoice',
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
}

/** What is paid in a checkout is paid whole, whatever credit the customer has. */
function leaveBalance(invoice: InvoiceRow): void {
  invoice.ending_balance = invoice.starting_balance
  invoice.amount_due = invoice.total
  invoice.amount_remaining = invoice.total
}

/** A coupon of duration `once` is spent on the first invoice it takes something off. */
function consumeOnceDiscounts(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const customer = work.find('customer', invoice.customer ?? '')
  for (const { discount, amount } of invoice.total_discount_amounts ?? []) {
    if (amount === 0 || couponOf(work, discount)?.duration !== 'once') continue
    if (subscription?.discounts.includes(discount)) {
      work.edit('subscription', subscription)
      subscription.discounts = subscription.discounts.filter((id) => id !== discount)
      endDiscount(work, discount)
    }
    if (customer?.$.discount === discount) {
      work.edit('customer', customer).$.discount = null
      endDiscount(work, discount)
    }
  }
}

function openPayment(work: UnitOfWork, invoice: InvoiceRow): void {
  const intent = newPaymentIntent(work, {
    amount: invoice.amount_due,
    currency: invoice.currency,
    customer: invoice.customer,
    description: describePayment(invoice),
    invoice: invoice.id,
  })
  invoice.$.paymentIntent = intent.id
  work.insert('invoice_payment', {
    id: work.newId('inpay_1'),
    object: 'invoice_payment',
    amount_paid: null,
    amount_requested: invoice.amount_due,
    created: work.now,
    currency: invoice.currency,
    invoice: invoice.id,
    is_default: true,
    livemode: false,
    payment: { payment_intent: intent.id, type: 'payment_intent' },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  })
}

function describePayment(invoice: InvoiceRow): string {
  if (invoice.billing_reason === 'subscription_create') return 'Subscription creation'
  if (invoice.billing_reason === 'manual') return 'Payment for Invoice'
  return 'Subscription update'
}

/** Subscription, invoice, customer: the first that names a method decides. */
export function methodFor(work: UnitOfWork, invoice: InvoiceRow): string | null {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const customer = work.find('customer', invoice.customer ?? '')
  return (
    invoice.default_payment_method ??
    subscription?.default_payment_method ??
    methodOfCustomer(customer)
  )
}

export type CollectOutcome = PaymentOutcome | { readonly status: 'no_payment_method' }

/** One attempt to collect an open invoice. */
export function collectInvoice(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { method?: string; offSession?: boolean | 'renewal'; authenticated?: boolean } = {},
): CollectOutcome {
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  // One thing after the other: the bank has not decided yet.
  if (intent.status === 'processing') return { status: 'processing' }
  work.edit('invoice', invoice)
  const method = options.method ?? methodFor(work, invoice)
  const counts = countAttempt(invoice, options.offSession === 'renewal')
  if (method === null) {
    if (counts) planRetry(work, invoice)
    work.emit('invoice.payment_failed', 'invoice', invoice)
    onInvoiceUnpaid(work, invoice)
    return { status: 'no_payment_method' }
  }
  const refused = options.offSession === 'renewal' ? finalDecline(intent, method) : null
  if (refused) {
    // The retry counts, but nobody is asked.
    planRetry(work, invoice)
    onInvoiceUnpaid(work, invoice)
    return { status: 'declined', decline: refused }
  }
  work.edit('payment_intent', intent)
  intent.payment_method = method
  intent.$.offSession = options.offSession ?? false
  if (options.authenticated) intent.$.authenticated = true
  const outcome = attemptPayment(work, intent)
  settleAttempt(work, invoice, outcome, counts)
  return outcome
}

/** The first attempt counts, and after it the retries alone: whoever tries by hand does not use them up. */
export function countAttempt(invoice: InvoiceRow, isRetry: boolean): boolean {
  const counts = isRetry || invoice.attempt_count === 0
  invoice.attempted = true
  if (counts) invoice.attempt_count += 1
  return counts
}

/** The bank's last word about this method, if it has said that. */
function finalDecline(intent: PaymentIntentRow, method: string): Decline | null {
  const error = intent.last_payment_error
  const asked = error?.payment_method as { readonly id: string } | undefined
  const code = error?.decline_code
  return code !== undefined && asked?.id === method && isFinal(code) ? toDecline(code) : null
}

/** What an attempt means for the invoice; also called when an intent is confirmed by the client. */
export function settleAttempt(
  work: UnitOfWork,
  invoice: InvoiceRow,
  outcome: PaymentOutcome,
  counts: boolean,
): void {
  work.edit('invoice', invoice)
  if (outcome.status === 'succeeded') {
    markPaid(work, invoice)
    return
  }
  if (outcome.status === 'processing') {
    invoice.next_payment_attempt = null
    invoice.$.nextAt = null
    onInvoiceProcessing(work, invoice)
    return
  }
  if (counts) planRetry(work, invoice)
  if (outcome.status === 'requires_action') {
    work.emit('invoice.payment_action_required', 'invoice', invoice)
  }
  if (outcome.status === 'declined' || invoice.billing_reason === 'subscription_cycle') {
    work.emit('invoice.payment_failed', 'invoice', invoice)
  }
  onInvoiceUnpaid(work, invoice)
}

/** Plans the next automatic attempt, or none. */
function planRetry(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const retried =
    invoice.auto_advance === true &&
    invoice.collection_method === 'charge_automatically' &&
    subscription?.status !== 'incomplete'
  const wait = dunningOf(work.context).retryAfterDays[invoice.attempt_count - 1]
  const next = retried && wait !== undefined ? work.now + wait * DAY : null
  invoice.next_payment_attempt = next
  invoice.$.nextAt = next
}

export function markPaid(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { outOfBand?: boolean } = {},
): void {
  work.edit('invoice', invoice)
  invoice.status = 'paid'
  invoice.attempted = true
  invoice.auto_advance = false
  invoice.next_payment_attempt = null
  invoice.status_transitions = { ...invoice.status_transitions, paid_at: work.now }
  invoice.amount_paid = invoice.amount_due
  invoice.amount_remaining = 0
  invoice.$.nextAt = null
  if (options.outOfBand) invoice.amount_paid_off_stripe = invoice.amount_due
  for (const payment of work.findBy('invoice_payment', 'invoice', invoice.id)) {
    if (payment.status !== 'open') continue
    work.edit('invoice_payment', payment)
    if (options.outOfBand) {
      payment.status = 'canceled'
      payment.status_transitions = { ...payment.status_transitions, canceled_at: work.now }
      continue
    }
    payment.status = 'paid'
    payment.amount_paid = payment.amount_requested
    payment.status_transitions = { ...payment.status_transitions, paid_at: work.now }
    work.emit('invoice_payment.paid', 'invoice_payment', payment)
  }
  if (options.outOfBand) cancelIntent(work, invoice, 'void_invoice')
  onInvoicePaid(work, invoice)
  const told = options.outOfBand ? ['invoice.paid'] : ['invoice.paid', 'invoice.payment_succeeded']
  work.emit(told, 'invoice', invoice)
}

/** Open or uncollectible → void: nothing is owed, applied credit returns to the customer. */
export function voidInvoice(work: UnitOfWork, invoice: InvoiceRow): void {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalidRequest(
      `You can only pass in open or uncollectible invoices. This invoice isn't open or uncollectible; its status is ${invoice.status}.`,
      undefined,
      'invoice_not_editable',
    )
  }
  work.edit('invoice', invoice)
  const customer = work.find('customer', invoice.customer ?? '')
  const applied = (invoice.ending_balance ?? 0) - invoice.starting_balance
  if (customer && !customer.$.deleted && applied !== 0) {
    adjustBalance(work, customer, -applied, {
      type: 'unapplied_from_invoice',
      invoice: invoice.id,
      currency: invoice.currency,
    })
  }
  invoice.status = 'void'
  invoice.auto_advance = false
  invoice.next_payment_attempt = null
  invoice.$.nextAt = null
  invoice.status_transitions = { ...invoice.status_transitions, voided_at: work.now }
  closePayments(work, invoice)
  onInvoiceVoided(work, invoice)
  work.emit('invoice.voided', 'invoice', invoice)
}

export function markUncollectible(work: UnitOfWork, invoice: InvoiceRow): void {
  work.edit('invoice', invoice)
  invoice.status = 'uncollectible'
  invoice.auto_advance = false
  invoice.next_payment_attempt = null
  invoice.$.nextAt = null
  invoice.status_transitions = { ...invoice.status_transitions, marked_uncollectible_at: work.now }
  work.emit('invoice.marked_uncollectible', 'invoice', invoice)
}

function closePayments(work: UnitOfWork, invoice: InvoiceRow): void {
  for (const payment of work.findBy('invoice_payment', 'invoice', invoice.id)) {
    if (payment.status !== 'open') continue
    work.edit('invoice_payment', payment).status = 'canceled'
    payment.status_transitions = { ...payment.status_transitions, canceled_at: work.now }
  }
  cancelIntent(work, invoice, 'void_invoice')
}

function cancelIntent(
  work: UnitOfWork,
  invoice: InvoiceRow,
  reason: NonNullable<Stripe.PaymentIntent['cancellation_reason']>,
): void {
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (!intent || intent.status === 'succeeded' || intent.status === 'canceled') return
  work.edit('payment_intent', intent)
  intent.status = 'canceled'
  intent.canceled_at = work.sandboxNow
  intent.cancellation_reason = reason
  intent.next_action = null
  work.emit('payment_intent.canceled', 'payment_intent', intent)
}

/** The invoice an intent pays, when it pays one. */
export function invoiceOf(work: UnitOfWork, intent: PaymentIntentRow): InvoiceRow | null {
  return work.find('invoice', intent.$.invoice ?? '') ?? null
}
