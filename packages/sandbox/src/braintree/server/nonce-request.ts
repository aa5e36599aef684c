import type { BraintreeContext } from '../state/context.ts'
import type { NonceRow } from '../state/rows/vault.ts'
import { readCard } from '../vault/cards.ts'
import { RequestFields } from '../wire/validation.ts'

/**
 * A card or PayPal account as a customer enters it in a browser. The default is a Visa test card.
 */
export interface NonceRequest {
  /** Card number, one of Braintree's test numbers. */
  readonly number?: string
  /**
   * Expiration date such as `12/2030`. Defaults to December of the year that is four years from
   * now.
   */
  readonly expirationDate?: string
  /** Cardholder name. */
  readonly cardholderName?: string
  /**
   * E-mail address of a PayPal account with a billing agreement. If set, the nonce is for this
   * account instead of a card.
   */
  readonly paypalEmail?: string
  /** Id of the customer in the client token with which the nonce is created. */
  readonly customerId?: string
}

export function openNonceInstrument(
  context: BraintreeContext,
  request: NonceRequest,
): Omit<NonceRow, 'nonce' | 'consumed'> {
  const customerId = request.customerId ?? null
  if (request.paypalEmail !== undefined) {
    const billingAgreementId = `B-${context.store.randomText(17).toUpperCase()}`
    const payerId = context.store.randomText(13).toUpperCase()
    const paypal = { email: request.paypalEmail, payerId, billingAgreementId }
    const instrument = { kind: 'paypal_account', paypal } as const
    return { instrument, alwaysFailsWith: null, customerId, token: null }
  }
  const year = context.clock.now().getUTCFullYear() + 4
  const typedIn = {
    number: request.number ?? '4111111111111111',
    expiration_date: request.expirationDate ?? `12/${year}`,
    cardholder_name: request.cardholderName ?? null,
  }
  const fields = new RequestFields(typedIn, ['credit_card'])
  const read = readCard(fields)
  if (!read) throw new TypeError(fields.errors.message)
  const { card, alwaysFailsWith } = read
  return { instrument: { kind: 'credit_card', card }, alwaysFailsWith, customerId, token: null }
}
