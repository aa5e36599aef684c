import { copyJson } from '../../core/store/copy-json.ts'
import { renderRow } from '../state/render.ts'
import type {
  ChargeRow,
  PaymentIntentRow,
  PaymentMethodRow,
  SetupIntentRow,
} from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { StripeFault, withErrorDocsUrl } from '../wire/errors.ts'
import { recordCharge } from './balance-transactions.ts'
import { openTestCardDispute } from './disputes.ts'
import {
  type CardDecline,
  createCardDecline,
  findMethodTestCard,
  getCardBehavior,
} from './test-cards.ts'

export type PaymentOutcome =
  | { readonly status: 'succeeded' }
  | { readonly status: 'requires_action' }
  /** The bank says later what became of it. */
  | { readonly status: 'processing' }
  | { readonly status: 'declined'; readonly decline: CardDecline }

/** Charges the card of a payment intent once and records the result. */
export function attemptCardPayment(work: UnitOfWork, intent: PaymentIntentRow): PaymentOutcome {
  const method = work.require('payment_method', intent.payment_method ?? '', 'payment_method')
  work.edit('payment_intent', intent)
  const verdict = decideOutcome(work, intent, method)
  if (verdict === 'challenge') {
    intent.status = 'requires_action'
    intent.next_action = buildNextAction(work, intent)
    work.emit('payment_intent.requires_action', 'payment_intent', intent)
    return { status: 'requires_action' }
  }
  intent.next_action = null
  if (verdict !== null) {
    const charge = createChargeRow(work, intent, method, verdict)
    work.insert('charge', charge, 'charge.failed')
    failIntent(work, intent, method, verdict, charge.id)
    return { status: 'declined', decline: verdict }
  }
  const charge = createChargeRow(work, intent, method, null)
  if (charge.captured) recordCharge(work, charge)
  work.insert('charge', charge, 'charge.succeeded')
  if (charge.captured) openTestCardDispute(work, charge)
  succeedIntent(work, intent, method, charge)
  return { status: 'succeeded' }
}

function decideOutcome(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
): CardDecline | 'challenge' | null {
  const forced = intent.customer ? work.context.trouble.takeDecline(intent.customer) : null
  if (forced !== null) return createCardDecline(forced)
  const behavior = getCardBehavior(method)
  if (isBlocked(method)) return createCardDecline('fraudulent')
  if (behavior === 'ok' || 'disputes' in behavior) return expiryDecline(work, method)
  if ('declines' in behavior) return createCardDecline(behavior.declines)
  if ('declinesCharges' in behavior) return createCardDecline(behavior.declinesCharges)
  if (intent.$.authenticated) return null
  const { offSession } = intent.$
  // A card that was set up can be charged without the customer. If the customer is present, the
  // bank asks for a challenge anyway.
  const known = behavior.challenges === 'until-set-up' && method.$.authenticated
  if (known && offSession !== false) return null
  return offSession === true ? createCardDecline('authentication_required') : 'challenge'
}

/** Whether Radar blocks the payment as fraud, before it reaches the bank. */
function isBlocked(method: PaymentMethodRow): boolean {
  return findMethodTestCard(method)?.risk === 'highest'
}

function expiryDecline(work: UnitOfWork, method: PaymentMethodRow): CardDecline | null {
  if (!method.card) return null
  const end = Date.UTC(method.card.exp_year, method.card.exp_month, 1)
  // Card networks update expired cards automatically. Only a card created with a past date counts
  // as expired.
  const set = Date.UTC(method.card.exp_year, method.card.exp_month - 1, 1)
  const wasPastWhenMade = end <= method.created * 1000
  return wasPastWhenMade && set < work.now * 1000 ? createCardDecline('expired_card') : null
}

/**
 * Whether a card requires the customer's authentication (3-D Secure) when it is used for the first
 * time.
 */
export function needsFirstUseAuthentication(method: PaymentMethodRow): boolean {
  const behavior = getCardBehavior(method)
  return typeof behavior === 'object' && 'challenges' in behavior && !method.$.authenticated
}

/** Seconds until the authorization of an online card payment expires: 7 days. */
const AUTHORIZATION_SECONDS = 7 * 24 * 3600

function succeedIntent(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
  charge: ChargeRow,
): void {
  intent.latest_charge = charge.id
  intent.last_payment_error = null
  if (intent.capture_method === 'manual') {
    intent.status = 'requires_capture'
    intent.amount_capturable = intent.amount
    intent.$.captureBefore = charge.created + AUTHORIZATION_SECONDS
    work.emit('payment_intent.amount_capturable_updated', 'payment_intent', intent)
  } else {
    intent.status = 'succeeded'
    intent.amount_received = intent.amount
    work.emit('payment_intent.succeeded', 'payment_intent', intent)
  }
  if (intent.$.authenticated && intent.setup_future_usage) {
    work.edit('payment_method', method).$.authenticated = true
  }
}

/** Records a decline on a payment intent and sets its status back to `requires_payment_method`. */
export function failIntent(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
  decline: CardDecline,
  chargeId: string | null,
): void {
  work.edit('payment_intent', intent)
  intent.status = 'requires_payment_method'
  intent.payment_method = null
  intent.next_action = null
  intent.$.authenticated = false
  if (chargeId) intent.latest_charge = chargeId
  intent.last_payment_error = {
    type: method.type === 'card' ? 'card_error' : 'invalid_request_error',
    ...declineFields(decline),
    ...(chargeId ? { charge: chargeId } : {}),
    payment_method: renderRow('payment_method', method, work.tables) as never,
  }
  work.emit('payment_intent.payment_failed', 'payment_intent', intent)
}

function declineFields(decline: CardDecline) {
  return {
    ...withErrorDocsUrl(decline.code),
    message: decline.message,
    ...(decline.declineCode ? { decline_code: decline.declineCode } : {}),
    ...(decline.adviceCode ? { advice_code: decline.adviceCode } : {}),
  }
}

/** Creates the error response (status 402) for a declined card. `extra` contains the intent. */
export function createCardFault(
  decline: CardDecline,
  extra: Readonly<Record<string, unknown>>,
  keepsChanges = false,
): StripeFault {
  const body = { type: 'card_error' as const, ...declineFields(decline), ...extra }
  return new StripeFault(402, body, { keepsChanges })
}

/**
 * Returns the `next_action` of an intent for a 3-D Secure challenge: a redirect to the bank's page,
 * or `use_stripe_sdk` for Stripe.js.
 */
export function buildNextAction(work: UnitOfWork, intent: PaymentIntentRow | SetupIntentRow) {
  const url = `${work.context.baseUrl}/pages/authenticate/${intent.id}?client_secret=${intent.client_secret}`
  if (intent.$.returnUrl === null || intent.$.inPage) {
    return {
      type: 'use_stripe_sdk' as const,
      use_stripe_sdk: { type: 'three_d_secure_redirect', stripe_js: url } as never,
    }
  }
  const redirect = { return_url: intent.$.returnUrl, url }
  return { type: 'redirect_to_url' as const, redirect_to_url: redirect }
}

export function createChargeRow(
  work: UnitOfWork,
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
  decline: CardDecline | null,
): ChargeRow {
  const manual = intent.capture_method === 'manual'
  const id = work.newId('ch_3')
  return {
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: null,
    failure_balance_transaction: null,
    on_behalf_of: null,
    receipt_number: null,
    review: null,
    source: null,
    source_transfer: null,
    transfer_data: null,
    transfer_group: null,
    id,
    object: 'charge',
    amount: intent.amount,
    amount_captured: decline || manual ? 0 : intent.amount,
    amount_refunded: 0,
    billing_details: copyJson(method.billing_details),
    calculated_statement_descriptor: 'TOLLGATE SANDBOX',
    captured: !decline && !manual,
    created: work.sandboxNow,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: decline?.code ?? null,
    failure_message: decline?.message ?? null,
    fraud_details: {},
    livemode: false,
    metadata: { ...intent.metadata },
    outcome: buildChargeOutcome(decline, method),
    paid: !decline,
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: { type: 'card', card: cardDetails(intent, method, work.sandboxNow) },
    receipt_email: intent.receipt_email,
    receipt_url: decline ? null : `${work.context.baseUrl}/pages/receipts/${id}`,
    refunded: false,
    shipping: null,
    statement_descriptor: intent.statement_descriptor,
    statement_descriptor_suffix: intent.statement_descriptor_suffix,
    status: decline ? 'failed' : 'succeeded',
  }
}

const RISK_SCORES = { normal: 20, elevated: 65, highest: 90 } as const

/** Shared by all approved charges. */
const APPROVED = describeOutcome(null, 'normal')

function buildChargeOutcome(
  decline: CardDecline | null,
  method: PaymentMethodRow,
): ChargeRow['outcome'] {
  const risk = findMethodTestCard(method)?.risk
  return decline || risk ? describeOutcome(decline, risk ?? 'normal') : APPROVED
}

function describeOutcome(
  decline: CardDecline | null,
  risk: keyof typeof RISK_SCORES,
): ChargeRow['outcome'] {
  const judged = { risk_level: risk, risk_score: RISK_SCORES[risk] }
  if (risk === 'highest') {
    return {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: 'not_sent_to_network',
      reason: 'highest_risk_level',
      ...judged,
      seller_message: 'Stripe blocked this payment as too risky.',
      type: 'blocked',
    }
  }
  return {
    advice_code: decline?.adviceCode ?? null,
    network_advice_code: null,
    network_decline_code: decline ? '01' : null,
    network_status: decline ? 'declined_by_network' : 'approved_by_network',
    reason: decline?.declineCode ?? null,
    ...judged,
    seller_message: decline
      ? 'The bank did not return any further details with this decline.'
      : 'Payment complete.',
    type: decline ? 'issuer_declined' : 'authorized',
  }
}

type CardDetails = NonNullable<NonNullable<ChargeRow['payment_method_details']>['card']>

function cardDetails(
  intent: PaymentIntentRow,
  method: PaymentMethodRow,
  created: number,
): CardDetails {
  const card = method.card
  return {
    amount_authorized: intent.amount,
    authorization_code: null,
    brand: card?.brand ?? null,
    ...(intent.capture_method === 'manual'
      ? { capture_before: created + AUTHORIZATION_SECONDS }
      : {}),
    checks: card?.checks ?? null,
    country: card?.country ?? null,
    electronic_commerce_indicator: null,
    exp_month: card?.exp_month ?? 1,
    exp_year: card?.exp_year ?? 2030,
    extended_authorization: { status: 'disabled' },
    fingerprint: card?.fingerprint ?? null,
    funding: card?.funding ?? null,
    incremental_authorization: { status: 'unavailable' },
    installments: null,
    last4: card?.last4 ?? null,
    mandate: null,
    multicapture: { status: 'unavailable' },
    network: card?.brand ?? null,
    network_token: { used: false },
    network_transaction_id: null,
    overcapture: { maximum_amount_capturable: intent.amount, status: 'unavailable' },
    regulated_status: 'unregulated',
    transaction_link_id: null,
    three_d_secure: intent.$.authenticated ? threeDSecure() : null,
    wallet: null,
  }
}

function threeDSecure(): NonNullable<CardDetails['three_d_secure']> {
  return {
    authentication_flow: 'challenge',
    electronic_commerce_indicator: '05',
    exemption_indicator: null,
    result: 'authenticated',
    result_reason: null,
    transaction_id: null,
    version: '2.2.0',
  } as NonNullable<CardDetails['three_d_secure']>
}
