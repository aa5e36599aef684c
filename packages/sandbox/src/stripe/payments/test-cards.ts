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
  /** Radar's opinion of a charge, `normal` unless given. Charges of the highest risk are blocked. */
  readonly risk?: 'elevated' | 'highest'
  /** Checks that do not pass: of the security code, and of those parts of an address that are known. */
  readonly checks?: {
    readonly cvc?: 'fail'
    readonly line1?: 'fail' | 'unavailable'
    readonly postalCode?: 'fail' | 'unavailable'
  }
  /** Money is available at once, without two days as pending. */
  readonly bypassesPending?: true
  /** Refunds begin as pending, or as succeeded, and an hour later succeed or fail. */
  readonly refunds?: 'succeed-later' | 'fail-later'
}

function card(
  brand: string,
  last4: string,
  behavior: CardBehavior = 'ok',
  more: Partial<TestCard> = {},
): TestCard {
  return { brand, last4, funding: 'credit', country: 'US', behavior, ...more }
}

/** `DE0016` is `pm_card_de`, whose number ends in 0016. */
function byCountry(...lines: readonly string[]): Record<string, TestCard> {
  const codes = lines.join(' ').split(' ')
  return Object.fromEntries(
    codes.map((code) => {
      const country = code.slice(0, 2)
      return [country.toLowerCase(), card('visa', code.slice(2), 'ok', { country })]
    }),
  )
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
  ...byCountry(
    'US4242 AR0021 BR0002 CA0000 CL0001 CO0003 CR0005 EC0000 MX8001 PA0000 PY0066 PE0068 UY0003',
    'AE0001 AT0008 BE0004 BG0000 BY0005 HR0009 CY0008 CZ0002 DK0001 EE0009 FI0001 FR0003 DE0016',
    'GI0005 GR0030 HU0005 IE0005 IT0008 LV0005 LI0004 LT0000 LU0006 MT0007 NL0002 NO0007 PL0005',
    'PT0007 RO0001 SA0007 SI0006 SK0001 ES0007 SE0008 CH0009 GB0000',
    'AU0006 CN0002 HK0004 IN0008 JP0003 MY0002 NZ0008 SG0003 TW0008',
  ),
  th_credit: card('visa', '0003', 'ok', { country: 'TH' }),
  th_debit: card('visa', '0008', 'ok', { country: 'TH', funding: 'debit' }),
  chargeDeclined: card('visa', '0002', { declines: 'generic_decline' }),
  visa_chargeDeclined: card('visa', '0002', { declines: 'generic_decline' }),
  chargeDeclinedInsufficientFunds: card('visa', '9995', { declines: 'insufficient_funds' }),
  visa_chargeDeclinedInsufficientFunds: card('visa', '9995', { declines: 'insufficient_funds' }),
  chargeDeclinedLostCard: card('visa', '9987', { declines: 'lost_card' }),
  visa_chargeDeclinedLostCard: card('visa', '9987', { declines: 'lost_card' }),
  chargeDeclinedStolenCard: card('visa', '9979', { declines: 'stolen_card' }),
  visa_chargeDeclinedStolenCard: card('visa', '9979', { declines: 'stolen_card' }),
  chargeDeclinedFraudulent: card('visa', '0019', { declines: 'fraudulent' }, { risk: 'highest' }),
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
  riskLevelElevated: card('visa', '9235', 'ok', { risk: 'elevated' }),
  riskLevelHighest: card('visa', '4954', 'ok', { risk: 'highest' }),
  radarBlock: card('visa', '0019', 'ok', { risk: 'highest' }),
  cvcCheckFail: card('visa', '0101', 'ok', { checks: { cvc: 'fail' } }),
  avsFail: card('visa', '0010', 'ok', { checks: { line1: 'fail', postalCode: 'fail' } }),
  avsLine1Fail: card('visa', '0028', 'ok', { checks: { line1: 'fail' } }),
  avsZipFail: card('visa', '0036', 'ok', { checks: { postalCode: 'fail' } }),
  avsUnchecked: card('visa', '0044', 'ok', {
    checks: { line1: 'unavailable', postalCode: 'unavailable' },
  }),
  bypassPending: card('visa', '0077', 'ok', { bypassesPending: true }),
  bypassPendingInternational: card('visa', '0278', 'ok', { bypassesPending: true }),
  pendingRefund: card('visa', '7726', 'ok', { refunds: 'succeed-later' }),
  refundFail: card('visa', '5126', 'ok', { refunds: 'fail-later' }),
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

interface OfTestCard {
  readonly $: { readonly behavior: string }
}

/** The test card behind a payment method; null for a bank account. */
export function testCardOf(method: OfTestCard | null | undefined): TestCard | null {
  return method ? (findTestCard(`pm_card_${method.$.behavior}`)?.card ?? null) : null
}

/** What the card behind a payment method does. */
export function behaviorOf(method: OfTestCard): CardBehavior {
  return testCardOf(method)?.behavior ?? 'ok'
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
