import type Stripe from 'stripe'
import { filterRows, listPage } from '../api/lists.ts'
import { type Call, idOf, type Operations, op } from '../api/operation.ts'
import { requireCustomer } from '../payments/customer.ts'
import {
  createMethod,
  setBillingDetails,
  usePaymentMethod,
} from '../payments/new-payment-method.ts'
import {
  attachPaymentMethod,
  detachPaymentMethod,
  requirePaymentMethod,
} from '../payments/payment-methods.ts'
import { render } from '../state/render.ts'
import { invalidRequest, missingParam, noSuch, StripeFault } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

export const paymentMethods: Operations = {
  'PaymentMethods.create': op<Stripe.PaymentMethodCreateParams>((params, { work }) => {
    const row = createMethod(work, params)
    return render('payment_method', row, work.tables)
  }),

  'PaymentMethods.retrieve': op((_params, call) => {
    const row = usePaymentMethod(call.work, idOf(call), 'id')
    return render('payment_method', row, call.work.tables)
  }),

  'PaymentMethods.update': op<Stripe.PaymentMethodUpdateParams>((params, call) => {
    const row = call.work.edit('payment_method', requirePaymentMethod(call.work, idOf(call), 'id'))
    if (row.customer === null) {
      throw invalidRequest(
        'You must save this PaymentMethod to a customer before you can update it.',
        'payment_method',
      )
    }
    if (params.card && row.card) {
      const card = { ...row.card }
      if (params.card.exp_month !== undefined) card.exp_month = checkMonth(params.card.exp_month)
      if (params.card.exp_year !== undefined) card.exp_year = params.card.exp_year
      row.card = card
    }
    if (params.billing_details) setBillingDetails(row, params.billing_details)
    if (params.allow_redisplay) row.allow_redisplay = params.allow_redisplay
    row.metadata = mergeMetadata(row.metadata, params.metadata)
    return render('payment_method', row, call.work.tables)
  }),

  'PaymentMethods.list': op<Stripe.PaymentMethodListParams>((params, call) => {
    if (params.customer === undefined) throw missingParam('customer')
    return listOf(params.customer, params, call)
  }),

  'Customers.listPaymentMethods': op<Stripe.CustomerListPaymentMethodsParams>((params, call) =>
    listOf(call.ids[0] ?? '', params, call),
  ),

  'Customers.retrievePaymentMethod': op((_params, call) => {
    const [customer = '', id = ''] = call.ids
    requireCustomer(call.work, customer)
    const row = requirePaymentMethod(call.work, id, 'id')
    if (row.customer !== customer) throw noSuch('PaymentMethod', id)
    return render('payment_method', row, call.work.tables)
  }),

  'PaymentMethods.attach': op<Stripe.PaymentMethodAttachParams>((params, call) => {
    if (params.customer === undefined) throw missingParam('customer')
    const customer = requireCustomer(call.work, params.customer, 'customer')
    const row = usePaymentMethod(call.work, idOf(call), 'id')
    attachPaymentMethod(call.work, row, customer)
    return render('payment_method', row, call.work.tables)
  }),

  'PaymentMethods.detach': op((_params, call) => {
    const { work } = call
    const row = requirePaymentMethod(work, idOf(call), 'id')
    if (row.customer === null) {
      throw invalidRequest(
        'The payment method you provided is not attached to a customer so detachment is impossible.',
        'payment_method',
      )
    }
    detachPaymentMethod(work, row)
    return render('payment_method', row, work.tables)
  }),
}

function listOf(
  customerId: string,
  params: { type?: string; limit?: number; starting_after?: string; ending_before?: string },
  call: Call,
) {
  const { work } = call
  requireCustomer(work, customerId, call.ids.length > 0 ? 'id' : 'customer')
  const rows = work.findBy('payment_method', 'customer', customerId).reverse()
  const wanted = filterRows(rows, (row) => params.type === undefined || row.type === params.type)
  return listPage(wanted, params, call.path, (row) => render('payment_method', row, work.tables))
}

function checkMonth(month: number): number {
  if (month >= 1 && month <= 12) return month
  throw new StripeFault(402, {
    type: 'card_error',
    code: 'invalid_expiry_month',
    message: "Your card's expiration month is invalid.",
    param: 'exp_month',
  })
}
