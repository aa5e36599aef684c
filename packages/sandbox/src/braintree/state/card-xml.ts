import { toSnakeCaseKeys, type XmlObject } from '../wire/xml.ts'
import { getCardIndicators, hashCardNumber } from './card-numbers.ts'
import type { CardDetails, ThreeDSecureInfo } from './rows/vault.ts'

/** Returns the XML fields of a card, which transactions, verifications and the vault share. */
export function toCardXmlFields(card: CardDetails): XmlObject {
  const logo = card.cardType.toLowerCase().replaceAll(' ', '_')
  return {
    bin: card.bin,
    last_4: card.last4,
    card_type: card.cardType,
    expiration_month: card.expirationMonth,
    expiration_year: card.expirationYear,
    cardholder_name: card.cardholderName,
    unique_number_identifier: card.uniqueNumberIdentifier,
    customer_location: 'US',
    image_url: `https://assets.braintreegateway.com/payment_method_logo/${logo}.png`,
    is_network_tokenized: false,
    ...getCardIndicators(card),
  }
}

/**
 * Returns the transaction link id of a Mastercard payment, derived from the given id. `null` for
 * cards of other networks.
 */
export function getTransactionLinkId(id: string, card: CardDetails): string | null {
  return card.cardType === 'MasterCard' ? hashCardNumber(id).slice(0, 22) : null
}

/**
 * Renders the 3-D Secure result of a nonce, verification or sale as XML. `null` if 3-D Secure was
 * not used.
 */
export function renderThreeDSecureXml(info: ThreeDSecureInfo | undefined): XmlObject | null {
  return info ? toSnakeCaseKeys(info) : null
}
