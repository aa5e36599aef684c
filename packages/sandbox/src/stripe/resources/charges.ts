import type Stripe from 'stripe'
import { createdIn, filterRows, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { searchPage } from '../api/search.ts'
import { render } from '../state/render.ts'
import { invalidRequest } from '../wire/errors.ts'
import { mergeMetadata } from '../wire/metadata.ts'

/** Charges are read here; they are made by payment intents. */
export const charges: Operations = {
  'Charges.create': op(() => {
    throw invalidRequest(
      'This integration surface is unsupported: create a PaymentIntent instead of a Charge.',
    )
  }),
  'Charges.retrieve': op((_params, call) =>
    render('charge', call.work.require('charge', idOf(call)), call.work.tables),
  ),
  'Charges.update': op<Stripe.ChargeUpdateParams>((params, call) => {
    const { work } = call
    const charge = work.edit('charge', work.require('charge', idOf(call)))
    if (params.description !== undefined) charge.description = params.description
    if (params.receipt_email !== undefined) charge.receipt_email = params.receipt_email
    charge.metadata = mergeMetadata(charge.metadata, params.metadata)
    return render('charge', charge, work.tables)
  }),
  'Charges.list': op<Stripe.ChargeListParams>((params, { work, path }) => {
    const { charge: table } = work.tables
    const rows =
      params.payment_intent !== undefined
        ? table.newestBy('payment_intent', params.payment_intent)
        : params.customer !== undefined
          ? table.newestBy('customer', params.customer)
          : table.newestFirst()
    const wanted = filterRows(
      createdIn(rows, params.created as Range | undefined),
      (row) => params.customer === undefined || row.customer === params.customer,
    )
    return listPage(wanted, params, path, (row) => render('charge', row, work.tables))
  }),
  'Charges.search': op<Stripe.ChargeSearchParams>((params, { work, path }) =>
    searchPage(work.tables.charge, params, path, {
      toWire: (row) => render('charge', row, work.tables),
    }),
  ),
}
