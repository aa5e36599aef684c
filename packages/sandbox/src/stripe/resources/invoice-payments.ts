import type { Operations } from '../api/operation.ts'
import { listRows, retrieve } from '../api/resource.ts'

export const invoicePayments: Operations = {
  'InvoicePayments.retrieve': retrieve('invoice_payment'),
  'InvoicePayments.list': ({ payment, ...params }, call) => {
    const payment_intent = payment?.payment_intent
    const filters = payment_intent === undefined ? params : { ...params, payment_intent }
    return listRows('invoice_payment', filters, call, {
      by: ['invoice', 'payment_intent'],
      where: { payment_intent: (row, intent) => row.payment.payment_intent === intent },
    })
  },
}
