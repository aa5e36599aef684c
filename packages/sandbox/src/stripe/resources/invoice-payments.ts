import type Stripe from 'stripe'
import { createdIn, filterRows, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'

export const invoicePayments: Operations = {
  'InvoicePayments.retrieve': op((_params, call) =>
    render('invoice_payment', call.work.require('invoice_payment', idOf(call)), call.work.tables),
  ),
  'InvoicePayments.list': op<Stripe.InvoicePaymentListParams>((params, { work, path }) => {
    const { invoice_payment: table } = work.tables
    const intent = params.payment?.payment_intent
    const rows = params.invoice
      ? table.newestBy('invoice', params.invoice)
      : intent
        ? table.newestBy('payment_intent', intent)
        : table.newestFirst()
    const wanted = filterRows(
      createdIn(rows, params.created as Range | undefined),
      (row) =>
        (params.status === undefined || row.status === params.status) &&
        (intent === undefined || row.payment.payment_intent === intent),
    )
    return listPage(wanted, params, path, (row) => render('invoice_payment', row, work.tables))
  }),
}
