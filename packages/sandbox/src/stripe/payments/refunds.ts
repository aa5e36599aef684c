import type Stripe from 'stripe'
import { createBlankRow } from '../state/blank.ts'
import type { ChargeRow, RefundRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createBelowOneFault, createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/fields.ts'
import { formatAmount } from '../wire/money.ts'
import { recordRefund, recordRefundFailure } from './balance-transactions.ts'
import { listDisputes } from './disputes.ts'
import { findMethodTestCard } from './test-cards.ts'

const HOUR = 3600

/**
 * Refunds a captured charge: `amount` in minor units, or by default the amount that is not refunded
 * yet.
 */
export function refundCharge(
  work: UnitOfWork,
  charge: ChargeRow,
  params: Pick<Stripe.RefundCreateParams, 'amount' | 'metadata' | 'reason'>,
): RefundRow {
  const amount = resolveRefundAmount(work, charge, params.amount)
  const later = findMethodTestCard(
    work.find('payment_method', charge.payment_method ?? ''),
  )?.refunds
  const refund: RefundRow = {
    ...createBlankRow('refund'),
    id: work.newId('re_3'),
    amount,
    charge: charge.id,
    created: work.sandboxNow,
    currency: charge.currency,
    customer: charge.customer,
    destination_details: {
      card: {
        reference_status: 'pending',
        reference_type: 'acquirer_reference_number',
        type: 'refund',
      },
      type: 'card',
    },
    metadata: mergeMetadata({}, params.metadata),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    reason: params.reason ?? null,
    status: 'succeeded',
    ...(later === 'succeed-later' ? { status: 'pending', pending_reason: 'processing' } : {}),
    ...(later ? { $: { nextAt: work.sandboxNow + HOUR } } : {}),
  } as RefundRow
  recordRefund(work, refund, charge)
  work.insert('refund', refund)
  work.edit('charge', charge)
  charge.amount_refunded += amount
  charge.refunded = charge.amount_refunded === charge.amount_captured
  work.emit('refund.created', 'refund', refund)
  work.emit('charge.refunded', 'charge', charge)
  return refund
}

/** Completes or fails a refund to a test card whose refunds are delayed. */
export function finishRefund(work: UnitOfWork, id: string): void {
  const refund = work.edit('refund', work.require('refund', id))
  delete refund.$
  if (refund.status === 'succeeded') failRefund(work, refund)
  if (refund.status !== 'pending') return
  refund.status = 'succeeded'
  delete refund.pending_reason
  work.emit('refund.updated', 'refund', refund)
}

/**
 * Makes a refund fail after it has succeeded, as a bank may do days later. The charge can then be
 * refunded again.
 */
export function failRefund(work: UnitOfWork, refund: RefundRow): void {
  if (refund.status !== 'succeeded') {
    throw createInvalidRequestFault(
      `The refund ${refund.id} is ${refund.status}: it cannot fail any more.`,
    )
  }
  const charge = work.edit('charge', work.require('charge', refund.charge ?? ''))
  charge.amount_refunded -= refund.amount
  charge.refunded = false
  work.edit('refund', refund)
  refund.status = 'failed'
  refund.failure_reason = 'expired_or_canceled_card'
  refund.failure_balance_transaction = recordRefundFailure(work, refund)
  work.emit(['refund.updated', 'refund.failed'], 'refund', refund)
}

/**
 * Returns the amount to refund in minor units: `requestedAmount`, or by default the amount that is
 * not refunded yet.
 * @throws {StripeFault} If the charge is disputed or already refunded, or less than
 * `requestedAmount` is left.
 */
export function resolveRefundAmount(
  work: UnitOfWork,
  charge: ChargeRow,
  requestedAmount: number | undefined,
): number {
  if (listDisputes(work, charge).some((dispute) => !dispute.is_charge_refundable)) {
    throw createInvalidRequestFault(
      `Charge ${charge.id} has been charged back; cannot issue a refund.`,
      undefined,
      'charge_disputed',
    )
  }
  const left = charge.amount_captured - charge.amount_refunded
  const amount = requestedAmount ?? left
  if (left === 0) {
    throw createInvalidRequestFault(
      `Charge ${charge.id} has already been refunded.`,
      undefined,
      'charge_already_refunded',
    )
  }
  if (amount < 1) throw createBelowOneFault('amount')
  if (amount > left) {
    const shown = (cents: number) => formatAmount(cents, charge.currency)
    throw createInvalidRequestFault(
      `Refund amount (${shown(amount)}) is greater than unrefunded amount on charge (${shown(left)})`,
      'amount',
    )
  }
  return amount
}
