import type { BalanceTransactionRow, ChargeRow, DisputeRow, RefundRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { percentOf } from '../wire/money.ts'
import { testCardOf } from './test-cards.ts'

const DAY = 86_400
/** Money is the account's own two days after it moved. */
const AVAILABLE_AFTER = 2 * DAY
/** What Stripe takes of a card payment; of a refund it takes nothing, and gives nothing back. */
const FEE_PERCENT = 2.9
const FEE_FIXED = 30
/** What a dispute costs, won or lost. */
const DISPUTE_FEE = 1500

/** Writes down what a captured charge brought. */
export function recordCharge(work: UnitOfWork, charge: ChargeRow): void {
  const fee = percentOf(charge.amount_captured, FEE_PERCENT) + FEE_FIXED
  const card = testCardOf(work.find('payment_method', charge.payment_method ?? ''))
  charge.balance_transaction = record(work, {
    amount: charge.amount_captured,
    currency: charge.currency,
    description: charge.description,
    fee,
    source: charge.id,
    type: 'charge',
    ...(card?.bypassesPending ? { availableAfter: 0 } : {}),
  })
}

/** Writes down what a refund took away. */
export function recordRefund(work: UnitOfWork, refund: RefundRow, charge: ChargeRow): void {
  refund.balance_transaction = record(work, {
    amount: -refund.amount,
    currency: refund.currency,
    description: `REFUND FOR CHARGE${charge.description ? ` (${charge.description})` : ''}`,
    fee: 0,
    source: refund.id,
    type: 'refund',
  })
}

/** Records that the money of a failed refund came back. */
export function recordFailure(work: UnitOfWork, refund: RefundRow): string {
  return record(work, {
    amount: refund.amount,
    currency: refund.currency,
    description: `REFUND FAILURE (${refund.id})`,
    fee: 0,
    source: refund.id,
    type: 'refund_failure',
  })
}

/** Writes down that the bank took back what is disputed. */
export function recordWithdrawal(work: UnitOfWork, dispute: DisputeRow): string {
  return record(work, {
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

/** Writes down that the bank gave it back; the fee stays paid. */
export function recordReversal(work: UnitOfWork, dispute: DisputeRow): string {
  return record(work, {
    amount: dispute.amount,
    category: 'dispute_reversal',
    currency: dispute.currency,
    description: `Chargeback reversal for ${dispute.charge}`,
    fee: 0,
    source: dispute.id,
    type: 'adjustment',
  })
}

interface Movement {
  readonly amount: number
  /** In seconds; two days unless told. */
  readonly availableAfter?: number
  /** The type, unless told. */
  readonly category?: string
  readonly currency: string
  readonly description: string | null
  readonly fee: number
  readonly feeFor?: string
  readonly source: string
  readonly type: 'adjustment' | 'charge' | 'refund' | 'refund_failure'
}

function record(work: UnitOfWork, movement: Movement): string {
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
 * Brings the status up to date before anybody sees it: a job for each would double what time has to
 * do. They become available in the order they were made, so those before an available one are, too; unless that one
 * was available at once.
 */
export function settleBalance(work: UnitOfWork): void {
  for (const row of work.tables.balance_transaction.newestFirst()) {
    if (row.status === 'available') {
      if (row.available_on > row.created) return
    } else if (row.available_on <= work.sandboxNow) {
      const own = work.require('balance_transaction', row.id)
      work.editQuietly('balance_transaction', own).status = 'available'
    }
  }
}
