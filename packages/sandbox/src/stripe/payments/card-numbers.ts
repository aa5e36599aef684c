import { StripeFault, withDocs } from '../wire/errors.ts'
import { TEST_CARDS, type TestCard } from './test-cards.ts'

/** The numbers of https://docs.stripe.com/testing, each by the test card that it is. */
export const CARD_NUMBERS: Readonly<Record<string, string>> = {
  '4242424242424242': 'visa',
  '4000056655665556': 'visa_debit',
  '5555555555554444': 'mastercard',
  '5200828282828210': 'mastercard_debit',
  '5105105105105100': 'mastercard_prepaid',
  '371449635398431': 'amex',
  '378282246310005': 'threeDSecureNotSupported',
  '6011000990139424': 'discover',
  '38520000023237': 'diners',
  '3566002020360505': 'jcb',
  '6200000000000005': 'unionpay',
  '4000000320000021': 'ar',
  '4000000760000002': 'br',
  '4000001240000000': 'ca',
  '4000001520000001': 'cl',
  '4000001700000003': 'co',
  '4000001880000005': 'cr',
  '4000002180000000': 'ec',
  '4000004840008001': 'mx',
  '4000005910000000': 'pa',
  '4000006000000066': 'py',
  '4000006040000068': 'pe',
  '4000008580000003': 'uy',
  '4000007840000001': 'ae',
  '4000000400000008': 'at',
  '4000000560000004': 'be',
  '4000001000000000': 'bg',
  '4000001120000005': 'by',
  '4000001910000009': 'hr',
  '4000001960000008': 'cy',
  '4000002030000002': 'cz',
  '4000002080000001': 'dk',
  '4000002330000009': 'ee',
  '4000002460000001': 'fi',
  '4000002500000003': 'fr',
  '4000002760000016': 'de',
  '4000002920000005': 'gi',
  '4000003000000030': 'gr',
  '4000003480000005': 'hu',
  '4000003720000005': 'ie',
  '4000003800000008': 'it',
  '4000004280000005': 'lv',
  '4000004380000004': 'li',
  '4000004400000000': 'lt',
  '4000004420000006': 'lu',
  '4000004700000007': 'mt',
  '4000005280000002': 'nl',
  '4000005780000007': 'no',
  '4000006160000005': 'pl',
  '4000006200000007': 'pt',
  '4000006420000001': 'ro',
  '4000006820000007': 'sa',
  '4000007050000006': 'si',
  '4000007030000001': 'sk',
  '4000007240000007': 'es',
  '4000007520000008': 'se',
  '4000007560000009': 'ch',
  '4000008260000000': 'gb',
  '4000000360000006': 'au',
  '4000001560000002': 'cn',
  '4000003440000004': 'hk',
  '4000003560000008': 'in',
  '4000003920000003': 'jp',
  '4000004580000002': 'my',
  '4000005540000008': 'nz',
  '4000007020000003': 'sg',
  '4000001580000008': 'tw',
  '4000007640000003': 'th_credit',
  '4000057640000008': 'th_debit',
  '4000000000000002': 'chargeDeclined',
  '4000000000009995': 'chargeDeclinedInsufficientFunds',
  '4000000000009987': 'chargeDeclinedLostCard',
  '4000000000009979': 'chargeDeclinedStolenCard',
  '4100000000000019': 'chargeDeclinedFraudulent',
  '4000000000000069': 'chargeDeclinedExpiredCard',
  '4000000000000127': 'chargeDeclinedIncorrectCvc',
  '4000000000000119': 'chargeDeclinedProcessingError',
  '4000000000006975': 'chargeDeclinedVelocityLimitExceeded',
  '4000000000000341': 'chargeCustomerFail',
  '4000000000003220': 'threeDSecure2Required',
  '4000000000003063': 'threeDSecureRequired',
  '4000002760003184': 'authenticationRequired',
  '4000002500003155': 'authenticationRequiredOnSetup',
  '4000000000003055': 'threeDSecureOptional',
  '4000000000000259': 'createDispute',
  '4000000000002685': 'createDisputeProductNotReceived',
  '4000000000001976': 'createDisputeInquiry',
  '4000000000009235': 'riskLevelElevated',
  '4000000000004954': 'riskLevelHighest',
  '4000000000000101': 'cvcCheckFail',
  '4000000000000010': 'avsFail',
  '4000000000000028': 'avsLine1Fail',
  '4000000000000036': 'avsZipFail',
  '4000000000000044': 'avsUnchecked',
  '4000000000000077': 'bypassPending',
  '4000003720000278': 'bypassPendingInternational',
  '4000000000007726': 'pendingRefund',
  '4000000000005126': 'refundFail',
}

/** The test card that has a number, however that was typed. Throws Stripe's refusal of any other. */
export function requireCardNumber(typed: string): { name: string; card: TestCard } {
  const number = typed.replace(/[\s-]/g, '')
  const name = Object.hasOwn(CARD_NUMBERS, number) ? CARD_NUMBERS[number] : undefined
  const card = name === undefined ? undefined : TEST_CARDS[name]
  if (name !== undefined && card) return { name, card }
  if (!isPossible(number)) {
    throw cardProblem('incorrect_number', 'Your card number is incorrect.', 'number')
  }
  throw new StripeFault(402, {
    type: 'card_error',
    ...withDocs('card_declined'),
    decline_code: 'test_mode_live_card',
    message:
      'Your card was declined. Your request was in test mode, but used a non test (live) card. For a list of valid test cards, visit: https://stripe.com/docs/testing.',
    param: '',
  })
}

export function cardProblem(code: string, message: string, param: string): StripeFault {
  return new StripeFault(402, { type: 'card_error', ...withDocs(code), message, param })
}

/** Every card number ends in a digit that follows from the others (Luhn). */
function isPossible(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false
  const sum = [...number].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
