import type Stripe from 'stripe'
import type { DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { KINDS } from '../wire/contract.generated.ts'
import { listParamFields } from '../wire/contract.ts'
import { createInvalidRequestFault, createNoSuchObjectFault } from '../wire/errors.ts'

type Evidence = DisputeRow['evidence']
type TextField = Exclude<keyof Evidence, 'appeal' | 'enhanced_evidence'>

const MAX_FIELD_LENGTH = 20_000
const MAX_TOTAL_LENGTH = 150_000

const FIELDS = listParamFields('Disputes.update', 'evidence').filter(
  (name) => name !== 'appeal' && name !== 'enhanced_evidence',
)
const EMPTY = Object.fromEntries(FIELDS.map((name) => [name, null])) as Omit<
  Evidence,
  'enhanced_evidence'
>
/**
 * Evidence fields that refer to uploaded files, which the sandbox does not store. These are the
 * expandable ones.
 */
const FILE_FIELDS = KINDS.dispute?.expandable ?? []

export function createEmptyEvidence(): Evidence {
  return { ...EMPTY, enhanced_evidence: {} }
}

/** Adds evidence to a dispute. An empty string removes a field of the evidence. */
export function addEvidence(
  work: UnitOfWork,
  dispute: DisputeRow,
  submittedEvidence: Stripe.DisputeUpdateParams.Evidence,
): void {
  work.edit('dispute', dispute)
  const evidence = { ...dispute.evidence }
  for (const [name, value] of Object.entries(submittedEvidence)) {
    const path = `evidence[${name}]`
    // Non-empty values of these two are rejected elsewhere; an empty string has no effect.
    if (name === 'appeal' || name === 'enhanced_evidence') continue
    if (typeof value !== 'string') continue
    if (FILE_FIELDS.includes(`evidence.${name}`) && value !== '')
      throw createNoSuchObjectFault('file upload', value, path)
    if (value.length > MAX_FIELD_LENGTH) {
      throw createInvalidRequestFault(
        `This value must be ${MAX_FIELD_LENGTH} characters or less.`,
        path,
      )
    }
    evidence[name as TextField] = value || null
  }
  const texts = Object.values(evidence).filter((value) => typeof value === 'string')
  if (texts.join('').length > MAX_TOTAL_LENGTH) {
    throw createInvalidRequestFault(
      `Evidence must be ${MAX_TOTAL_LENGTH} characters or less.`,
      'evidence',
    )
  }
  dispute.evidence = evidence
  dispute.evidence_details = { ...dispute.evidence_details, has_evidence: texts.length > 0 }
}
