import type { BraintreeContext } from '../state/context.ts'
import type { CardDetails, PaymentMethodRow } from '../state/rows/vault.ts'
import type { RequestFields } from '../wire/validation.ts'
import { readBillingAddress, storeBillingAddress } from './addresses.ts'
import { readExpiration } from './cards.ts'
import type { SubmittedPaymentMethod } from './nonces.ts'
import { checkCardPassThru } from './three-d-secure.ts'
import {
  checkNewPaymentMethodToken,
  makeDefault,
  PAYPAL_TOKEN_TAKEN_CODE,
  readMethodFromNumber,
  replaceInstrument,
  takeMethodFromNonce,
} from './vault.ts'
import { verifyCard } from './verification.ts'

const NONCE_CODES = { consumed: '93107', unknown: '93108' }
const EXPIRATION = ['expiration_date', 'expiration_month', 'expiration_year']

/**
 * Updates a stored payment method: whether it is the default, its token, or a card's name,
 * expiration date or number. The details of a PayPal account cannot change.
 */
export function updatePaymentMethod(
  context: BraintreeContext,
  row: PaymentMethodRow,
  fields: RequestFields,
): void {
  const apply = parsePaymentMethodUpdate(context, row, fields.at('credit_card'))
  fields.throwIfAny()
  apply()
}

/**
 * Reads and validates the changes of a stored payment method. Returns a function that applies them.
 */
export function parsePaymentMethodUpdate(
  context: BraintreeContext,
  row: PaymentMethodRow,
  fields: RequestFields,
): () => void {
  const { customerId } = row
  const token = fields.text('token')
  if (token !== row.token) {
    if (row.instrument.kind === 'credit_card') checkNewPaymentMethodToken(context, fields)
    else checkNewPaymentMethodToken(context, fields.at('paypal_account'), PAYPAL_TOKEN_TAKEN_CODE)
  }
  const offered = readReplacement(context, row, fields)
  checkCardPassThru(fields, offered)
  const address = readBillingAddress(context, fields, customerId)
  const makesDefault = fields.object('options').flag('make_default')
  return () => {
    const verifications = offered ? verifyCard(context, offered, fields) : []
    row.billingAddressId =
      storeBillingAddress(context, address, { customerId, method: row }) ?? row.billingAddressId
    if (offered) replaceInstrument(context, row, offered, verifications)
    if (token !== null && token !== row.token) rename(context, row, token)
    row.updatedAt = context.clock.nowMs()
    context.tables.paymentMethods.set(row.token, row)
    if (makesDefault) makeDefault(context, row)
  }
}

/** Returns the changed card, or `null` if the call does not change it. */
function readReplacement(
  context: BraintreeContext,
  row: PaymentMethodRow,
  fields: RequestFields,
): SubmittedPaymentMethod | null {
  const nonce = fields.text('payment_method_nonce')
  if (row.instrument.kind === 'paypal_account') {
    const account = fields.at('paypal_account')
    if (nonce !== null) account.addError('base', '92914')
    if (!fields.isBlank('number')) account.addError('base', '92915')
    return null
  }
  const { card } = row.instrument
  if (nonce !== null) {
    const place = { fields: fields.at('payment_method'), codes: NONCE_CODES }
    const offered = takeMethodFromNonce(context, nonce, place)
    if (offered?.instrument.kind !== 'paypal_account') return offered
    fields.addError('base', '91738')
    return null
  }
  if (!fields.isBlank('number')) return readMethodFromNumber(addExpirationOfCard(fields, card))
  return readChangedCard(fields, row, card)
}

/**
 * Returns the new parameters of a card. Adds the old expiration date if a new number was sent
 * without an expiration date.
 */
export function addExpirationOfCard(fields: RequestFields, card: CardDetails): RequestFields {
  if (EXPIRATION.some((key) => !fields.isBlank(key))) return fields
  const date = `${card.expirationMonth}/${card.expirationYear}`
  return fields.with({ expiration_date: date })
}

function readChangedCard(
  fields: RequestFields,
  row: PaymentMethodRow,
  cardBefore: CardDetails,
): SubmittedPaymentMethod | null {
  const renames = fields.has('cardholder_name')
  const expires = EXPIRATION.some((key) => !fields.isBlank(key))
  const verifies = fields.object('options').flag('verify_card') ?? false
  if (!renames && !expires && !verifies) return null
  const card = { ...cardBefore }
  if (renames) card.cardholderName = fields.text('cardholder_name')
  const expiration = expires ? readExpiration(fields) : null
  if (expiration) {
    card.expirationMonth = expiration.month
    card.expirationYear = expiration.year
  }
  return {
    instrument: { kind: 'credit_card', card },
    alwaysFailsWith: row.alwaysFailsWith,
    customerId: row.customerId,
    token: null,
    consume: () => undefined,
  }
}

function rename(context: BraintreeContext, row: PaymentMethodRow, token: string): void {
  const { paymentMethods, subscriptions } = context.tables
  const billed = subscriptions.findBy('token', row.token)
  paymentMethods.delete(row.token)
  row.token = token
  for (const subscription of billed) {
    subscription.paymentMethodToken = token
    subscriptions.set(subscription.id, subscription)
  }
}
