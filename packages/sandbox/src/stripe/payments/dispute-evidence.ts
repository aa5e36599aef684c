import type Stripe from 'stripe'
import type { DisputeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, noSuch } from '../wire/errors.ts'

type Evidence = DisputeRow['evidence']
type TextField = Exclude<keyof Evidence, 'appeal' | 'enhanced_evidence'>

const MOST_CHARACTERS = 20_000
const MOST_TOGETHER = 150_000

/** These name a file, and the sandbox keeps none. */
const FILES: readonly string[] = [
  'cancellation_policy',
  'customer_communication',
  'customer_signature',
  'duplicate_charge_documentation',
  'receipt',
  'refund_policy',
  'service_documentation',
  'shipping_documentation',
  'uncategorized_file',
]

export function noEvidence(): Evidence {
  return {
    access_activity_log: null,
    billing_address: null,
    cancellation_policy: null,
    cancellation_policy_disclosure: null,
    cancellation_rebuttal: null,
    customer_communication: null,
    customer_email_address: null,
    customer_name: null,
    customer_purchase_ip: null,
    customer_signature: null,
    duplicate_charge_documentation: null,
    duplicate_charge_explanation: null,
    duplicate_charge_id: null,
    enhanced_evidence: {},
    product_description: null,
    receipt: null,
    refund_policy: null,
    refund_policy_disclosure: null,
    refund_refusal_explanation: null,
    service_date: null,
    service_documentation: null,
    shipping_address: null,
    shipping_carrier: null,
    shipping_date: null,
    shipping_documentation: null,
    shipping_tracking_number: null,
    uncategorized_file: null,
    uncategorized_text: null,
  }
}

/** Adds to what was said before; an empty text takes a field back. */
export function addEvidence(
  work: UnitOfWork,
  dispute: DisputeRow,
  given: Stripe.DisputeUpdateParams.Evidence,
): void {
  work.edit('dispute', dispute)
  const evidence = { ...dispute.evidence }
  for (const [name, value] of Object.entries(given)) {
    const path = `evidence[${name}]`
    // Both are refused by name; an empty text takes nothing back.
    if (name === 'appeal' || name === 'enhanced_evidence') continue
    if (typeof value !== 'string') continue
    if (FILES.includes(name) && value !== '') throw noSuch('file upload', value, path)
    if (value.length > MOST_CHARACTERS) {
      throw invalidRequest(`This value must be ${MOST_CHARACTERS} characters or less.`, path)
    }
    evidence[name as TextField] = value || null
  }
  const texts = Object.values(evidence).filter((value) => typeof value === 'string')
  if (texts.join('').length > MOST_TOGETHER) {
    throw invalidRequest(`Evidence must be ${MOST_TOGETHER} characters or less.`, 'evidence')
  }
  dispute.evidence = evidence
  dispute.evidence_details = { ...dispute.evidence_details, has_evidence: texts.length > 0 }
}
