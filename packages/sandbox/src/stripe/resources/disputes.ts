import type Stripe from 'stripe'
import { copyJson } from '../../core/store/copy-json.ts'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { settleBalance } from '../payments/balance-transactions.ts'
import { addEvidence } from '../payments/dispute-evidence.ts'
import { closeDispute, escalateInquiry, isClosed, isInquiry } from '../payments/disputes.ts'
import { render } from '../state/render.ts'
import type { DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

/** Cards that complain make them, and so does `disputeCharge()` of the handle. */
export const disputes: Operations = {
  'Disputes.retrieve': op((_params, call) => {
    settleBalance(call.work)
    return render('dispute', call.work.require('dispute', idOf(call)), call.work.tables)
  }),

  'Disputes.list': op<Stripe.DisputeListParams>((params, { work, path }) => {
    settleBalance(work)
    const rows = filterRows(
      work.tables.dispute.newestFirst(),
      (row) =>
        (params.charge === undefined || row.charge === params.charge) &&
        (params.payment_intent === undefined || row.payment_intent === params.payment_intent) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('dispute', row, work.tables))
  }),

  'Disputes.update': op<Stripe.DisputeUpdateParams>((params, call) => {
    const { work } = call
    settleBalance(work)
    const dispute = work.require('dispute', idOf(call))
    if (isClosed(dispute)) throw invalidRequest('This dispute is already closed')
    work.edit('dispute', dispute)
    const before = copyJson({ status: dispute.status, details: dispute.evidence_details })
    dispute.metadata = mergeMetadata(dispute.metadata, params.metadata)
    if (params.intended_submission_method !== undefined) {
      dispute.intended_submission_method = params.intended_submission_method
    }
    if (params.evidence) addEvidence(work, dispute, params.evidence)
    const submitted = (params.submit ?? true) && dispute.evidence_details.has_evidence
    if (submitted) submit(dispute)
    const shown = { ...render('dispute', dispute, work.tables) }
    if (submitted) {
      const previous = { status: before.status, evidence_details: before.details }
      work.emit('charge.dispute.updated', 'dispute', dispute, previous)
      judge(work, dispute)
    }
    return shown
  }),

  'Disputes.close': op((_params, call) => {
    const { work } = call
    settleBalance(work)
    const dispute = work.require('dispute', idOf(call))
    if (isInquiry(dispute)) {
      throw invalidRequest('The sandbox does not imitate closing an inquiry; answer it instead.')
    }
    closeDispute(work, dispute, 'lost')
    return render('dispute', dispute, work.tables)
  }),
}

function submit(dispute: DisputeRow): void {
  dispute.status = isInquiry(dispute) ? 'warning_under_review' : 'under_review'
  const { evidence_details: details } = dispute
  dispute.evidence_details = {
    ...details,
    submission_count: details.submission_count + 1,
    submission_method: 'manual',
  }
}

/** Stripe's test values decide after the answer was seen; any other evidence waits for the bank. */
function judge(work: UnitOfWork, dispute: DisputeRow): void {
  const text = dispute.evidence.uncategorized_text
  if (text === 'winning_evidence') closeDispute(work, dispute, 'won')
  else if (text === 'losing_evidence') closeDispute(work, dispute, 'lost')
  else if (text === 'escalate_inquiry_evidence' && isInquiry(dispute)) {
    escalateInquiry(work, dispute)
  }
}
