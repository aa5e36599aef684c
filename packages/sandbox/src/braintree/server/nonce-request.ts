import type { BraintreeContext } from '../state/context.ts'
import type { NonceRow } from '../state/rows/vault.ts'
import { readCard } from '../vault/cards.ts'
import { ErrorCollector } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'

/** What the customer typed into the page. A Visa test card unless told. */
export interface NonceRequest {
  /** One of Braintree's test numbers. */
  readonly number?: string
  /** `12/2030`; December in four years unless told. */
  readonly expirationDate?: string
  /** As on the card. */
  readonly cardholderName?: string
  /** A PayPal account with a billing agreement, instead of a card. */
  readonly paypalEmail?: string
  /** The customer whose client token the page was opened with. */
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
  const errors = new ErrorCollector()
  const read = readCard(
    new Fields({
      number: request.number ?? '4111111111111111',
      expiration_date: request.expirationDate ?? `12/${year}`,
      cardholder_name: request.cardholderName ?? null,
    }),
    ['credit_card'],
    errors,
  )
  if (!read) throw new TypeError(errors.message)
  const { card, alwaysFailsWith } = read
  return { instrument: { kind: 'credit_card', card }, alwaysFailsWith, customerId, token: null }
}
