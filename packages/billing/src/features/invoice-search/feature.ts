import { defineCapability } from '../define-feature.ts'
import { braintreeInvoiceSearch } from './braintree.ts'
import { stripeInvoiceSearch } from './stripe.ts'

/** Search for invoices of all customers. */
export const invoiceSearchCapability = defineCapability('invoiceSearch', {
  stripe: stripeInvoiceSearch,
  braintree: braintreeInvoiceSearch,
})
