import type { BalanceTransactionRow, ChargeRow, DisputeRow, RefundRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { computePercentage } from '../wire/money.ts'
import { findMethodTestCard } from './test-cards.ts'

const DAY = 86_400
/** Seconds until funds of a payment become available: two days. */
const AVAILABLE_AFTER = 2 * DAY
/**
 * Stripe's fee for a card payment, in percent. A refund costs no fee, and does not return the fee
 * of the payment.
 */
const FEE_PERCENT = 2.9
const FEE_FIXED = 30
/** Fee for a dispute in minor units, charged whatever the outcome. */
const DISPUTE_FEE = 1500

/** Creates the balance transaction of a captured charge. */
export function recordCharge(work: UnitOfWork, charge: ChargeRow): void {
  const fee = computePercentage(charge.amount_captured, FEE_PERCENT) + FEE_FIXED
  const card = findMethodTestCard(work.find('payment_method', charge.payment_method ?? ''))
  charge.balance_transaction = recordMovement(work, {
    amount: charge.amount_captured,
    currency: charge.currency,
    description: charge.description,
    fee,
    source: charge.id,
    type: 'charge',
    ...(card?.bypassesPending ? { availableAfter: 0 } : {}),
  })
}

/** Creates the balance transaction of a refund. */
export function recordRefund(work: UnitOfWork, refund: RefundRow, charge: ChargeRow): void {
  refund.balance_transaction = recordMovement(work, {
    amount: -refund.amount,
    currency: refund.currency,
    description: `REFUND FOR CHARGE${charge.description ? ` (${charge.description})` : ''}`,
    fee: 0,
    source: refund.id,
    type: 'refund',
  })
}

/**
 * Creates the balance transaction of a failed refund, whose money returns to the balance. Returns
 * its id.
 */
export function recordRefundFailure(work: UnitOfWork, refund: RefundRow): string {
  return recordMovement(work, {
    amount: refund.amount,
    currency: refund.currency,
    description: `REFUND FAILURE (${refund.id})`,
    fee: 0,
    source: refund.id,
    type: 'refund_failure',
  })
}

/**
 * Creates the balance transaction of a dispute, for the amount that the bank withdraws. Returns its
 * id.
 */
export function recordDisputeWithdrawal(work: UnitOfWork, dispute: DisputeRow): string {
  return recordMovement(work, {
    amount: -dispute.amount,
    category: 'dispute',
    currency: dispute.currency,
    description: `Chargeback withdrawal for ${dispute.charge}`,
    fee: DISPUTE_FEE,
    feeFor: 'Dispute fee',
    source: dispute.id,
    type: 'adjustment',
  })
}

/**
 * Creates the balance transaction of a won dispute, whose amount is returned without the fee.
 * Returns its id.
 */
export function recordDisputeReversal(work: UnitOfWork, dispute: DisputeRow): string {
  return recordMovement(work, {
    amount: dispute.amount,
    category: 'dispute_reversal',
    currency: dispute.currency,
    description: `Chargeback reversal for ${dispute.charge}`,
    fee: 0,
    source: dispute.id,
    type: 'adjustment',
  })
}

interface BalanceMovement {
  readonly amount: number
  /**
   * Seconds until the funds are available.
   * @default two days
   */
  readonly availableAfter?: number
  /** Reporting category. Defaults to the type. */
  readonly category?: string
  readonly currency: string
  readonly description: string | null
  readonly fee: number
  readonly feeFor?: string
  readonly source: string
  readonly type: 'adjustment' | 'charge' | 'refund' | 'refund_failure'
}

function recordMovement(work: UnitOfWork, movement: BalanceMovement): string {
  const { amount, currency, fee, type } = movement
  const row: BalanceTransactionRow = {
    description: movement.description,
    exchange_rate: null,
    source: movement.source,
    id: work.newId('txn_3'),
    object: 'balance_transaction',
    amount,
    available_on: work.sandboxNow + (movement.availableAfter ?? AVAILABLE_AFTER),
    balance_type: 'payments',
    created: work.sandboxNow,
    currency,
    fee,
    fee_details: fee === 0 ? [] : [feeDetail(fee, currency, movement.feeFor)],
    net: amount - fee,
    reporting_category: movement.category ?? type,
    status: 'pending',
    type,
  }
  return work.insert('balance_transaction', row).id
}

function feeDetail(amount: number, currency: string, description = 'Stripe processing fees') {
  return { amount, application: null, currency, description, type: 'stripe_fee' }
}

/**
 * Sets the status of balance transactions to `available`, if their funds are available by now.
 * Called before balance transactions are read, because a scheduled job for each would double the
 * work of moving the clock. Stops at the first transaction that is already marked, because funds
 * become available in order. Skips transactions whose funds were available immediately.
 */
export function markAvailableFunds(work: UnitOfWork): void {
  for (const row of work.tables.balance_transaction.newestFirst()) {
    if (row.status === 'available') {
      if (row.available_on > row.created) return
    } else if (row.available_on <= work.sandboxNow) {
      const own = work.require('balance_transaction', row.id)
      work.editQuietly('balance_transaction', own).status = 'available'
    }
  }
}
