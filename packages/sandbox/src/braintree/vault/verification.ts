import {
  type BraintreeContext,
  findMerchantAccount,
  freshId,
  settingsOf,
} from '../state/context.ts'
import { verificationXml } from '../state/payment-method-xml.ts'
import type { VerificationRow } from '../state/rows/vault.ts'
import { ErrorCollector, type ErrorPath, Refused } from '../wire/errors.ts'
import { LARGEST_32_BIT } from '../wire/money.ts'
import { type AmountCodes, type Fields, readAmount } from '../wire/validation.ts'
import { verificationFailure } from './cards.ts'
import { APPROVED, messageFor, verdictFor } from './processor.ts'
import type { Offered } from './vault.ts'

/** What the options are called, and the codes of what is wrong with them. */
export interface VerificationNames {
  /** Before each option: `verification_` where a card is kept. */
  readonly prefix: string
  readonly path: ErrorPath
  readonly codes: AmountCodes & {
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

/** Asks the processor about a card that is to be kept; throws the failed verification. */
export function verifyCard(
  context: BraintreeContext,
  offered: Offered,
  options: Fields,
  parent: ErrorPath = ['credit_card'],
): VerificationRow[] {
  if (!options.flag('verify_card') || offered.instrument.kind !== 'credit_card') return []
  const errors = new ErrorCollector()
  const path = [...parent, 'options']
  const names = { prefix: 'verification_', path, codes: CARD_CODES }
  const asked = readVerificationOptions(context, options, names, errors)
  errors.throwIfAny()
  return [askProcessor(context, offered, asked)]
}

export type AskedVerification = Pick<
  VerificationRow,
  'amount' | 'currency' | 'merchantAccountId' | 'accountType' | 'hasRiskData' | 'billingAddress'
>

/** The verification, which is kept on record either way; a failed one is thrown. */
export function askProcessor(
  context: BraintreeContext,
  offered: Offered,
  asked: AskedVerification,
): VerificationRow {
  const card = offered.instrument.kind === 'credit_card' ? offered.instrument.card : null
  const code = offered.alwaysFailsWith ?? (card && verificationFailure(card))
  const verdict = code === null ? APPROVED : verdictFor(code)
  const { verifications } = context.tables
  const verification: VerificationRow = {
    id: freshId(context, 8, (id) => verifications.has(id)),
    status: verdict.status === 'authorized' ? 'verified' : verdict.status,
    ...asked,
    ...(card ? { card } : {}),
    ...(offered.threeDSecure ? { threeDSecure: offered.threeDSecure } : {}),
    responseCode: verdict.responseCode,
    gatewayRejectionReason: verdict.gatewayRejectionReason,
    createdAt: context.clock.nowMs(),
  }
  verifications.set(verification.id, verification)
  if (verification.status === 'verified') return verification
  throw new Refused({
    message: messageFor(verdict),
    extras: { verification: verificationXml(verification) },
  })
}

/** How much is asked for, at which account, and of which side of a card that has two. */
export function readVerificationOptions(
  context: BraintreeContext,
  options: Fields,
  { prefix, path, codes }: VerificationNames,
  errors: ErrorCollector,
): AskedVerification {
  const account = findMerchantAccount(context, options.text(`${prefix}merchant_account_id`))
  if (!account) errors.add(path, `${prefix}merchant_account_id`, codes.account)
  const currency = account?.currency ?? 'USD'
  const attribute = `${prefix}amount`
  const rules = { path, attribute, codes, currency, largest: LARGEST_32_BIT }
  const amount = readAmount(options.value(attribute) ?? '0', rules, errors)
  const accountType = options.text(`${prefix}account_type`)
  if (accountType !== null && accountType !== 'credit' && accountType !== 'debit') {
    errors.add(path, `${prefix}account_type`, codes.accountType)
    // Cards with two sides are Brazil's.
  } else if (accountType !== null && currency !== 'BRL') {
    errors.add(path, `${prefix}account_type`, codes.accountTypeUnsupported)
  }
  const skipsFraudCheck = options.flag('skip_advanced_fraud_checking') ?? false
  const hasRiskData = settingsOf(context).fraudProtection && !skipsFraudCheck
  return {
    amount,
    currency,
    merchantAccountId: account?.id ?? '',
    accountType: accountType === 'credit' || accountType === 'debit' ? accountType : null,
    ...(hasRiskData ? { hasRiskData } : {}),
  }
}
