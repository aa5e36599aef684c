import { createHash } from 'node:crypto'
import type { CardDetails } from './rows/vault.ts'

/**
 * Returns the fingerprint of a card number, which is equal for equal numbers. The number itself is
 * not stored.
 */
export function hashCardNumber(number: string): string {
  return createHash('md5').update(number).digest('hex')
}

const INDICATORS = [
  'business',
  'commercial',
  'consumer',
  'corporate',
  'debit',
  'durbin_regulated',
  'healthcare',
  'payroll',
  'prepaid',
  'prepaid_reloadable',
  'purchase',
] as const
type Indicator = (typeof INDICATORS)[number]

/**
 * Properties of a card that Braintree derives from its number, such as prepaid or commercial: yes,
 * no or unknown.
 */
export interface CardIndicators extends Readonly<Record<Indicator, 'Yes' | 'No' | 'Unknown'>> {
  readonly country_of_issuance: string
  readonly issuing_bank: string
  readonly product_id: string
}

const UNKNOWN: CardIndicators = {
  ...fillIndicators('Unknown'),
  country_of_issuance: 'Unknown',
  issuing_bank: 'Unknown',
  product_id: 'Unknown',
}

/** Test numbers with special indicators. */
const INDICATORS_BY_NUMBER: ReadonlyMap<string, CardIndicators> = new Map(
  Object.entries({
    '4229989800000003': { business: 'Yes' },
    '4111111111131010': { commercial: 'Yes' },
    '4229989700000004': { consumer: 'Yes' },
    '4229989100000000': { corporate: 'Yes' },
    '4117101010101010': { debit: 'Yes' },
    '4111161010101010': { durbin_regulated: 'Yes' },
    '4111111510101010': { healthcare: 'Yes', product_id: 'J3' },
    '4111111114101010': { payroll: 'Yes', product_id: 'MSA' },
    '4111111111111210': { prepaid: 'Yes' },
    '4229989900000002': { prepaid_reloadable: 'Yes' },
    '4229989500000006': { purchase: 'Yes' },
    '4111111111121102': { country_of_issuance: 'USA' },
    '4111111141010101': { issuing_bank: 'NETWORK ONLY' },
    '4111111111310101': { ...fillIndicators('No'), product_id: 'MSB' },
    '4111111111112101': {},
  } as const).map(([number, says]) => [hashCardNumber(number), { ...UNKNOWN, ...says }]),
)

export function getCardIndicators(card: CardDetails): CardIndicators {
  return INDICATORS_BY_NUMBER.get(card.uniqueNumberIdentifier) ?? UNKNOWN
}

function fillIndicators<Says extends string>(says: Says): Record<Indicator, Says> {
  return Object.fromEntries(INDICATORS.map((name) => [name, says])) as Record<Indicator, Says>
}
