import { type BraintreeContext, findMerchantAccount } from '../state/context.ts'
import type { MerchantAccountRow } from '../state/rows/merchant.ts'
import type { PaymentMethodRow } from '../state/rows/vault.ts'
import { findNonce } from '../vault/nonces.ts'
import { store } from '../vault/vault.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { type Fields, isId, readAmount } from '../wire/validation.ts'

export const PATH: ErrorPath = ['subscription']

const PRICE_CODES = { invalid: '81904', negative: '81904', 'too-large': '81923' }

/** Takes the method as it is, or puts the nonce's card into the vault first. */
export type PaymentSource = {
  readonly customerId: string
  readonly take: () => PaymentMethodRow
}

/** The method by token or nonce; null after adding what is wrong, or when neither was sent. */
export function readPaymentSource(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): PaymentSource | null {
  const token = fields.text('payment_method_token')
  const nonce = fields.text('payment_method_nonce')
  const byToken = token === null ? null : context.tables.paymentMethods.get(token)
  if (token !== null && !byToken) errors.add(PATH, 'payment_method_token', '91903')
  if (nonce === null) {
    return byToken ? { customerId: byToken.customerId, take: () => byToken } : null
  }
  const use = findNonce(context, nonce)
  if (use.outcome !== 'usable' || use.customerId === null || use.oneTime) {
    errors.add(PATH, 'payment_method_nonce', '91925')
    return null
  }
  const { customerId } = use
  if (byToken && byToken.customerId !== customerId) {
    errors.add(PATH, 'payment_method_nonce', '91926')
  }
  const vaulted = use.token === null ? undefined : context.tables.paymentMethods.get(use.token)
  const take = () => {
    if (!vaulted) {
      return store(context, use, { customerId, token: null, makeDefault: false, verifications: [] })
    }
    use.consume()
    return vaulted
  }
  return { customerId, take }
}

/** The id asked for, or null; `own` is the one it may keep. */
export function readSubscriptionId(
  context: BraintreeContext,
  fields: Fields,
  own: string | null,
  errors: ErrorCollector,
): string | null {
  const id = fields.text('id')
  if (id === null || id === own) return id
  if (!isId(id) || id.length > 36) errors.add(PATH, 'id', '81906')
  else if (context.tables.subscriptions.has(id)) errors.add(PATH, 'id', '81902')
  return id
}

/** Undefined when no price was sent. */
export function readPrice(
  fields: Fields,
  currency: string,
  errors: ErrorCollector,
): number | undefined {
  if (!fields.has('price')) return undefined
  if (fields.text('price') === null) {
    errors.add(PATH, 'price', '81903')
    return undefined
  }
  const rules = { path: PATH, attribute: 'price', codes: PRICE_CODES, currency }
  return readAmount(fields.value('price'), rules, errors)
}

export function readMerchantAccount(
  context: BraintreeContext,
  fields: Fields,
  errors: ErrorCollector,
): MerchantAccountRow | null {
  const account = findMerchantAccount(context, fields.text('merchant_account_id'))
  if (!account) errors.add(PATH, 'merchant_account_id', '91901')
  return account
}

export interface Cycles {
  readonly numberOfBillingCycles: number | null
  readonly neverExpires: boolean
}

/** How long it runs. What was not sent stays as it is, or as the plan has it. */
export function readCycles(
  fields: Fields,
  before: Cycles & { currentBillingCycle: number },
  errors: ErrorCollector,
): Cycles {
  const attribute = 'number_of_billing_cycles'
  const neverExpires = fields.flag('never_expires')
  const cycles = fields.integer(attribute)
  if (cycles !== null) {
    if (neverExpires === true) errors.add(PATH, attribute, '91908')
    else if (Number.isNaN(cycles)) errors.add(PATH, attribute, '91906')
    else if (cycles < 1) errors.add(PATH, attribute, '91907')
    else if (cycles < before.currentBillingCycle) errors.add(PATH, attribute, '91909')
    return { numberOfBillingCycles: cycles, neverExpires: false }
  }
  if (neverExpires === true) return { numberOfBillingCycles: null, neverExpires: true }
  if (fields.has(attribute) || (neverExpires === false && before.neverExpires)) {
    errors.add(PATH, attribute, '91912')
  }
  return before
}
