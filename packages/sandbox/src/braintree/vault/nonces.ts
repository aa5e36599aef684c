import type { BraintreeContext } from '../state/context.ts'
import type {
  BillingAddress,
  NonceRow,
  PaymentInstrument,
  ThreeDSecureInfo,
} from '../state/rows/vault.ts'
import { findAuthentication } from './authentications.ts'
import { createParsedCard } from './cards.ts'

/**
 * A payment method that a call submits by a nonce, a card number or a PayPal account. It is not
 * stored in the vault yet, unless the nonce refers to a stored one.
 */
export interface SubmittedPaymentMethod {
  readonly instrument: PaymentInstrument
  readonly alwaysFailsWith: string | null
  /**
   * Id of the customer for whose vault the nonce was created, or whose stored payment method it
   * refers to. `null` without a customer.
   */
  readonly customerId: string | null
  /**
   * Token of the stored payment method that the nonce refers to. `null` if the payment method is
   * not stored.
   */
  readonly token: string | null
  /** Token that the payment method gets when it is stored, chosen by the creator of the nonce. */
  readonly wantedToken?: string | null
  /** Billing address entered with the card. */
  readonly billingAddress?: BillingAddress | null
  readonly threeDSecure?: ThreeDSecureInfo
  /** Marks the nonce as used. Call this once the request is valid. */
  readonly consume: () => void
}

export type UsableNonce = SubmittedPaymentMethod & {
  readonly outcome: 'usable'
  readonly oneTime: boolean
}

/** Result of looking up a nonce: its payment method, or the reason why the nonce cannot be used. */
export type NonceLookup =
  | UsableNonce
  | { readonly outcome: 'consumed' | 'unknown' | 'luhn-invalid' }

const FAKE_CARDS: Readonly<Record<string, string>> = {
  'fake-valid-nonce': '4012888888881881',
  'fake-valid-visa-nonce': '4012888888881881',
  'fake-valid-amex-nonce': '378282246310005',
  'fake-valid-mastercard-nonce': '5555555555554444',
  'fake-valid-discover-nonce': '6011111111111117',
  'fake-valid-jcb-nonce': '3530111333300000',
  'fake-valid-maestro-nonce': '6304000000000000',
  'fake-valid-dinersclub-nonce': '36259600000012',
  'fake-valid-prepaid-nonce': '4111111111111210',
  'fake-valid-prepaid-reloadable-nonce': '4229989900000002',
  'fake-valid-business-nonce': '4229989800000003',
  'fake-valid-consumer-nonce': '4229989700000004',
  'fake-valid-corporate-nonce': '4229989100000000',
  'fake-valid-purchase-nonce': '4229989500000006',
  'fake-valid-commercial-nonce': '4111111111131010',
  'fake-valid-durbin-regulated-nonce': '4111161010101010',
  'fake-valid-healthcare-nonce': '4111111510101010',
  'fake-valid-debit-nonce': '4117101010101010',
  'fake-valid-payroll-nonce': '4111111114101010',
  'fake-valid-no-indicators-nonce': '4111111111310101',
  'fake-valid-unknown-indicators-nonce': '4111111111112101',
  'fake-valid-country-of-issuance-usa-nonce': '4111111111121102',
  'fake-valid-issuing-bank-network-only-nonce': '4111111141010101',
  // Braintree describes it as a payment method that the SDK does not know; a server sees a card.
  'fake-abstract-transactable-nonce': '4111111111111111',
  'fake-processor-declined-visa-nonce': '4000111111111115',
  'fake-processor-declined-mastercard-nonce': '5105105105105100',
  'fake-processor-declined-amex-nonce': '378734493671000',
  'fake-processor-declined-discover-nonce': '6011000990139424',
  'fake-processor-failure-jcb-nonce': '3566002020360505',
  'fake-gateway-rejected-fraud-nonce': '4000111111111511',
}

/** Test nonces of Visa cards whose special properties (prepaid, commercial …) are not simulated. */
const OTHER_FAKE_VISA = /^fake-valid-[a-z-]+-nonce$/

/**
 * Looks up the payment method of a nonce. Braintree's `fake-…` test nonces can be used any number
 * of times, as in Braintree's own sandbox; all other nonces can be used once.
 */
export function findNonce(context: BraintreeContext, nonce: string): NonceLookup {
  const row = context.tables.nonces.get(nonce)
  if (row) return row.consumed ? { outcome: 'consumed' } : openNonceRow(context, row)
  if (nonce === 'fake-consumed-nonce') return { outcome: 'consumed' }
  if (nonce === 'fake-luhn-invalid-nonce') return { outcome: 'luhn-invalid' }
  if (nonce === 'fake-gateway-rejected-risk-thresholds-nonce') {
    return { ...fakeCard(context, '4111111111111111'), alwaysFailsWith: 'risk_threshold' }
  }
  const threeDSecure = findAuthentication(nonce, 'nonce')
  if (threeDSecure) return { ...fakeCard(context, '4000000000000002'), threeDSecure }
  const number = FAKE_CARDS[nonce] ?? (OTHER_FAKE_VISA.test(nonce) ? '4012888888881881' : null)
  if (number) return fakeCard(context, number)
  if (nonce === 'fake-paypal-billing-agreement-nonce') return fakePayPal('B-123456', false)
  if (nonce === 'fake-paypal-future-nonce') return fakePayPal('B-123456', false)
  if (nonce === 'fake-paypal-one-time-nonce') return fakePayPal(null, true)
  return { outcome: 'unknown' }
}

export function createNonce(
  context: BraintreeContext,
  nonceFields: Omit<NonceRow, 'nonce' | 'consumed'>,
): string {
  const nonce = `tokencc_bc_${context.store.randomText(30).toLowerCase()}`
  context.tables.nonces.set(nonce, { ...nonceFields, nonce, consumed: false })
  return nonce
}

function openNonceRow(context: BraintreeContext, row: NonceRow): UsableNonce {
  const { nonce: _, consumed: __, ...made } = row
  const { instrument } = made
  const oneTime =
    instrument.kind === 'paypal_account' && instrument.paypal.billingAgreementId === null
  const consume = () => {
    row.consumed = true
    context.tables.nonces.set(row.nonce, row)
  }
  return { outcome: 'usable', ...made, oneTime, consume }
}

function fakeCard(context: BraintreeContext, number: string): UsableNonce {
  const year = String(context.clock.now().getUTCFullYear() + 4)
  const { card, alwaysFailsWith } = createParsedCard(number, { month: '12', year }, null)
  return { ...buildFakeNonce({ kind: 'credit_card', card }), alwaysFailsWith }
}

function fakePayPal(billingAgreementId: string | null, oneTime: boolean): UsableNonce {
  const paypal = { email: 'jane.doe@paypal.com', payerId: 'FAKEPAYERID1', billingAgreementId }
  return { ...buildFakeNonce({ kind: 'paypal_account', paypal }), oneTime }
}

function buildFakeNonce(instrument: PaymentInstrument): UsableNonce {
  return {
    outcome: 'usable',
    instrument,
    alwaysFailsWith: null,
    customerId: null,
    token: null,
    oneTime: false,
    consume: () => undefined,
  }
}
