import { findDefaultPaymentMethod } from '../payments/customer.ts'
import { attemptPayment } from '../payments/debits/bank-debit.ts'
import type { PaymentOutcome } from '../payments/payment-attempt.ts'
import { createPaymentIntentRow } from '../payments/payment-intent.ts'
import { type CardDecline, createCardDecline, isFinalDecline } from '../payments/test-cards.ts'
import { getDunningOptions } from '../state/context.ts'
import { endDiscount, findDiscountCoupon } from '../state/discounts.ts'
import type { InvoicePaymentRow, InvoiceRow, PaymentIntentRow } from '../state/rows.ts'
import {
  onInvoicePaid,
  onInvoiceProcessing,
  onInvoiceUnpaid,
  onInvoiceVoided,
  stopAutoAdvance,
} from '../state/subscription-status.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { getMinimumCharge } from '../wire/money.ts'
import { handleUnknownLocation, type UnknownLocationHandling } from './automatic-tax.ts'
import { adjustBalance } from './customer-balance.ts'
import { copyTaxIds, refreshTotals } from './invoice-draft.ts'
import { refreshUsageLines } from './usage-lines.ts'

const DAY = 86_400
/** Seconds that a renewal's invoice stays a draft before it is finalized and charged. */
const DRAFT_SECONDS = 3600

export function keepInvoiceAsDraft(work: UnitOfWork, invoice: InvoiceRow): void {
  work.edit('invoice', invoice)
  invoice.auto_advance = true
  const at = work.now + DRAFT_SECONDS
  invoice.automatically_finalizes_at = at
  invoice.next_payment_attempt = invoice.collection_method === 'charge_automatically' ? at : null
  invoice.$.nextAt = at
}

/** Finalizes a draft invoice. Afterwards the invoice is open, or paid if nothing is due. */
export function finalizeInvoice(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { ignoresBalance?: boolean; missingLocation?: UnknownLocationHandling } = {},
): void {
  refreshUsageLines(work, invoice)
  refreshTotals(work, invoice)
  handleUnknownLocation(work, invoice, options.missingLocation ?? 'refused')
  const customer = work.require('customer', invoice.customer ?? '')
  work.editQuietly('customer', customer)
  invoice.customer_tax_ids = copyTaxIds(work, customer)
  invoice.number ??= `${customer.invoice_prefix}-${String(customer.next_invoice_sequence).padStart(4, '0')}`
  customer.next_invoice_sequence = (customer.next_invoice_sequence ?? 1) + 1
  if (options.ignoresBalance) ignoreBalance(invoice)
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
  if (invoice.amount_due === 0) markInvoicePaid(work, invoice)
}

/**
 * Applies the customer's balance to the invoice. An amount below the minimum charge is carried over
 * to the balance.
 */
function applyBalance(work: UnitOfWork, invoice: InvoiceRow): void {
  const customer = work.require('customer', invoice.customer ?? '')
  const starting = customer.balance
  const due = invoice.total + starting
  const charged = due >= getMinimumCharge(invoice.currency) ? due : 0
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

/** Leaves the customer's balance untouched: a checkout charges the full amount. */
function ignoreBalance(invoice: InvoiceRow): void {
  invoice.ending_balance = invoice.starting_balance
  invoice.amount_due = invoice.total
  invoice.amount_remaining = invoice.total
}

/** Ends a coupon of duration `once` after the first invoice it has discounted. */
function consumeOnceDiscounts(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const customer = work.find('customer', invoice.customer ?? '')
  for (const { discount, amount } of invoice.total_discount_amounts ?? []) {
    if (amount === 0 || findDiscountCoupon(work, discount)?.duration !== 'once') continue
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
  const intent = createPaymentIntentRow(work, {
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

/**
 * Returns the id of the payment method that an invoice charges: the default of the invoice,
 * otherwise of the subscription, otherwise of the customer. `null` if none has a default.
 */
export function findPaymentMethodForInvoice(work: UnitOfWork, invoice: InvoiceRow): string | null {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const customer = work.find('customer', invoice.customer ?? '')
  return (
    invoice.default_payment_method ??
    subscription?.default_payment_method ??
    findDefaultPaymentMethod(customer)
  )
}

export type CollectOutcome = PaymentOutcome | { readonly status: 'no_payment_method' }

/** Makes one attempt to charge an open invoice. */
export function collectInvoice(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { method?: string; offSession?: boolean | 'renewal'; authenticated?: boolean } = {},
): CollectOutcome {
  const intent = work.require('payment_intent', invoice.$.paymentIntent ?? '')
  // A payment in progress must be decided by the bank before another one starts.
  if (intent.status === 'processing') return { status: 'processing' }
  work.edit('invoice', invoice)
  const method = options.method ?? findPaymentMethodForInvoice(work, invoice)
  const counts = countAttempt(invoice, options.offSession === 'renewal')
  if (method === null) {
    if (counts) scheduleRetry(work, invoice)
    work.emit('invoice.payment_failed', 'invoice', invoice)
    onInvoiceUnpaid(work, invoice)
    return { status: 'no_payment_method' }
  }
  const refused = options.offSession === 'renewal' ? findFinalDecline(intent, method) : null
  if (refused) {
    // Stripe counts this retry without sending it to the bank.
    scheduleRetry(work, invoice)
    onInvoiceUnpaid(work, invoice)
    return { status: 'declined', decline: refused }
  }
  work.edit('payment_intent', intent)
  intent.payment_method = method
  intent.$.offSession = options.offSession ?? false
  if (options.authenticated) intent.$.authenticated = true
  const outcome = attemptPayment(work, intent)
  applyPaymentOutcome(work, invoice, outcome, counts)
  return outcome
}

/**
 * Counts a payment attempt on an invoice, and returns whether it was counted. The first attempt and
 * automatic retries are counted; manual attempts do not use up retries.
 */
export function countAttempt(invoice: InvoiceRow, isRetry: boolean): boolean {
  const counts = isRetry || invoice.attempt_count === 0
  invoice.attempted = true
  if (counts) invoice.attempt_count += 1
  return counts
}

/**
 * Returns the bank's final decline of this payment method, if there was one. After a final decline,
 * the payment method is not charged again.
 */
function findFinalDecline(intent: PaymentIntentRow, method: string): CardDecline | null {
  const error = intent.last_payment_error
  const asked = error?.payment_method as { readonly id: string } | undefined
  const code = error?.decline_code
  return code !== undefined && asked?.id === method && isFinalDecline(code)
    ? createCardDecline(code)
    : null
}

/**
 * Updates an invoice with the result of a payment attempt. Also called when the client confirms the
 * payment intent.
 */
export function applyPaymentOutcome(
  work: UnitOfWork,
  invoice: InvoiceRow,
  outcome: PaymentOutcome,
  schedulesRetry: boolean,
): void {
  work.edit('invoice', invoice)
  if (outcome.status === 'succeeded') {
    markInvoicePaid(work, invoice)
    return
  }
  if (outcome.status === 'processing') {
    invoice.next_payment_attempt = null
    invoice.$.nextAt = null
    onInvoiceProcessing(work, invoice)
    return
  }
  if (schedulesRetry) scheduleRetry(work, invoice)
  if (outcome.status === 'requires_action') {
    work.emit('invoice.payment_action_required', 'invoice', invoice)
  }
  if (outcome.status === 'declined' || invoice.billing_reason === 'subscription_cycle') {
    work.emit('invoice.payment_failed', 'invoice', invoice)
  }
  onInvoiceUnpaid(work, invoice)
}

/** Schedules the next automatic attempt, if retries are left. */
function scheduleRetry(work: UnitOfWork, invoice: InvoiceRow): void {
  const subscription = work.find('subscription', invoice.$.subscription ?? '')
  const retried =
    invoice.auto_advance === true &&
    invoice.collection_method === 'charge_automatically' &&
    subscription?.status !== 'incomplete'
  const wait = getDunningOptions(work.context).retryAfterDays[invoice.attempt_count - 1]
  const next = retried && wait !== undefined ? work.now + wait * DAY : null
  invoice.next_payment_attempt = next
  invoice.$.nextAt = next
}

export function markInvoicePaid(
  work: UnitOfWork,
  invoice: InvoiceRow,
  options: { outOfBand?: boolean } = {},
): void {
  stopAutoAdvance(work.edit('invoice', invoice))
  invoice.status = 'paid'
  invoice.attempted = true
  invoice.status_transitions = { ...invoice.status_transitions, paid_at: work.now }
  invoice.amount_paid = invoice.amount_due
  invoice.amount_remaining = 0
  if (options.outOfBand) invoice.amount_paid_off_stripe = invoice.amount_due
  if (options.outOfBand) cancelPayments(work, invoice)
  else {
    for (const payment of listOpenInvoicePayments(work, invoice)) {
      work.edit('invoice_payment', payment).status = 'paid'
      payment.amount_paid = payment.amount_requested
      payment.status_transitions = { ...payment.status_transitions, paid_at: work.now }
      work.emit('invoice_payment.paid', 'invoice_payment', payment)
    }
  }
  onInvoicePaid(work, invoice)
  const told = options.outOfBand ? ['invoice.paid'] : ['invoice.paid', 'invoice.payment_succeeded']
  work.emit(told, 'invoice', invoice)
}

/**
 * Voids an open or uncollectible invoice. Credit that was applied to the invoice returns to the
 * customer's balance.
 */
export function voidInvoice(work: UnitOfWork, invoice: InvoiceRow): void {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw createInvalidRequestFault(
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
  stopAutoAdvance(invoice)
  invoice.status = 'void'
  invoice.status_transitions = { ...invoice.status_transitions, voided_at: work.now }
  cancelPayments(work, invoice)
  onInvoiceVoided(work, invoice)
  work.emit('invoice.voided', 'invoice', invoice)
}

export function markInvoiceUncollectible(work: UnitOfWork, invoice: InvoiceRow): void {
  stopAutoAdvance(work.edit('invoice', invoice))
  invoice.status = 'uncollectible'
  invoice.status_transitions = { ...invoice.status_transitions, marked_uncollectible_at: work.now }
  work.emit('invoice.marked_uncollectible', 'invoice', invoice)
}

export function listOpenInvoicePayments(work: UnitOfWork, { id }: InvoiceRow): InvoicePaymentRow[] {
  return work.findBy('invoice_payment', 'invoice', id).filter(({ status }) => status === 'open')
}

/** Cancels the open payments of an invoice and its payment intent. */
function cancelPayments(work: UnitOfWork, invoice: InvoiceRow): void {
  for (const payment of listOpenInvoicePayments(work, invoice)) {
    work.edit('invoice_payment', payment).status = 'canceled'
    payment.status_transitions = { ...payment.status_transitions, canceled_at: work.now }
  }
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  if (!intent || intent.status === 'succeeded' || intent.status === 'canceled') return
  work.edit('payment_intent', intent)
  intent.status = 'canceled'
  intent.canceled_at = work.sandboxNow
  intent.cancellation_reason = 'void_invoice'
  intent.next_action = null
  work.emit('payment_intent.canceled', 'payment_intent', intent)
}

/** Finds the invoice that a payment intent pays. `null` if it does not pay an invoice. */
export function findIntentInvoice(work: UnitOfWork, intent: PaymentIntentRow): InvoiceRow | null {
  return work.find('invoice', intent.$.invoice ?? '') ?? null
}
