/** How a card behaves when it is used. */
export type CardBehavior =
  | 'ok'
  /** Declined at once, also when it is attached to a customer. */
  | { readonly declines: string }
  /** Attaches, then declines every charge. */
  | { readonly declinesCharges: string }
  /** Every payment needs the customer, unless `onlyUntilSetUp` and it was set up before. */
  | { readonly challenges: 'always' | 'until-set-up' }
  /** Is charged; then the cardholder complains to the bank. */
  | { readonly disputes: DisputeCause }

/** Why a cardholder complains. An inquiry is the bank asking first: it takes no money yet. */
export interface DisputeCause {
  readonly reason: string
  readonly inquiry?: boolean
}

export interface TestCard {
  readonly brand: string
  readonly last4: string
  readonly funding: 'credit' | 'debit' | 'prepaid'
  readonly country: string
  readonly behavior: CardBehavior
}

function card(
  brand: string,
  last4: string,
  behavior: CardBehavior = 'ok',
  more: Partial<TestCard> = {},
): TestCard {
  return { brand, last4, funding: 'credit', country: 'US', behavior, ...more }
}

/** Stripe's test values, `pm_card_<name>` and `tok_<name>`. https://docs.stripe.com/testing */
export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  visa: card('visa', '4242'),
  visa_debit: card('visa', '5556', 'ok', { funding: 'debit' }),
  mastercard: card('mastercard', '4444'),
  mastercard_debit: card('mastercard', '8210', 'ok', { funding: 'debit' }),
  mastercard_prepaid: card('mastercard', '5100', 'ok', { funding: 'prepaid' }),
  amex: card('amex', '8431'),
  discover: card('discover', '9424'),
  diners: card('diners', '3237'),
  jcb: card('jcb', '0505'),
  unionpay: card('unionpay', '0005'),
  us: card('visa', '4242'),
  de: card('visa', '0016', 'ok', { country: 'DE' }),
  gb: card('visa', '0000', 'ok', { country: 'GB' }),
  fr: card('visa', '0003', 'ok', { country: 'FR' }),
  in: card('visa', '0008', 'ok', { country: 'IN' }),
  chargeDeclined: card('visa', '0002', { declines: 'generic_decline' }),
  visa_chargeDeclined: card('visa', '0002', { declines: 'generic_decline' }),
  chargeDeclinedInsufficientFunds: card('visa', '9995', { declines: 'insufficient_funds' }),
  visa_chargeDeclinedInsufficientFunds: card('visa', '9995', { declines: 'insufficient_funds' }),
  chargeDeclinedLostCard: card('visa', '9987', { declines: 'lost_card' }),
  visa_chargeDeclinedLostCard: card('visa', '9987', { declines: 'lost_card' }),
  chargeDeclinedStolenCard: card('visa', '9979', { declines: 'stolen_card' }),
  visa_chargeDeclinedStolenCard: card('visa', '9979', { declines: 'stolen_card' }),
  chargeDeclinedFraudulent: card('visa', '0019', { declines: 'fraudulent' }),
  chargeDeclinedExpiredCard: card('visa', '0069', { declines: 'expired_card' }),
  chargeDeclinedIncorrectCvc: card('visa', '0127', { declines: 'incorrect_cvc' }),
  chargeDeclinedProcessingError: card('visa', '0119', { declines: 'processing_error' }),
  chargeDeclinedVelocityLimitExceeded: card('visa', '6975', {
    declines: 'card_velocity_exceeded',
  }),
  chargeCustomerFail: card('visa', '0341', { declinesCharges: 'generic_decline' }),
  threeDSecure2Required: card('visa', '3220', { challenges: 'always' }),
  threeDSecureRequired: card('visa', '3063', { challenges: 'always' }),
  authenticationRequired: card('visa', '3184', { challenges: 'always' }),
  authenticationRequiredOnSetup: card('visa', '3155', { challenges: 'until-set-up' }),
  authenticationRequiredSetupForOffSession: card('visa', '3155', { challenges: 'until-set-up' }),
  threeDSecureOptional: card('visa', '3055'),
  threeDSecureNotSupported: card('amex', '0005'),
  riskLevelNormal: card('visa', '4242'),
  createDispute: card('visa', '0259', { disputes: { reason: 'fraudulent' } }),
  visa_createDispute: card('visa', '0259', { disputes: { reason: 'fraudulent' } }),
  createDisputeProductNotReceived: card('visa', '2685', {
    disputes: { reason: 'product_not_received' },
  }),
  visa_createDisputeProductNotReceived: card('visa', '2685', {
    disputes: { reason: 'product_not_received' },
  }),
  createDisputeInquiry: card('visa', '1976', {
    disputes: { reason: 'fraudulent', inquiry: true },
  }),
  visa_createDisputeInquiry: card('visa', '1976', {
    disputes: { reason: 'fraudulent', inquiry: true },
  }),
}

/** `pm_card_visa`, `tok_visa` → `visa`; null when it is not a test value. */
export function findTestCard(value: string): { name: string; card: TestCard } | null {
  const name = /^(?:pm_card|tok)_(\w+)$/.exec(value)?.[1]
  const found = name !== undefined && Object.hasOwn(TEST_CARDS, name) ? TEST_CARDS[name] : undefined
  return name !== undefined && found ? { name, card: found } : null
}

/** What the card behind a payment method does. */
export function behaviorOf(method: { readonly $: { readonly behavior: string } }): CardBehavior {
  return findTestCard(`pm_card_${method.$.behavior}`)?.card.behavior ?? 'ok'
}

export interface Decline {
  readonly code: string
  readonly declineCode: string | null
  readonly message: string
  readonly adviceCode: string | null
}

const DECLINES: Readonly<Record<string, Decline>> = {
  insufficient_funds: decline(
    'card_declined',
    'insufficient_funds',
    'Your card has insufficient funds.',
    'try_again_later',
  ),
  lost_card: decline('card_declined', 'lost_card', 'Your card was declined.', 'do_not_try_again'),
  stolen_card: decline(
    'card_declined',
    'stolen_card',
    'Your card was declined.',
    'do_not_try_again',
  ),
  fraudulent: decline('card_declined', 'fraudulent', 'Your card was declined.', 'do_not_try_again'),
  card_velocity_exceeded: decline(
    'card_declined',
    'card_velocity_exceeded',
    'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.',
    'try_again_later',
  ),
  expired_card: decline(
    'expired_card',
    'expired_card',
    'Your card has expired.',
    'do_not_try_again',
  ),
  incorrect_cvc: decline(
    'incorrect_cvc',
    'incorrect_cvc',
    "Your card's security code is incorrect.",
    'confirm_card_data',
  ),
  processing_error: decline(
    'processing_error',
    'processing_error',
    'An error occurred while processing your card. Try again in a little bit.',
    'try_again_later',
  ),
  authentication_required: decline(
    'authentication_required',
    'authentication_required',
    'Your card was declined. This transaction requires authentication.',
    null,
  ),
}

/** Banks do not change their mind about these: Stripe asks them again only with another card. */
const FINAL = new Set([
  'authentication_required',
  'highest_risk_level',
  'incorrect_number',
  'lost_card',
  'pickup_card',
  'revocation_of_all_authorizations',
  'revocation_of_authorization',
  'stolen_card',
  'transaction_not_allowed',
])

export function isFinal(declineCode: string): boolean {
  return FINAL.has(declineCode)
}

/** A decline code in Stripe's words; an unknown one is a plain card_declined with that code. */
export function toDecline(code: string): Decline {
  const known = Object.hasOwn(DECLINES, code) ? DECLINES[code] : undefined
  return known ?? decline('card_declined', code, 'Your card was declined.', 'try_again_later')
}

function decline(
  code: string,
  declineCode: string,
  message: string,
  adviceCode: string | null,
): Decline {
  return { code, declineCode, message, adviceCode }
}
