import type { StripeOperations } from '../api/operation.ts'
import { listRows, retrieveOperation } from '../api/resource.ts'

export const invoicePaymentOperations: StripeOperations = {
  'InvoicePayments.retrieve': retrieveOperation('invoice_payment'),
  'InvoicePayments.list': ({ payment, ...params }, call) => {
    const payment_intent = payment?.payment_intent
    const filters = payment_intent === undefined ? params : { ...params, payment_intent }
    return listRows('invoice_payment', filters, call, {
      by: ['invoice', 'payment_intent'],
      where: { payment_intent: (row, intent) => row.payment.payment_intent === intent },
    })
  },
}
