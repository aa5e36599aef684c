import type { Call, OperationResponse, Operations } from '../api/operation.ts'
import { type Searchable, searchIds, searchPage } from '../api/search.ts'
import { readAddress } from '../state/addresses.ts'
import type { BraintreeContext } from '../state/context.ts'
import { verificationXml } from '../state/payment-method-xml.ts'
import type { PaymentMethodRow, VerificationRow } from '../state/rows/vault.ts'
import {
  checkCardPassThru,
  readAuthentication,
  VERIFICATION_ID_CODES,
} from '../vault/three-d-secure.ts'
import { type Offered, offeredByNonce, offeredByNumber } from '../vault/vault.ts'
import { askProcessor, readVerificationOptions } from '../vault/verification.ts'
import { ErrorCollector, NotFound, Refused } from '../wire/errors.ts'
import { Fields, permitted } from '../wire/validation.ts'

const PATH = ['verification']
const CARD_PATH = [...PATH, 'credit_card']
const KEYS = permitted(
  `credit_card external_vault intended_transaction_source options payment_method_nonce risk_data
   three_d_secure_authentication_id three_d_secure_pass_thru`,
)
const AUTHENTICATION = { path: PATH, codes: VERIFICATION_ID_CODES }
const NONCE_CODES = { consumed: '91731', unknown: '91732' }
const CODES = {
  account: '94204',
  negative: '94201',
  invalid: '94202',
  'too-large': '94207',
  accountType: '942184',
  accountTypeUnsupported: '942185',
}

/** Asks the processor about a card that is not to be kept. */
function create({ context, body }: Call): OperationResponse {
  const fields = new Fields(body).object('verification')
  fields.permit(KEYS)
  const errors = new ErrorCollector()
  const card = fields.object('credit_card')
  const offered = readOffered(context, fields, card, errors)
  checkCardPassThru(fields, offered, errors)
  const threeDSecure = readAuthentication(fields, offered, AUTHENTICATION, errors)
  const addressPath = [...CARD_PATH, 'billing_address']
  const billingAddress = readAddress(card.object('billing_address'), addressPath, errors)
  const names = { prefix: '', codes: CODES, path: [...PATH, 'options'] }
  const options = fields.object('options')
  const asked = readVerificationOptions(context, options, names, errors)
  if (!offered || !errors.isEmpty) throw new Refused({ errors })
  offered.consume()
  const shown = threeDSecure ? { ...offered, threeDSecure } : offered
  const row = askProcessor(context, shown, { ...asked, billingAddress })
  return { root: 'verification', value: verificationXml(row), status: 201 }
}

function readOffered(
  context: BraintreeContext,
  fields: Fields,
  card: Fields,
  errors: ErrorCollector,
): Offered | null {
  const nonce = fields.text('payment_method_nonce') ?? card.text('payment_method_nonce')
  if (nonce === null) return offeredByNumber(card, CARD_PATH, errors)
  return offeredByNonce(context, nonce, { path: PATH, codes: NONCE_CODES }, errors)
}

function find({ context, params }: Call): OperationResponse {
  const row = context.tables.verifications.get(params.id ?? '')
  if (!row) throw new NotFound('No such verification')
  return { root: 'verification', value: verificationXml(row) }
}

/** The stored method that the verification was for, as long as it is there. */
function methodOf(row: VerificationRow, context: BraintreeContext): PaymentMethodRow | undefined {
  return context.tables.paymentMethods.get(row.token ?? '')
}

const SEARCH: Searchable<VerificationRow> = {
  root: 'credit_card_verifications',
  itemName: 'verification',
  table: (context) => context.tables.verifications,
  xml: (_context, row) => verificationXml(row),
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
    created_at: { instant: (row) => Math.floor(row.createdAt / 1000) * 1000 },
  },
}

/** Cards that were asked about, whether they were kept or not. */
export const verifications: Operations = {
  'POST /': create,
  'GET /:id': find,
  'POST /advanced_search_ids': (call) => searchIds(call, SEARCH),
  'POST /advanced_search': (call) => searchPage(call, SEARCH),
}
