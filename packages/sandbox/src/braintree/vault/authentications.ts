import { hashCardNumber } from '../state/card-numbers.ts'
import type { CardDetails, ThreeDSecureInfo } from '../state/rows/vault.ts'

type AuthenticationOutcome = readonly [
  status: string,
  enrolled: 'Y' | 'N' | 'U' | 'B',
  liability: Liability,
]
/**
 * Liability for fraud. `possible`: it could have shifted to the bank but did not.
 */
type Liability = 'shifted' | 'possible' | 'none'

/**
 * Results of 3-D Secure, by the `…` in Braintree's test values `fake-three-d-secure-…-nonce` and
 * `fake-three-d-secure-…-id`.
 */
const OUTCOMES: Readonly<Record<string, AuthenticationOutcome>> = {
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

const FAILED: AuthenticationOutcome = ['authenticate_frictionless_failed', 'Y', 'possible']
const UNAVAILABLE: AuthenticationOutcome = ['authenticate_unable_to_authenticate', 'Y', 'possible']
const SUCCESSFUL: AuthenticationOutcome = ['authenticate_successful', 'Y', 'shifted']
const ATTEMPTED: AuthenticationOutcome = ['authenticate_attempt_successful', 'Y', 'shifted']

/**
 * Braintree's test card numbers for 3-D Secure 2, with their result and whether the bank requires a
 * challenge. The numbers that start with 40000000000010 are older test numbers. A card with any
 * other number is not enrolled.
 * https://developer.paypal.com/braintree/docs/guides/3d-secure/testing
 */
export const THREE_D_SECURE_TEST_CARDS: Readonly<
  Record<string, readonly [AuthenticationOutcome, boolean]>
> = {
  '4000000000002701': [SUCCESSFUL, false],
  '5200000000002235': [SUCCESSFUL, false],
  '4000000000002925': [FAILED, false],
  '4000000000002719': [ATTEMPTED, false],
  '4000000000002313': [UNAVAILABLE, false],
  '4000000000002503': [SUCCESSFUL, true],
  '5200000000002151': [SUCCESSFUL, true],
  '4000000000002370': [['authenticate_failed', 'Y', 'possible'], true],
  '4000000000002420': [UNAVAILABLE, true],
  '4000000000001000': [SUCCESSFUL, false],
  '4000000000001018': [FAILED, false],
  '4000000000001026': [ATTEMPTED, false],
  '4000000000001034': [UNAVAILABLE, false],
  '4000000000001042': [['authenticate_rejected', 'Y', 'possible'], false],
  '4000000000001059': [['authentication_unavailable', 'U', 'none'], false],
  '4000000000001067': [['lookup_error', 'U', 'none'], false],
  '4000000000001075': [['lookup_failed_acs_error', 'U', 'none'], false],
  '4000000000001083': [['lookup_bypassed', 'B', 'none'], false],
  '4000000000001091': [SUCCESSFUL, true],
  '4000000000001109': [['authenticate_failed', 'Y', 'possible'], true],
  '4000000000001117': [UNAVAILABLE, true],
}
const CARDS = new Map(
  Object.entries(THREE_D_SECURE_TEST_CARDS).map(([number, known]) => [
    hashCardNumber(number),
    known,
  ]),
)

const ECI_FLAGS: Readonly<Record<string, string>> = {
  authenticate_successful: '05',
  authenticate_attempt_successful: '06',
}

/**
 * Returns the 3-D Secure result of a test value `fake-three-d-secure-…-nonce` or
 * `fake-three-d-secure-…-id`. `null` for any other text.
 */
export function findAuthentication(value: string, kind: 'nonce' | 'id'): ThreeDSecureInfo | null {
  const name = new RegExp(`^fake-three-d-secure-(.+)-${kind}$`).exec(value)?.[1] ?? ''
  const outcome = Object.hasOwn(OUTCOMES, name) ? OUTCOMES[name] : undefined
  if (!outcome) return null
  return describeOutcome(outcome, name.startsWith('two-'))
}

/** Returns the result of the 3-D Secure 2 lookup of a card. */
export function lookUpCard(card: CardDetails): CardOutcome {
  const known = CARDS.get(card.uniqueNumberIdentifier)
  if (!known) return { lookup: describeOutcome(['lookup_not_enrolled', 'N', 'none'], true) }
  const [outcome, isAsked] = known
  if (!isAsked) return { lookup: describeOutcome(outcome, true) }
  return {
    lookup: describeOutcome(['challenge_required', 'Y', 'possible'], true),
    answered: describeOutcome(outcome, true),
    refused: describeOutcome(['authenticate_failed', 'Y', 'possible'], true),
  }
}

/**
 * The result of a card's 3-D Secure lookup. If the bank requires a challenge, it also contains the
 * results that the challenge can have.
 */
export interface CardOutcome {
  readonly lookup: ThreeDSecureInfo
  readonly answered?: ThreeDSecureInfo
  readonly refused?: ThreeDSecureInfo
}

function describeOutcome(
  [status, enrolled, liability]: AuthenticationOutcome,
  isTwo: boolean,
): ThreeDSecureInfo {
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
