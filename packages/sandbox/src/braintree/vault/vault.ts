import { copyJson } from '../../core/store/copy-json.ts'
import { type BraintreeContext, freshId } from '../state/context.ts'
import type {
  Address,
  Instrument,
  PaymentMethodRow,
  PayPalDetails,
  ThreeDSecureInfo,
  VerificationRow,
} from '../state/rows/vault.ts'
import { cancel, isOver } from '../state/subscription-status.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { type Fields, isId } from '../wire/validation.ts'
import { type GivenAddress, keepBillingAddress } from './addresses.ts'
import { readCard } from './cards.ts'
import { findNonce } from './nonces.ts'

/** An instrument on its way into the vault. */
export interface Offered {
  readonly instrument: Instrument
  readonly alwaysFailsWith: string | null
  /** Set when it came by a nonce made from or for this customer. */
  readonly customerId: string | null
  /** The stored method that its nonce stands for. */
  readonly token: string | null
  /** The token that whoever made its nonce asked for. */
  readonly wantedToken?: string | null
  /** What was typed in with the card. */
  readonly billingAddress?: Address | null
  readonly threeDSecure?: ThreeDSecureInfo
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
  place: { path: ErrorPath; codes: NonceCodes; paypal?: ErrorPath },
  errors: ErrorCollector,
): Offered | null {
  const use = findNonce(context, nonce)
  if (use.outcome === 'usable') {
    if (!use.oneTime) return use
    errors.add(place.paypal ?? ['paypal_account'], 'base', '82902')
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
    token: null,
    consume: () => undefined,
  }
}

/** An account that somebody has let the merchant charge for good. */
export function payPalAccount(
  context: BraintreeContext,
  given: { email?: string | null; payerId?: string | null; token?: string | null; once?: boolean },
): Offered {
  const paypal: PayPalDetails = {
    email: given.email ?? 'jane.doe@example.com',
    payerId: given.payerId ?? context.store.randomText(13).toUpperCase(),
    billingAgreementId: given.once ? null : `B-${context.store.randomText(17).toUpperCase()}`,
  }
  return {
    instrument: { kind: 'paypal_account', paypal },
    alwaysFailsWith: null,
    customerId: null,
    token: null,
    wantedToken: given.token ?? null,
    consume: () => undefined,
  }
}

export function checkToken(
  context: BraintreeContext,
  token: string | null,
  path: ErrorPath,
  errors: ErrorCollector,
  taken = '91719',
): void {
  if (token === null) return
  if (!isId(token)) errors.add(path, 'token', '91718')
  else if (token.length > 36) errors.add(path, 'token', '91720')
  else if (token === 'all' || token === 'new') errors.add(path, 'token', '91721')
  else if (context.tables.paymentMethods.has(token)) errors.add(path, 'token', taken)
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

/** Keeps it. A customer's first method is the default whatever was asked. */
export function store(
  context: BraintreeContext,
  offered: Offered,
  as: {
    customerId: string
    token: string | null
    makeDefault: boolean
    verifications: VerificationRow[]
    billingAddress?: GivenAddress
  },
): PaymentMethodRow {
  const { paymentMethods } = context.tables
  const now = context.clock.nowMs()
  const isFirst = paymentMethods.findBy('customer', as.customerId).length === 0
  const isFree = (token: string | null | undefined) => token && !paymentMethods.has(token)
  const wanted = as.token ?? (isFree(offered.wantedToken) ? offered.wantedToken : null)
  const typedIn: GivenAddress = offered.billingAddress
    ? { kind: 'new', parts: offered.billingAddress, updateExisting: false }
    : { kind: 'none' }
  const address = as.billingAddress?.kind === 'none' ? typedIn : (as.billingAddress ?? typedIn)
  const row: PaymentMethodRow = {
    token: wanted ?? freshId(context, 7, (token) => paymentMethods.has(token)),
    customerId: as.customerId,
    instrument: copyJson(offered.instrument),
    isDefault: isFirst,
    alwaysFailsWith: offered.alwaysFailsWith,
    billingAddressId: keepBillingAddress(context, address, { customerId: as.customerId }),
    verifications: as.verifications,
    createdAt: now,
    updatedAt: now,
  }
  paymentMethods.set(row.token, row)
  rememberMethod(context, row, as.verifications)
  offered.consume()
  if (as.makeDefault && !isFirst) makeDefault(context, row)
  return row
}

/** A verification says afterwards which method it was for. */
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
