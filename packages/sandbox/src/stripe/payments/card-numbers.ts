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
  '4000002760000016': 'de',
  '4000008260000000': 'gb',
  '4000002500000003': 'fr',
  '4000003560000008': 'in',
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
