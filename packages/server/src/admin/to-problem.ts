import { type BillingErrorCode, isBillingError } from '@tollgate/billing'
import { isUnavailable } from '@tollgate/database'
import { isOAuthError } from '@tollgate/oauth'
import { ENGLISH } from '../messages/messages.ts'
import { type ProblemName, ServiceError } from '../service-error.ts'
import { DecisionRequired } from '../users/end-account.ts'
import { InvalidAccount } from '../users/parse.ts'
import { AdminProblem } from './problems.ts'

/**
 * Problems for errors of billing. All other errors of billing become `conflict`, because they are
 * about the present state of the object.
 */
const BILLING: Partial<Record<BillingErrorCode, ProblemName>> = {
  invalid_argument: 'invalid-input',
  invalid_amount: 'invalid-input',
  unknown_price: 'invalid-input',
  unknown_coupon: 'invalid-input',
  invalid_tax_id: 'invalid-input',
  promotion_code_refused: 'invalid-input',
  too_many_attempts: 'too-many-requests',
  unsupported: 'conflict',
  user_not_found: 'not-found',
  no_subscription: 'not-found',
  invoice_not_found: 'not-found',
  charge_not_found: 'not-found',
  not_found: 'not-found',
  busy: 'unavailable',
  database_unavailable: 'unavailable',
  provider_rejected: 'provider-refused',
  refund_refused: 'provider-refused',
  payment_failed: 'provider-refused',
  provider_unavailable: 'provider-unavailable',
  provider_misconfigured: 'provider-unavailable',
}

/**
 * Converts an error of the libraries into the problem for the caller. An unknown error becomes the
 * cause of the problem, for the log; the caller learns nothing about it.
 */
export function toProblem(error: unknown): AdminProblem {
  if (error instanceof AdminProblem) return error
  const cause = { cause: error }
  if (error instanceof InvalidAccount) {
    const fields = Object.entries(error.in(ENGLISH)).map(([name, text]) => [name, [text]])
    return new AdminProblem('invalid-input', error.message, {
      ...cause,
      fields: Object.fromEntries(fields),
    })
  }
  if (error instanceof DecisionRequired) {
    const { subscriptions, open } = error
    return new AdminProblem(
      'decision-required',
      'Choose what happens to the subscription and to open amounts: send `subscription`, and `void_open` if amounts are open.',
      { ...cause, members: { subscriptions, open } },
    )
  }
  if (error instanceof ServiceError) return new AdminProblem(error.problem, error.message, cause)
  if (isOAuthError(error, 'validation_failed')) {
    return new AdminProblem('invalid-input', error.message, { ...cause, fields: error.errors })
  }
  if (isOAuthError(error, 'conflict')) return new AdminProblem('conflict', error.message, cause)
  if (isOAuthError(error, 'not_found')) return new AdminProblem('not-found', error.message, cause)
  if (isBillingError(error)) {
    return new AdminProblem(BILLING[error.code] ?? 'conflict', error.message, cause)
  }
  if (hasCode(error, 'GATE_INVALID_USE')) {
    return new AdminProblem('invalid-input', error.message, cause)
  }
  const isGateAway = hasCode(error, 'GATE_UNAVAILABLE')
  if (isGateAway || isUnavailable(error) || isOAuthError(error, 'temporarily_unavailable')) {
    return new AdminProblem('unavailable', 'The database does not answer. Try again.', cause)
  }
  return new AdminProblem('unexpected', 'An unexpected error occurred; it has been logged.', cause)
}

/** Whether it is an error of the gate, whose classes are not loaded unless a plan has limits. */
const hasCode = (error: unknown, code: string): error is Error =>
  error instanceof Error && 'code' in error && error.code === code
