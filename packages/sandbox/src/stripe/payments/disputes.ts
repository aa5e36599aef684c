import type Stripe from 'stripe'
import type { ChargeRow, DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { nulls } from '../wire/wire.ts'
import { recordReversal, recordWithdrawal } from './balance-transactions.ts'
import { noEvidence } from './dispute-evidence.ts'
import { behaviorOf, type DisputeCause } from './test-cards.ts'

const DAY = 86_400
/** The merchant answers until the end of the eighth day. */
const DAYS_TO_ANSWER = 8
/** An inquiry that became nothing is closed. */
const DAYS_OF_INQUIRY = 120

/** What Visa calls each reason. */
const NETWORK_CODES: Readonly<Record<string, string>> = {
  credit_not_processed: '13.6',
  duplicate: '12.6',
  fraudulent: '10.4',
  product_not_received: '13.1',
  product_unacceptable: '13.3',
  subscription_canceled: '13.2',
  unrecognized: '10.4',
}

/** Disputes a charge at once when it was paid by a card that does so. */
export function raiseDispute(work: UnitOfWork, charge: ChargeRow): void {
  const method = work.find('payment_method', charge.payment_method ?? '')
  const behavior = method ? behaviorOf(method) : 'ok'
  if (typeof behavior === 'object' && 'disputes' in behavior) {
    openDispute(work, charge, behavior.disputes)
  }
}

/** The cardholder complains: the bank takes the money, or, in an inquiry, asks first. */
export function openDispute(work: UnitOfWork, charge: ChargeRow, cause: DisputeCause): DisputeRow {
  const amount = charge.amount_captured - charge.amount_refunded
  if (amount < 1) throw invalidRequest(`The charge ${charge.id} has nothing left to dispute.`)
  if (disputesOf(work, charge).some((dispute) => !isClosed(dispute))) {
    throw invalidRequest(`The charge ${charge.id} is disputed already.`)
  }
  const inquiry = cause.inquiry ?? false
  const dueBy = dueAfter(work.sandboxNow)
  const dispute: DisputeRow = {
    ...nulls<Stripe.Dispute>('dispute'),
    id: work.newId('du_1'),
    object: 'dispute',
    amount,
    charge: charge.id,
    created: work.sandboxNow,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: noEvidence(),
    evidence_details: {
      due_by: dueBy,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    is_charge_refundable: inquiry,
    livemode: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: { card: caseOf(charge, cause), type: 'card' },
    reason: cause.reason,
    status: inquiry ? 'warning_needs_response' : 'needs_response',
    $: { moved: [], nextAt: inquiry ? work.sandboxNow + DAYS_OF_INQUIRY * DAY : dueBy + 1 },
  }
  if (!inquiry) dispute.$.moved = [recordWithdrawal(work, dispute)]
  work.insert('dispute', dispute, 'charge.dispute.created')
  if (!inquiry) work.emit('charge.dispute.funds_withdrawn', 'dispute', dispute)
  work.edit('charge', charge)
  charge.disputed = true
  charge.$ = { disputes: [...(charge.$?.disputes ?? []), dispute.id] }
  return dispute
}

/** The last second of the day. */
function dueAfter(now: number): number {
  return (Math.floor(now / DAY) + DAYS_TO_ANSWER + 1) * DAY - 1
}

function caseOf(charge: ChargeRow, { reason, inquiry }: DisputeCause) {
  const code = NETWORK_CODES[reason] ?? null
  const brand = charge.payment_method_details?.card?.brand ?? 'visa'
  return {
    brand,
    case_type: inquiry ? ('inquiry' as const) : ('chargeback' as const),
    network: brand,
    // An inquiry names only the group.
    network_reason_code: inquiry ? (code?.split('.')[0] ?? null) : code,
  }
}

export function disputesOf(work: UnitOfWork, charge: ChargeRow): DisputeRow[] {
  return (charge.$?.disputes ?? []).map((id) => work.require('dispute', id))
}

export function isClosed(dispute: DisputeRow): boolean {
  return ['won', 'lost', 'warning_closed'].includes(dispute.status)
}

/** The bank has decided. An inquiry that is over is merely closed, whoever was right. */
export function closeDispute(work: UnitOfWork, dispute: DisputeRow, outcome: 'won' | 'lost'): void {
  if (isClosed(dispute)) throw invalidRequest('This dispute is already closed')
  work.edit('dispute', dispute)
  dispute.$.nextAt = null
  if (isInquiry(dispute)) dispute.status = 'warning_closed'
  else {
    dispute.status = outcome
    dispute.is_charge_refundable = outcome === 'won'
    if (outcome === 'won') {
      dispute.$.moved = [...dispute.$.moved, recordReversal(work, dispute)]
      work.emit('charge.dispute.funds_reinstated', 'dispute', dispute)
    }
  }
  work.emit('charge.dispute.closed', 'dispute', dispute)
}

/** The bank was not content with the answer: what is left of the charge is taken back now. */
export function escalateInquiry(work: UnitOfWork, dispute: DisputeRow): void {
  const charge = work.require('charge', dispute.charge)
  const left = charge.amount_captured - charge.amount_refunded
  if (left < 1) {
    closeDispute(work, dispute, 'won')
    return
  }
  work.edit('dispute', dispute)
  dispute.amount = left
  dispute.status = 'needs_response'
  dispute.is_charge_refundable = false
  dispute.payment_method_details = {
    card: caseOf(charge, { reason: dispute.reason }),
    type: 'card',
  }
  dispute.$.moved = [recordWithdrawal(work, dispute)]
  dispute.evidence_details = { ...dispute.evidence_details, due_by: dueAfter(work.sandboxNow) }
  dispute.$.nextAt = dueAfter(work.sandboxNow) + 1
  work.emit('charge.dispute.funds_withdrawn', 'dispute', dispute)
}

export function isInquiry(dispute: DisputeRow): boolean {
  return dispute.status.startsWith('warning_')
}

/** Nobody answered in time, which loses; what is under review waits for the bank. */
export function expireDispute(work: UnitOfWork, id: string): void {
  const dispute = work.edit('dispute', work.require('dispute', id))
  dispute.$.nextAt = null
  if (dispute.status === 'under_review') return
  dispute.evidence_details = { ...dispute.evidence_details, past_due: true }
  closeDispute(work, dispute, 'lost')
}
