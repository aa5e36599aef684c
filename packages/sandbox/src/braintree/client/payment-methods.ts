import { readAddress } from '../state/addresses.ts'
import type { BillingAddress, PaymentInstrument } from '../state/rows/vault.ts'
import type { SubmittedPaymentMethod } from '../vault/nonces.ts'
import { createNonce } from '../vault/nonces.ts'
import {
  createPayPalAccount,
  readMethodFromNumber,
  rejectDuplicateCard,
  storePaymentMethod,
} from '../vault/vault.ts'
import { verifyCard } from '../vault/verification.ts'
import { ValidationRefused } from '../wire/errors.ts'
import { RequestFields } from '../wire/validation.ts'
import type { ClientCall, ClientResponse } from './call.ts'

/** Returns the vaulted payment methods of the client token's customer, with a nonce for each. */
export function listMethods({ context, authorization }: ClientCall): ClientResponse {
  const { customerId } = authorization
  const rows =
    customerId === null ? [] : context.tables.paymentMethods.findBy('customer', customerId)
  const paymentMethods = rows.map((row) => {
    const { instrument, alwaysFailsWith, token } = row
    const nonce = createNonce(context, { instrument, alwaysFailsWith, customerId, token })
    return { ...describeNonce(nonce, instrument), default: row.isDefault }
  })
  return { status: 200, value: { paymentMethods } }
}

/**
 * Creates a nonce for an entered card. If the client token names a customer, the card is also
 * stored in the vault.
 */
export function addCard(call: ClientCall): ClientResponse {
  const { authorization } = call
  const card = call.fields.object('credit_card')
  const typedIn = readMethodFromNumber(card)
  const billingAddress = readAddress(card.object('billing_address'))
  const { errors } = card
  if (!typedIn || !errors.isEmpty)
    throw new ValidationRefused({ errors, message: 'Credit card is invalid' })
  const isKept = card.object('options').flag('validate') !== false
  const nonce = isKept
    ? storeOrCreateNonce(call, typedIn, billingAddress)
    : createUnstoredNonce(call, typedIn, { billingAddress })
  const details = {
    ...describeNonce(nonce, typedIn.instrument),
    default: authorization.makeDefault,
  }
  return { status: 201, value: { creditCards: [details] } }
}

/**
 * Creates a nonce for a PayPal account. With the payer's consent, the account can be stored and
 * charged again; otherwise the nonce is for one payment.
 */
export function addPayPalAccount(call: ClientCall): ClientResponse {
  const { context } = call
  const given = call.fields.object('paypal_account')
  const agreed = ['consent_code', 'payment_token', 'billing_agreement_token']
  const isForGood = agreed.some((key) => !given.isBlank(key))
  const offered = createPayPalAccount(context, {
    email: given.text('email'),
    payerId: given.text('payer_id'),
    token: given.text('token'),
    once: !isForGood,
  })
  const isKept = isForGood && given.object('options').flag('validate') !== false
  const wantedToken = offered.wantedToken ?? null
  const nonce = isKept
    ? storeOrCreateNonce(call, offered, null)
    : createUnstoredNonce(call, offered, { wantedToken })
  return { status: 201, value: { paypalAccounts: [describeNonce(nonce, offered.instrument)] } }
}

/**
 * Starts a PayPal billing agreement and returns its token. The payer approves the agreement at
 * PayPal; then the page sends the token back.
 */
export function setUpAgreement({ context }: ClientCall): ClientResponse {
  const tokenId = `BA-${context.store.randomText(17).toUpperCase()}`
  const approvalUrl = `${context.baseUrl}/paypal/agreement?ba_token=${tokenId}`
  return { status: 201, value: { agreementSetup: { tokenId, approvalUrl } } }
}

/**
 * Stores the payment method in the vault if the client token names a customer. Returns a nonce in
 * any case.
 */
function storeOrCreateNonce(
  call: ClientCall,
  offered: SubmittedPaymentMethod,
  billingAddress: BillingAddress | null,
): string {
  const { context, authorization } = call
  const { customerId } = authorization
  if (customerId === null) {
    return createUnstoredNonce(call, offered, {
      billingAddress,
      wantedToken: offered.wantedToken ?? null,
    })
  }
  const options = {
    verify_card: authorization.verifyCard,
    fail_on_duplicate_payment_method: authorization.failOnDuplicate,
    fail_on_duplicate_payment_method_for_customer: authorization.failOnDuplicateForCustomer,
  }
  const card = new RequestFields({ options }, ['credit_card'])
  rejectDuplicateCard(context, offered, card, customerId)
  card.throwIfAny()
  const verifications = verifyCard(context, offered, card)
  const { makeDefault } = authorization
  const as = { customerId, token: null, makeDefault, verifications }
  const { token } = storePaymentMethod(context, { ...offered, billingAddress }, as)
  const { instrument, alwaysFailsWith } = offered
  return createNonce(context, { instrument, alwaysFailsWith, customerId, token })
}

function createUnstoredNonce(
  { context }: ClientCall,
  { instrument, alwaysFailsWith }: SubmittedPaymentMethod,
  typedIn: { billingAddress?: BillingAddress | null; wantedToken?: string | null },
): string {
  const made = { instrument, alwaysFailsWith, customerId: null, token: null }
  return createNonce(context, { ...made, ...typedIn })
}

/** Returns a nonce and its payment method in the JSON format for pages. */
export function describeNonce(nonce: string, instrument: PaymentInstrument): object {
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
