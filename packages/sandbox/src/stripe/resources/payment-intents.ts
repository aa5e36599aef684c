import type Stripe from 'stripe'
import type { StripeOperations } from '../api/operation.ts'
import {
  changeOperation,
  customOperation,
  listOperation,
  searchOperation,
  updateOperation,
} from '../api/resource.ts'
import { cancelPaymentIntent } from '../payments/authorizations.ts'
import { recordCharge } from '../payments/balance-transactions.ts'
import { findCustomer, requireCustomer } from '../payments/customer.ts'
import { openTestCardDispute } from '../payments/disputes.ts'
import { resolveIntentMethod } from '../payments/new-payment-method.ts'
import { createPaymentIntentRow } from '../payments/payment-intent.ts'
import { checkPaymentMethodOwner, createEmptyAddress } from '../payments/payment-methods.ts'
import { renderRow } from '../state/render.ts'
import type { PaymentIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { createBelowOneFault, createInvalidRequestFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'
import {
  checkThirdDecimal,
  formatMinimum,
  getMinimumCharge,
  requireCurrency,
} from '../wire/money.ts'
import { confirmIntent, createUnexpectedStateFault } from './payment-confirmation.ts'

/** Statuses in which the amount and the payment method can still change. */
const OPEN_STATUSES = ['requires_payment_method', 'requires_confirmation', 'requires_action']

export const paymentIntentOperations: StripeOperations = {
  'PaymentIntents.create': (params, { work }) => {
    const currency = requireCurrency(params.currency)
    checkAmount(params.amount, currency)
    if (params.off_session && !params.confirm) {
      throw createInvalidRequestFault(
        '`off_session` can only be passed with `confirm=true`.',
        'off_session',
      )
    }
    if (params.off_session && params.setup_future_usage) {
      throw createInvalidRequestFault(
        'You cannot provide both `off_session` and `setup_future_usage`.',
        'setup_future_usage',
      )
    }
    const customer = findCustomer(work, params.customer)
    const intent = createPaymentIntentRow(work, {
      amount: params.amount,
      currency,
      customer: customer?.id ?? null,
      description: params.description ?? null,
      invoice: null,
    })
    applyParams(work, intent, params)
    if (params.allowed_payment_method_types === undefined || params.automatic_payment_methods) {
      // By default, an intent accepts all payment methods of the dashboard, including those that
      // redirect.
      intent.automatic_payment_methods = {
        enabled: params.automatic_payment_methods?.enabled ?? true,
        allow_redirects: params.automatic_payment_methods?.allow_redirects ?? 'always',
      }
    }
    if (params.capture_method) intent.capture_method = params.capture_method
    if (params.confirmation_method) intent.confirmation_method = params.confirmation_method
    intent.metadata = mergeMetadata({}, params.metadata)
    if (params.confirm) return confirmIntent(work, intent, params)
    return renderRow('payment_intent', intent, work.tables)
  },

  'PaymentIntents.retrieve': customOperation('payment_intent', (params, { work, id }) => {
    const intent = work.require('payment_intent', id)
    if (params.client_secret !== undefined && params.client_secret !== intent.client_secret) {
      throw createInvalidRequestFault(
        'The client_secret provided does not match the client_secret associated with the PaymentIntent.',
        'client_secret',
        'payment_intent_invalid_parameter',
      )
    }
    return intent
  }),

  'PaymentIntents.update': updateOperation(
    'payment_intent',
    ['description'],
    (intent, params, { work }) => {
      const { amount, currency, payment_method: method, payment_method_data: data } = params
      if (
        !OPEN_STATUSES.includes(intent.status) &&
        (amount ?? currency ?? method ?? data) !== undefined
      ) {
        throw createUnexpectedStateFault(intent, 'updated', OPEN_STATUSES)
      }
      if (params.currency !== undefined) intent.currency = requireCurrency(params.currency)
      if (params.amount !== undefined || params.currency !== undefined) {
        intent.amount = params.amount ?? intent.amount
        checkAmount(intent.amount, intent.currency)
      }
      if (params.customer !== undefined)
        intent.customer = requireCustomer(work, params.customer, 'customer').id
      applyParams(work, intent, params)
    },
  ),

  'PaymentIntents.confirm': (params, { work, id }) => {
    const intent = work.require('payment_intent', id)
    if (!OPEN_STATUSES.includes(intent.status))
      throw createUnexpectedStateFault(intent, 'confirmed', OPEN_STATUSES)
    work.edit('payment_intent', intent)
    applyParams(work, intent, params)
    return confirmIntent(work, intent, params)
  },

  'PaymentIntents.cancel': changeOperation('payment_intent', (intent, params, { work }) => {
    const allowed = [
      'requires_payment_method',
      'requires_capture',
      'requires_confirmation',
      'requires_action',
      'processing',
    ]
    if (!allowed.includes(intent.status))
      throw createUnexpectedStateFault(intent, 'canceled', allowed)
    if (intent.$.invoice) {
      throw createInvalidRequestFault(
        'You cannot cancel a PaymentIntent that pays an invoice; void the invoice instead.',
        'intent',
      )
    }
    cancelPaymentIntent(work, intent, params.cancellation_reason ?? null)
  }),

  'PaymentIntents.capture': changeOperation('payment_intent', (intent, params, { work }) => {
    if (intent.status !== 'requires_capture') {
      throw createUnexpectedStateFault(intent, 'captured', ['requires_capture'])
    }
    const amount = params.amount_to_capture ?? intent.amount_capturable
    if (amount < 1 || amount > intent.amount_capturable) {
      throw createInvalidRequestFault(
        `The amount to capture must be between 1 and ${intent.amount_capturable}.`,
        'amount_to_capture',
        'amount_too_large',
      )
    }
    capture(work, intent, amount)
  }),

  'PaymentIntents.list': listOperation('payment_intent', { by: ['customer'] }),
  'PaymentIntents.search': searchOperation('payment_intent'),
}

function capture(work: UnitOfWork, intent: PaymentIntentRow, amount: number): void {
  const charge = work.edit('charge', work.require('charge', intent.latest_charge ?? ''))
  charge.captured = true
  charge.amount_captured = amount
  recordCharge(work, charge)
  intent.status = 'succeeded'
  intent.amount_received = amount
  intent.amount_capturable = 0
  work.emit('charge.captured', 'charge', charge)
  openTestCardDispute(work, charge)
  work.emit('payment_intent.succeeded', 'payment_intent', intent)
}

type Params =
  | Partial<
      Pick<
        Stripe.PaymentIntentCreateParams,
        | 'payment_method'
        | 'payment_method_data'
        | 'receipt_email'
        | 'return_url'
        | 'setup_future_usage'
        | 'shipping'
        | 'statement_descriptor'
        | 'statement_descriptor_suffix'
        | 'off_session'
      >
    >
  | Stripe.PaymentIntentConfirmParams
  | Stripe.PaymentIntentUpdateParams

function applyParams(work: UnitOfWork, intent: PaymentIntentRow, intentParams: Params): void {
  const params = intentParams as Stripe.PaymentIntentCreateParams
  const method = resolveIntentMethod(work, params)
  if (method) {
    checkPaymentMethodOwner(method, intent.customer, 'PaymentIntent')
    intent.payment_method = method.id
    if (intent.status === 'requires_payment_method') intent.status = 'requires_confirmation'
  }
  Object.assign(
    intent,
    pickSentFields(params, 'receipt_email', 'setup_future_usage'),
    pickSentFields(params, 'statement_descriptor', 'statement_descriptor_suffix'),
  )
  if (params.return_url !== undefined) intent.$.returnUrl = params.return_url
  if (params.shipping) {
    const { address, name, phone, carrier, tracking_number } = params.shipping
    intent.shipping = {
      address: { ...createEmptyAddress(), ...address },
      name,
      phone: phone ?? null,
      carrier: carrier ?? null,
      tracking_number: tracking_number ?? null,
    } as PaymentIntentRow['shipping']
  }
}

function checkAmount(amount: number, currency: string): void {
  if (amount < 1) throw createBelowOneFault('amount')
  if (amount < getMinimumCharge(currency)) {
    throw createInvalidRequestFault(
      `Amount must be at least ${formatMinimum(currency)}`,
      'amount',
      'amount_too_small',
    )
  }
  checkThirdDecimal(amount, currency, 'amount')
  if (amount > 99_999_999) {
    throw createInvalidRequestFault(
      'Amount must be no more than $999,999.99',
      'amount',
      'amount_too_large',
    )
  }
}
