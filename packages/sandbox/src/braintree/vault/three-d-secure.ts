import type { CardDetails, Instrument, ThreeDSecureInfo } from '../state/rows/vault.ts'
import type { ErrorCollector, ErrorPath } from '../wire/errors.ts'
import { type Fields, permitted } from '../wire/validation.ts'
import { findAuthentication } from './authentications.ts'

const KEYS = permitted(
  `authentication_response cavv cavv_algorithm directory_response ds_transaction_id eci_flag network
   three_d_secure_version xid`,
)
const RESPONSES = permitted('Y N U A C R E I')
const ECI_FLAGS = permitted('00 01 02 04 05 06 07')
/** Which cards each network has; eftpos is on many. */
const NETWORKS: Readonly<Record<string, string | null>> = {
  visa: 'Visa',
  mastercard: 'MasterCard',
  eftpos: null,
}

/** The codes of what is wrong; a verification and a sale have their own. */
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

export const SALE_CODES: PassThruCodes = {
  eciRequired: '915113',
  eciInvalid: '915114',
  cavvRequired: '915116',
  // Braintree publishes no code of its own for it.
  versionRequired: '915119',
  versionInvalid: '915119',
  authenticationInvalid: '915120',
  directoryInvalid: '915121',
  algorithmInvalid: '915122',
  networkInvalid: '915128',
  networkMismatch: '915139',
}

/** The codes of an id that is not to be had, or not together with what is beside it. */
interface AuthenticationCodes {
  readonly invalid: string
  readonly otherMethod: string
  readonly otherNonce: string
  readonly besidePassThru: string
}

export const VERIFICATION_ID_CODES: AuthenticationCodes = {
  invalid: '942196',
  otherMethod: '942197',
  otherNonce: '942198',
  besidePassThru: '942199',
}

export const SALE_ID_CODES: AuthenticationCodes = {
  invalid: '915196',
  otherMethod: '915197',
  otherNonce: '915198',
  besidePassThru: '915199',
}

const ID = 'three_d_secure_authentication_id'

/** What is charged or verified, with what its nonce says of 3-D Secure. */
interface Authenticated {
  readonly instrument: Instrument
  readonly threeDSecure?: ThreeDSecureInfo
}

/** What a page found out by 3-D Secure: by the id that it was given for it, or else by the nonce. */
export function readAuthentication(
  fields: Fields,
  source: Authenticated | null,
  { path, codes }: { path: ErrorPath; codes: AuthenticationCodes },
  errors: ErrorCollector,
): ThreeDSecureInfo | undefined {
  if (!fields.has(ID)) return source?.threeDSecure
  const info = findAuthentication(fields.text(ID) ?? '', 'id')
  const wrong = info ? findMismatch(fields, source, info) : 'invalid'
  if (wrong) errors.add(path, ID, codes[wrong])
  return info ?? undefined
}

function findMismatch(
  fields: Fields,
  source: Authenticated | null,
  info: ThreeDSecureInfo,
): keyof AuthenticationCodes | null {
  if (Object.keys(fields.object('three_d_secure_pass_thru').values).length > 0) {
    return 'besidePassThru'
  }
  if (!source) return null
  const { instrument, threeDSecure } = source
  // All ids for tests are of Visa cards.
  const isVisa = instrument.kind === 'credit_card' && instrument.card.cardType === 'Visa'
  if (!isVisa) return 'otherMethod'
  const isOther = threeDSecure && JSON.stringify(threeDSecure) !== JSON.stringify(info)
  return isOther ? 'otherNonce' : null
}

/** The same for a card that is verified or kept, by nonce or by number. */
export function checkCardPassThru(
  given: Fields,
  offered: { readonly instrument: Instrument } | null,
  errors: ErrorCollector,
): void {
  const card = offered?.instrument.kind === 'credit_card' ? offered.instrument.card : null
  const place = { path: ['verification'], codes: VERIFICATION_CODES }
  checkPassThru(given.object('three_d_secure_pass_thru'), card, place, errors)
}

/** What another service has found out by 3-D Secure. It is checked; the charge goes as without it. */
export function checkPassThru(
  given: Fields,
  card: CardDetails | null,
  { path, codes }: { path: ErrorPath; codes: PassThruCodes },
  errors: ErrorCollector,
): void {
  given.permit(KEYS)
  if (Object.keys(given.values).length === 0) return
  const check = (key: string, isRight: (text: string) => boolean, code: string) => {
    const text = given.text(key)
    if (text !== null && !isRight(text)) errors.add(path, key, code)
  }
  const version = given.text('three_d_secure_version')
  if (version === null) errors.add(path, 'three_d_secure_version', codes.versionRequired)
  else if (!/^\d+\.\d+\.\d+$/.test(version)) {
    errors.add(path, 'three_d_secure_version', codes.versionInvalid)
  }
  if (given.isBlank('eci_flag')) errors.add(path, 'eci_flag', codes.eciRequired)
  if (given.isBlank('cavv')) errors.add(path, 'cavv', codes.cavvRequired)
  check('eci_flag', (flag) => ECI_FLAGS.has(flag), codes.eciInvalid)
  check('authentication_response', (code) => RESPONSES.has(code), codes.authenticationInvalid)
  check('directory_response', (code) => RESPONSES.has(code), codes.directoryInvalid)
  check('cavv_algorithm', (code) => /^\d$/.test(code), codes.algorithmInvalid)
  const network = given.text('network')
  if (network === null) return
  const cardType = NETWORKS[network.toLowerCase()]
  if (cardType === undefined) errors.add(path, 'network', codes.networkInvalid)
  else if (card && cardType !== null && card.cardType !== cardType) {
    errors.add(path, 'network', codes.networkMismatch)
  }
}
