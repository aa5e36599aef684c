import type { StripeOperations } from '../api/operation.ts'
import { customOperation, listRows } from '../api/resource.ts'
import { requireCustomer } from '../payments/customer.ts'
import {
  createMethod,
  resolvePaymentMethod,
  setBillingDetails,
} from '../payments/new-payment-method.ts'
import {
  attachPaymentMethod,
  detachPaymentMethod,
  requirePaymentMethod,
} from '../payments/payment-methods.ts'
import { createInvalidRequestFault, createNoSuchObjectFault, StripeFault } from '../wire/errors.ts'
import { mergeMetadata, pickSentFields } from '../wire/fields.ts'

export const paymentMethodOperations: StripeOperations = {
  'PaymentMethods.create': customOperation('payment_method', (params, { work }) =>
    createMethod(work, params),
  ),
  'PaymentMethods.retrieve': customOperation('payment_method', (_params, { work, id }) =>
    resolvePaymentMethod(work, id, 'id'),
  ),
  'PaymentMethods.update': customOperation('payment_method', (params, { work, id }) => {
    const row = work.edit('payment_method', requirePaymentMethod(work, id, 'id'))
    if (row.customer === null) {
      throw createInvalidRequestFault(
        'You must save this PaymentMethod to a customer before you can update it.',
        'payment_method',
      )
    }
    if (params.card && row.card) {
      checkMonth(params.card.exp_month ?? 1)
      row.card = { ...row.card, ...pickSentFields(params.card, 'exp_month', 'exp_year') }
    }
    if (params.billing_details) setBillingDetails(row, params.billing_details)
    if (params.allow_redisplay) row.allow_redisplay = params.allow_redisplay
    row.metadata = mergeMetadata(row.metadata, params.metadata)
    return row
  }),

  'PaymentMethods.list': (params, call) => {
    requireCustomer(call.work, params.customer, 'customer')
    return listRows('payment_method', params, call, { by: ['customer'] })
  },
  'Customers.listPaymentMethods': (params, call) => {
    const { id: customer } = requireCustomer(call.work, call.id)
    return listRows('payment_method', { ...params, customer }, call, { by: ['customer'] })
  },
  'Customers.retrievePaymentMethod': customOperation(
    'payment_method',
    (_params, { work, ids: [customer = ''], id }) => {
      requireCustomer(work, customer)
      const row = requirePaymentMethod(work, id, 'id')
      if (row.customer !== customer) throw createNoSuchObjectFault('PaymentMethod', id)
      return row
    },
  ),
  'PaymentMethods.attach': customOperation('payment_method', (params, { work, id }) => {
    const customer = requireCustomer(work, params.customer, 'customer')
    const row = resolvePaymentMethod(work, id, 'id')
    attachPaymentMethod(work, row, customer)
    return row
  }),
  'PaymentMethods.detach': customOperation('payment_method', (_params, { work, id }) => {
    const row = requirePaymentMethod(work, id, 'id')
    if (row.customer === null) {
      throw createInvalidRequestFault(
        'The payment method you provided is not attached to a customer so detachment is impossible.',
        'payment_method',
      )
    }
    detachPaymentMethod(work, row)
    return row
  }),
}

function checkMonth(month: number): void {
  if (month >= 1 && month <= 12) return
  throw new StripeFault(402, {
    type: 'card_error',
    code: 'invalid_expiry_month',
    message: "Your card's expiration month is invalid.",
    param: 'exp_month',
  })
}
