import type { XmlObject } from '../wire/xml.ts'
import { identifyNumber, indicatorsOf } from './card-numbers.ts'
import type { CardDetails, ThreeDSecureInfo } from './rows/vault.ts'

/** What a transaction, a verification and the vault show of a card. */
export function cardFields(card: CardDetails): XmlObject {
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
    ...indicatorsOf(card),
  }
}

/** MasterCard's own name for an authorization; other networks have none. */
export function linkIdOf(id: string, card: CardDetails): string | null {
  return card.cardType === 'MasterCard' ? identifyNumber(id).slice(0, 22) : null
}

/** What came of 3-D Secure, in a nonce, a verification or a sale; null where it was not asked for. */
export function threeDSecureXml(info: ThreeDSecureInfo | undefined): XmlObject | null {
  if (!info) return null
  return {
    status: info.status,
    enrolled: info.enrolled,
    liability_shifted: info.liabilityShifted,
    liability_shift_possible: info.liabilityShiftPossible,
    cavv: info.cavv,
    xid: info.xid,
    eci_flag: info.eciFlag,
    three_d_secure_version: info.threeDSecureVersion,
    ds_transaction_id: info.dsTransactionId,
  }
}
