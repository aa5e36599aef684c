import type Stripe from 'stripe'
import type { StripeOperations } from '../api/operation.ts'
import {
  customOperation,
  listOperation,
  retrieveOperation,
  updateOperation,
} from '../api/resource.ts'
import { refundCharge } from '../payments/refunds.ts'
import type { ChargeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createMutuallyExclusiveFault,
} from '../wire/errors.ts'

export const refundOperations: StripeOperations = {
  'Refunds.create': customOperation('refund', (params, { work }) =>
    refundCharge(work, requireRefundable(work, params), params),
  ),
  'Refunds.retrieve': retrieveOperation('refund'),
  'Refunds.update': updateOperation('refund', []),
  'Refunds.cancel'(_params, { work, id }) {
    const { status } = work.require('refund', id)
    throw createInvalidRequestFault(
      `You can only cancel refunds with the status requires_action, and this refund's status is ${status}.`,
    )
  },
  'Refunds.list': listOperation('refund'),
}

function requireRefundable(work: UnitOfWork, params: Stripe.RefundCreateParams): ChargeRow {
  if (params.charge !== undefined && params.payment_intent !== undefined) {
    throw createMutuallyExclusiveFault('charge, payment_intent')
  }
  if (params.charge !== undefined) return checkPaid(work.require('charge', params.charge, 'charge'))
  if (params.payment_intent === undefined) throw createMissingParamFault('payment_intent')
  const intent = work.require('payment_intent', params.payment_intent, 'payment_intent')
  const charge = work.find('charge', intent.latest_charge ?? '')
  if (!charge || intent.status !== 'succeeded') {
    throw createInvalidRequestFault(
      `This PaymentIntent (${intent.id}) does not have a successful charge to refund.`,
      'payment_intent',
    )
  }
  return charge
}

function checkPaid(charge: ChargeRow): ChargeRow {
  if (charge.paid && charge.captured) return charge
  throw createInvalidRequestFault(
    `Charge ${charge.id} has not been paid and captured, so it cannot be refunded.`,
    'charge',
  )
}
