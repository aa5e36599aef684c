import { readAddress } from '../state/addresses.ts'
import type { Address, Instrument } from '../state/rows/vault.ts'
import { createNonce } from '../vault/nonces.ts'
import {
  checkDuplicate,
  type Offered,
  offeredByNumber,
  payPalAccount,
  store,
} from '../vault/vault.ts'
import { verifyCard } from '../vault/verification.ts'
import { ErrorCollector, Refused } from '../wire/errors.ts'
import { Fields } from '../wire/validation.ts'
import type { ClientCall, ClientResponse } from './call.ts'

const CARD_PATH = ['credit_card']

/** What the customer of the client token has in the vault, a nonce for each. */
export function listMethods({ context, authorization }: ClientCall): ClientResponse {
  const { customerId } = authorization
  const rows =
    customerId === null ? [] : context.tables.paymentMethods.findBy('customer', customerId)
  const paymentMethods = rows.map((row) => {
    const { instrument, alwaysFailsWith, token } = row
    const nonce = createNonce(context, { instrument, alwaysFailsWith, customerId, token })
    return { ...describe(nonce, instrument), default: row.isDefault }
  })
  return { status: 200, value: { paymentMethods } }
}

/** A card that somebody typed in: a nonce for it, and with a customer a place in the vault. */
export function addCard(call: ClientCall): ClientResponse {
  const { authorization } = call
  const card = call.fields.object('credit_card')
  const errors = new ErrorCollector()
  const typedIn = offeredByNumber(card, CARD_PATH, errors)
  const address = card.object('billing_address')
  const billingAddress = readAddress(address, [...CARD_PATH, 'billing_address'], errors)
  if (!typedIn || !errors.isEmpty) throw new Refused({ errors, message: 'Credit card is invalid' })
  const isKept = card.object('options').flag('validate') !== false
  const nonce = isKept
    ? keepOrHold(call, typedIn, billingAddress)
    : hold(call, typedIn, { billingAddress })
  const details = { ...describe(nonce, typedIn.instrument), default: authorization.makeDefault }
  return { status: 201, value: { creditCards: [details] } }
}

/** Somebody who agreed at PayPal, for once or, with a consent, for good. */
export function addPayPalAccount(call: ClientCall): ClientResponse {
  const { context } = call
  const given = call.fields.object('paypal_account')
  const agreed = ['consent_code', 'payment_token', 'billing_agreement_token']
  const isForGood = agreed.some((key) => !given.isBlank(key))
  const offered = payPalAccount(context, {
    email: given.text('email'),
    payerId: given.text('payer_id'),
    token: given.text('token'),
    once: !isForGood,
  })
  const isKept = isForGood && given.object('options').flag('validate') !== false
  const wantedToken = offered.wantedToken ?? null
  const nonce = isKept ? keepOrHold(call, offered, null) : hold(call, offered, { wantedToken })
  return { status: 201, value: { paypalAccounts: [describe(nonce, offered.instrument)] } }
}

/** Begins a billing agreement: the person approves it at PayPal, and the page then sends its token. */
export function setUpAgreement({ context }: ClientCall): ClientResponse {
  const tokenId = `BA-${context.store.randomText(17).toUpperCase()}`
  const approvalUrl = `${context.baseUrl}/paypal/agreement?ba_token=${tokenId}`
  return { status: 201, value: { agreementSetup: { tokenId, approvalUrl } } }
}

/** Into the vault if the client token names a customer. */
function keepOrHold(call: ClientCall, offered: Offered, billingAddress: Address | null): string {
  const { context, authorization } = call
  const { customerId } = authorization
  if (customerId === null) {
    return hold(call, offered, { billingAddress, wantedToken: offered.wantedToken ?? null })
  }
  const options = new Fields({
    verify_card: authorization.verifyCard,
    fail_on_duplicate_payment_method: authorization.failOnDuplicate,
    fail_on_duplicate_payment_method_for_customer: authorization.failOnDuplicateForCustomer,
  })
  const errors = new ErrorCollector()
  checkDuplicate(context, offered, { options, customerId, path: CARD_PATH }, errors)
  errors.throwIfAny()
  const verifications = verifyCard(context, offered, options)
  const typedIn = { ...offered, billingAddress }
  const { makeDefault } = authorization
  const { token } = store(context, typedIn, {
    customerId,
    token: null,
    makeDefault,
    verifications,
  })
  const { instrument, alwaysFailsWith } = offered
  return createNonce(context, { instrument, alwaysFailsWith, customerId, token })
}

function hold(
  { context }: ClientCall,
  { instrument, alwaysFailsWith }: Offered,
  typedIn: { billingAddress?: Address | null; wantedToken?: string | null },
): string {
  const made = { instrument, alwaysFailsWith, customerId: null, token: null }
  return createNonce(context, { ...made, ...typedIn })
}

/** A nonce and what it stands for, as pages are told. */
export function describe(nonce: string, instrument: Instrument): object {
  if (instrument.kind === 'paypal_account') {
    const { email, payerId } = instrument.paypal
    const details = { email, payerInfo: { email, payerId } }
    return { nonce, type: 'PayPalAccount', description: 'PayPal', details }
  }
  const { bin, last4, cardType, expirationMonth, expirationYear, cardholderName } = instrument.card
  const details = {
    bin,
    lastTwo: last4.slice(2),
    lastFour: last4,
    cardType,
    expirationMonth,
    expirationYear,
    cardholderName,
  }
  return { nonce, type: 'CreditCard', description: `ending in ${last4.slice(2)}`, details }
}
