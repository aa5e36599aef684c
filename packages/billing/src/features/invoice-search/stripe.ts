import type Stripe from 'stripe'
import type { GatewayParts } from '../../providers/gateway-parts.ts'
import {
  getReferencedId,
  nullIfMissing,
  type StripeContext,
} from '../../providers/stripe/client.ts'
import type { InvoiceHit } from './contract.ts'

/**
 * Maximum number of invoices to return. Several customers may have an invoice with the same number,
 * if the invoices of each customer are numbered separately.
 */
const LIMIT = 10

/**
 * Implements the search for invoices for Stripe. A new invoice is found by its id immediately, but
 * by its number only after about a minute.
 */
export function createStripeInvoiceSearch({
  stripe,
}: StripeContext): Pick<GatewayParts, 'invoiceSearch'> {
  return {
    invoiceSearch: {
      async find(number) {
        if (/^in_\w{1,100}$/.test(number)) {
          const invoice = await nullIfMissing(() => stripe.invoices.retrieve(number))
          return invoice ? hitOf(invoice) : []
        }
        const query = `number:"${number.replace(/["\\]/g, '\\$&')}"`
        const { data } = await stripe.invoices.search({ query, limit: LIMIT })
        return data.flatMap(hitOf)
      },
    },
  }
}

function hitOf({ id, customer }: Stripe.Invoice): InvoiceHit[] {
  const customerId = getReferencedId(customer)
  return customerId === null ? [] : [{ id, customerId }]
}
