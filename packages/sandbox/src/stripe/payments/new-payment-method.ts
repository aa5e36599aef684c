import type Stripe from 'stripe'
import type { PaymentMethodRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, noSuch, StripeFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { emptyAddress, newCard, usePaymentMethod } from './payment-methods.ts'
import { findTestCard } from './test-cards.ts'

type MethodParams = Pick<
  Stripe.PaymentMethodCreateParams,
  'allow_redisplay' | 'billing_details' | 'card' | 'metadata' | 'type'
>

/** A payment method of a token; `within` is the parameter that holds the parameters. */
export function createMethod(
  work: UnitOfWork,
  params: MethodParams,
  within?: string,
): PaymentMethodRow {
  const path = (name: string) => (within === undefined ? name : `${within}[${name}]`)
  if (params.type === undefined) throw missingParam(path('type'))
  if (params.type !== 'card') {
    throw invalidRequest(
      `The payment method type "${params.type}" is invalid. Please ensure the provided type is activated in your dashboard (https://dashboard.stripe.com/account/payments/settings) and your account is enabled for any preview features that you are trying to use.`,
      path('type'),
    )
  }
  const card = params.card as { token?: string; number?: string } | undefined
  if (!card) throw missingParam(path('card'))
  const row = newCard(work, requireToken(card, path('card')))
  if (params.billing_details) setBillingDetails(row, params.billing_details)
  row.metadata = mergeMetadata({}, params.metadata)
  if (params.allow_redisplay) row.allow_redisplay = params.allow_redisplay
  return work.insert('payment_method', row)
}

/** What an intent is to use: a method it names, or one made for it on the spot. */
export function methodOfIntent(
  work: UnitOfWork,
  params: { readonly payment_method?: string; readonly payment_method_data?: object },
): PaymentMethodRow | null {
  const { payment_method: id, payment_method_data: data } = params
  if (id !== undefined && data !== undefined) {
    throw invalidRequest(
      'You may only specify one of these parameters: payment_method, payment_method_data.',
      'payment_method_data',
    )
  }
  if (data !== undefined) return createMethod(work, data as MethodParams, 'payment_method_data')
  return id === undefined ? null : usePaymentMethod(work, id, 'payment_method')
}

function requireToken(card: { token?: string; number?: string }, path: string) {
  if (card.number !== undefined) {
    throw new StripeFault(402, {
      type: 'invalid_request_error',
      message:
        'Sending credit card numbers directly to the Stripe API is generally unsafe. We suggest you use test tokens that map to the test card you are using, see https://stripe.com/docs/testing.',
    })
  }
  if (card.token === undefined) throw missingParam(`${path}[token]`)
  const test = card.token.startsWith('tok_') ? findTestCard(card.token) : null
  if (!test) throw noSuch('token', card.token, `${path}[token]`)
  return test
}

export function setBillingDetails(
  row: PaymentMethodRow,
  params: NonNullable<Stripe.PaymentMethodCreateParams['billing_details']>,
): void {
  const details = row.billing_details
  const { address, email, name, phone, tax_id } = params
  if (address === '' || address === null) details.address = emptyAddress()
  else if (address) details.address = { ...emptyAddress(), ...details.address, ...address }
  if (email !== undefined) details.email = email || null
  if (name !== undefined) details.name = name || null
  if (phone !== undefined) details.phone = phone || null
  if (tax_id !== undefined) details.tax_id = tax_id || null
}
