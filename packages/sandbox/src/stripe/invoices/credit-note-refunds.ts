import type Stripe from 'stripe'
import { requireCustomer } from '../payments/customer.ts'
import { refundCharge, resolveRefundAmount } from '../payments/refunds.ts'
import type { ChargeRow, CreditNoteRow, InvoiceRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault, createMissingParamFault } from '../wire/errors.ts'
import { adjustBalance } from './customer-balance.ts'

type Params = Stripe.CreditNoteCreateParams

/** Finds the captured charge that paid the invoice. */
function findInvoiceChargeRow(work: UnitOfWork, invoice: InvoiceRow): ChargeRow | undefined {
  const intent = work.find('payment_intent', invoice.$.paymentIntent ?? '')
  const charge = work.find('charge', intent?.latest_charge ?? '')
  return charge?.paid && charge.captured ? charge : undefined
}

/**
 * Sums the amount of a refund (or of all refunds) that earlier credit notes of the invoice are
 * linked to.
 */
function sumEarlierLinks(work: UnitOfWork, invoice: InvoiceRow, refund: string | null): number {
  return (invoice.$.creditNotes ?? [])
    .flatMap((id) => work.require('credit_note', id).refunds)
    .filter((each) => refund === null || each.refund === refund)
    .reduce((sum, each) => sum + each.amount_refunded, 0)
}

/**
 * Links existing refunds to a credit note of an invoice.
 * @throws {StripeFault} If a refund does not belong to a payment of the invoice, or less of it is
 * left than requested.
 */
export function linkRefunds(
  work: UnitOfWork,
  invoice: InvoiceRow,
  refunds: NonNullable<Params['refunds']>,
): CreditNoteRow['refunds'] {
  const linked: Array<CreditNoteRow['refunds'][number]> = []
  refunds.forEach((each, at) => {
    const path = `refunds[${at}]`
    if (each.refund === undefined) throw createMissingParamFault(`${path}[refund]`)
    const refund = work.require('refund', each.refund, `${path}[refund]`)
    const charge = findInvoiceChargeRow(work, invoice)
    if (!charge || refund.charge !== charge.id) {
      throw createInvalidRequestFault(
        'The refund is not of a payment of this invoice.',
        `${path}[refund]`,
      )
    }
    const here = linked
      .filter((other) => other.refund === refund.id)
      .reduce((sum, other) => sum + other.amount_refunded, 0)
    const left = refund.amount - sumEarlierLinks(work, invoice, refund.id) - here
    const amount = each.amount_refunded ?? left
    if (amount < 1 || amount > left) {
      throw createInvalidRequestFault(
        `The refund has ${left} that no credit note stands for yet.`,
        `${path}[amount_refunded]`,
      )
    }
    linked.push(newLink(refund.id, amount))
  })
  return linked
}

function newLink(refund: string, amount: number): CreditNoteRow['refunds'][number] {
  return { amount_refunded: amount, payment_record_refund: null, refund, type: 'refund' }
}

/**
 * Checks that all credit notes and refunds of an invoice together do not exceed the invoice's
 * total.
 */
export function checkCreditNoteTotal(
  work: UnitOfWork,
  invoice: InvoiceRow,
  total: number,
  linked: CreditNoteRow['refunds'],
): void {
  const refunded = findInvoiceChargeRow(work, invoice)?.amount_refunded ?? 0
  const unexplained = refunded - sumEarlierLinks(work, invoice, null) - sumLinkedRefunds(linked)
  const credited =
    invoice.pre_payment_credit_notes_amount + invoice.post_payment_credit_notes_amount
  const left = invoice.total - credited - unexplained
  if (total >= 1 && total <= left) return
  throw createInvalidRequestFault(
    `The credit note's total (${total}) must be positive and at most what is left of the invoice (${Math.max(0, left)}).`,
    'amount',
  )
}

export function checkCreditNoteSplit(
  params: Params,
  linked: CreditNoteRow['refunds'],
  after: number,
): void {
  const { credit_amount = 0, out_of_band_amount = 0, refund_amount = 0 } = params
  for (const [name, amount] of Object.entries({
    credit_amount,
    out_of_band_amount,
    refund_amount,
  })) {
    if (amount < 0) throw createInvalidRequestFault('Invalid non-negative integer', name)
  }
  const sum = credit_amount + out_of_band_amount + refund_amount + sumLinkedRefunds(linked)
  if (sum === after) return
  throw createInvalidRequestFault(
    `The sum of credit amount, refund amount and out of band amount (${sum}) must equal the post payment credit note amount (${after}).`,
  )
}

function sumLinkedRefunds(linked: CreditNoteRow['refunds']): number {
  return linked.reduce((sum, each) => sum + each.amount_refunded, 0)
}

/**
 * Checks, before anything is changed, that the refund and the balance credit of a credit note are
 * possible.
 */
export function checkCreditNoteSources(
  work: UnitOfWork,
  invoice: InvoiceRow,
  params: Params,
): void {
  if (params.refund_amount)
    resolveRefundAmount(work, requireCharge(work, invoice), params.refund_amount)
  if (!params.credit_amount) return
  const customer = requireCustomer(work, invoice.customer ?? '', 'credit_amount')
  if (customer.currency !== null && customer.currency !== invoice.currency) {
    throw createInvalidRequestFault(
      `The customer's balance is in ${customer.currency}; it cannot be changed in ${invoice.currency}.`,
      'credit_amount',
    )
  }
}

function requireCharge(work: UnitOfWork, invoice: InvoiceRow): ChargeRow {
  const charge = findInvoiceChargeRow(work, invoice)
  if (charge) return charge
  throw createInvalidRequestFault(
    'This invoice has no payment that could be refunded.',
    'refund_amount',
  )
}

export function returnPaidAmount(
  work: UnitOfWork,
  invoice: InvoiceRow,
  note: CreditNoteRow,
  params: Params,
): void {
  if (params.refund_amount) {
    const refund = refundCharge(work, requireCharge(work, invoice), {
      amount: params.refund_amount,
    })
    note.refunds = [...note.refunds, newLink(refund.id, refund.amount)]
  }
  if (params.credit_amount) {
    const customer = work.require('customer', note.customer)
    const entry = adjustBalance(work, customer, -params.credit_amount, {
      type: 'credit_note',
      creditNote: note.id,
      invoice: invoice.id,
      currency: invoice.currency,
    })
    note.customer_balance_transaction = entry.id
  }
}
