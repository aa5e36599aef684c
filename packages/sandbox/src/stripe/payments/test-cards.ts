import { splitWords } from '../wire/words.ts'

/** How a test card behaves when it is attached or charged. */
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

/**
 * The kind of dispute that a payment leads to. With `inquiry`, the bank only asks for information
 * and withdraws no money yet.
 */
export interface DisputeCause {
  readonly reason: string
  readonly inquiry?: boolean
}

export interface TestCard {
  readonly brand: string
  readonly number: string
  readonly last4: string
  readonly funding: 'credit' | 'debit' | 'prepaid'
  readonly country: string
  readonly behavior: CardBehavior
  /**
   * Radar's risk level of charges. Charges with the highest risk are blocked. The default is
   * `normal`.
   */
  readonly risk?: 'elevated' | 'highest'
  /**
   * Results of the checks that do not pass. The parts of the address are checked only if the
   * payment method has them.
   */
  readonly checks?: {
    readonly cvc?: 'fail'
    readonly line1?: 'fail' | 'unavailable'
    readonly postalCode?: 'fail' | 'unavailable'
  }
  /** Set if the funds of a charge are available immediately instead of after two days. */
  readonly bypassesPending?: true
  /**
   * How refunds are delayed: they are pending and succeed after an hour, or they succeed and fail
   * after an hour.
   */
  readonly refunds?: 'succeed-later' | 'fail-later'
}

function card(number: string, more: Partial<TestCard> = {}): TestCard {
  const last4 = number.slice(-4)
  return { brand: 'visa', number, last4, funding: 'credit', country: 'US', behavior: 'ok', ...more }
}

/**
 * Defines test cards by country: `de276-0016` is `pm_card_de`, whose number contains the numeric
 * ISO 3166 code and ends in 0016.
 */
function byCountry(codes: string): Record<string, TestCard> {
  return Object.fromEntries(
    splitWords(codes).map((code) => {
      const [, name = '', place, end] = /^(..)(\d+)-(\d+)$/.exec(code) ?? []
      return [name, card(`400000${place}000${end}`, { country: name.toUpperCase() })]
    }),
  )
}

const declines = (code: string): Partial<TestCard> => ({ behavior: { declines: code } })
const disputes = (cause: DisputeCause): Partial<TestCard> => ({ behavior: { disputes: cause } })
const CHALLENGES_ALWAYS: Partial<TestCard> = { behavior: { challenges: 'always' } }
const CHALLENGES_UNTIL_SET_UP: Partial<TestCard> = { behavior: { challenges: 'until-set-up' } }
const MASTERCARD = { brand: 'mastercard' }

/** Stripe's test values `pm_card_<name>` and `tok_<name>`. https://docs.stripe.com/testing */
const CARDS = {
  visa: card('4242424242424242'),
  visa_debit: card('4000056655665556', { funding: 'debit' }),
  mastercard: card('5555555555554444', MASTERCARD),
  mastercard_debit: card('5200828282828210', { ...MASTERCARD, funding: 'debit' }),
  mastercard_prepaid: card('5105105105105100', { ...MASTERCARD, funding: 'prepaid' }),
  amex: card('371449635398431', { brand: 'amex' }),
  discover: card('6011000990139424', { brand: 'discover' }),
  diners: card('38520000023237', { brand: 'diners' }),
  jcb: card('3566002020360505', { brand: 'jcb' }),
  unionpay: card('6200000000000005', { brand: 'unionpay' }),
  us: card('4242424242424242'),
  ...byCountry(`
    ar032-0021 br076-0002 ca124-0000 cl152-0001 co170-0003 cr188-0005 ec218-0000 mx484-8001
    pa591-0000 py600-0066 pe604-0068 uy858-0003
    ae784-0001 at040-0008 be056-0004 bg100-0000 by112-0005 hr191-0009 cy196-0008 cz203-0002
    dk208-0001 ee233-0009 fi246-0001 fr250-0003 de276-0016 gi292-0005 gr300-0030 hu348-0005
    ie372-0005 it380-0008 lv428-0005 li438-0004 lt440-0000 lu442-0006 mt470-0007 nl528-0002
    no578-0007 pl616-0005 pt620-0007 ro642-0001 sa682-0007 si705-0006 sk703-0001 es724-0007
    se752-0008 ch756-0009 gb826-0000
    au036-0006 cn156-0002 hk344-0004 in356-0008 jp392-0003 my458-0002 nz554-0008 sg702-0003
    tw158-0008
  `),
  th_credit: card('4000007640000003', { country: 'TH' }),
  th_debit: card('4000057640000008', { country: 'TH', funding: 'debit' }),
  chargeDeclined: card('4000000000000002', declines('generic_decline')),
  chargeDeclinedInsufficientFunds: card('4000000000009995', declines('insufficient_funds')),
  chargeDeclinedLostCard: card('4000000000009987', declines('lost_card')),
  chargeDeclinedStolenCard: card('4000000000009979', declines('stolen_card')),
  chargeDeclinedFraudulent: card('4100000000000019', {
    ...declines('fraudulent'),
    risk: 'highest',
  }),
  chargeDeclinedExpiredCard: card('4000000000000069', declines('expired_card')),
  chargeDeclinedIncorrectCvc: card('4000000000000127', declines('incorrect_cvc')),
  chargeDeclinedProcessingError: card('4000000000000119', declines('processing_error')),
  chargeDeclinedVelocityLimitExceeded: card('4000000000006975', declines('card_velocity_exceeded')),
  chargeCustomerFail: card('4000000000000341', {
    behavior: { declinesCharges: 'generic_decline' },
  }),
  threeDSecure2Required: card('4000000000003220', CHALLENGES_ALWAYS),
  threeDSecureRequired: card('4000000000003063', CHALLENGES_ALWAYS),
  authenticationRequired: card('4000002760003184', CHALLENGES_ALWAYS),
  authenticationRequiredOnSetup: card('4000002500003155', CHALLENGES_UNTIL_SET_UP),
  authenticationRequiredSetupForOffSession: card('4000002500003155', CHALLENGES_UNTIL_SET_UP),
  threeDSecureOptional: card('4000000000003055'),
  threeDSecureNotSupported: card('378282246310005', { brand: 'amex' }),
  riskLevelNormal: card('4242424242424242'),
  riskLevelElevated: card('4000000000009235', { risk: 'elevated' }),
  riskLevelHighest: card('4000000000004954', { risk: 'highest' }),
  radarBlock: card('4100000000000019', { risk: 'highest' }),
  cvcCheckFail: card('4000000000000101', { checks: { cvc: 'fail' } }),
  avsFail: card('4000000000000010', { checks: { line1: 'fail', postalCode: 'fail' } }),
  avsLine1Fail: card('4000000000000028', { checks: { line1: 'fail' } }),
  avsZipFail: card('4000000000000036', { checks: { postalCode: 'fail' } }),
  avsUnchecked: card('4000000000000044', {
    checks: { line1: 'unavailable', postalCode: 'unavailable' },
  }),
  bypassPending: card('4000000000000077', { bypassesPending: true }),
  bypassPendingInternational: card('4000003720000278', { bypassesPending: true }),
  pendingRefund: card('4000000000007726', { refunds: 'succeed-later' }),
  refundFail: card('4000000000005126', { refunds: 'fail-later' }),
  createDispute: card('4000000000000259', disputes({ reason: 'fraudulent' })),
  createDisputeProductNotReceived: card(
    '4000000000002685',
    disputes({ reason: 'product_not_received' }),
  ),
  createDisputeInquiry: card('4000000000001976', disputes({ reason: 'fraudulent', inquiry: true })),
}

const VISA_ALIASES = [
  'chargeDeclined',
  'chargeDeclinedInsufficientFunds',
  'chargeDeclinedLostCard',
  'chargeDeclinedStolenCard',
  'createDispute',
  'createDisputeProductNotReceived',
  'createDisputeInquiry',
] as const satisfies ReadonlyArray<keyof typeof CARDS>

export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  ...CARDS,
  ...Object.fromEntries(VISA_ALIASES.map((name) => [`visa_${name}`, CARDS[name]])),
}

/**
 * Finds the test card of a test value such as `pm_card_visa` or `tok_visa`. `null` if there is
 * none.
 */
export function findTestCard(value: string): { name: string; card: TestCard } | null {
  const name = /^(?:pm_card|tok)_(\w+)$/.exec(value)?.[1]
  const found = name !== undefined && Object.hasOwn(TEST_CARDS, name) ? TEST_CARDS[name] : undefined
  return name !== undefined && found ? { name, card: found } : null
}

interface MethodWithBehavior {
  readonly $: { readonly behavior: string }
}

/** Returns the test card of a payment method. `null` for a bank account. */
export function findMethodTestCard(method: MethodWithBehavior | null | undefined): TestCard | null {
  return method ? (findTestCard(`pm_card_${method.$.behavior}`)?.card ?? null) : null
}

/** Returns how the test card of a payment method behaves. */
export function getCardBehavior(method: MethodWithBehavior): CardBehavior {
  return findMethodTestCard(method)?.behavior ?? 'ok'
}

export interface CardDecline {
  readonly code: string
  readonly declineCode: string | null
  readonly message: string
  readonly adviceCode: string | null
}

const DECLINED = 'Your card was declined.'

/** Error code, message and advice by decline code. */
const DECLINES: Readonly<
  Record<string, readonly [code: string, message: string, advice: string | null]>
> = {
  insufficient_funds: ['card_declined', 'Your card has insufficient funds.', 'try_again_later'],
  lost_card: ['card_declined', DECLINED, 'do_not_try_again'],
  stolen_card: ['card_declined', DECLINED, 'do_not_try_again'],
  fraudulent: ['card_declined', DECLINED, 'do_not_try_again'],
  card_velocity_exceeded: [
    'card_declined',
    'Your card was declined for making repeated attempts too frequently or exceeding its amount limit.',
    'try_again_later',
  ],
  expired_card: ['expired_card', 'Your card has expired.', 'do_not_try_again'],
  incorrect_cvc: ['incorrect_cvc', "Your card's security code is incorrect.", 'confirm_card_data'],
  processing_error: [
    'processing_error',
    'An error occurred while processing your card. Try again in a little bit.',
    'try_again_later',
  ],
  authentication_required: [
    'authentication_required',
    'Your card was declined. This transaction requires authentication.',
    null,
  ],
}

/** Decline codes that Stripe treats as final: it does not retry the same card. */
const FINAL_DECLINES = new Set(
  splitWords(`
    authentication_required highest_risk_level incorrect_number lost_card pickup_card
    revocation_of_all_authorizations revocation_of_authorization stolen_card
    transaction_not_allowed
  `),
)

export function isFinalDecline(declineCode: string): boolean {
  return FINAL_DECLINES.has(declineCode)
}

/**
 * Returns the error for a decline code. For an unknown decline code, the error code is
 * `card_declined`.
 */
export function createCardDecline(declineCode: string): CardDecline {
  const known = Object.hasOwn(DECLINES, declineCode) ? DECLINES[declineCode] : undefined
  const [code, message, adviceCode] = known ?? ['card_declined', DECLINED, 'try_again_later']
  return { code, declineCode, message, adviceCode }
}
