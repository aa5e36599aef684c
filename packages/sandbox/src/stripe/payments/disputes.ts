import { createBlankRow } from '../state/blank.ts'
import type { ChargeRow, DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { recordDisputeReversal, recordDisputeWithdrawal } from './balance-transactions.ts'
import { createEmptyEvidence } from './dispute-evidence.ts'
import { type DisputeCause, getCardBehavior } from './test-cards.ts'

const DAY = 86_400
/** Full days the merchant has to respond to a dispute. */
const RESPONSE_DAYS = 8
/** Days after which an inquiry that did not become a dispute is closed. */
const INQUIRY_DAYS = 120

/** Visa's reason codes, by Stripe's dispute reason. */
const NETWORK_CODES: Readonly<Record<string, string>> = {
  credit_not_processed: '13.6',
  duplicate: '12.6',
  fraudulent: '10.4',
  product_not_received: '13.1',
  product_unacceptable: '13.3',
  subscription_canceled: '13.2',
  unrecognized: '10.4',
}

/**
 * Opens a dispute about a charge immediately, if the charge was paid with a test card that causes
 * disputes.
 */
export function openTestCardDispute(work: UnitOfWork, charge: ChargeRow): void {
  const method = work.find('payment_method', charge.payment_method ?? '')
  const behavior = method ? getCardBehavior(method) : 'ok'
  if (typeof behavior === 'object' && 'disputes' in behavior) {
    openDispute(work, charge, behavior.disputes)
  }
}

/**
 * Opens a dispute about a charge. The bank withdraws the amount or, for an inquiry, only asks for
 * information.
 */
export function openDispute(work: UnitOfWork, charge: ChargeRow, cause: DisputeCause): DisputeRow {
  const amount = charge.amount_captured - charge.amount_refunded
  if (amount < 1)
    throw createInvalidRequestFault(`The charge ${charge.id} has nothing left to dispute.`)
  if (listDisputes(work, charge).some((dispute) => !isDisputeClosed(dispute))) {
    throw createInvalidRequestFault(`The charge ${charge.id} is disputed already.`)
  }
  const inquiry = cause.inquiry ?? false
  const dueBy = responseDeadline(work.sandboxNow)
  const dispute: DisputeRow = {
    ...createBlankRow('dispute'),
    id: work.newId('du_1'),
    amount,
    charge: charge.id,
    created: work.sandboxNow,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: createEmptyEvidence(),
    evidence_details: {
      due_by: dueBy,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    is_charge_refundable: inquiry,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: { card: buildNetworkCase(charge, cause), type: 'card' },
    reason: cause.reason,
    status: inquiry ? 'warning_needs_response' : 'needs_response',
    $: { moved: [], nextAt: inquiry ? work.sandboxNow + INQUIRY_DAYS * DAY : dueBy + 1 },
  }
  if (!inquiry) dispute.$.moved = [recordDisputeWithdrawal(work, dispute)]
  work.insert('dispute', dispute, 'charge.dispute.created')
  if (!inquiry) work.emit('charge.dispute.funds_withdrawn', 'dispute', dispute)
  work.edit('charge', charge)
  charge.disputed = true
  charge.$ = { disputes: [...(charge.$?.disputes ?? []), dispute.id] }
  return dispute
}

/** Returns the deadline for a response: the last second of the eighth day. */
function responseDeadline(now: number): number {
  return (Math.floor(now / DAY) + RESPONSE_DAYS + 1) * DAY - 1
}

function buildNetworkCase(charge: ChargeRow, { reason, inquiry }: DisputeCause) {
  const code = NETWORK_CODES[reason] ?? null
  const brand = charge.payment_method_details?.card?.brand ?? 'visa'
  return {
    brand,
    case_type: inquiry ? ('inquiry' as const) : ('chargeback' as const),
    network: brand,
    // Inquiries have only the group of the reason code.
    network_reason_code: inquiry ? (code?.split('.')[0] ?? null) : code,
  }
}

export function listDisputes(work: UnitOfWork, charge: ChargeRow): DisputeRow[] {
  return (charge.$?.disputes ?? []).map((id) => work.require('dispute', id))
}

export function isDisputeClosed(dispute: DisputeRow): boolean {
  return ['won', 'lost', 'warning_closed'].includes(dispute.status)
}

/** Closes a dispute with the decision of the bank. An inquiry is closed whatever the decision. */
export function closeDispute(work: UnitOfWork, dispute: DisputeRow, outcome: 'won' | 'lost'): void {
  if (isDisputeClosed(dispute)) throw createInvalidRequestFault('This dispute is already closed')
  work.edit('dispute', dispute)
  dispute.$.nextAt = null
  if (isDisputeInquiry(dispute)) dispute.status = 'warning_closed'
  else {
    dispute.status = outcome
    dispute.is_charge_refundable = outcome === 'won'
    if (outcome === 'won') {
      dispute.$.moved = [...dispute.$.moved, recordDisputeReversal(work, dispute)]
      work.emit('charge.dispute.funds_reinstated', 'dispute', dispute)
    }
  }
  work.emit('charge.dispute.closed', 'dispute', dispute)
}

/** Turns an inquiry into a dispute about the unrefunded amount of the charge. */
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
    card: buildNetworkCase(charge, { reason: dispute.reason }),
    type: 'card',
  }
  dispute.$.moved = [recordDisputeWithdrawal(work, dispute)]
  dispute.evidence_details = {
    ...dispute.evidence_details,
    due_by: responseDeadline(work.sandboxNow),
  }
  dispute.$.nextAt = responseDeadline(work.sandboxNow) + 1
  work.emit('charge.dispute.funds_withdrawn', 'dispute', dispute)
}

export function isDisputeInquiry(dispute: DisputeRow): boolean {
  return dispute.status.startsWith('warning_')
}

/**
 * Closes a dispute as lost because its deadline has passed without a response. A dispute under
 * review stays open until the bank decides.
 */
export function expireDispute(work: UnitOfWork, id: string): void {
  const dispute = work.edit('dispute', work.require('dispute', id))
  dispute.$.nextAt = null
  if (dispute.status === 'under_review') return
  dispute.evidence_details = { ...dispute.evidence_details, past_due: true }
  closeDispute(work, dispute, 'lost')
}
