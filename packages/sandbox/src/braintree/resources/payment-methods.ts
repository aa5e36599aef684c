import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { readAddress } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import { methodXml, paymentMethodName } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow } from '../state/rows/vault.ts'
import { createNonce, findNonce } from '../vault/nonces.ts'
import { updatePaymentMethod } from '../vault/payment-method-update.ts'
import {
  checkDuplicate,
  checkToken,
  offeredByNonce,
  offeredByNumber,
  removePaymentMethod,
  store,
  verifyCard,
} from '../vault/vault.ts'
import { ErrorCollector, type ErrorPath, NotFound, Refused, refuse } from '../wire/errors.ts'
import { refuseUnsupported } from '../wire/unsupported.ts'
import { Fields, permitted } from '../wire/validation.ts'
import type { XmlObject } from '../wire/xml.ts'

const KEYS = permitted(
  `billing_address billing_address_id cardholder_name customer_id cvv device_data expiration_date
   expiration_month expiration_year number options payment_method_nonce paypal_refresh_token
   three_d_secure_pass_thru token us_bank_account`,
)

const UNSUPPORTED = permitted(
  'billing_address_id paypal_refresh_token three_d_secure_pass_thru us_bank_account',
)

/** `paymentMethod.create` and the older `creditCard.create` share a URL but not their codes. */
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

function create({ context, body }: Call): OperationResponse {
  const all = new Fields(body)
  const root = all.has('credit_card') ? 'credit_card' : 'payment_method'
  const kind = KINDS[root]
  const path: ErrorPath = [root]
  if (all.isBlank(root)) refuse(path, 'base', '93101')
  const fields = all.object(root)
  fields.permit(KEYS)
  refuseUnsupported(fields, root, UNSUPPORTED)
  const options = fields.object('options')
  const errors = new ErrorCollector()
  const customerId = fields.text('customer_id')
  if (customerId === null) errors.add(path, 'customer_id', kind.customerRequired)
  else if (!context.tables.customers.has(customerId))
    errors.add(path, 'customer_id', kind.customerInvalid)
  const nonce = fields.text('payment_method_nonce')
  const byNumber = root === 'credit_card' && nonce === null
  if (nonce === null && !byNumber) errors.add(path, 'payment_method_nonce', '93103')
  const offered = byNumber
    ? offeredByNumber(fields, path, errors)
    : nonce && offeredByNonce(context, nonce, { path, codes: kind.nonces }, errors)
  const token = fields.text('token')
  checkToken(context, token, path, errors)
  const billingAddress = readAddress(
    fields.object('billing_address'),
    [...path, 'billing_address'],
    errors,
  )
  if (offered) {
    checkDuplicate(context, offered, { options, customerId, path: ['credit_card'] }, errors)
    if (offered.customerId !== null && offered.customerId !== customerId)
      errors.add(path, 'payment_method_nonce', '91617')
  }
  if (!offered || customerId === null || !errors.isEmpty) throw new Refused({ errors })
  const verifications = verifyCard(context, offered, options)
  const wantsDefault = options.flag('make_default') ?? false
  const row = store(context, offered, {
    customerId,
    token,
    makeDefault: wantsDefault,
    verifications,
    billingAddress,
  })
  return respond(context, row, 201)
}

function find({ context, params }: Call): OperationResponse {
  return respond(context, requireMethod(context, params))
}

function update({ context, body, params }: Call): OperationResponse {
  const row = requireMethod(context, params)
  const all = new Fields(body)
  const root = ['credit_card', 'paypal_account'].find((name) => all.has(name)) ?? 'payment_method'
  const fields = all.object(root)
  fields.permit(KEYS)
  refuseUnsupported(fields, root, UNSUPPORTED)
  updatePaymentMethod(context, row, fields)
  return respond(context, row)
}

function remove({ context, params }: Call): OperationResponse {
  removePaymentMethod(context, requireMethod(context, params))
  return null
}

/** A nonce for a stored method, as a browser would be given. It works once. */
function vaultedNonce({ context, params }: Call): OperationResponse {
  const row = requireMethod(context, params)
  const { instrument, alwaysFailsWith, customerId, token } = row
  const nonce = createNonce(context, { instrument, alwaysFailsWith, customerId, token })
  return { root: 'payment_method_nonce', value: nonceXml(nonce, row), status: 201 }
}

function findByNonce({ context, params }: Call): OperationResponse {
  const use = findNonce(context, params.nonce ?? '')
  const row = use.outcome === 'usable' && use.token && context.tables.paymentMethods.get(use.token)
  if (!row) throw new NotFound('No such payment method')
  return respond(context, row)
}

function nonceXml(nonce: string, row: PaymentMethodRow): XmlObject {
  const { instrument } = row
  const details: XmlObject =
    instrument.kind === 'credit_card'
      ? {
          bin: instrument.card.bin,
          last_two: instrument.card.last4.slice(2),
          last_four: instrument.card.last4,
          card_type: instrument.card.cardType,
        }
      : { email: instrument.paypal.email, payer_info: null }
  return {
    nonce,
    type: instrument.kind === 'credit_card' ? 'CreditCard' : 'PayPalAccount',
    default: row.isDefault,
    consumed: false,
    description: null,
    details,
    three_d_secure_info: null,
  }
}

function requireMethod(
  context: BraintreeContext,
  params: Readonly<Record<string, string>>,
): PaymentMethodRow {
  const row = context.tables.paymentMethods.get(params.token ?? '')
  const kind = params.kind ?? 'any'
  if (!row || (kind !== 'any' && kind !== row.instrument.kind)) {
    throw new NotFound('No such payment method')
  }
  return row
}

function respond(
  context: BraintreeContext,
  row: PaymentMethodRow,
  status: 200 | 201 = 200,
): OperationResponse {
  return { root: paymentMethodName(row), value: methodXml(context, row), status }
}

/** Cards and PayPal accounts in the vault. */
export const paymentMethods: Operations = {
  'POST /': create,
  'GET /from_nonce/:nonce': findByNonce,
  'GET /:kind/:token': find,
  'PUT /:kind/:token': update,
  'DELETE /:kind/:token': remove,
  'POST /:token/nonces': vaultedNonce,
}

/** What a nonce stands for. */
export const paymentMethodNonces: Operations = {
  'GET /:nonce': ({ context, params }) => {
    const use = findNonce(context, params.nonce ?? '')
    if (use.outcome !== 'usable') throw new NotFound('No such nonce')
    const row = { instrument: use.instrument, isDefault: false } as PaymentMethodRow
    return { root: 'payment_method_nonce', value: nonceXml(params.nonce ?? '', row) }
  },
}
