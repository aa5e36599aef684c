import type { BraintreeContext } from '../state/context.ts'
import { readMerchantSettings } from '../state/context.ts'
import type { ThreeDSecureInfo } from '../state/rows/vault.ts'
import { type CardOutcome, lookUpCard } from '../vault/authentications.ts'
import { readJwt, writeJwt } from '../vault/fingerprints.ts'
import { createNonce, findNonce, type UsableNonce } from '../vault/nonces.ts'
import { NotAuthorized, NotFound, throwValidationError } from '../wire/errors.ts'
import type { ClientCall, ClientResponse } from './call.ts'
import { describeNonce } from './payment-methods.ts'

type CardUse = UsableNonce & {
  readonly instrument: { readonly kind: 'credit_card' }
}

/**
 * Looks up whether a card's bank requires a 3-D Secure challenge. The page's nonce is replaced by a
 * new one.
 */
export function lookUpThreeDSecure({ context, params, fields }: ClientCall): ClientResponse {
  if (!readMerchantSettings(context).threeDSecure)
    throw new NotAuthorized('3-D Secure is switched off')
  const use = requireCard(context, params.nonce ?? '')
  const amount = fields.text('amount') ?? ''
  if (!/^\d+(?:\.\d{1,2})?$/.test(amount))
    throwValidationError(['three_d_secure'], 'amount', '81503')
  const { lookup, answered } = lookUpCard(use.instrument.card)
  const nonce = exchange(context, use, lookup)
  const acsUrl = answered ? challengeUrl(context, nonce) : null
  const details = {
    acsUrl,
    pareq: '',
    transactionId: answered ? nonce.slice(-20) : null,
    threeDSecureVersion: lookup.threeDSecureVersion,
  }
  return { status: 201, value: { ...describeResult(use, nonce, lookup), lookup: details } }
}

/**
 * Accepts the signed result of the bank's 3-D Secure challenge. The page's nonce is replaced by a
 * new one, which contains the result.
 */
export function startThreeDSecure({ context, params, fields }: ClientCall): ClientResponse {
  const use = requireCard(context, params.nonce ?? '')
  const claims = readJwt(context, fields.text('jwt') ?? '')
  const { answered, refused } = lookUpCard(use.instrument.card)
  const isAsked = use.threeDSecure?.status === 'challenge_required'
  if (!claims || claims.nonce !== params.nonce || !isAsked || !answered || !refused) {
    throw new NotAuthorized('The answer is not for this card')
  }
  const info = claims.passed === true ? answered : refused
  return { status: 201, value: describeResult(use, exchange(context, use, info), info) }
}

/**
 * Returns the two possible results of the bank's challenge for a nonce, passed and failed, as
 * signed texts. `null` if no challenge is required.
 */
export function signChallengeResults(
  context: BraintreeContext,
  nonce: string,
): { readonly passed: string; readonly failed: string } | null {
  const use = findNonce(context, nonce)
  if (use.outcome !== 'usable' || use.threeDSecure?.status !== 'challenge_required') return null
  const answer = (passed: boolean) => writeJwt(context, { nonce, passed })
  return { passed: answer(true), failed: answer(false) }
}

function challengeUrl({ baseUrl, keys }: BraintreeContext, nonce: string): string {
  return `${baseUrl}/merchants/${keys.merchantId}/three_d_secure/${nonce}`
}

function requireCard(context: BraintreeContext, nonce: string): CardUse {
  const use = findNonce(context, nonce)
  if (use.outcome === 'usable' && use.instrument.kind === 'credit_card') return use as CardUse
  throw new NotFound('There is no such card')
}

function exchange(context: BraintreeContext, use: CardUse, info: CardOutcome['lookup']): string {
  const { outcome: _, oneTime: __, consume, ...made } = use
  consume()
  return createNonce(context, { ...made, threeDSecure: info })
}

function describeResult({ instrument }: CardUse, nonce: string, info: ThreeDSecureInfo): object {
  const { liabilityShifted, liabilityShiftPossible } = info
  return {
    paymentMethod: { ...describeNonce(nonce, instrument), threeDSecureInfo: info },
    threeDSecureInfo: { liabilityShifted, liabilityShiftPossible },
  }
}
