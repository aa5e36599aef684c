import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { refundCharge } from '../payments/refunds.ts'
import { render } from '../state/render.ts'
import type { ChargeRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

export const refunds: Operations = {
  'Refunds.create': op<Stripe.RefundCreateParams>((params, { work }) => {
    const refund = refundCharge(work, requireRefundable(work, params), params)
    return render('refund', refund, work.tables)
  }),

  'Refunds.retrieve': op((_params, call) =>
    render('refund', call.work.require('refund', idOf(call)), call.work.tables),
  ),

  'Refunds.update': op<Stripe.RefundUpdateParams>((params, call) => {
    const { work } = call
    const refund = work.edit('refund', work.require('refund', idOf(call)))
    refund.metadata = mergeMetadata(refund.metadata, params.metadata)
    return render('refund', refund, work.tables)
  }),

  'Refunds.cancel': op((_params, call) => {
    const refund = call.work.require('refund', idOf(call))
    throw invalidRequest(
      `You can only cancel refunds with the status requires_action, and this refund's status is ${refund.status}.`,
    )
  }),

  'Refunds.list': op<Stripe.RefundListParams>((params, { work, path }) => {
    const rows = filterRows(
      work.tables.refund.newestFirst(),
      (row) =>
        (params.charge === undefined || row.charge === params.charge) &&
        (params.payment_intent === undefined || row.payment_intent === params.payment_intent) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(rows, params, path, (row) => render('refund', row, work.tables))
  }),
}

function requireRefundable(work: UnitOfWork, params: Stripe.RefundCreateParams): ChargeRow {
  if (params.charge !== undefined && params.payment_intent !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: charge, payment_intent.')
  }
  if (params.charge !== undefined) return checkPaid(work.require('charge', params.charge, 'charge'))
  if (params.payment_intent === undefined) throw missingParam('payment_intent')
  const intent = work.require('payment_intent', params.payment_intent, 'payment_intent')
  const charge = work.find('charge', intent.latest_charge ?? '')
  if (!charge || intent.status !== 'succeeded') {
    throw invalidRequest(
      `This PaymentIntent (${intent.id}) does not have a successful charge to refund.`,
      'payment_intent',
    )
  }
  return charge
}

function checkPaid(charge: ChargeRow): ChargeRow {
  if (charge.paid && charge.captured) return charge
  throw invalidRequest(
    `Charge ${charge.id} has not been paid and captured, so it cannot be refunded.`,
    'charge',
  )
}
