import { createCardErrorFault } from '../wire/errors.ts'
import { TEST_CARDS, type TestCard } from './test-cards.ts'

/**
 * Names of Stripe's test cards by card number. If several cards share a number, it maps to the name
 * of the first card.
 */
export const TEST_CARD_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(TEST_CARDS)
    .reverse()
    .map(([name, { number }]) => [number, name]),
)

/**
 * Finds the test card with a card number, which may contain spaces.
 * @throws {StripeFault} Stripe's error, if the number is invalid or belongs to no test card.
 */
export function requireCardNumber(typedNumber: string): { name: string; card: TestCard } {
  const number = typedNumber.replace(/[\s-]/g, '')
  const name = Object.hasOwn(TEST_CARD_NAMES, number) ? TEST_CARD_NAMES[number] : undefined
  const card = name === undefined ? undefined : TEST_CARDS[name]
  if (name !== undefined && card) return { name, card }
  if (!hasValidCheckDigit(number)) {
    throw createCardErrorFault('incorrect_number', 'Your card number is incorrect.', {
      param: 'number',
    })
  }
  throw createCardErrorFault(
    'card_declined',
    'Your card was declined. Your request was in test mode, but used a non test (live) card. For a list of valid test cards, visit: https://stripe.com/docs/testing.',
    { decline_code: 'test_mode_live_card', param: '' },
  )
}

/** Whether the number has a valid check digit (Luhn). */
function hasValidCheckDigit(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false
  const sum = [...number].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}
