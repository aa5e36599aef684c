import { copyJson } from '../../core/store/copy-json.ts'
import type { StripeOperations } from '../api/operation.ts'
import { customOperation, listRows } from '../api/resource.ts'
import { markAvailableFunds } from '../payments/balance-transactions.ts'
import { addEvidence } from '../payments/dispute-evidence.ts'
import {
  closeDispute,
  escalateInquiry,
  isDisputeClosed,
  isDisputeInquiry,
} from '../payments/disputes.ts'
import { renderRow } from '../state/render.ts'
import type { DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

/** Operations on disputes. Certain test cards and the handle's `disputeCharge()` open disputes. */
export const disputeOperations: StripeOperations = {
  'Disputes.retrieve': customOperation('dispute', (_params, { work, id }) => {
    markAvailableFunds(work)
    return work.require('dispute', id)
  }),
  'Disputes.list': (params, call) => {
    markAvailableFunds(call.work)
    return listRows('dispute', params, call)
  },
  'Disputes.update': (params, { work, id }) => {
    markAvailableFunds(work)
    const dispute = work.require('dispute', id)
    if (isDisputeClosed(dispute)) throw createInvalidRequestFault('This dispute is already closed')
    work.edit('dispute', dispute)
    const before = copyJson({ status: dispute.status, details: dispute.evidence_details })
    dispute.metadata = mergeMetadata(dispute.metadata, params.metadata)
    Object.assign(dispute, pickSentFields(params, 'intended_submission_method'))
    if (params.evidence) addEvidence(work, dispute, params.evidence)
    const submitted = (params.submit ?? true) && dispute.evidence_details.has_evidence
    if (submitted) submit(dispute)
    const shown = { ...renderRow('dispute', dispute, work.tables) }
    if (submitted) {
      const previous = { status: before.status, evidence_details: before.details }
      work.emit('charge.dispute.updated', 'dispute', dispute, previous)
      decideByTestValue(work, dispute)
    }
    return shown
  },

  'Disputes.close': customOperation('dispute', (_params, { work, id }) => {
    markAvailableFunds(work)
    const dispute = work.require('dispute', id)
    if (isDisputeInquiry(dispute)) {
      throw createInvalidRequestFault(
        'The sandbox does not imitate closing an inquiry; answer it instead.',
      )
    }
    closeDispute(work, dispute, 'lost')
    return dispute
  }),
}

function submit(dispute: DisputeRow): void {
  dispute.status = isDisputeInquiry(dispute) ? 'warning_under_review' : 'under_review'
  const { evidence_details: details } = dispute
  dispute.evidence_details = {
    ...details,
    submission_count: details.submission_count + 1,
    submission_method: 'manual',
  }
}

/**
 * Decides a dispute by Stripe's test values for evidence, after the evidence was returned as
 * submitted. Any other evidence waits for the bank's decision.
 */
function decideByTestValue(work: UnitOfWork, dispute: DisputeRow): void {
  const text = dispute.evidence.uncategorized_text
  if (text === 'winning_evidence') closeDispute(work, dispute, 'won')
  else if (text === 'losing_evidence') closeDispute(work, dispute, 'lost')
  else if (text === 'escalate_inquiry_evidence' && isDisputeInquiry(dispute)) {
    escalateInquiry(work, dispute)
  }
}
