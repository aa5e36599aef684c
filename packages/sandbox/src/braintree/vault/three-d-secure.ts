import type { CardDetails, PaymentInstrument, ThreeDSecureInfo } from '../state/rows/vault.ts'
import { parsePermittedKeys, type RequestFields } from '../wire/validation.ts'
import { findAuthentication } from './authentications.ts'

const KEYS = parsePermittedKeys(
  `authentication_response cavv cavv_algorithm directory_response ds_transaction_id eci_flag network
   three_d_secure_version xid`,
)
const RESPONSES = parsePermittedKeys('Y N U A C R E I')
const ECI_FLAGS = parsePermittedKeys('00 01 02 04 05 06 07')
/**
 * Network of each card type that an authentication can name. `null` for eftpos, which exists on
 * cards of several networks.
 */
const NETWORKS: Readonly<Record<string, string | null>> = {
  visa: 'Visa',
  mastercard: 'MasterCard',
  eftpos: null,
}

/** Error codes of 3-D Secure data, which differ between verifications and sales. */
interface PassThruCodes {
  readonly eciRequired: string
  readonly eciInvalid: string
  readonly cavvRequired: string
  readonly versionRequired: string
  readonly versionInvalid: string
  readonly authenticationInvalid: string
  readonly directoryInvalid: string
  readonly algorithmInvalid: string
  readonly networkInvalid: string
  readonly networkMismatch: string
}

const VERIFICATION_CODES: PassThruCodes = {
  eciRequired: '942113',
  eciInvalid: '942114',
  cavvRequired: '942116',
  versionRequired: '942117',
  versionInvalid: '942119',
  authenticationInvalid: '942120',
  directoryInvalid: '942121',
  algorithmInvalid: '942122',
  networkInvalid: '942128',
  networkMismatch: '942139',
}

/** Error codes for an invalid `three_d_secure_pass_thru` of a sale. */
export const SALE_PASS_THRU_ERROR_CODES: PassThruCodes = {
  eciRequired: '915113',
  eciInvalid: '915114',
  cavvRequired: '915116',
  // Braintree documents no error code for it.
  versionRequired: '915119',
  versionInvalid: '915119',
  authenticationInvalid: '915120',
  directoryInvalid: '915121',
  algorithmInvalid: '915122',
  networkInvalid: '915128',
  networkMismatch: '915139',
}

/** Error codes of an authentication id that is invalid, or conflicts with other params. */
interface AuthenticationCodes {
  readonly invalid: string
  readonly otherMethod: string
  readonly otherNonce: string
  readonly besidePassThru: string
}

/** Error codes for an invalid 3-D Secure authentication id of a card verification. */
export const VERIFICATION_AUTHENTICATION_ID_ERROR_CODES: AuthenticationCodes = {
  invalid: '942196',
  otherMethod: '942197',
  otherNonce: '942198',
  besidePassThru: '942199',
}

/** Error codes for an invalid 3-D Secure authentication id of a sale. */
export const SALE_AUTHENTICATION_ID_ERROR_CODES: AuthenticationCodes = {
  invalid: '915196',
  otherMethod: '915197',
  otherNonce: '915198',
  besidePassThru: '915199',
}

const ID = 'three_d_secure_authentication_id'

/** The charged or verified payment method, with the 3-D Secure result of its nonce. */
interface Authenticated {
  readonly instrument: PaymentInstrument
  readonly threeDSecure?: ThreeDSecureInfo
}

/**
 * Reads the 3-D Secure result of a call: by the authentication id if one was sent, otherwise from
 * the nonce. `undefined` if there is none.
 */
export function readAuthentication(
  fields: RequestFields,
  source: Authenticated | null,
  codes: AuthenticationCodes,
): ThreeDSecureInfo | undefined {
  if (!fields.has(ID)) return source?.threeDSecure
  const info = findAuthentication(fields.text(ID) ?? '', 'id')
  const wrong = info ? findMismatch(fields, source, info) : 'invalid'
  if (wrong) fields.addError(ID, codes[wrong])
  return info ?? undefined
}

function findMismatch(
  fields: RequestFields,
  source: Authenticated | null,
  info: ThreeDSecureInfo,
): keyof AuthenticationCodes | null {
  if (Object.keys(fields.object('three_d_secure_pass_thru').values).length > 0) {
    return 'besidePassThru'
  }
  if (!source) return null
  const { instrument, threeDSecure } = source
  // All authentication ids for tests belong to Visa cards.
  const isVisa = instrument.kind === 'credit_card' && instrument.card.cardType === 'Visa'
  if (!isVisa) return 'otherMethod'
  const isOther = threeDSecure && JSON.stringify(threeDSecure) !== JSON.stringify(info)
  return isOther ? 'otherNonce' : null
}

/** Validates the 3-D Secure data of a card that is verified or stored. */
export function checkCardPassThru(
  passThruFields: RequestFields,
  offered: { readonly instrument: PaymentInstrument } | null,
): void {
  const card = offered?.instrument.kind === 'credit_card' ? offered.instrument.card : null
  const passThru = passThruFields.object('three_d_secure_pass_thru').at('verification')
  checkPassThru(passThru, card, VERIFICATION_CODES)
}

/**
 * Validates the result of another service's 3-D Secure authentication (`three_d_secure_pass_thru`).
 * The charge does not depend on the values.
 */
export function checkPassThru(
  fields: RequestFields,
  card: CardDetails | null,
  codes: PassThruCodes,
): void {
  fields.permit(KEYS)
  if (Object.keys(fields.values).length === 0) return
  const version = fields.text('three_d_secure_version')
  if (version === null) fields.addError('three_d_secure_version', codes.versionRequired)
  else if (!/^\d+\.\d+\.\d+$/.test(version)) {
    fields.addError('three_d_secure_version', codes.versionInvalid)
  }
  if (fields.isBlank('eci_flag')) fields.addError('eci_flag', codes.eciRequired)
  if (fields.isBlank('cavv')) fields.addError('cavv', codes.cavvRequired)
  fields.check('eci_flag', (flag) => ECI_FLAGS.has(flag), codes.eciInvalid)
  fields.check(
    'authentication_response',
    (code) => RESPONSES.has(code),
    codes.authenticationInvalid,
  )
  fields.check('directory_response', (code) => RESPONSES.has(code), codes.directoryInvalid)
  fields.check('cavv_algorithm', (code) => /^\d$/.test(code), codes.algorithmInvalid)
  const network = fields.text('network')
  if (network === null) return
  const cardType = NETWORKS[network.toLowerCase()]
  if (cardType === undefined) fields.addError('network', codes.networkInvalid)
  else if (card && cardType !== null && card.cardType !== cardType) {
    fields.addError('network', codes.networkMismatch)
  }
}
