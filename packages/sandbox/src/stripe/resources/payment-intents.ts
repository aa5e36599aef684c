import type Stripe from 'stripe'
import { createdIn, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { recordCharge } from '../payments/balance-transactions.ts'
import { requireCustomer } from '../payments/customer.ts'
import { raiseDispute } from '../payments/disputes.ts'
import { methodOfIntent } from '../payments/new-payment-method.ts'
import { newPaymentIntent } from '../payments/payment-intent.ts'
import { checkOwner, emptyAddress } from '../payments/payment-methods.ts'
import { render } from '../state/render.ts'
import type { PaymentIntentRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { checkThirdDecimal, formatMinimum, minimumCharge, requireCurrency } from '../wire/money.ts'
import { confirmIntent, unexpectedState } from './payment-confirmation.ts'

export const paymentIntents: Operations = {
  'PaymentIntents.create': op<Stripe.PaymentIntentCreateParams>((params, { work }) => {
    const currency = requireCurrency(params.currency)
    checkAmount(params.amount, currency)
    if (params.off_session && !params.confirm) {
      throw invalidRequest('`off_session` can only be passed with `confirm=true`.', 'off_session')
    }
    if (params.off_session && params.setup_future_usage) {
      throw invalidRequest(
        'You cannot provide both `off_session` and `setup_future_usage`.',
        'setup_future_usage',
      )
    }
    const customer =
      params.customer === undefined ? null : requireCustomer(work, params.customer, 'customer')
    const intent = newPaymentIntent(work, {
      amount: params.amount,
      currency,
      customer: customer?.id ?? null,
      description: params.description ?? null,
      invoice: null,
    })
    applyParams(work, intent, params)
    if (params.allowed_payment_method_types === undefined || params.automatic_payment_methods) {
      // Unless told otherwise it takes every method of the dashboard, those that redirect too.
      intent.automatic_payment_methods = {
        enabled: params.automatic_payment_methods?.enabled ?? true,
        allow_redirects: params.automatic_payment_methods?.allow_redirects ?? 'always',
      }
    }
    if (params.capture_method) intent.capture_method = params.capture_method
    if (params.confirmation_method) intent.confirmation_method = params.confirmation_method
    intent.metadata = mergeMetadata({}, params.metadata)
    if (params.confirm) return confirmIntent(work, intent, params)
    return render('payment_intent', intent, work.tables)
  }),

  'PaymentIntents.retrieve': op<Stripe.PaymentIntentRetrieveParams>((params, call) => {
    const intent = call.work.require('payment_intent', idOf(call))
    if (params.client_secret !== undefined && params.client_secret !== intent.client_secret) {
      throw invalidRequest(
        'The client_secret provided does not match the client_secret associated with the PaymentIntent.',
        'client_secret',
        'payment_intent_invalid_parameter',
      )
    }
    return render('payment_intent', intent, call.work.tables)
  }),

  'PaymentIntents.update': op<Stripe.PaymentIntentUpdateParams>((params, call) => {
    const { work } = call
    const intent = work.require('payment_intent', idOf(call))
    const editable = ['requires_payment_method', 'requires_confirmation', 'requires_action']
    if (
      params.amount !== undefined ||
      params.currency !== undefined ||
      params.payment_method !== undefined ||
      params.payment_method_data !== undefined
    ) {
      if (!editable.includes(intent.status)) throw unexpectedState(intent, 'updated', editable)
    }
    work.edit('payment_intent', intent)
    if (params.currency !== undefined) intent.currency = requireCurrency(params.currency)
    if (params.amount !== undefined || params.currency !== undefined) {
      intent.amount = params.amount ?? intent.amount
      checkAmount(intent.amount, intent.currency)
    }
    if (params.customer !== undefined)
      intent.customer = requireCustomer(work, params.customer, 'customer').id
    if (params.description !== undefined) intent.description = params.description
    applyParams(work, intent, params)
    intent.metadata = mergeMetadata(intent.metadata, params.metadata)
    return render('payment_intent', intent, work.tables)
  }),

  'PaymentIntents.confirm': op<Stripe.PaymentIntentConfirmParams>((params, call) => {
    const { work } = call
    const intent = work.require('payment_intent', idOf(call))
    const allowed = ['requires_payment_method', 'requires_confirmation', 'requires_action']
    if (!allowed.includes(intent.status)) throw unexpectedState(intent, 'confirmed', allowed)
    work.edit('payment_intent', intent)
    applyParams(work, intent, params)
    return confirmIntent(work, intent, params)
  }),

  'PaymentIntents.cancel': op<Stripe.PaymentIntentCancelParams>((params, call) => {
    const { work } = call
    const intent = work.require('payment_intent', idOf(call))
    const allowed = [
      'requires_payment_method',
      'requires_capture',
      'requires_confirmation',
      'requires_action',
      'processing',
    ]
    if (!allowed.includes(intent.status)) throw unexpectedState(intent, 'canceled', allowed)
    if (intent.$.invoice) {
      throw invalidRequest(
        'You cannot cancel a PaymentIntent that pays an invoice; void the invoice instead.',
        'intent',
      )
    }
    work.edit('payment_intent', intent)
    intent.status = 'canceled'
    intent.canceled_at = work.sandboxNow
    intent.cancellation_reason = params.cancellation_reason ?? null
    intent.next_action = null
    intent.amount_capturable = 0
    work.emit('payment_intent.canceled', 'payment_intent', intent)
    return render('payment_intent', intent, work.tables)
  }),

  'PaymentIntents.capture': op<Stripe.PaymentIntentCaptureParams>((params, call) => {
    const { work } = call
    const intent = work.require('payment_intent', idOf(call))
    if (intent.status !== 'requires_capture') {
      throw unexpectedState(intent, 'captured', ['requires_capture'])
    }
    const amount = params.amount_to_capture ?? intent.amount_capturable
    if (amount < 1 || amount > intent.amount_capturable) {
      throw invalidRequest(
        `The amount to capture must be between 1 and ${intent.amount_capturable}.`,
        'amount_to_capture',
        'amount_too_large',
      )
    }
    capture(work, intent, amount)
    return render('payment_intent', intent, work.tables)
  }),

  'PaymentIntents.list': op<Stripe.PaymentIntentListParams>((params, { work, path }) => {
    const rows = params.customer
      ? work.tables.payment_intent.newestBy('customer', params.customer)
      : work.tables.payment_intent.newestFirst()
    const wanted = createdIn(rows, params.created as Range | undefined)
    return listPage(wanted, params, path, (row) => render('payment_intent', row, work.tables))
  }),

  'PaymentIntents.search': op<Stripe.PaymentIntentSearchParams>((params, { work, path }) =>
    searchPage(work.tables.payment_intent, params, path, {
      toWire: (row) => render('payment_intent', row, work.tables),
    }),
  ),
}

function capture(work: UnitOfWork, intent: PaymentIntentRow, amount: number): void {
  work.edit('payment_intent', intent)
  const charge = work.edit('charge', work.require('charge', intent.latest_charge ?? ''))
  charge.captured = true
  charge.amount_captured = amount
  recordCharge(work, charge)
  intent.status = 'succeeded'
  intent.amount_received = amount
  intent.amount_capturable = 0
  work.emit('charge.captured', 'charge', charge)
  raiseDispute(work, charge)
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

function applyParams(work: UnitOfWork, intent: PaymentIntentRow, given: Params): void {
  const params = given as Stripe.PaymentIntentCreateParams
  const method = methodOfIntent(work, params)
  if (method) {
    checkOwner(method, intent.customer, 'PaymentIntent')
    intent.payment_method = method.id
    if (intent.status === 'requires_payment_method') intent.status = 'requires_confirmation'
  }
  if (params.receipt_email !== undefined) intent.receipt_email = params.receipt_email || null
  if (params.return_url !== undefined) intent.$.returnUrl = params.return_url
  if (params.setup_future_usage !== undefined)
    intent.setup_future_usage = params.setup_future_usage || null
  if (params.statement_descriptor !== undefined)
    intent.statement_descriptor = params.statement_descriptor
  if (params.statement_descriptor_suffix !== undefined) {
    intent.statement_descriptor_suffix = params.statement_descriptor_suffix
  }
  if (params.shipping) {
    const { address, name, phone, carrier, tracking_number } = params.shipping
    intent.shipping = {
      address: { ...emptyAddress(), ...address },
      name,
      phone: phone ?? null,
      carrier: carrier ?? null,
      tracking_number: tracking_number ?? null,
    } as PaymentIntentRow['shipping']
  }
}

function checkAmount(amount: number, currency: string): void {
  if (amount < 1)
    throw invalidRequest(
      'This value must be greater than or equal to 1.',
      'amount',
      'parameter_invalid_integer',
    )
  if (amount < minimumCharge(currency)) {
    throw invalidRequest(
      `Amount must be at least ${formatMinimum(currency)}`,
      'amount',
      'amount_too_small',
    )
  }
  checkThirdDecimal(amount, currency, 'amount')
  if (amount > 99_999_999) {
    throw invalidRequest('Amount must be no more than $999,999.99', 'amount', 'amount_too_large')
  }
}
