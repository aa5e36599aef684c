import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'
import type { ChargeRow, RefundRow } from '../state/rows.ts'
import type { UnitOfWork } from '../state/unit-of-work.ts'
import { invalidRequest, missingParam, StripeFault, withDocs } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'
import { nulls } from '../wire/wire.ts'

export const refunds: Operations = {
  'Refunds.create': op<Stripe.RefundCreateParams>((params, { work }) => {
    const charge = requireRefundable(work, params)
    const left = charge.amount_captured - charge.amount_refunded
    const amount = params.amount ?? left
    if (left === 0) {
      throw new StripeFault(400, {
        type: 'invalid_request_error',
        ...withDocs('charge_already_refunded'),
        message: `Charge ${charge.id} has already been refunded.`,
      })
    }
    if (amount < 1)
      throw invalidRequest(
        'This value must be greater than or equal to 1.',
        'amount',
        'parameter_invalid_integer',
      )
    if (amount > left) {
      throw invalidRequest(
        `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
        'amount',
      )
    }
    const refund: RefundRow = {
      ...nulls<Stripe.Refund>('refund'),
      id: work.newId('re_3'),
      object: 'refund',
      amount,
      charge: charge.id,
      created: work.now,
      currency: charge.currency,
      customer: charge.customer,
      destination_details: {
        card: {
          reference_status: 'pending',
          reference_type: 'acquirer_reference_number',
          type: 'refund',
        },
        type: 'card',
      },
      metadata: mergeMetadata({}, params.metadata),
      payment_intent: charge.payment_intent,
      payment_method: charge.payment_method,
      reason: params.reason ?? null,
      status: 'succeeded',
    } as RefundRow
    work.insert('refund', refund)
    work.edit('charge', charge)
    charge.amount_refunded += amount
    charge.refunded = charge.amount_refunded === charge.amount_captured
    work.emit('refund.created', 'refund', refund)
    work.emit('charge.refunded', 'charge', charge)
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
