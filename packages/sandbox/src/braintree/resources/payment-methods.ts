import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { renderThreeDSecureXml } from '../state/card-xml.ts'
import type { BraintreeContext } from '../state/context.ts'
import { getPaymentMethodKind, renderMethodXml } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow, ThreeDSecureInfo } from '../state/rows/vault.ts'
import { type BillingAddressInput, readBillingAddress } from '../vault/addresses.ts'
import type { SubmittedPaymentMethod } from '../vault/nonces.ts'
import { createNonce, findNonce } from '../vault/nonces.ts'
import { addExpirationOfCard, updatePaymentMethod } from '../vault/payment-method-update.ts'
import { checkCardPassThru } from '../vault/three-d-secure.ts'
import {
  checkNewPaymentMethodToken,
  createPayPalAccount,
  makeDefault,
  readMethodFromNumber,
  rejectDuplicateCard,
  removePaymentMethod,
  storePaymentMethod,
  takeMethodFromNonce,
} from '../vault/vault.ts'
import { verifyCard } from '../vault/verification.ts'
import { NotFound, throwValidationError } from '../wire/errors.ts'
import { parsePermittedKeys, RequestFields } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'
import { expiringCardOperations } from './expiring-cards.ts'

const KEYS = parsePermittedKeys(
  `billing_address billing_address_id cardholder_name customer_id cvv device_data expiration_date
   expiration_month expiration_year number options payment_method_nonce paypal_refresh_token
   three_d_secure_pass_thru token us_bank_account`,
)

const UNSUPPORTED = parsePermittedKeys('us_bank_account')

/**
 * `paymentMethod.create` and the older `creditCard.create` share a URL but use different error
 * codes.
 */
const KINDS = {
  payment_method: {
    customerRequired: '93104',
    customerInvalid: '93105',
    nonces: { consumed: '93107', unknown: '93108' },
  },
  credit_card: {
    customerRequired: '91704',
    customerInvalid: '91705',
    nonces: { consumed: '91731', unknown: '91732' },
  },
} as const

function create({ context, body }: BraintreeApiCall): OperationResponse {
  const all = new RequestFields(body)
  const root = all.has('credit_card') ? 'credit_card' : 'payment_method'
  const kind = KINDS[root]
  if (all.isBlank(root)) throwValidationError([root], 'base', '93101')
  const fields = all.object(root)
  fields.permit(KEYS)
  fields.refuseUnsupported(UNSUPPORTED)
  const card = fields.at('credit_card')
  const customerId = fields.text('customer_id')
  if (customerId === null) fields.addError('customer_id', kind.customerRequired)
  else if (!context.tables.customers.has(customerId))
    fields.addError('customer_id', kind.customerInvalid)
  const nonce = fields.text('payment_method_nonce')
  const byNumber = root === 'credit_card' && nonce === null
  // PayPal refresh tokens, which merchants received before nonces existed.
  const byRefreshToken = nonce === null && !fields.isBlank('paypal_refresh_token')
  if (nonce === null && !byNumber && !byRefreshToken)
    fields.addError('payment_method_nonce', '93103')
  let offered: SubmittedPaymentMethod | null = null
  if (byNumber) offered = readMethodFromNumber(fields)
  else if (nonce !== null) {
    const byNonce = takeMethodFromNonce(context, nonce, { fields, codes: kind.nonces })
    offered = byNonce && withNumber(byNonce, fields)
  } else if (byRefreshToken) offered = createPayPalAccount(context, {})
  checkCardPassThru(fields, offered)
  checkNewPaymentMethodToken(context, fields)
  if (offered && offered.customerId !== null && offered.customerId !== customerId)
    fields.addError('payment_method_nonce', '91617')
  if (offered && customerId !== null && fields.errors.isEmpty) {
    const kept = findStoredMethod(context, offered, card)
    if (kept) return respond(context, kept, 201)
  }
  // Addresses and options are ignored for PayPal accounts.
  const billingAddress: BillingAddressInput =
    offered?.instrument.kind === 'paypal_account'
      ? { kind: 'none' }
      : readBillingAddress(context, fields, customerId)
  if (offered) rejectDuplicateCard(context, offered, card, customerId)
  if (!offered || customerId === null || !fields.errors.isEmpty) throw fields.refusal()
  const row = storePaymentMethod(context, offered, {
    customerId,
    token: fields.text('token'),
    makeDefault: fields.object('options').flag('make_default') ?? false,
    verifications: verifyCard(context, offered, card),
    billingAddress,
  })
  return respond(context, row, 201)
}

/** Replaces the nonce's card by the card whose number the call contains, if any. */
function withNumber(
  offered: SubmittedPaymentMethod,
  fields: RequestFields,
): SubmittedPaymentMethod {
  if (offered.instrument.kind !== 'credit_card' || fields.isBlank('number')) return offered
  const { card } = offered.instrument
  const typedIn = readMethodFromNumber(addExpirationOfCard(fields.at('credit_card'), card))
  if (!typedIn) return offered
  return { ...typedIn, customerId: offered.customerId, consume: offered.consume }
}

/** Returns the stored payment method if the nonce refers to one, instead of storing it twice. */
function findStoredMethod(
  context: BraintreeContext,
  offered: SubmittedPaymentMethod,
  card: RequestFields,
): PaymentMethodRow | null {
  const row = context.tables.paymentMethods.get(offered.token ?? '')
  if (!row) return null
  offered.consume()
  row.verifications.unshift(...verifyCard(context, offered, card))
  context.tables.paymentMethods.set(row.token, row)
  if (card.object('options').flag('make_default')) makeDefault(context, row)
  return row
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  return respond(context, requireMethod(context, params))
}

function update({ context, body, params }: BraintreeApiCall): OperationResponse {
  const row = requireMethod(context, params)
  const all = new RequestFields(body)
  const root = ['credit_card', 'paypal_account'].find((name) => all.has(name)) ?? 'payment_method'
  const fields = all.object(root)
  fields.permit(KEYS)
  fields.refuseUnsupported(UNSUPPORTED)
  updatePaymentMethod(context, row, fields)
  return respond(context, row)
}

function remove({ context, params }: BraintreeApiCall): OperationResponse {
  removePaymentMethod(context, requireMethod(context, params))
  return null
}

/** Creates a single-use nonce for a stored payment method, like the ones that browsers receive. */
function createVaultedNonce({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireMethod(context, params)
  const { instrument, alwaysFailsWith, customerId, token } = row
  const nonce = createNonce(context, { instrument, alwaysFailsWith, customerId, token })
  return { root: 'payment_method_nonce', value: nonceXml(nonce, row), status: 201 }
}

function findByNonce({ context, params }: BraintreeApiCall): OperationResponse {
  const use = findNonce(context, params.nonce ?? '')
  const row = use.outcome === 'usable' && use.token && context.tables.paymentMethods.get(use.token)
  if (!row) throw new NotFound('No such payment method')
  use.consume()
  return respond(context, row)
}

function nonceXml(
  nonce: string,
  row: Pick<PaymentMethodRow, 'instrument' | 'isDefault'>,
  threeDSecure?: ThreeDSecureInfo,
): XmlObject {
  const { instrument } = row
  const details: XmlObject =
    instrument.kind === 'credit_card'
      ? {
          bin: instrument.card.bin,
          last_two: instrument.card.last4.slice(2),
          last_four: instrument.card.last4,
          card_type: instrument.card.cardType,
          expiration_month: instrument.card.expirationMonth,
          expiration_year: instrument.card.expirationYear,
        }
      : { email: instrument.paypal.email, payer_info: null }
  return {
    nonce,
    type: instrument.kind === 'credit_card' ? 'CreditCard' : 'PayPalAccount',
    default: row.isDefault,
    consumed: false,
    description: null,
    details,
    three_d_secure_info: renderThreeDSecureXml(threeDSecure),
  }
}

function requireMethod(
  context: BraintreeContext,
  params: Readonly<Record<string, string>>,
): PaymentMethodRow {
  const row = requireRow(context.tables.paymentMethods, params.token)
  const kind = params.kind ?? 'any'
  if (kind !== 'any' && kind !== row.instrument.kind) {
    throw new NotFound('No such payment method')
  }
  return row
}

function respond(
  context: BraintreeContext,
  row: PaymentMethodRow,
  status: 200 | 201 = 200,
): OperationResponse {
  return { root: getPaymentMethodKind(row), value: renderMethodXml(context, row), status }
}

/** Operations on the cards and PayPal accounts that are stored in the vault. */
export const paymentMethodOperations: BraintreeOperations = {
  'POST /': create,
  'GET /from_nonce/:nonce': findByNonce,
  'GET /:kind/:token': find,
  'PUT /:kind/:token': update,
  'DELETE /:kind/:token': remove,
  'POST /:token/nonces': createVaultedNonce,
  ...expiringCardOperations,
}

/** Operations on payment method nonces. */
export const paymentMethodNonceOperations: BraintreeOperations = {
  'GET /:nonce': ({ context, params }) => {
    const use = findNonce(context, params.nonce ?? '')
    if (use.outcome !== 'usable') throw new NotFound('No such nonce')
    const row = { instrument: use.instrument, isDefault: false }
    const value = nonceXml(params.nonce ?? '', row, use.threeDSecure)
    return { root: 'payment_method_nonce', value }
  },
}
