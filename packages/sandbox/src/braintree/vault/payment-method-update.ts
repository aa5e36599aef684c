import type { BraintreeContext } from '../state/context.ts'
import type { CardDetails, PaymentMethodRow } from '../state/rows/vault.ts'
import { ErrorCollector, type ErrorPath } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'
import { keepBillingAddress, readBillingAddress } from './addresses.ts'
import { readExpiration } from './cards.ts'
import { checkCardPassThru } from './three-d-secure.ts'
import {
  checkToken,
  makeDefault,
  type Offered,
  offeredByNonce,
  offeredByNumber,
  replaceInstrument,
} from './vault.ts'
import { verifyCard } from './verification.ts'

const NONCE_CODES = { consumed: '93107', unknown: '93108' }
const EXPIRATION = ['expiration_date', 'expiration_month', 'expiration_year']

/** The default, the token, a card's name, expiry or number. A PayPal account stays what it is. */
export function updatePaymentMethod(
  context: BraintreeContext,
  row: PaymentMethodRow,
  fields: Fields,
): void {
  const errors = new ErrorCollector()
  const apply = readUpdate(context, row, { fields, path: ['credit_card'] }, errors)
  errors.throwIfAny()
  apply()
}

/** What the call asks of a stored method, checked. It happens when the result is called. */
export function readUpdate(
  context: BraintreeContext,
  row: PaymentMethodRow,
  asked: { fields: Fields; path: ErrorPath },
  errors: ErrorCollector,
): () => void {
  const { fields, path } = asked
  const { customerId } = row
  const isPayPal = row.instrument.kind === 'paypal_account'
  const token = fields.text('token')
  if (token !== row.token) {
    checkToken(
      context,
      token,
      isPayPal ? ['paypal_account'] : path,
      errors,
      isPayPal ? '92906' : '91719',
    )
  }
  const offered = readReplacement(context, row, asked, errors)
  checkCardPassThru(fields, offered, errors)
  const address = readBillingAddress(context, fields, { path, customerId }, errors)
  const options = fields.object('options')
  return () => {
    const verifications = offered ? verifyCard(context, offered, options, path) : []
    row.billingAddressId =
      keepBillingAddress(context, address, { customerId, method: row }) ?? row.billingAddressId
    if (offered) replaceInstrument(context, row, offered, verifications)
    if (token !== null && token !== row.token) rename(context, row, token)
    row.updatedAt = context.clock.nowMs()
    context.tables.paymentMethods.set(row.token, row)
    if (options.flag('make_default')) makeDefault(context, row)
  }
}

/** The instrument as it will be; null when nothing about it was asked. */
function readReplacement(
  context: BraintreeContext,
  row: PaymentMethodRow,
  { fields, path }: { fields: Fields; path: ErrorPath },
  errors: ErrorCollector,
): Offered | null {
  const nonce = fields.text('payment_method_nonce')
  if (row.instrument.kind === 'paypal_account') {
    if (nonce !== null) errors.add(['paypal_account'], 'base', '92914')
    if (!fields.isBlank('number')) errors.add(['paypal_account'], 'base', '92915')
    return null
  }
  const { card } = row.instrument
  if (nonce !== null) {
    const place = { path: ['payment_method'], codes: NONCE_CODES }
    const offered = offeredByNonce(context, nonce, place, errors)
    if (offered?.instrument.kind !== 'paypal_account') return offered
    errors.add(path, 'base', '91738')
    return null
  }
  if (!fields.isBlank('number')) return offeredByNumber(withExpiration(fields, card), path, errors)
  return changedCard(fields, { row, card, path }, errors)
}

/** A new number keeps the old date unless another is given. */
export function withExpiration(fields: Fields, card: CardDetails): Fields {
  if (EXPIRATION.some((key) => !fields.isBlank(key))) return fields
  const date = `${card.expirationMonth}/${card.expirationYear}`
  return new Fields({ ...fields.values, expiration_date: date })
}

function changedCard(
  fields: Fields,
  kept: { row: PaymentMethodRow; card: CardDetails; path: ErrorPath },
  errors: ErrorCollector,
): Offered | null {
  const renames = fields.has('cardholder_name')
  const expires = EXPIRATION.some((key) => !fields.isBlank(key))
  const verifies = fields.object('options').flag('verify_card') ?? false
  if (!renames && !expires && !verifies) return null
  const card = { ...kept.card }
  if (renames) card.cardholderName = fields.text('cardholder_name')
  const expiration = expires ? readExpiration(fields, kept.path, errors) : null
  if (expiration) {
    card.expirationMonth = expiration.month
    card.expirationYear = expiration.year
  }
  return {
    instrument: { kind: 'credit_card', card },
    alwaysFailsWith: kept.row.alwaysFailsWith,
    customerId: kept.row.customerId,
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
