import { copyJson } from '../../core/store/copy-json.ts'
import { type BraintreeContext, findMerchantAccount, freshId } from '../state/context.ts'
import { verificationXml } from '../state/payment-method-xml.ts'
import type { Address, Instrument, PaymentMethodRow, VerificationRow } from '../state/rows/vault.ts'
import { cancel, isOver } from '../state/subscription-status.ts'
import { type ErrorCollector, type ErrorPath, Refused, refuse } from '../wire/errors.ts'
import { parseAmount } from '../wire/money.ts'
import { type Fields, isId } from '../wire/validation.ts'
import { readCard, verificationFailure } from './cards.ts'
import { findNonce } from './nonces.ts'
import { APPROVED, messageFor, verdictFor } from './processor.ts'

/** An instrument on its way into the vault. */
export interface Offered {
  readonly instrument: Instrument
  readonly alwaysFailsWith: string | null
  /** Set when it came by a nonce made from or for this customer. */
  readonly customerId: string | null
  readonly consume: () => void
}

export interface NonceCodes {
  readonly consumed: string
  readonly unknown: string
}

/** The instrument a nonce stands for, if it can be kept. Adds what is wrong and returns null. */
export function offeredByNonce(
  context: BraintreeContext,
  nonce: string,
  place: { path: ErrorPath; codes: NonceCodes },
  errors: ErrorCollector,
): Offered | null {
  const use = findNonce(context, nonce)
  if (use.outcome === 'usable') {
    if (!use.oneTime) return use
    errors.add(['paypal_account'], 'base', '82902')
  } else if (use.outcome === 'luhn-invalid') {
    errors.add([...place.path, 'credit_card'], 'number', '81715')
  } else {
    errors.add(place.path, 'payment_method_nonce', place.codes[use.outcome])
  }
  return null
}

export function offeredByNumber(
  fields: Fields,
  path: ErrorPath,
  errors: ErrorCollector,
): Offered | null {
  const read = readCard(fields, path, errors)
  if (!read) return null
  const { card, alwaysFailsWith } = read
  return {
    instrument: { kind: 'credit_card', card },
    alwaysFailsWith,
    customerId: null,
    consume: () => undefined,
  }
}

export function checkToken(
  context: BraintreeContext,
  token: string | null,
  path: ErrorPath,
  errors: ErrorCollector,
): void {
  if (token === null) return
  if (!isId(token)) errors.add(path, 'token', '91718')
  else if (token.length > 36) errors.add(path, 'token', '91720')
  else if (context.tables.paymentMethods.has(token)) errors.add(path, 'token', '91719')
}

export function checkDuplicate(
  context: BraintreeContext,
  offered: Offered,
  rule: { options: Fields; customerId: string | null; path: ErrorPath },
  errors: ErrorCollector,
): void {
  const { instrument } = offered
  if (instrument.kind !== 'credit_card') return
  const anywhere = rule.options.flag('fail_on_duplicate_payment_method')
  const forCustomer = rule.options.flag('fail_on_duplicate_payment_method_for_customer')
  if (!anywhere && !forCustomer) return
  for (const row of context.tables.paymentMethods.values()) {
    if (row.instrument.kind !== 'credit_card') continue
    const { uniqueNumberIdentifier } = row.instrument.card
    if (uniqueNumberIdentifier !== instrument.card.uniqueNumberIdentifier) continue
    if (anywhere) errors.add(rule.path, 'number', '81724')
    else if (row.customerId === rule.customerId) errors.add(rule.path, 'number', '81763')
    else continue
    return
  }
}

/** Asks the processor about the card; throws the failed verification. */
export function verifyCard(
  context: BraintreeContext,
  offered: Offered,
  options: Fields,
): VerificationRow[] {
  if (!options.flag('verify_card') || offered.instrument.kind !== 'credit_card') return []
  const accountId = options.text('verification_merchant_account_id')
  const account = findMerchantAccount(context, accountId)
  if (!account) {
    return refuse(['credit_card', 'options'], 'verification_merchant_account_id', '91728')
  }
  const given = parseAmount(options.value('verification_amount') ?? '0', account.currency)
  const code = offered.alwaysFailsWith ?? verificationFailure(offered.instrument.card)
  const verdict = code === null ? APPROVED : verdictFor(code)
  const verification: VerificationRow = {
    id: freshId(context, 8, () => false),
    status: verdict.status === 'authorized' ? 'verified' : verdict.status,
    amount: typeof given === 'number' ? given : 0,
    currency: account.currency,
    merchantAccountId: account.id,
    responseCode: verdict.responseCode,
    gatewayRejectionReason: verdict.gatewayRejectionReason,
    createdAt: context.clock.nowMs(),
  }
  if (verification.status === 'verified') return [verification]
  throw new Refused({
    message: messageFor(verdict),
    extras: { verification: verificationXml(verification) },
  })
}

/** Keeps it. A customer's first method is the default whatever was asked. */
export function store(
  context: BraintreeContext,
  offered: Offered,
  as: {
    customerId: string
    token: string | null
    makeDefault: boolean
    verifications: VerificationRow[]
    billingAddress?: Address | null
  },
): PaymentMethodRow {
  const { paymentMethods } = context.tables
  const now = context.clock.nowMs()
  const isFirst = paymentMethods.findBy('customer', as.customerId).length === 0
  const row: PaymentMethodRow = {
    token: as.token ?? freshId(context, 7, (token) => paymentMethods.has(token)),
    customerId: as.customerId,
    instrument: copyJson(offered.instrument),
    isDefault: isFirst,
    alwaysFailsWith: offered.alwaysFailsWith,
    billingAddress: as.billingAddress ?? null,
    verifications: as.verifications,
    createdAt: now,
    updatedAt: now,
  }
  paymentMethods.set(row.token, row)
  offered.consume()
  if (as.makeDefault && !isFirst) makeDefault(context, row)
  return row
}

/** Puts another card under the same token; whatever is billed to it goes on. */
export function replaceInstrument(
  context: BraintreeContext,
  row: PaymentMethodRow,
  offered: Offered,
  verifications: VerificationRow[],
): void {
  row.instrument = copyJson(offered.instrument)
  row.alwaysFailsWith = offered.alwaysFailsWith
  row.verifications.unshift(...verifications)
  row.updatedAt = context.clock.nowMs()
  context.tables.paymentMethods.set(row.token, row)
  offered.consume()
}

export function makeDefault(context: BraintreeContext, chosen: PaymentMethodRow): void {
  const { paymentMethods } = context.tables
  for (const row of paymentMethods.findBy('customer', chosen.customerId)) {
    const isDefault = row.token === chosen.token
    if (row.isDefault === isDefault) continue
    row.isDefault = isDefault
    paymentMethods.set(row.token, row)
  }
}

/** Its subscriptions are cancelled at once, and another method becomes the default. */
export function removePaymentMethod(context: BraintreeContext, row: PaymentMethodRow): void {
  const { paymentMethods, subscriptions } = context.tables
  for (const subscription of subscriptions.findBy('token', row.token)) {
    if (!isOver(subscription)) cancel(context, subscription, 'api')
  }
  paymentMethods.delete(row.token)
  const next = paymentMethods.findBy('customer', row.customerId)[0]
  if (row.isDefault && next) makeDefault(context, next)
}
