import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import type { MerchantAccountRow } from '../state/rows/merchant.ts'
import type { PaymentMethodRow } from '../state/rows/vault.ts'
import { findNonce } from '../vault/nonces.ts'
import { storePaymentMethod } from '../vault/vault.ts'
import type { RequestFields } from '../wire/validation.ts'

const PRICE_CODES = { invalid: '81904', negative: '81904', 'too-large': '81923' }

/**
 * The payment method of a subscription call. `take()` returns the stored payment method, after
 * storing the card of a nonce in the vault if necessary.
 */
export type PaymentSource = {
  readonly customerId: string
  readonly take: () => PaymentMethodRow
}

/**
 * Reads a subscription's payment method by token or nonce. Returns `null` if neither was sent, or
 * after adding an error.
 */
export function readPaymentSource(
  context: BraintreeContext,
  fields: RequestFields,
): PaymentSource | null {
  const token = fields.text('payment_method_token')
  const nonce = fields.text('payment_method_nonce')
  const byToken = token === null ? null : context.tables.paymentMethods.get(token)
  if (token !== null && !byToken) fields.addError('payment_method_token', '91903')
  if (nonce === null) {
    return byToken ? { customerId: byToken.customerId, take: () => byToken } : null
  }
  const use = findNonce(context, nonce)
  if (use.outcome !== 'usable' || use.customerId === null || use.oneTime) {
    fields.addError('payment_method_nonce', '91925')
    return null
  }
  const { customerId } = use
  if (byToken && byToken.customerId !== customerId) {
    fields.addError('payment_method_nonce', '91926')
  }
  const vaulted = use.token === null ? undefined : context.tables.paymentMethods.get(use.token)
  const take = () => {
    if (!vaulted) {
      return storePaymentMethod(context, use, {
        customerId,
        token: null,
        makeDefault: false,
        verifications: [],
      })
    }
    use.consume()
    return vaulted
  }
  return { customerId, take }
}

/**
 * Reads the id that the caller chose for a subscription. Returns `null` if none was sent. `own` is
 * the subscription's present id, which is allowed.
 */
export function readSubscriptionId(
  context: BraintreeContext,
  fields: RequestFields,
  own: string | null,
): string | null {
  const codes = { invalid: '81906', 'too-long': '81906', taken: '81902' }
  return fields.newId('id', codes, (id) => id !== own && context.tables.subscriptions.has(id))
}

/** Reads the price of a subscription in minor units. Returns `undefined` if none was sent. */
export function readPrice(fields: RequestFields, currency: string): number | undefined {
  if (!fields.has('price')) return undefined
  if (fields.text('price') !== null) return fields.amount('price', { codes: PRICE_CODES, currency })
  fields.addError('price', '81903')
  return undefined
}

export function readMerchantAccount(
  context: BraintreeContext,
  fields: RequestFields,
): MerchantAccountRow | null {
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) fields.addError('merchant_account_id', '91901')
  return account
}

export interface BillingCycleLimit {
  readonly numberOfBillingCycles: number | null
  readonly neverExpires: boolean
}

/**
 * Reads the number of billing cycles of a subscription. Parameters that were not sent keep the
 * values of the subscription or plan.
 */
export function parseCycleLimit(
  fields: RequestFields,
  limitBefore: BillingCycleLimit & { currentBillingCycle: number },
): BillingCycleLimit {
  const attribute = 'number_of_billing_cycles'
  const neverExpires = fields.flag('never_expires')
  const cycles = fields.integer(attribute)
  if (cycles !== null) {
    if (neverExpires === true) fields.addError(attribute, '91908')
    else if (Number.isNaN(cycles)) fields.addError(attribute, '91906')
    else if (cycles < 1) fields.addError(attribute, '91907')
    else if (cycles < limitBefore.currentBillingCycle) fields.addError(attribute, '91909')
    return { numberOfBillingCycles: cycles, neverExpires: false }
  }
  if (neverExpires === true) return { numberOfBillingCycles: null, neverExpires: true }
  if (fields.has(attribute) || (neverExpires === false && limitBefore.neverExpires)) {
    fields.addError(attribute, '91912')
  }
  return {
    numberOfBillingCycles: limitBefore.numberOfBillingCycles,
    neverExpires: limitBefore.neverExpires,
  }
}
