import type { ThreeDSecureInfo } from '../state/rows/vault.ts'

type Outcome = readonly [status: string, enrolled: 'Y' | 'N' | 'U' | 'B', liability: Liability]
/** `possible`: it could have gone to the bank, and did not. */
type Liability = 'shifted' | 'possible' | 'none'

/** What became of 3-D Secure, by the middle of the names of Braintree's test values. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  'visa-full-authentication': ['authenticate_successful', 'Y', 'shifted'],
  'visa-attempts-non-participating': ['authenticate_attempt_successful', 'Y', 'shifted'],
  'visa-failed-signature': ['authenticate_signature_verification_failed', 'Y', 'possible'],
  'visa-failed-authentication': ['authenticate_failed', 'Y', 'possible'],
  'visa-authentication-unavailable': ['authenticate_unable_to_authenticate', 'Y', 'possible'],
  'visa-mpi-authenticate-error': ['authenticate_error', 'Y', 'possible'],
  'visa-not-enrolled': ['lookup_not_enrolled', 'N', 'none'],
  'visa-unavailable': ['authentication_unavailable', 'U', 'none'],
  'visa-lookup-timeout': ['lookup_error', 'U', 'none'],
  'visa-mpi-lookup-error': ['lookup_error', 'U', 'none'],
  'visa-bypassed-authentication': ['lookup_bypassed', 'B', 'none'],
  'two-visa-successful-frictionless-authentication': ['authenticate_successful', 'Y', 'shifted'],
  'two-visa-successful-step-up-authentication': ['authenticate_successful', 'Y', 'shifted'],
  'two-visa-error-on-lookup': ['lookup_error', 'U', 'none'],
  'two-visa-timeout-on-lookup': ['lookup_error', 'U', 'none'],
}

const ECI_FLAGS: Readonly<Record<string, string>> = {
  authenticate_successful: '05',
  authenticate_attempt_successful: '06',
}

/** What one of `fake-three-d-secure-…-nonce` or `…-id` stands for; null for any other text. */
export function findAuthentication(value: string, kind: 'nonce' | 'id'): ThreeDSecureInfo | null {
  const name = new RegExp(`^fake-three-d-secure-(.+)-${kind}$`).exec(value)?.[1] ?? ''
  const outcome = Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name] : undefined
  if (!outcome) return null
  const [status, enrolled, liability] = outcome
  const isTwo = name.startsWith('two-')
  const isShifted = liability === 'shifted'
  return {
    status,
    enrolled,
    liabilityShifted: isShifted,
    liabilityShiftPossible: liability !== 'none',
    cavv: isShifted ? 'cavv_value' : null,
    xid: isShifted ? 'xid_value' : null,
    eciFlag: enrolled === 'Y' ? (ECI_FLAGS[status] ?? '07') : null,
    threeDSecureVersion: isTwo ? '2.2.0' : '1.0.2',
    dsTransactionId: isTwo && isShifted ? 'f3a5a7e2-6c1f-4a0e-9d4b-0d6b6f0c2a11' : null,
  }
}
