import { hashCardNumber } from '../state/card-numbers.ts'
import type { CardDetails } from '../state/rows/vault.ts'
import type { RequestFields } from '../wire/validation.ts'
import { THREE_D_SECURE_TEST_CARDS } from './authentications.ts'

/** A card that was read from the parameters of a call, and the rejection that its number causes. */
export interface ParsedCard {
  readonly card: CardDetails
  /**
   * Reason for which fraud protection rejects every use of the card. `null` if fraud protection
   * accepts the card; the result of a charge then depends on its amount.
   */
  readonly alwaysFailsWith: string | null
}

/** The card numbers that Braintree's sandbox accepts. */
const TEST_NUMBERS = new Set([
  ...Object.keys(THREE_D_SECURE_TEST_CARDS),
  ...`378282246310005 371449635398431 371260714673002 36259600000012 38520000009814 6011111111111117
   6011000991300009 6011000991543426 3530111333300000 3566002020360505 6304000000000000
   5555555555554444 5105105105105100 2223000048400011 4111111111111111 4005519200000004
   4009348888881881 4012000033330026 4012000077777777 4012888888881881 4217651111111119
   4500600000000061 4000111111111115 4000111111111511 378734493671000 6011000990139424
   4023898493988028 4000000000000002 4242424242424242 4229989800000003 4111111111131010
   4229989700000004 4229989100000000 4111111111121102 4117101010101010 4111161010101010
   4111111510101010 6370950000000005 6062820524845321 4111111141010101 4111111111310101
   4111111111111210 4229989900000002 4111111114101010 4229989500000006 4111130000000003
   4111111111112101 378267515471109 371544868764018 5066991111111118`.split(/\s+/),
])

/**
 * Numbers that fail verification but can be charged, with the processor's response code. The result
 * of a charge depends on its amount.
 */
const FAIL_VERIFICATION: ReadonlyMap<string, string> = new Map(
  [
    ['4000111111111115', '2000'],
    ['5105105105105100', '2000'],
    ['378734493671000', '2000'],
    ['6011000990139424', '2000'],
    ['38520000009814', '2000'],
    ['3566002020360505', '3000'],
  ].map(([number = '', code = '']) => [hashCardNumber(number), code]),
)
/** Card numbers that fraud protection always rejects, with the reason. */
const REJECTED: ReadonlyMap<string, string> = new Map([
  ['4000111111111511', 'fraud'],
  ['4111130000000003', 'risk_threshold'],
])

const CARD_TYPES: ReadonlyArray<readonly [RegExp, string]> = [
  [/^3[47]/, 'American Express'],
  [/^3(?:0[0-5]|[68])/, 'Diners Club'],
  [/^35/, 'JCB'],
  [/^637095/, 'Hiper'],
  [/^606282/, 'Hipercard'],
  [/^50669/, 'Elo'],
  [/^4/, 'Visa'],
  [/^(?:5[1-5]|2[2-7])/, 'MasterCard'],
  [/^6(?:011|4[4-9]|5)/, 'Discover'],
  [/^(?:5[06-9]|6)/, 'Maestro'],
]

/** Reads a card from the parameters of a call. Returns `null` after adding errors. */
export function readCard(fields: RequestFields): ParsedCard | null {
  const before = fields.errors.message
  const number = (fields.text('number') ?? '').replace(/[\s-]/g, '')
  checkNumber(fields, number)
  checkCvv(fields, number)
  const expiration = readExpiration(fields)
  const cardholderName = fields.text('cardholder_name')
  fields.checkLength('cardholder_name', 175, '81723')
  if (fields.errors.message !== before || !expiration) return null
  return createParsedCard(number, expiration, cardholderName)
}

export function createParsedCard(
  number: string,
  expiration: { month: string; year: string },
  cardholderName: string | null,
): ParsedCard {
  const card: CardDetails = {
    bin: number.slice(0, 6),
    last4: number.slice(-4),
    cardType: CARD_TYPES.find(([pattern]) => pattern.test(number))?.[1] ?? 'Unknown',
    expirationMonth: expiration.month,
    expirationYear: expiration.year,
    cardholderName,
    uniqueNumberIdentifier: hashCardNumber(number),
  }
  return { card, alwaysFailsWith: REJECTED.get(number) ?? null }
}

/** Returns the processor's response code if a card fails verification, otherwise `null`. */
export function findVerificationFailure(card: CardDetails): string | null {
  return FAIL_VERIFICATION.get(card.uniqueNumberIdentifier) ?? null
}

function checkNumber(fields: RequestFields, number: string): void {
  if (number === '') fields.addError('number', '81714')
  else if (number.length < 12 || number.length > 19) fields.addError('number', '81716')
  else if (!/^\d+$/.test(number) || !passesLuhn(number)) fields.addError('number', '81715')
  else if (!TEST_NUMBERS.has(number)) fields.addError('number', '81717')
}

function checkCvv(fields: RequestFields, number: string): void {
  const digits = /^3[47]/.test(number) ? 4 : 3
  fields.check('cvv', (cvv) => /^\d+$/.test(cvv) && cvv.length === digits, '81707')
}

/**
 * Reads a card's expiration date: `05/2030`, `05/30`, or month and year separately. `null` if none
 * was sent or it is invalid.
 */
export function readExpiration(fields: RequestFields): { month: string; year: string } | null {
  const refuse = (key: string, code: string) => {
    fields.addError(key, code)
    return null
  }
  const date = fields.text('expiration_date')
  if (date === null && fields.isBlank('expiration_month') && fields.isBlank('expiration_year')) {
    return refuse('expiration_date', '81709')
  }
  const parts = date === null ? null : /^(\d{1,2})\/(\d{2}|\d{4})$/.exec(date)
  if (date !== null && !parts) return refuse('expiration_date', '81710')
  const month = Number(parts?.[1] ?? fields.text('expiration_month'))
  const yearText = parts?.[2] ?? fields.text('expiration_year') ?? ''
  const year = Number(yearText.length === 2 ? `20${yearText}` : yearText)
  if (!(Number.isInteger(month) && month >= 1 && month <= 12)) {
    return parts ? refuse('expiration_date', '81710') : refuse('expiration_month', '81712')
  }
  if (!(Number.isInteger(year) && year >= 1975 && year <= 2200)) {
    return parts ? refuse('expiration_date', '81711') : refuse('expiration_year', '81713')
  }
  return { month: String(month).padStart(2, '0'), year: String(year) }
}

function passesLuhn(number: string): boolean {
  let sum = 0
  for (let i = 0; i < number.length; i++) {
    const digit = Number(number[number.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
