import { defineCapability } from '../define-feature.ts'
import { createBraintreeInvoiceSearch } from './braintree.ts'
import { createStripeInvoiceSearch } from './stripe.ts'

/** Search for invoices of all customers. */
export const invoiceSearchCapability = defineCapability('invoiceSearch', {
  stripe: createStripeInvoiceSearch,
  braintree: createBraintreeInvoiceSearch,
})
