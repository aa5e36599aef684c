import { copyJson } from '../../core/store/copy-json.ts'
import { type BraintreeContext, createUnusedId } from '../state/context.ts'
import type { PaymentMethodRow, PayPalDetails, VerificationRow } from '../state/rows/vault.ts'
import { cancelSubscriptionRow, isCanceledOrExpired } from '../state/subscription-status.ts'
import type { RequestFields } from '../wire/validation.ts'
import { type BillingAddressInput, storeBillingAddress } from './addresses.ts'
import { readCard } from './cards.ts'
import { findNonce, type SubmittedPaymentMethod } from './nonces.ts'

export interface NonceErrorCodes {
  readonly consumed: string
  readonly unknown: string
}

/**
 * Returns the payment method of a nonce, if it can be stored. Otherwise adds errors and returns
 * `null`.
 */
export function takeMethodFromNonce(
  context: BraintreeContext,
  nonce: string,
  place: { fields: RequestFields; codes: NonceErrorCodes; paypal?: RequestFields },
): SubmittedPaymentMethod | null {
  const use = findNonce(context, nonce)
  if (use.outcome === 'usable') {
    if (!use.oneTime) return use
    const account = place.paypal ?? place.fields.at('paypal_account')
    account.addError('base', '82902')
  } else if (use.outcome === 'luhn-invalid') {
    place.fields.object('credit_card').addError('number', '81715')
  } else {
    place.fields.addError('payment_method_nonce', place.codes[use.outcome])
  }
  return null
}

export function readMethodFromNumber(fields: RequestFields): SubmittedPaymentMethod | null {
  const read = readCard(fields)
  if (!read) return null
  const { card, alwaysFailsWith } = read
  return {
    instrument: { kind: 'credit_card', card },
    alwaysFailsWith,
    customerId: null,
    token: null,
    consume: () => undefined,
  }
}

/**
 * Returns a PayPal account as a payment method. It has a billing agreement unless `once` is set.
 */
export function createPayPalAccount(
  context: BraintreeContext,
  accountFields: {
    email?: string | null
    payerId?: string | null
    token?: string | null
    once?: boolean
  },
): SubmittedPaymentMethod {
  const paypal: PayPalDetails = {
    email: accountFields.email ?? 'jane.doe@example.com',
    payerId: accountFields.payerId ?? context.store.randomText(13).toUpperCase(),
    billingAgreementId: accountFields.once
      ? null
      : `B-${context.store.randomText(17).toUpperCase()}`,
  }
  return {
    instrument: { kind: 'paypal_account', paypal },
    alwaysFailsWith: null,
    customerId: null,
    token: null,
    wantedToken: accountFields.token ?? null,
    consume: () => undefined,
  }
}

const TOKEN_TAKEN = '91719'
/** Error code for a token of a PayPal account that another payment method already has. */
export const PAYPAL_TOKEN_TAKEN_CODE = '92906'

export function checkNewPaymentMethodToken(
  context: BraintreeContext,
  fields: RequestFields,
  takenCode = TOKEN_TAKEN,
): void {
  const codes = { invalid: '91718', 'too-long': '91720', reserved: '91721', taken: takenCode }
  fields.newId('token', codes, (token) => context.tables.paymentMethods.has(token))
}

export function rejectDuplicateCard(
  context: BraintreeContext,
  offered: SubmittedPaymentMethod,
  card: RequestFields,
  customerId: string | null,
): void {
  const { instrument } = offered
  if (instrument.kind !== 'credit_card') return
  const options = card.object('options')
  const anywhere = options.flag('fail_on_duplicate_payment_method')
  const forCustomer = options.flag('fail_on_duplicate_payment_method_for_customer')
  if (!anywhere && !forCustomer) return
  for (const row of context.tables.paymentMethods.values()) {
    if (row.instrument.kind !== 'credit_card') continue
    const { uniqueNumberIdentifier } = row.instrument.card
    if (uniqueNumberIdentifier !== instrument.card.uniqueNumberIdentifier) continue
    if (anywhere) card.addError('number', '81724')
    else if (row.customerId === customerId) card.addError('number', '81763')
    else continue
    return
  }
}

/**
 * Stores a payment method in a customer's vault. The first one always becomes the customer's
 * default.
 */
export function storePaymentMethod(
  context: BraintreeContext,
  submittedMethod: SubmittedPaymentMethod,
  storageOptions: {
    customerId: string
    token: string | null
    makeDefault: boolean
    verifications: VerificationRow[]
    billingAddress?: BillingAddressInput
  },
): PaymentMethodRow {
  const { paymentMethods } = context.tables
  const now = context.clock.nowMs()
  const isFirst = paymentMethods.findBy('customer', storageOptions.customerId).length === 0
  const isFree = (token: string | null | undefined) => token && !paymentMethods.has(token)
  const wanted =
    storageOptions.token ??
    (isFree(submittedMethod.wantedToken) ? submittedMethod.wantedToken : null)
  const typedIn: BillingAddressInput = submittedMethod.billingAddress
    ? { kind: 'new', parts: submittedMethod.billingAddress, updateExisting: false }
    : { kind: 'none' }
  const address =
    storageOptions.billingAddress?.kind === 'none'
      ? typedIn
      : (storageOptions.billingAddress ?? typedIn)
  const row: PaymentMethodRow = {
    token: wanted ?? createUnusedId(context, 7, (token) => paymentMethods.has(token)),
    customerId: storageOptions.customerId,
    instrument: copyJson(submittedMethod.instrument),
    isDefault: isFirst,
    alwaysFailsWith: submittedMethod.alwaysFailsWith,
    billingAddressId: storeBillingAddress(context, address, {
      customerId: storageOptions.customerId,
    }),
    verifications: storageOptions.verifications,
    createdAt: now,
    updatedAt: now,
  }
  paymentMethods.set(row.token, row)
  rememberMethod(context, row, storageOptions.verifications)
  submittedMethod.consume()
  if (storageOptions.makeDefault && !isFirst) makeDefault(context, row)
  return row
}

/** Stores the token and billing address of the new payment method in its verifications. */
function rememberMethod(
  context: BraintreeContext,
  row: PaymentMethodRow,
  verifications: readonly VerificationRow[],
): void {
  const { addresses, verifications: kept } = context.tables
  for (const verification of verifications) {
    verification.token = row.token
    verification.billingAddress = addresses.get(row.billingAddressId ?? '') ?? null
    kept.set(verification.id, verification)
  }
}

/**
 * Replaces the card of a payment method and keeps its token. Subscriptions that use the token
 * continue with the new card.
 */
export function replaceInstrument(
  context: BraintreeContext,
  row: PaymentMethodRow,
  offered: SubmittedPaymentMethod,
  verifications: VerificationRow[],
): void {
  row.instrument = copyJson(offered.instrument)
  row.alwaysFailsWith = offered.alwaysFailsWith
  row.verifications.unshift(...verifications)
  row.updatedAt = context.clock.nowMs()
  context.tables.paymentMethods.set(row.token, row)
  rememberMethod(context, row, verifications)
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

/**
 * Deletes a payment method. Its subscriptions are canceled immediately. If it was the customer's
 * default, another payment method becomes the default.
 */
export function removePaymentMethod(context: BraintreeContext, row: PaymentMethodRow): void {
  const { paymentMethods, subscriptions } = context.tables
  for (const subscription of subscriptions.findBy('token', row.token)) {
    if (!isCanceledOrExpired(subscription)) cancelSubscriptionRow(context, subscription, 'api')
  }
  paymentMethods.delete(row.token)
  const next = paymentMethods.findBy('customer', row.customerId)[0]
  if (row.isDefault && next) makeDefault(context, next)
}
