import {
  type BraintreeApiCall,
  type BraintreeOperations,
  type OperationResponse,
  requireRow,
} from '../api/operation.ts'
import { type SearchFields, searchOperations } from '../api/search.ts'
import { readAddress } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import { renderVerificationXml } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow, VerificationRow } from '../state/rows/vault.ts'
import type { SubmittedPaymentMethod } from '../vault/nonces.ts'
import {
  checkCardPassThru,
  readAuthentication,
  VERIFICATION_AUTHENTICATION_ID_ERROR_CODES,
} from '../vault/three-d-secure.ts'
import { readMethodFromNumber, takeMethodFromNonce } from '../vault/vault.ts'
import { readVerificationOptions, requestVerification } from '../vault/verification.ts'
import { parsePermittedKeys, RequestFields } from '../wire/validation.ts'

const KEYS = parsePermittedKeys(
  `credit_card external_vault intended_transaction_source options payment_method_nonce risk_data
   three_d_secure_authentication_id three_d_secure_pass_thru`,
)
const NONCE_CODES = { consumed: '91731', unknown: '91732' }
const CODES = {
  account: '94204',
  negative: '94201',
  invalid: '94202',
  'too-large': '94207',
  accountType: '942184',
  accountTypeUnsupported: '942185',
}

/** Verifies a card without storing it. */
function create({ context, body }: BraintreeApiCall): OperationResponse {
  const fields = new RequestFields(body).object('verification')
  fields.permit(KEYS)
  const card = fields.object('credit_card')
  const offered = readOffered(context, fields, card)
  checkCardPassThru(fields, offered)
  const threeDSecure = readAuthentication(
    fields,
    offered,
    VERIFICATION_AUTHENTICATION_ID_ERROR_CODES,
  )
  const billingAddress = readAddress(card.object('billing_address'))
  const options = fields.object('options')
  const asked = readVerificationOptions(context, options, { prefix: '', codes: CODES })
  if (!offered || !fields.errors.isEmpty) throw fields.refusal()
  offered.consume()
  const shown = threeDSecure ? { ...offered, threeDSecure } : offered
  const row = requestVerification(context, shown, { ...asked, billingAddress })
  return { root: 'verification', value: renderVerificationXml(row), status: 201 }
}

function readOffered(
  context: BraintreeContext,
  fields: RequestFields,
  card: RequestFields,
): SubmittedPaymentMethod | null {
  const nonce = fields.text('payment_method_nonce') ?? card.text('payment_method_nonce')
  if (nonce === null) return readMethodFromNumber(card)
  return takeMethodFromNonce(context, nonce, { fields, codes: NONCE_CODES })
}

function find({ context, params }: BraintreeApiCall): OperationResponse {
  const row = requireRow(context.tables.verifications, params.id)
  return { root: 'verification', value: renderVerificationXml(row) }
}

/** Returns the stored payment method of a verification, if it still exists. */
function methodOf(row: VerificationRow, context: BraintreeContext): PaymentMethodRow | undefined {
  return context.tables.paymentMethods.get(row.token ?? '')
}

const SEARCH: SearchFields<VerificationRow> = {
  root: 'credit_card_verifications',
  itemName: 'verification',
  table: (context) => context.tables.verifications,
  xml: (_context, row) => renderVerificationXml(row),
  fields: {
    id: { text: (row) => row.id },
    status: { text: (row) => row.status },
    verification_type: { text: () => 'credit_card' },
    billing_address_details_postal_code: { text: (row) => row.billingAddress?.postalCode ?? null },
    credit_card_card_type: { text: (row) => row.card?.cardType ?? null },
    credit_card_cardholder_name: { text: (row) => row.card?.cardholderName ?? null },
    credit_card_expiration_date: {
      text: ({ card }) => (card ? `${card.expirationMonth}/${card.expirationYear}` : null),
    },
    credit_card_number: { cards: ({ card }) => (card ? [card] : []) },
    customer_id: { text: (row, context) => methodOf(row, context)?.customerId ?? null },
    customer_email: {
      text: (row, context) => {
        const { customers } = context.tables
        return customers.get(methodOf(row, context)?.customerId ?? '')?.email ?? null
      },
    },
    payment_method_token: { text: (row) => row.token ?? null },
    created_at: { instant: (row) => row.createdAt },
  },
}

/** Operations on card verifications, for stored and for unstored cards. */
export const verificationOperations: BraintreeOperations = {
  'POST /': create,
  'GET /:id': find,
  ...searchOperations(SEARCH),
}
