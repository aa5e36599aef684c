import type Stripe from 'stripe'
import { filterRows, inRange, listPage, type Range } from '../api/lists.ts'
import { idOf, type Operations, op } from '../api/operation.ts'
import { render } from '../state/render.ts'

export const invoicePayments: Operations = {
  'InvoicePayments.retrieve': op((_params, call) =>
    render('invoice_payment', call.work.require('invoice_payment', idOf(call)), call.work.tables),
  ),
  'InvoicePayments.list': op<Stripe.InvoicePaymentListParams>((params, { work, path }) => {
    const rows = params.invoice
      ? work.findBy('invoice_payment', 'invoice', params.invoice).reverse()
      : work.tables.invoice_payment.newestFirst()
    const wanted = filterRows(
      rows,
      (row) =>
        (params.status === undefined || row.status === params.status) &&
        (params.payment?.payment_intent === undefined ||
          row.payment.payment_intent === params.payment.payment_intent) &&
        inRange(row.created, params.created as Range | undefined),
    )
    return listPage(wanted, params, path, (row) => render('invoice_payment', row, work.tables))
  }),
}
