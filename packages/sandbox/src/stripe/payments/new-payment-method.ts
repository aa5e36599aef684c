import type Stripe from 'stripe'
import type { PaymentMethodRow, TokenRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createFaultWithStatus,
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
  createNoSuchObjectFault,
  type StripeFault,
} from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import { createDebitMethod, findTestAccount } from './debits/test-accounts.ts'
import { createCardMethod, createEmptyAddress, requirePaymentMethod } from './payment-methods.ts'
import { findMethodTestCard, findTestCard, type TestCard } from './test-cards.ts'

type MethodParams = Pick<
  Stripe.PaymentMethodCreateParams,
  'allow_redisplay' | 'billing_details' | 'card' | 'metadata' | 'type'
>

/**
 * Creates a payment method from a card token. `within` is the name of the parameter that holds
 * `params`, for error messages.
 */
export function createMethod(
  work: UnitOfWork,
  params: MethodParams,
  within?: string,
): PaymentMethodRow {
  const path = (name: string) => (within === undefined ? name : `${within}[${name}]`)
  if (params.type === undefined) throw createMissingParamFault(path('type'))
  if (params.type !== 'card') {
    throw createInvalidRequestFault(
      `The payment method type "${params.type}" is invalid. Please ensure the provided type is activated in your dashboard (https://dashboard.stripe.com/account/payments/settings) and your account is enabled for any preview features that you are trying to use.`,
      path('type'),
    )
  }
  const card = params.card as { token?: string; number?: string } | undefined
  if (!card) throw createMissingParamFault(path('card'))
  const row = createCardFromParams(work, card, path('card'))
  if (params.billing_details) setBillingDetails(row, params.billing_details)
  row.metadata = mergeMetadata({}, params.metadata)
  if (params.allow_redisplay) row.allow_redisplay = params.allow_redisplay
  return work.insert('payment_method', row)
}

/**
 * Finds the payment method with an id. For a test value such as `pm_card_visa` or
 * `pm_sepaDebit_success_de`, creates a payment method.
 */
export function resolvePaymentMethod(
  work: UnitOfWork,
  id: string,
  param: string,
): PaymentMethodRow {
  if (id.startsWith('tok_')) {
    throw createInvalidRequestFault(
      `A token may not be passed in as a PaymentMethod. Instead, use payment_method_data with type=card and card[token]=${id}.`,
      param === 'id' ? 'payment_method' : param,
    )
  }
  const account = findTestAccount(id)
  if (account) return createDebitMethod(work, id, account)
  const test = id.startsWith('pm_card_') ? findTestCard(id) : null
  if (!test) return requirePaymentMethod(work, id, param)
  return work.insert('payment_method', createCardMethod(work, test))
}

/**
 * Returns the payment method that a call names for an intent: an existing one, or one created from
 * `payment_method_data`. `null` if the call names none.
 */
export function resolveIntentMethod(
  work: UnitOfWork,
  params: { readonly payment_method?: string; readonly payment_method_data?: object },
): PaymentMethodRow | null {
  const { payment_method: id, payment_method_data: data } = params
  if (id !== undefined && data !== undefined) {
    throw createMutuallyExclusiveFault('payment_method, payment_method_data', 'payment_method_data')
  }
  if (data !== undefined) return createMethod(work, data as MethodParams, 'payment_method_data')
  return id === undefined ? null : resolvePaymentMethod(work, id, 'payment_method')
}

function createCardFromParams(
  work: UnitOfWork,
  card: { token?: string; number?: string },
  path: string,
): PaymentMethodRow {
  if (card.number !== undefined) throw createRawCardNumberFault()
  if (card.token === undefined) throw createMissingParamFault(`${path}[token]`)
  return createCardFromToken(work, card.token, `${path}[token]`)
}

export function createRawCardNumberFault(): StripeFault {
  return createFaultWithStatus(
    402,
    'Sending credit card numbers directly to the Stripe API is generally unsafe. We suggest you use test tokens that map to the test card you are using, see https://stripe.com/docs/testing.',
  )
}

/**
 * Creates the card of a token without storing it. Stripe's test tokens can be used any number of
 * times; other tokens work once.
 */
export function createCardFromToken(work: UnitOfWork, id: string, param: string): PaymentMethodRow {
  const test = id.startsWith('tok_') ? findTestCard(id) : null
  if (test) return createCardMethod(work, test)
  const token = work.find('token', id)
  const typed = token && findTestCard(`tok_${token.$.behavior}`)
  if (!typed) throw createNoSuchObjectFault('token', id, param)
  if (token.used) {
    throw createInvalidRequestFault(
      `You cannot use a Stripe token more than once: ${id}.`,
      param,
      'token_already_used',
    )
  }
  work.edit('token', token).used = true
  const row = createTypedCard(work, typed, token.$)
  const text = (name: string) => (token.card[name] ?? null) as string | null
  row.billing_details = {
    ...row.billing_details,
    name: text('name'),
    address: {
      city: text('address_city'),
      country: text('address_country'),
      line1: text('address_line1'),
      line2: text('address_line2'),
      postal_code: text('address_zip'),
      state: text('address_state'),
    },
  }
  checkAddress(row)
  return row
}

/** Sets the results of address checks. Only test cards for these checks have results. */
function checkAddress(row: PaymentMethodRow): void {
  const results = findMethodTestCard(row)?.checks
  if (!row.card?.checks || !results) return
  const { line1, postal_code } = row.billing_details.address ?? {}
  const checks = {
    ...row.card.checks,
    address_line1_check: line1 ? (results.line1 ?? 'pass') : null,
    address_postal_code_check: postal_code ? (results.postalCode ?? 'pass') : null,
  }
  row.card = { ...row.card, checks }
}

/**
 * Creates a card payment method with the expiry date and, if given, the security code that the
 * customer typed.
 */
export function createTypedCard(
  work: UnitOfWork,
  test: { name: string; card: TestCard },
  typed: Pick<TokenRow['$'], 'expires' | 'hasCvc'>,
): PaymentMethodRow {
  const row = createCardMethod(work, test)
  if (!row.card) return row
  const { checks } = row.card
  row.card = {
    ...row.card,
    exp_month: typed.expires.month,
    exp_year: typed.expires.year,
    checks: checks && !typed.hasCvc ? { ...checks, cvc_check: null } : checks,
  }
  return row
}

export function setBillingDetails(
  row: PaymentMethodRow,
  params: NonNullable<Stripe.PaymentMethodCreateParams['billing_details']>,
): void {
  const details = {
    ...row.billing_details,
    ...pickSentFields(params, 'email', 'name', 'phone', 'tax_id'),
  }
  const { address } = params
  if (address === '' || address === null) details.address = createEmptyAddress()
  else if (address) details.address = { ...createEmptyAddress(), ...details.address, ...address }
  row.billing_details = details
  checkAddress(row)
}
