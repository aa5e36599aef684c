import {
  type BraintreeContext,
  createUnusedId,
  findMerchantAccount,
  readMerchantSettings,
} from '../state/context.ts'
import { renderVerificationXml } from '../state/payment-method-xml.ts'
import type { VerificationRow } from '../state/rows/vault.ts'
import { ValidationRefused } from '../wire/errors.ts'
import { MAX_32_BIT_AMOUNT } from '../wire/money.ts'
import type { AmountErrorCodes, RequestFields } from '../wire/validation.ts'
import { findVerificationFailure } from './cards.ts'
import type { SubmittedPaymentMethod } from './nonces.ts'
import {
  APPROVED_BY_PROCESSOR,
  decideSimulatedFailure,
  describeProcessorDecision,
} from './processor.ts'

/** Names of the verification options in a call, and the codes of their errors. */
export interface VerificationNames {
  /** Prefix of the option names: `verification_` in calls that store a card. */
  readonly prefix: string
  readonly codes: AmountErrorCodes & {
    readonly account: string
    readonly accountType: string
    readonly accountTypeUnsupported: string
  }
}

const CARD_CODES = {
  account: '91728',
  invalid: '91740',
  negative: '91739',
  'too-large': '91752',
  accountType: '91757',
  accountTypeUnsupported: '91758',
}

/**
 * Verifies a card that is to be stored.
 * @throws {ValidationRefused} with the verification if it fails.
 */
export function verifyCard(
  context: BraintreeContext,
  submittedMethod: SubmittedPaymentMethod,
  card: RequestFields,
): VerificationRow[] {
  const options = card.object('options')
  if (!options.flag('verify_card') || submittedMethod.instrument.kind !== 'credit_card') return []
  const names = { prefix: 'verification_', codes: CARD_CODES }
  const asked = readVerificationOptions(context, options, names)
  options.throwIfAny()
  return [requestVerification(context, submittedMethod, asked)]
}

export type VerificationRequest = Pick<
  VerificationRow,
  'amount' | 'currency' | 'merchantAccountId' | 'accountType' | 'hasRiskData' | 'billingAddress'
>

/**
 * Verifies a card and stores the verification, successful or not.
 * @throws {ValidationRefused} with the verification if it fails.
 */
export function requestVerification(
  context: BraintreeContext,
  offered: SubmittedPaymentMethod,
  verificationRequest: VerificationRequest,
): VerificationRow {
  const card = offered.instrument.kind === 'credit_card' ? offered.instrument.card : null
  const code = offered.alwaysFailsWith ?? (card && findVerificationFailure(card))
  const verdict = code === null ? APPROVED_BY_PROCESSOR : decideSimulatedFailure(code)
  const { verifications } = context.tables
  const verification: VerificationRow = {
    id: createUnusedId(context, 8, (id) => verifications.has(id)),
    status: verdict.status === 'authorized' ? 'verified' : verdict.status,
    ...verificationRequest,
    ...(card ? { card } : {}),
    ...(offered.threeDSecure ? { threeDSecure: offered.threeDSecure } : {}),
    responseCode: verdict.responseCode,
    gatewayRejectionReason: verdict.gatewayRejectionReason,
    createdAt: context.clock.nowMs(),
  }
  verifications.set(verification.id, verification)
  if (verification.status === 'verified') return verification
  throw new ValidationRefused({
    message: describeProcessorDecision(verdict),
    extras: { verification: renderVerificationXml(verification) },
  })
}

/** Reads the amount, merchant account and account type of a verification. */
export function readVerificationOptions(
  context: BraintreeContext,
  options: RequestFields,
  { prefix, codes }: VerificationNames,
): VerificationRequest {
  const account = findMerchantAccount(context, options.text(`${prefix}merchant_account_id`))
  if (!account) options.addError(`${prefix}merchant_account_id`, codes.account)
  const currency = account?.currency ?? 'USD'
  const rules = { codes, currency, largest: MAX_32_BIT_AMOUNT, otherwise: '0' }
  const amount = options.amount(`${prefix}amount`, rules)
  const accountType = options.text(`${prefix}account_type`)
  if (accountType !== null && accountType !== 'credit' && accountType !== 'debit') {
    options.addError(`${prefix}account_type`, codes.accountType)
    // Cards with two sides are Brazil's.
  } else if (accountType !== null && currency !== 'BRL') {
    options.addError(`${prefix}account_type`, codes.accountTypeUnsupported)
  }
  const skipsFraudCheck = options.flag('skip_advanced_fraud_checking') ?? false
  const hasRiskData = readMerchantSettings(context).fraudProtection && !skipsFraudCheck
  return {
    amount,
    currency,
    merchantAccountId: account?.id ?? '',
    accountType: accountType === 'credit' || accountType === 'debit' ? accountType : null,
    ...(hasRiskData ? { hasRiskData } : {}),
  }
}
