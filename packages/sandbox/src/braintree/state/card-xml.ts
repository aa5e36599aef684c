import type { XmlObject } from '../wire/xml.ts'
import type { CardDetails } from './rows/vault.ts'

const INDICATORS =
  'business commercial consumer corporate debit durbin_regulated healthcare payroll prepaid prepaid_reloadable purchase'.split(
    ' ',
  )

const UNKNOWN_INDICATORS: XmlObject = Object.fromEntries(
  INDICATORS.map((name) => [name, 'Unknown']),
)

/** What a transaction shows of its card. */
export function cardFields(card: CardDetails): XmlObject {
  return {
    bin: card.bin,
    last_4: card.last4,
    card_type: card.cardType,
    expiration_month: card.expirationMonth,
    expiration_year: card.expirationYear,
    cardholder_name: card.cardholderName,
    unique_number_identifier: card.uniqueNumberIdentifier,
  }
}

/** The same card in the vault. */
export function vaultedCardFields(card: CardDetails): XmlObject {
  const logo = card.cardType.toLowerCase().replaceAll(' ', '_')
  return {
    ...cardFields(card),
    customer_location: 'US',
    country_of_issuance: 'Unknown',
    issuing_bank: 'Unknown',
    product_id: 'Unknown',
    image_url: `https://assets.braintreegateway.com/payment_method_logo/${logo}.png`,
    ...UNKNOWN_INDICATORS,
  }
}
